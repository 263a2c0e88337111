"""Each proposed change brings the document into the top, and none smaller of its kind does."""

from dataclasses import fields, replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kbx_tui.api.queries import NO_FILTER
from kbx_tui.errors import KbxError
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.reranking import RerankerScores
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import SearchRequest, Tuning
from kbx_tui.search.why_not import (
    Change,
    Dimension,
    WhyNot,
    change_effects,
    changed_request,
    narrowed,
    why_not,
)
from tests.unit.search.building import components, entity, evidence, some_evidence, some_tuning

FOLDERS = ["memory/", "memory/notes/", "memory/notes/old/", "memory/meetings/"]
KNOBS = {"threshold": "entity_threshold", "alpha": "alpha", "max_entities": "max_entities",
         "hierarchy": "hierarchy", "gate": "gate", "parent": "parent"}  # fmt: skip


@st.composite
def some_case(draw: st.DrawFn) -> tuple[Evidence, Tuning, int, int]:
    """Draw evidence with folders and types, a tuning, a row and a limit below the documents."""
    found = draw(some_evidence().filter(lambda found: len(found) > 1))
    size = len(found)
    folders = draw(st.lists(st.sampled_from(FOLDERS), min_size=size, max_size=size))
    paths = sorted(f"{folder}{row:02}.md" for row, folder in enumerate(folders))
    kinds = draw(st.lists(st.sampled_from(["note", "meeting"]), min_size=size, max_size=size))
    found = replace(found, paths=tuple(paths), kinds=tuple(kinds))
    tuning = draw(some_tuning())
    if draw(st.booleans()):  # without knobs that keep alpha and threshold from changing anything
        tuning = Tuning(alpha=tuning.alpha, entity_threshold=tuning.entity_threshold)
    return found, tuning, draw(st.integers(0, size - 1)), draw(st.integers(1, 4))


def by_dimension(answer: WhyNot) -> dict[Dimension, Change]:
    return {change.dimension: change for change in answer.changes}


def applied(found: Evidence, tuning: Tuning, change: Change) -> list[str]:
    """Return all paths in their order after a change, found without its ranking."""
    value = change.value
    if change.dimension in KNOBS:
        return order(found, replace(tuning, **{KNOBS[change.dimension]: value}))
    if change.dimension == "pinned":
        return order(found, replace(tuning, pinned=tuning.pinned | set(value)))
    passes = np.array([passes_filter(found, row, change) for row in range(len(found))])
    return order(narrowed(found, passes), tuning)


def passes_filter(found: Evidence, row: int, change: Change) -> bool:
    date, value = found.dates[row], change.value
    match change.dimension:
        case "path":
            return found.paths[row].startswith(value)
        case "doc_types":
            return found.kinds[row] in value
        case "since":
            return bool(date >= value)
        case _:
            return bool(date) and bool(date <= value)


def order(found: Evidence, tuning: Tuning) -> list[str]:
    return [found.paths[row] for row in rank(found, tuning).order.tolist()]


@settings(max_examples=60)
@given(some_case())
def test_a_change_brings_the_document_into_the_top(case: tuple[Evidence, Tuning, int, int]) -> None:
    found, tuning, row, limit = case
    answer = why_not(rank(found, tuning), row, limit)
    for change in answer.changes:
        paths = applied(found, tuning, change)
        assert paths.index(found.paths[row]) + 1 == change.rank <= limit


@settings(max_examples=60)
@given(some_case(), st.floats(0.0, 0.999999))
def test_no_smaller_change_of_alpha_or_threshold_does(
    case: tuple[Evidence, Tuning, int, int], share: float
) -> None:
    found, tuning, row, limit = case
    changes = by_dimension(why_not(rank(found, tuning), row, limit))
    for dimension in ("alpha", "threshold"):
        if dimension in changes:
            now = getattr(tuning, KNOBS[dimension])
            for sign in (1.0, -1.0):
                value = now + sign * share * abs(changes[dimension].value - now)
                value = min(max(value, 0.0), 1.0)
                if abs(value - changes[dimension].value) > 2e-6:
                    smaller = replace(tuning, **{KNOBS[dimension]: value})
                    assert found.paths[row] not in order(found, smaller)[:limit]


@settings(max_examples=40)
# Within a unit in the last place of a swap point, rounding decides, and not the order of the lines.
@given(some_case(), st.floats(0.0, 1.0).map(lambda value: round(value, 12)))
def test_a_dimension_without_a_change_has_none(
    case: tuple[Evidence, Tuning, int, int], value: float
) -> None:
    found, tuning, row, limit = case
    answer = why_not(rank(found, tuning), row, limit)
    if answer.stage == "shown":
        return
    missing = {*KNOBS, "pinned"} - set(by_dimension(answer))
    tries = {
        "alpha": [replace(tuning, alpha=value)],
        "threshold": [replace(tuning, entity_threshold=value)],
        "max_entities": [replace(tuning, max_entities=number) for number in range(1, 21)],
        "hierarchy": [replace(tuning, hierarchy=not tuning.hierarchy)],
        "gate": [replace(tuning, gate=gate) for gate in ("soft", "hard")],
        "parent": [replace(tuning, parent=parent) for parent in ("coverage", "max")],
        "pinned": [replace(tuning, pinned=tuning.pinned | {one.id}) for one in found.entities],
    }
    for dimension in missing:
        for other in tries[dimension]:
            assert found.paths[row] not in order(found, other)[:limit]


