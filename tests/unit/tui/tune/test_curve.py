"""The curve of a measure: best value, words, and a plot that shows the same."""

from dataclasses import replace

import pytest

from kbx_tui.search.request import Tuning
from kbx_tui.tui.drawing.lines import Line, width_of
from kbx_tui.tui.tune.curve import (
    BEST,
    NOW,
    TUNABLES,
    Curve,
    Tunable,
    curve_words,
    plot_lines,
    plot_position,
    tunables_for,
    y_range,
)

ALPHA, THRESHOLD, ENTITIES, GATE, PARENT, OPENINGS = TUNABLES


def curve(means: list[float], knob: Tunable = ALPHA, tuning: Tuning | None = None) -> Curve:
    """Return a curve with intervals of .05 around the means."""
    tuning = tuning or Tuning()
    now = means[round(knob.position(getattr(tuning, knob.tuning_field)) * (len(means) - 1))]
    low, high = ([min(max(mean + by, 0.0), 1.0) for mean in means] for by in (-0.05, 0.05))
    ends = (now, now - 0.05, now + 0.05)
    return Curve(knob, "ndcg", tuning, tuple(means), tuple(low), tuple(high), *ends)


def peak_at(place: int) -> list[float]:
    return [0.7 - abs(other - place) / 100 for other in range(21)]


def text(lines: list[Line]) -> list[str]:
    return ["".join(span.text for span in line) for line in lines]


def test_of_equally_good_values_the_closest_is_the_best() -> None:
    flat = curve([0.7] * 21)
    assert flat.knob.values[flat.best] == 0.5
    assert flat.gain == 0.0
    assert curve_words(flat, None) == "alpha .50 now .70; no other value is better"
    assert BEST not in "".join(text(plot_lines(flat, (), 40, 6)))


def test_words_say_what_a_better_value_is_worth() -> None:
    found = curve(peak_at(14))
    assert curve_words(found, None) == "alpha .50 now .66; best .70 .70 (+.04)"
    assert curve_words(found, 0.21).endswith("(+.04, p .210, may be chance)")
    assert curve_words(found, 0.01).endswith("(+.04, p .010: see what optimising says)")


@pytest.mark.parametrize("size", [(40, 6), (72, 14), (120, 30), (12, 3)])
def test_plot_has_exactly_its_size_with_both_marks(size: tuple[int, int]) -> None:
    lines = plot_lines(curve(peak_at(14)), (0.1, 0.25), *size)
    assert len(lines) == size[1]
    assert max(map(width_of, lines)) <= size[0]
    shown = "".join(text(lines))
    assert NOW in shown
    assert BEST in shown


def test_marks_and_steps_are_above_the_values_that_they_mark() -> None:
    found = curve(peak_at(16))
    lines = text(plot_lines(found, (), 85, 12))
    (now,) = (line.index(NOW) for line in lines if NOW in line)
    (best,) = (line.index(BEST) for line in lines if BEST in line)
    assert plot_position(now, 85) == pytest.approx(0.5, abs=0.02)
    assert plot_position(best, 85) == pytest.approx(0.8, abs=0.02)
    assert lines[-1].index(".50") <= now <= lines[-1].index(".50") + 3

    axis = text(plot_lines(curve(peak_at(14)), (0.0, 1.0, 0.5), 65, 12))[-2]
    assert axis.count("┴") == 3
    assert axis.endswith("┴")


@pytest.mark.parametrize("mean", [0.0, 0.5, 1.0])
def test_a_flat_curve_at_any_height_is_drawn(mean: float) -> None:
    flat = curve([mean] * 21)
    low, high = y_range(flat)
    assert 0.0 <= low < high <= 1.0
    assert NOW in "".join(text(plot_lines(flat, (), 60, 10)))


def test_choices_are_spread_over_the_axis_but_the_seed_has_no_gate() -> None:
    found = curve([0.6, 0.7], GATE, Tuning())
    assert text(plot_lines(found, (), 60, 10))[-1].split() == ["soft", "hard"]
    assert curve_words(found, 0.5).startswith("gate soft now .60; best hard .70")

    assert GATE in tunables_for(Tuning())
    assert not {GATE, PARENT} & set(tunables_for(replace(Tuning.seed(), alpha=0.3)))


def test_knobs_move_in_steps_within_their_range() -> None:
    assert ALPHA.moved(0.5, 5) == 0.55
    assert ALPHA.moved(0.97, 5) == 1.0
    assert ENTITIES.moved(5, -5) == 4
    assert ENTITIES.moved(20, 1) == 20
    assert GATE.moved("soft", 1) == "hard"
    assert OPENINGS.moved(0.3, 5) == 0.3
    assert ALPHA.value_at(0.333) == 0.33
    assert ENTITIES.value_at(1.0) == 20


@pytest.mark.parametrize("knob", TUNABLES, ids=[knob.name for knob in TUNABLES])
def test_every_value_of_a_knob_is_valid_and_has_a_place(knob: Tunable) -> None:
    for value in knob.values:
        changed = knob.with_value(Tuning(), value)
        assert getattr(changed, knob.tuning_field) == value
        assert knob.value_at(knob.position(value)) == value
