"""Settings measured at once are worth what each is when ranked and measured alone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.evaluation.judged_evidence import EvidenceCompactor, JudgedEvidence
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.evaluation.metrics import judged_share, ndcg
from kbx_tui.search.evidence.evidence import Evidence, Topic
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Tuning
from tests.unit.search.building import components, entity, evidence, some_evidence, some_tuning

NO_LIMIT = 10**9


def judged(number: int, grades: dict[str, int]) -> JudgedQuery:
    return JudgedQuery(f"q{number}", f"query {number}", "own", grades, frozenset())


@st.composite
def some_judged(draw: st.DrawFn) -> list[tuple[JudgedQuery, Evidence]]:
    """Draw up to four judged queries with their evidence."""
    pairs = []
    for number, found in enumerate(draw(st.lists(some_evidence(), max_size=4))):
        paths = st.sampled_from([*found.paths, "memory/gone.md"])
        grades = draw(st.dictionaries(paths, st.integers(0, 3)))
        pairs.append((judged(number, {**grades, "memory/gone.md": 1}), found))
    return pairs


def read(pairs: list[tuple[JudgedQuery, Evidence]], tuning: Tuning) -> JudgedEvidence:
    found = {query.text: evidence for query, evidence in pairs}
    queries = [query for query, _ in pairs]
    return JudgedEvidence.read(queries, found.__getitem__, 1, tuning, limit=NO_LIMIT)


@given(some_judged(), some_tuning(), st.lists(some_tuning(), max_size=5))
def test_each_setting_is_worth_what_ranking_it_alone_is_worth(
    pairs: list[tuple[JudgedQuery, Evidence]], start: Tuning, tunings: list[Tuning]
) -> None:
    measured = read(pairs, start).measure(tunings)
    assert measured.ndcg.shape == measured.judged.shape == (len(tunings), len(pairs))
    for tuning, ndcgs, shares in zip(tunings, measured.ndcg, measured.judged, strict=True):
        for (query, found), figure, share in zip(pairs, ndcgs, shares, strict=True):
            top = [found.paths[row] for row in rank(found, tuning).best(10).tolist()]
            assert figure == ndcg(top, query.grades)
            assert share == judged_share(top, query.grades)


@given(some_evidence(), some_tuning())
def test_compact_evidence_ranks_as_before(found: Evidence, tuning: Tuning) -> None:
    before, after = rank(found, tuning), rank(EvidenceCompactor().compact(found), tuning)
    assert after.order.tolist() == before.order.tolist()
    assert (after.final == before.final).all()


def test_compact_evidence_resolves_ties_of_linked_documents_by_date() -> None:
    candidates = [(entity(0, 1.0, named=True), {0: 1.0, 1: 1.0})]
    nothing = [0.0, 0.0]
    found = evidence(
        components(nothing, nothing),
        components(nothing, nothing, query="r"),
        candidates,
        dates=("", "2026-01-02"),
        topic=Topic(full_relevance=0.5, thing_share=0.0),
    )
    tuning = Tuning(alpha=1.0)
    assert rank(found, tuning).best(10).tolist() == [1, 0]
    assert rank(EvidenceCompactor().compact(found), tuning).best(10).tolist() == [1, 0]


def test_what_queries_have_in_common_is_kept_once() -> None:
    compactor = EvidenceCompactor()
    sizes = []
    for bm25 in ([3.0] * 100, [4.0] * 100, [5.0] * 100):
        compactor.compact(evidence(components(bm25, [0.5] * 100)))
        sizes.append(compactor.bytes)
    assert sizes[2] - sizes[1] < sizes[0]
    assert sizes[2] - sizes[1] == sizes[1] - sizes[0]


def test_reading_stops_at_the_limit_and_says_how_many_are_left_out() -> None:
    queries = [judged(number, {"memory/notes/0000.md": 1}) for number in range(5)]
    found = evidence(components([3.0] * 50, [0.5] * 50))
    all_of_them = JudgedEvidence.read(queries, lambda _: found, 1, Tuning(), limit=NO_LIMIT)
    some = JudgedEvidence.read(queries, lambda _: found, 1, Tuning(), limit=all_of_them.bytes // 2)
    assert (len(all_of_them), all_of_them.left_out) == (5, 0)
    assert 0 < len(some) < 5
    assert len(some) + some.left_out == 5


def test_reading_reports_progress_and_can_be_stopped() -> None:
    queries = [judged(number, {"memory/notes/0000.md": 1}) for number in range(4)]
    found, calls = evidence(components([3.0], [0.5])), list[tuple[int, int]]()

    def stop_at_two(done: int, total: int) -> bool:
        calls.append((done, total))
        return done == 2

    kept = JudgedEvidence.read(
        queries, lambda _: found, 1, Tuning(), limit=NO_LIMIT, progress=stop_at_two
    )
    assert calls == [(0, 4), (1, 4), (2, 4)]
    assert (len(kept), kept.left_out) == (2, 2)


def test_queries_without_a_relevant_document_and_no_queries_measure_nothing() -> None:
    found = evidence(components([3.0], [0.5]))
    queries = [judged(0, {"memory/notes/0000.md": 0}), judged(1, {"memory/notes/0000.md": 1})]
    kept = JudgedEvidence.read(queries, lambda _: found, 1, Tuning(), limit=NO_LIMIT)
    assert [query.id for query in kept.queries] == ["q1"]

    nothing = JudgedEvidence(1)
    assert nothing.measure([Tuning(), replace(Tuning(), alpha=0.1)]).ndcg.shape == (2, 0)
    assert nothing.measure([]).ndcg.shape == (0, 0)


def test_lines_are_computed_again_when_they_take_too_much_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kbx_tui.evaluation.judged_evidence.LINES_LIMIT", 0)
    found = evidence(components([3.0, 9.0], [0.5, 0.1]))
    kept = read([(judged(0, {"memory/notes/0000.md": 1}), found)], Tuning())
    figures = [
        kept.measure([Tuning(hotness_weight=weight), Tuning(hotness_weight=0.5)]).ndcg
        for weight in (0.1, 0.2, 0.1)
    ]
    assert all((figure == figures[0]).all() for figure in figures)
    assert np.isfinite(figures[0]).all()


@given(some_judged(), some_judged(), some_tuning(), st.data())
def test_changed_grades_measure_as_if_read_afresh(
    before: list[tuple[JudgedQuery, Evidence]],
    after: list[tuple[JudgedQuery, Evidence]],
    tuning: Tuning,
    data: st.DataObject,
) -> None:
    """`after` grades the documents of `before` differently, and has other queries, or fewer."""
    found = {query.text: evidence for query, evidence in (*after, *before)}
    kept = read(before, tuning)
    kept.measure([tuning])
    queries = data.draw(st.permutations([query for query, _ in after]))
    for query in kept.regrade(queries, tuning):
        kept.add(query, found[query.text], tuning)
    fresh = read([(query, found[query.text]) for query in kept.queries], tuning)
    assert {query.text for query in kept.queries} == {query.text for query in queries}
    assert kept.queries == fresh.queries
    other = replace(tuning, alpha=0.25, entity_threshold=0.4)
    for measured in ("ndcg", "judged"):
        values, expected = (
            getattr(one.measure([tuning, other]), measured) for one in (kept, fresh)
        )
        assert (values == expected).all()