@settings(max_examples=40)
@given(some_case())
def test_no_wider_filter_does(case: tuple[Evidence, Tuning, int, int]) -> None:
    found, tuning, row, limit = case
    changes = by_dimension(why_not(rank(found, tuning), row, limit))
    wider: list[Change] = []
    if "path" in changes:
        folder = changes["path"].value
        wider += [
            replace(changes["path"], value=other)
            for other in FOLDERS
            if folder.startswith(other) and other != folder
        ]
    for dimension in ("since", "until"):
        if dimension in changes:
            value = changes[dimension].value
            wider += [
                replace(changes[dimension], value=other)
                for other in set(found.dates) - {""}
                if (other < value if dimension == "since" else other > value)
            ]
    for change in wider:
        assert found.paths[row] not in applied(found, tuning, change)[:limit]


@given(some_case())
def test_a_filter_without_a_change_helps_at_no_value(
    case: tuple[Evidence, Tuning, int, int],
) -> None:
    found, tuning, row, limit = case
    answer = why_not(rank(found, tuning), row, limit)
    if answer.stage == "shown":
        return
    path, kind, date = found.paths[row], found.kinds[row], found.dates[row]
    dates = set(found.dates) - {""}
    tries: dict[Dimension, list[object]] = {
        "path": [folder for folder in FOLDERS if path.startswith(folder)],
        "doc_types": [(kind,)],
        "since": [other for other in dates if other <= date],
        "until": [other for other in dates if date and other >= date],
    }
    for dimension in tries.keys() - by_dimension(answer).keys():
        for value in tries[dimension]:
            change = Change(dimension, value, "", 0, answer.ranking)
            assert path not in applied(found, tuning, change)[:limit]


def test_standing_of_a_document_in_or_below_the_top_or_removed_by_the_hard_gate() -> None:
    found = evidence(components([9.0, 6.0, 3.0], [0.9, 0.6, 0.5]))
    answer = why_not(rank(found, Tuning()), 2, 1)
    assert (answer.stage, answer.rank) == ("ranked", 3)
    assert answer.standing == "it is number 3 with .27; the first 1 have .53 or more"

    found = evidence(
        components([9.0, 9.0], [0.5, 0.5]), entities=[(entity(1, 1.0, named=True), {0: 1.0})]
    )
    answer = why_not(rank(found, Tuning(gate="hard")), 1, 1)
    assert (answer.stage, answer.rank) == ("gated", None)
    assert "hard gate" in answer.standing

    found = evidence(components([9.0, 6.0], [0.9, 0.6]))
    answer = why_not(rank(found, Tuning()), 0, 1)
    assert (answer.stage, answer.rank, answer.changes) == ("shown", 1, ())


def test_standing_of_a_document_without_a_match() -> None:
    found = evidence(components([9.0, 0.0], [0.5, 0.0]))
    answer = why_not(rank(found, Tuning()), 1, 1)
    assert (answer.stage, answer.rank, answer.changes) == ("no match", None, ())
    assert answer.standing == "it says nothing of what is asked"
    named = evidence(
        components([9.0, 0.0], [0.5, 0.0]), entities=[(entity(1, 1.0, named=True), {1: 1.0})]
    )
    standing = why_not(rank(named, Tuning(alpha=1.0)), 1, 1).standing
    assert standing == "it is linked to what you name, but says nothing of what is asked"


def test_a_reranker_is_left_out_of_account() -> None:
    found = evidence(components([9.0, 6.0], [0.9, 0.6]))
    reranked = replace(found, reranker=RerankerScores("model", {1: 1.0}))
    answer, plain = (why_not(rank(each, Tuning()), 1, 1) for each in (reranked, found))
    assert (answer.score, answer.rank) == (plain.score, plain.rank)


def test_changes_are_those_of_a_request() -> None:
    found = evidence(
        components([9.0, 1.0], [0.9, 0.1]),
        entities=[(entity(1, 1.0, named=True), {0: 0.5, 1: 1.0})],
    )
    changes = by_dimension(why_not(rank(found, Tuning(alpha=0.9)), 1, 1))
    request = SearchRequest("q", alpha=0.9, pinned=("person:x",))
    assert (
        changed_request(request, changes["alpha"].dimension, changes["alpha"].value).alpha
        == changes["alpha"].value
    )
    assert changes["alpha"].text.startswith("alpha .")
    added = replace(changes["alpha"], dimension="pinned", value=("person:e1",))
    assert changed_request(request, added.dimension, added.value).pinned == (
        "person:x",
        "person:e1",
    )


@given(some_case())
def test_effects_are_those_of_the_changes_and_grow(case: tuple[Evidence, Tuning, int, int]) -> None:
    found, tuning, row, limit = case
    answer = why_not(rank(found, tuning), row, limit)
    effects = change_effects(answer)
    assert {effect.change.dimension for effect in effects} == {
        change.dimension for change in answer.changes
    }
    sizes = [effect.size for effect in effects]
    assert sizes == sorted(sizes)
    for effect in effects:
        assert answer.path in [change.path for change in effect.comparison.gained]


def test_each_filter_of_a_request_can_be_dropped() -> None:
    plain = SearchRequest("x")

    def is_filter(name: str) -> bool:
        for value in ("2026", ["2026"]):
            try:
                return replace(plain, **{name: value}).filters != plain.filters  # type: ignore[arg-type]
            except (TypeError, KbxError):
                continue
        return False

    names = {each.name for each in fields(SearchRequest)} - {"query", "muted_documents"}
    assert set(filter(is_filter, names)) == NO_FILTER.keys() - {"path"}
