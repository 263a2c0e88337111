"""Judged evidence, `kbx tune` and why not, on the real engine."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from kbx_tui import ConfigError, KnowledgeBase, NotFound
from kbx_tui.errors import OutOfRange
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.search.ranking.explain import compare, explain_pair
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.why_not import Dimension, changed_request
from kbx_tui.settings_file import load_settings, with_settings
from tests.command_line import CommandLine

TOML = """# our base
[search]
hierarchy_entity_threshold = 0.55  # tried in spring
hierarchy_alpha = 1.0

[app]
watch = false
"""


@pytest.fixture
def tuned(demo_copy: Path, kbx: CommandLine) -> Callable[..., str]:
    """Return a function that runs a command on the demo, with alpha 1 and judgments of its own."""
    (demo_copy / "kbx.toml").write_text(TOML)
    labelled = Path(__file__).parents[1] / "search" / "demo_judgments"

    def run(*arguments: str) -> str:
        if arguments[0] == "tune":
            arguments = ("tune", str(labelled), *arguments[1:])
        result = kbx("--kb", str(demo_copy), *arguments)
        assert result.code == 0, result.err
        return result.out

    return run


def test_what_wins_is_shown_then_written_then_undone(
    tuned: Callable[..., str], demo_copy: Path
) -> None:
    file = demo_copy / "kbx.toml"
    answer = json.loads(tuned("tune", "--json"))
    assert answer["wins"]
    assert answer["gain"] > 0.0
    assert "hierarchy_alpha" in answer["changes"]
    assert (answer["written"], file.read_text()) == (False, TOML)

    shown = tuned("tune", "--write", "--dry-run")
    assert "-hierarchy_alpha = 1.0" in shown
    assert file.read_text() == TOML

    answer = json.loads(tuned("tune", "--write", "--json"))
    assert answer["written"]
    written = file.read_text()
    assert "# our base" in written
    assert "# tried in spring" in written
    assert written.index("[search]") < written.index("[app]")
    assert load_settings(demo_copy).search.hierarchy_alpha < 1.0

    assert "kbx.toml" in tuned("undo")
    assert file.read_text() == TOML


def test_progress_is_reported_on_stderr(demo_copy: Path, kbx: CommandLine) -> None:
    labelled = Path(__file__).parents[1] / "search" / "demo_judgments"
    result = kbx("--kb", str(demo_copy), "tune", str(labelled), "--json")
    assert "kbx: judged queries: " in result.err
    assert "verdict" in json.loads(result.out)


def test_a_base_without_judgments_says_that_there_is_nothing_to_tune_by(
    demo_copy: Path, kbx: CommandLine
) -> None:
    (demo_copy / ".kbx" / "judgments.jsonl").unlink(missing_ok=True)
    for command in ("tune", "eval"):
        result = kbx("--kb", str(demo_copy), command)
        assert result.code == 4
        assert result.err.startswith("kbx: no query has a document judged relevant")
        assert "grade results with 0 to 3, or run `kbx judgments add" in result.err


def test_the_knowledge_base_uses_what_it_wrote(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        before = (demo_copy / "kbx.toml").read_bytes()
        tuning = kb.tuning(alpha=0.3, gate="hard")
        diff = kb.tuner.save(tuning, dry_run=True).diff
        assert "+hierarchy_alpha = 0.3" in diff
        assert (demo_copy / "kbx.toml").read_bytes() == before
        assert kb.tuner.save(tuning).written
        assert kb.tuning() == tuning
        assert not kb.tuner.save(tuning).written
        kb.undo()
        assert (demo_copy / "kbx.toml").read_bytes() == before
        assert kb.tuning().alpha == 0.5


def test_the_thresholds_of_asked_queries_are_observed(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        asked = ["what did Alice decide about rollbacks", "rollback", "zzyzx"]
        observed = kb.tuner.observe_thresholds(asked)
        assert [query.query for query in observed.queries] == asked
        assert observed.queries[0].top_score == 1.0
        assert observed.queries[0].outcomes[10] == "two_pass"
        assert kb.tuner.observe_thresholds(asked[:1]).queries == observed.queries[:1]


def test_settings_are_added_after_the_rest_of_a_file() -> None:
    assert with_settings(b"# notes\n", "search", {"hotness_weight": 0.1}) == (
        b"# notes\n\n[search]\nhotness_weight = 0.1\n"
    )
    assert with_settings(b"\xef\xbb\xbf[search]\r\n", "search", {"hotness_weight": 0.1}) == (
        b"\xef\xbb\xbf[search]\r\nhotness_weight = 0.1\n"
    )


@pytest.mark.parametrize("data", [b"search = 3\n", b"[search\n", b"\xff"])
def test_a_file_that_is_not_settings_is_refused(data: bytes) -> None:
    with pytest.raises(ConfigError, match=r"kbx\.toml"):
        with_settings(data, "search", {"hotness_weight": 0.1})


QUERY = "what did Alice decide about rollbacks"


@pytest.fixture(scope="module")
def kb(demo_kb_path: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(demo_kb_path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("query", "dimensions"),
    [
        (QUERY, {"path", "since"}),
        ("Alice and rollbacks", {"path", "pinned", "since"}),
        ("rollback rehearsal in March 2026", {"path", "since", "until", "dates"}),
        ("what did Alice do last week", {"path", "since"}),
        ("meetings since 2026-02", {"path", "until"}),
    ],
)
def test_changes_bring_the_document_into_the_top_of_a_search(
    kb: KnowledgeBase, query: str, dimensions: set[Dimension]
) -> None:
    request = SearchRequest(query, limit=5, today=date(2026, 3, 20))
    ranking = kb.rank(kb.retrieve(request))
    found = set()
    for row in ranking.order[6::4].tolist():
        path = ranking.evidence.paths[row]
        for change in kb.why_not(request, path, 5).changes:
            results = kb.search(changed_request(request, change.dimension, change.value)).results
            assert [result.path for result in results].index(path) + 1 == change.rank
            found.add(change.dimension)
    assert dimensions <= found


def test_widening_the_filter_is_proposed_for_what_a_filter_leaves_out(kb: KnowledgeBase) -> None:
    best = kb.search(QUERY).results[0].path
    answer = kb.why_not(QUERY, best, doc_types=("person",), since="2026")
    assert (answer.stage, answer.rank) == ("filtered", None)
    assert {change.dimension for change in answer.changes} <= {"doc_types", "since"}
    with pytest.raises(OutOfRange, match="limit must be 1 or more"):
        kb.why_not(QUERY, best, 0)
    answer = kb.why_not(QUERY, best, doc_types=("person",))
    assert [change.text for change in answer.changes] == ["also the type meeting"]
    assert answer.changes[0].value == ("person", "meeting")


def test_a_filter_is_widened_no_further_than_the_document_needs(kb: KnowledgeBase) -> None:
    result = kb.search("rollback plan").results[0]
    day, next_month = result.date, "2026-12"
    for request, dimension, value, text in (
        (SearchRequest("rollback plan", since=next_month), "since", day, f"from {day}"),
        (SearchRequest("rollback plan", until="2020"), "until", day, f"to {day}"),
        (SearchRequest("rollback plan", path="memory/people"), "path", "memory/",
         "in all of memory/"),
    ):  # fmt: skip
        (found,) = kb.why_not(request, result.path).changes
        assert (found.dimension, found.value, found.text) == (dimension, value, text)
        after = kb.search(changed_request(request, found.dimension, found.value))
        assert after.results[found.rank - 1].path == result.path


def test_filters_mutes_and_fast_are_named_as_leaving_a_document_out(kb: KnowledgeBase) -> None:
    path = kb.search("rollback plan").results[0].path
    shown_kind = f"type:{kb.documents.view(path).kind}"
    for typed, others in (("", ()), (shown_kind, ()), ("type:person", ("type:person",))):
        request = SearchRequest(f"rollback plan {typed}", muted_documents=[path])
        answer = kb.why_not(request, path)
        assert answer.standing.startswith("it is muted, so no search shows it")
        assert answer.left_out_by == others

    request = SearchRequest(
        "rollback plan", doc_types=("person", "company"), path="memory/road map", tags=("a b", "c")
    )
    answer = kb.why_not(request, path)
    assert answer.left_out_by == (
        'in:"memory/road map"', "type:person or type:company", 'tag:"a b" or tag:c'
    )  # fmt: skip

    best = kb.search(QUERY).results[0].path
    request = SearchRequest(f"type:person {QUERY} from:2020")
    (change,) = kb.why_not(request, best).changes
    assert (change.dimension, change.text) == ("query", "without type:person")
    assert changed_request(request, change.dimension, change.value).query == f"{QUERY} from:2020"

    found = kb.search(QUERY).results
    by_words = {result.path for result in kb.search(QUERY, fast=True).results}
    missing = next(result.path for result in found if result.path not in by_words)
    changes = kb.why_not(QUERY, missing, fast=True).changes
    assert "fast" in {change.dimension for change in changes}

    with pytest.raises(NotFound, match=r"the index holds no document 'memory/nothing\.md'"):
        kb.why_not(QUERY, "memory/nothing.md")


def test_two_settings_and_two_results_are_compared(kb: KnowledgeBase) -> None:
    evidence = kb.retrieve(QUERY)
    two_pass, flat = kb.rank(evidence), kb.rank(evidence, kb.tuning(hierarchy=False))
    comparison = compare(two_pass, flat)
    assert comparison.lost
    assert comparison.gained
    first, second = two_pass.best(2).tolist()
    pair = explain_pair(two_pass, second, first)
    assert pair.text("A", "B").startswith("A beats B by .")


QUERIES = tuple(
    JudgedQuery(text, text, "own", {"memory/decisions/rollback-is-one-command.md": 2}, frozenset())
    for text in ("what did Alice decide about rollbacks", "rollback", "who owns the rollback plan")
)


def test_settings_are_worth_what_an_evaluation_says(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        flat = replace(kb.tuning(), hierarchy=False)
        figures = kb.tuner.judged_evidence(QUERIES).measure([kb.tuning(), flat]).ndcg
        runs = [kb.judgments.evaluate(QUERIES), kb.judgments.evaluate(QUERIES, mode="flat")]
    expected = [[result.ndcg for result in run.results] for run in runs]
    assert figures.tolist() == expected
