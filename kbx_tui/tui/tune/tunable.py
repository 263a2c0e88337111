"""The knobs whose values the tune mode measures. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kbx_tui.formatting import format_score
from kbx_tui.search.evidence.tuning import MAX_ENTITIES_LIMIT, Tuning

Value = float | int | str


@dataclass(frozen=True, slots=True)
class Tunable:
    """A knob, with the values that are measured."""

    name: str
    """In words."""
    state_field: str
    """Its field of `SearchState`."""
    tuning_field: str
    """Its field of `Tuning`."""
    values: tuple[Value, ...]
    """Ascending, in equal steps; or the choices."""

    @property
    def is_continuous(self) -> bool:
        """Whether the values between those measured are values, too."""
        return isinstance(self.values[0], float)

    def value_in(self, tuning: Tuning) -> Value:
        """Return its value in `tuning`."""
        value: Value = getattr(tuning, self.tuning_field)
        return value

    def with_value(self, tuning: Tuning, value: Value) -> Tuning:
        """Return `tuning` with another value of this knob."""
        changes: dict[str, Any] = {self.tuning_field: value}
        return replace(tuning, **changes)

    def position(self, value: Value) -> float:
        """Return where a value is between the first and the last one, 0..1."""
        if isinstance(value, str):
            return self.values.index(value) / (len(self.values) - 1)
        first, last = float(self.values[0]), float(self.values[-1])
        return min(max((value - first) / (last - first), 0.0), 1.0)

    def value_at(self, position: float) -> Value:
        """Return the value at a position of 0..1; of two decimals, or one of the choices."""
        if not self.is_continuous:
            return self.values[round(position * (len(self.values) - 1))]
        first, last = float(self.values[0]), float(self.values[-1])
        return round(first + position * (last - first), 2)

    def moved(self, value: Value, steps: int) -> Value:
        """Return the value `steps` hundredths away, or one choice away in that direction."""
        if isinstance(value, float):
            moved = round(value + steps / 100, 2)
            return min(max(moved, float(self.values[0])), float(self.values[-1]))
        direction = 1 if steps > 0 else -1
        place = self.values.index(value) + direction
        return self.values[min(max(place, 0), len(self.values) - 1)]

    def text(self, value: Value) -> str:
        """Return a value as it is displayed."""
        return format_score(value) if isinstance(value, float) else str(value)


UNIT = tuple(step / 20 for step in range(21))

TUNABLES = (
    Tunable("alpha", "alpha", "alpha", UNIT),
    Tunable("threshold", "threshold", "entity_threshold", UNIT),
    Tunable(
        "entities kept", "max_entities", "max_entities", tuple(range(1, MAX_ENTITIES_LIMIT + 1))
    ),
    Tunable("gate", "gate", "gate", ("soft", "hard")),
    Tunable("parent score", "parent", "parent", ("coverage", "max")),
    Tunable(
        "weight of openings",
        "hotness_weight",
        "hotness_weight",
        tuple(step / 20 for step in range(7)),
    ),
)
"""In the order in which a key switches between them."""


def tunables_for(tuning: Tuning) -> Sequence[Tunable]:
    """Return the knobs that can be moved; the ranking of the seed has its own gate and parent."""
    seed_has = () if tuning.preset == "default" else ("gate", "parent")
    return [one for one in TUNABLES if one.tuning_field not in seed_has]
