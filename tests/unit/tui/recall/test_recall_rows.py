"""The rows of the recall box: order, search, and what is new."""

from kbx_tui.search.query_history import NewResult, News, PastQuery, SavedQuery
from kbx_tui.tui.boxes.recall_box import ago, document_rows, matching, news_words, recall_rows
from kbx_tui.tui.explore.search_state import USUAL

ROWS = recall_rows(
    [SavedQuery("Incidents", "error code 5032", 60.0)],
    [
        PastQuery("rollback plan", 100.0, 1200, ("memory/a.md",), {"alpha": 0.7}),
        PastQuery("what did alice decide\x1b"),
        PastQuery("rehearsal", 1.0, 3, (), {"alpha": "high"}),
    ],
    USUAL,
    now=4000.0,
)


def test_saved_queries_come_first_then_past_ones_with_what_they_found() -> None:
    saved, rollback, alice, broken = ROWS
    assert (rollback.found, rollback.when) == ("1,200", "1h ago")
    assert rollback.detail == "alpha .70 · found memory/a.md"
    assert (alice.found, alice.when, "\x1b" in alice.text) == ("", "", False)
    assert (broken.state, broken.detail) == (None, "its settings cannot be read")
    assert (saved.name, saved.state is not None) == ("Incidents", True)


def test_queries_are_found_by_words_in_any_order_else_by_similarity() -> None:
    assert matching(ROWS, "") == ROWS
    assert [row.text for row in matching(ROWS, "plan ROLL")] == ["rollback plan"]
    assert [row.text for row in matching(ROWS, "incid")] == ["error code 5032"]
    assert [row.text for row in matching(ROWS, "rolback pln")] == ["rollback plan"]
    assert matching(ROWS, "zzzz") == []


def test_news_are_counted_and_listed() -> None:
    results = (NewResult("a.md", "A", "2026-03-01", True), NewResult("b.md", "", "", False))
    news = News(SavedQuery("x", "y", 0.0), results)
    assert news_words(news) == "1 new, 1 changed"
    assert [(row.name, row.text, row.path) for row in document_rows(news)] == [
        ("new", "A", "a.md"),
        ("changed", "b.md", "b.md"),
    ]
    assert news_words(News(news.saved, ())) == "nothing new"


def test_time_is_shown_in_its_largest_unit() -> None:
    assert [ago(s) for s in (-5, 59, 60, 7200, 3 * 86400, 800 * 86400)] == [
        *("now", "now", "1min ago", "2h ago", "3d ago", "2y ago"),
    ]
