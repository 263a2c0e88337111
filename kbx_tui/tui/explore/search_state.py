"""The state of a search: what decides all that explore shows, its undo, how it is stored. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Literal

import msgspec

from kbx_tui.errors import KbxError
from kbx_tui.formatting import format_count, format_score
from kbx_tui.knowledge.folding import tokens
from kbx_tui.safe_text import safe_line
from kbx_tui.search.request import Dates, Gate, Parent, Preset, SearchRequest, Sort, Tuning

Mode = Literal["two-pass", "flat", "fast"]
MODES: tuple[Mode, ...] = ("two-pass", "flat", "fast")
PRESETS: tuple[Preset, ...] = ("default", "seed")

DATES_WORDS: Mapping[Dates, str] = {
    "prefer": "documents of that time are preferred",
    "filter": "only documents of that time are shown",
    "off": "date words are ordinary words",
}

FILTERS: Mapping[str, str] = {"doc_types": "type", "since": "first date", "until": "last date"}
FOR_ONE_QUERY = ("muted", "pinned", "dates", "as_typed", *FILTERS)

UNDO_STEPS = 100
KNOBS = ("alpha", "threshold")
GRADUAL = (*KNOBS, "path")
"""Fields that change in many small steps: successive changes of one are a single step to undo."""


@dataclass(frozen=True, slots=True)
class SearchState:
    query: str = ""
    path: str = ""
    mode: Mode = "two-pass"
    sort: Sort | None = None
    """None as the query asks, by score unless it says `newest first`."""
    preset: Preset = "default"
    """Whose formula ranks: `seed` is that of the two-pass proposal."""
    alpha: float = 0.5
    threshold: float = 0.5
    max_entities: int = 5
    gate: Gate | None = None
    parent: Parent | None = None
    """Gate and parent score of the default ranking, None as in kbx.toml; the seed has its own."""
    hotness_weight: float = 0.0
    dates: Dates = "prefer"
    as_typed: bool = False
    """Whether misspelt words are searched for as typed."""
    muted: frozenset[str] = frozenset()
    pinned: frozenset[str] = frozenset()
    """Ids of entities that the query is about, whatever their score."""
    exact: bool = False
    """Whether every chunk is compared in meaning in a scope of more than a million, too."""
    doc_types: tuple[str, ...] = ()
    since: str = ""
    until: str = ""

    @property
    def retrieval_key(self) -> tuple[object, ...]:
        """The fields on which retrieval depends; the others affect only ranking."""
        modes, filters = (self.mode == "fast", self.exact), (self.doc_types, self.since, self.until)
        reading = self.query, self.dates, self.as_typed
        return *reading, self.path, *modes, self.preset, self.pinned, *filters

    def request(self) -> SearchRequest:
        return SearchRequest(
            self.query,
            path=self.path or None,
            doc_types=self.doc_types,
            since=self.since or None,
            until=self.until or None,
            dates=self.dates if self.preset == "default" else "off",
            as_typed=self.as_typed,
            fast=self.mode == "fast",
            hierarchy=self.mode == "two-pass",
            preset=self.preset,
            alpha=self.alpha,
            threshold=self.threshold,
            max_entities=self.max_entities,
            gate=self.gate if self.preset == "default" else None,
            parent=self.parent if self.preset == "default" else None,
            hotness=self.hotness_weight,
            pinned=sorted(self.pinned),
            muted=sorted(self.muted),
            sort=self.sort,
            exact=self.exact,
        )

    def for_another_query(self, defaults: SearchState) -> SearchState:
        fresh = {name: getattr(defaults, name) for name in FOR_ONE_QUERY}
        return replace(self, sort=None if self.sort == "score" else self.sort, **fresh)

    def extra_words(self, defaults: SearchState) -> str:
        """Return settings that no pane shows, without `defaults`: `only note · from 2026-03-10`."""
        own_formula = self.preset == "default"
        words = (
            f"only {' or '.join(self.doc_types)}" if self.doc_types else "",
            f"from {self.since}" if self.since else "",
            f"to {self.until}" if self.until else "",
            f"at most {format_count(self.max_entities, 'entity')}"
            if self.max_entities != defaults.max_entities
            else "",
            f"{self.gate} gate" if own_formula and self.gate != defaults.gate else "",
            f"parent score {self.parent}" if own_formula and self.parent != defaults.parent else "",
            f"hotness {format_score(self.hotness_weight)}"
            if self.hotness_weight != defaults.hotness_weight
            else "",
            "every chunk compared" if self.exact else "",
            "spelled as typed" if self.as_typed else "",
        )
        return " · ".join(filter(None, words))

    @property
    def tuning_fields(self) -> dict[str, Any]:
        own_formula = self.preset == "default"
        return {
            "hierarchy": self.mode == "two-pass",
            "alpha": self.alpha,
            "entity_threshold": self.threshold,
            "max_entities": self.max_entities,
            **({"gate": self.gate, "parent": self.parent} if own_formula else {}),
            "hotness_weight": self.hotness_weight,
            "muted": self.muted,
            "pinned": self.pinned,
        }


def knobs_of(tuning: Tuning) -> dict[str, Any]:
    """Return the fields of `SearchState` that set these knobs; muted and pinned are left out."""
    return {
        "mode": "two-pass" if tuning.hierarchy else "flat",
        "preset": tuning.preset,
        "alpha": tuning.alpha,
        "threshold": tuning.entity_threshold,
        "max_entities": tuning.max_entities,
        **({"gate": tuning.gate, "parent": tuning.parent} if tuning.preset == "default" else {}),
        "hotness_weight": tuning.hotness_weight,
    }


def is_another_query(before: str, after: str) -> bool:
    """Return whether a query was cleared or replaced, rather than edited or typed further."""
    if not after or not before:
        return not after
    kept = _shared_start(before, after) + _shared_start(before[::-1], after[::-1])
    is_step = max(len(before), len(after)) - kept <= 1
    return not is_step and not set(tokens(before)) & set(tokens(after))


def _shared_start(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


UndoCall = Callable[[], object]
"""Takes back a change of another kind, such as a grade."""


@dataclass
class Undo:
    """Earlier states, and calls that take back other changes; typing is undone by the fields."""

    steps: list[SearchState | UndoCall] = field(default_factory=list)
    _moving: str = ""

    def remember(self, before: SearchState, changed: set[str]) -> None:
        if "query" in changed:
            self._moving = ""
            return
        name = next(iter(changed)) if len(changed) == 1 else ""
        if name in GRADUAL and name == self._moving:
            return
        self.add(before)
        self._moving = name

    def add(self, step: SearchState | UndoCall) -> None:
        self._moving = ""
        self.steps.append(step)
        del self.steps[:-UNDO_STEPS]

    def forget(self, undo: UndoCall) -> None:
        if undo in self.steps:
            self.steps.remove(undo)

    def forget_states(self) -> None:
        self.steps = [step for step in self.steps if not isinstance(step, SearchState)]

    def separate(self) -> None:
        self._moving = ""

    def back(self, current: SearchState) -> SearchState | UndoCall | None:
        """Return the state to go back to, or the call that takes back the last change, if any."""
        self._moving = ""
        while self.steps:
            before = self.steps.pop()
            if not isinstance(before, SearchState):
                return before
            if before.query != current.query:  # these hold for one query
                before = replace(before.for_another_query(current), query=current.query)
            if before != current:
                return before
        return None


def changed_fields(before: SearchState, after: SearchState) -> set[str]:
    return {
        name
        for name in SearchState.__dataclass_fields__
        if getattr(before, name) != getattr(after, name)
    }


def describe_undo(before: SearchState, after: SearchState, name_of: Callable[[str], str]) -> str:
    """Return what undoing did, such as `alpha is .50 again`."""
    words: list[str] = []
    for name in changed_fields(before, after):
        value: Any = getattr(after, name)
        if name in KNOBS:
            words.append(f"{name} is {value:.2f} again".replace(" 0.", " ."))
        elif name == "path":
            words.append(f"searching {value or 'everywhere'} again")
        elif name == "dates":
            words.append(f"{DATES_WORDS[after.dates]} again")
        elif name in FILTERS:
            shown = ", ".join(value) if isinstance(value, tuple) else value
            label = FILTERS[name]
            words.append(f"{label} is {shown} again" if shown else f"{label} is not set any more")
        elif name == "exact":
            words.append(f"{'every chunk is' if value else 'candidates are'} compared again")
        elif name == "as_typed":
            words.append(f"misspelt words are {'searched for as typed' if value else 'corrected'}")
        elif name not in ("muted", "pinned"):
            words.append(f"{name.replace('_', ' ')} is {value or 'score'} again")
        else:
            ids_before: frozenset[str] = getattr(before, name)
            words += _change_of_ids(value - ids_before, f"{name} again", name_of)
            words += _change_of_ids(ids_before - value, f"no longer {name}", name_of)
    return "; ".join(sorted(words))


def _change_of_ids(
    ids: frozenset[str], change: str, name_of: Callable[[str], str]
) -> tuple[str, ...]:
    """Return what happened to entities, such as `Alice Chen is no longer muted`, if any did."""
    names = ", ".join(sorted(map(name_of, ids)))
    return (f"{names} {'is' if len(ids) == 1 else 'are'} {change}",) if ids else ()


USUAL = SearchState(**knobs_of(Tuning()))
"""Settings that equal these are not stored, whatever kbx.toml says."""


def stored_settings(state: SearchState) -> Mapping[str, Any]:
    values: dict[str, Any] = msgspec.to_builtins(state)
    usual: dict[str, Any] = msgspec.to_builtins(USUAL)
    stored = {name: value for name, value in values.items() if value != usual[name]}
    return {
        name: sorted(value) if name in ("muted", "pinned") else value
        for name, value in stored.items()
        if name != "query"
    }


def state_of(query: str, settings: Mapping[str, Any]) -> SearchState | None:
    """Return the state of a stored query, None if the settings are not valid.

    The file may come from someone else, so no control character of it gets into a field.
    """
    try:
        values = {**msgspec.to_builtins(USUAL), **settings, "query": safe_line(query)}
        state = msgspec.convert(values, SearchState)
        state.request().tuning(Tuning())
    except (msgspec.ValidationError, KbxError):
        return None
    return state if safe_line(state.path) == state.path else None


def settings_words(state: SearchState, usual: SearchState = USUAL) -> str:
    words = (
        state.mode if state.mode != usual.mode else "",
        f"{state.preset} ranking" if state.preset != usual.preset else "",
        f"in {state.path}" if state.path else "",
        f"alpha {format_score(state.alpha)}" if state.alpha != usual.alpha else "",
        f"threshold {format_score(state.threshold)}" if state.threshold != usual.threshold else "",
        f"{format_count(len(state.muted), 'entity')} muted" if state.muted else "",
        f"{format_count(len(state.pinned), 'entity')} pinned" if state.pinned else "",
        f"dates {state.dates}" if state.dates != usual.dates else "",
        "by date" if state.sort == "date" else "",
        state.extra_words(usual),
    )
    return safe_line(" · ".join(filter(None, words)))
