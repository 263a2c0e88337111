"""Each threshold's outcomes are those of ranking with it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.evaluation.past_queries import THRESHOLDS, find_over_retrieved, observe_thresholds
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Tuning
from tests.unit.search.building import components, entity, evidence, some_evidence, some_tuning


@given(st.lists(some_evidence(), max_size=3), some_tuning())
def test_outcomes_are_those_of_ranking(found: list[Evidence], tuning: Tuning) -> None:
    observed = observe_thresholds(found, tuning)
    for asked, each in zip(observed.queries, found, strict=True):
        for threshold, outcome in zip(THRESHOLDS, asked.outcomes, strict=True):
            ranking = rank(each, replace(tuning, entity_threshold=threshold))
            expected = ranking.search_mode if ranking.total_matched else "nothing"
            assert outcome == expected
    if found:
        shares = [observed.share(outcome) for outcome in ("two_pass", "flat", "nothing")]
        assert all(abs(sum(column) - 1.0) < 1e-9 for column in zip(*shares, strict=True))


def test_histogram_and_flips() -> None:
    strong = evidence(components([9.0], [0.5]), entities=[(entity(1, 0.72), {0: 1.0})])
    weak = evidence(components([9.0], [0.5]), entities=[(entity(1, 0.31), {0: 1.0})])
    nobody, nothing = evidence(components([9.0], [0.5])), evidence(components([0.0], [0.0]))
    observed = observe_thresholds([strong, weak, nobody, nothing], Tuning())
    assert observed.histogram[14] == 1  # .70 up to .75
    assert observed.histogram[6] == 1  # .30 up to .35
    assert sum(observed.histogram) == 2
    assert observed.share("two_pass")[10] == 0.25  # at .50
    assert observed.share("nothing") == (0.25,) * 21
    assert observed.flips(0.5, 0.3) == observed.queries[1:2]
    assert observed.flips(0.5, 0.8) == observed.queries[:1]
    assert observed.flips(0.5, 0.51) == ()


HUB = "memory/notes/template.md"
TITLES = {HUB: "Weekly template", **{f"d{number}.md": f"Page {number}" for number in range(400)}}


def asked(queries: int, with_hub: int, word: str = "") -> dict[str, tuple[str, ...]]:
    """Return the first ten results of some queries, the hub among those of the first few."""
    return {
        f"question{number} {word}": (
            *((HUB,) if number < with_hub else ()),
            *(f"d{(number * 9 + place) % 400}.md" for place in range(9)),
        )
        for number in range(queries)
    }


def test_document_found_by_a_fifth_of_many_queries_turns_up_too_often() -> None:
    (found,) = find_over_retrieved(asked(40, 8), TITLES, 401)
    assert (found.path, found.occurrences, found.queries) == (HUB, 8, 40)
    assert find_over_retrieved(asked(40, 7), TITLES, 401) == ()

    assert find_over_retrieved(asked(9, 9), TITLES, 401) == ()
    assert find_over_retrieved(asked(12, 4), TITLES, 401) == ()

    assert find_over_retrieved(asked(40, 40, "templates"), TITLES, 401) == ()

    assert find_over_retrieved(asked(40, 12), TITLES, 60) == ()
    assert find_over_retrieved(asked(40, 20), TITLES, 60)
    assert find_over_retrieved(asked(40, 40), TITLES, 10) == ()
