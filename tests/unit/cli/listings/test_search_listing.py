from dataclasses import replace

import pytest
from rich.cells import cell_len

from kbx_tui.cli import text_output as listing
from kbx_tui.search.results.response import PassOneEntity, SearchMeta, SearchResponse, SearchResult
from tests.unit.search.results.test_score_sums import EXPLANATION

RESULT = SearchResult(
    path="memory/meetings/2026/03/17/go-no-go.md",
    title="Migration go/no-go, 移行の計画, and a title that is longer than most terminals are wide "
    * 2,
    date="2026-03-17",
    doc_type="meeting",
    score=0.8649,
    snippet="We cut over on Thursday, Alice signs off after the migration rehearsal. " * 3,
    line=14,
    matches=((51, 60), (123, 132)),
    explain=EXPLANATION,
)
META = SearchMeta(
    search_mode="two_pass",
    search_mode_reason="entities",
    pass1_entities=(
        PassOneEntity("person:alice-chen", "Alice Chen", "person", 1.0, "memory/people/a.md"),
        PassOneEntity("team:platform", "Platform", "team", 0.41, "memory/teams/platform.md"),
    ),
    path_filter=None,
    timings={"total_ms": 9.4},
    total_matched=43,
    in_scope=43,
    vector_share=1.0,
    explain={"kept_entities": ["person:alice-chen"]},
)
RESPONSE = SearchResponse("alice migration", (RESULT,), META)


@pytest.mark.parametrize("width", [40, 50, 80, 100, 120])
@pytest.mark.parametrize("date", ["2026-03-17", "2026-03-30/04-05"])
def test_no_line_except_the_path_is_wider_than_the_terminal(width: int, date: str) -> None:
    result = replace(RESULT, date=date)
    first, path, *snippet = listing.result_lines(1, result, width, rank_width=2)
    for line in (first, *snippet, listing.entity_line(META, width)):
        assert cell_len(line.plain) <= width
    assert path.plain.strip() == f"{RESULT.path}:14"


@pytest.mark.parametrize(("width", "bar"), [(50, 0), (60, 9), (100, 17)], ids=str)
def test_score_bar_shrinks_with_the_terminal(width: int, bar: int) -> None:
    first = listing.result_lines(1, RESULT, width, rank_width=2)[0].plain
    assert sum(first.count(block) for block in "━─") == bar


def test_heading_and_entities_say_what_was_kept() -> None:
    assert listing.heading(RESPONSE).plain == "two-pass · Alice Chen · 1 of 43"
    assert listing.entity_line(META, 80).plain == "● Alice Chen 1.00   ○ Platform .41"

    newest = replace(META, explain={"kept_entities": [], "sort": "date"}, total_matched=300)
    heading = listing.heading(SearchResponse("q", (), newest)).plain
    assert heading.endswith("0 of the best 50, newest first")


@pytest.mark.parametrize(
    ("reason", "heading"),
    [
        ("disabled", "flat · entities switched off · 1 of 43"),
        ("fast", "fast · 1 of 43"),
        ("no_entities", "flat · no entity named · 1 of 43"),
        ("too_broad", "flat · too many similar entities · 1 of 43"),
    ],
)
def test_heading_says_why_a_search_was_flat(reason: str, heading: str) -> None:
    meta = replace(META, search_mode="flat", search_mode_reason=reason)
    assert listing.heading(replace(RESPONSE, meta=meta)).plain == heading


def test_highlighted_spans_stay_on_their_words_after_escape_sequences_are_removed() -> None:
    line = listing.highlighted("\x1b[31mred\x1b[0m apple\tpie", [(13, 18)])
    assert line.plain == "red apple pie"
    (span,) = [span for span in line.spans if "bold" in str(span.style)]
    assert line.plain[span.start : span.end] == "apple"


def test_feedback_documents_are_named() -> None:
    drawn_to = [
        {"path": "a.md", "title": "Ferries"},
        {"path": "b.md", "title": "Red\x1b[31m boats"},
    ]
    explained = replace(META, explain={"kept_entities": [], "drawn_to": drawn_to})
    assert listing.feedback_line(explained) == "meaning moved towards Ferries, Red boats"
    assert listing.feedback_line(META) == ""


KNOBS = {
    "filters": {"types": ["meeting", "note"], "from": None, "to": None, "tags": [], "entities": []},
    "pinned": [],
    "muted": ["team:platform"],
    "documents": 63,
    "reranked": 0,
    "hierarchy_alpha": 0.5,
    "hierarchy_threshold": 0.4,
    "max_entities": 3,
    "gate": "hard",
    "parent": "max",
    "preset": "default",
}


def test_explain_names_scope_gate_parent_rule_and_most_entities() -> None:
    explained = replace(META, explain=KNOBS, path_filter="memory/meetings")
    assert listing.settings_line(explained) == (
        "43 of 63 documents in scope · path memory/meetings · types meeting,note"
        " · muted team:platform · alpha .50 · threshold .40 · at most 3 entities"
        " · gate hard · parent max"
    )
    seed = replace(explained, explain={**KNOBS, "preset": "seed"})
    assert listing.settings_line(seed).endswith("parent max · preset seed")
    flat = replace(explained, search_mode="flat", path_filter=None)
    assert listing.settings_line(flat) == (
        "43 of 63 documents in scope · types meeting,note · muted team:platform"
    )


@pytest.mark.parametrize("is_cut", [True, False])
def test_a_snippet_that_ends_within_a_sentence_has_an_ellipsis(is_cut: bool) -> None:
    result = replace(RESULT, is_cut=is_cut)
    snippet = "".join(line.plain for line in listing.result_lines(1, result, 80, rank_width=2)[2:])
    assert snippet.endswith(" …") == is_cut
