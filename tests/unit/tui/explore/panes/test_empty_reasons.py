"""Why nothing was found, and what a base offers before a query."""

from __future__ import annotations

import pytest

from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import Line
from kbx_tui.tui.explore.answer_display import has_only_common_words, no_query, no_results
from kbx_tui.tui.explore.view import BaseSummary, ExploreView, Mode, ScopeView


def text_of(lines: list[Line]) -> str:
    return " ".join("".join(span.text for span in line) for line in lines)


@pytest.mark.parametrize(
    ("query", "is_common"),
    [("the", True), ("what of it", True), ("the plan", False), ("", False), ("?!", False)],
)
def test_words_that_nearly_every_text_has_are_recognised(query: str, is_common: bool) -> None:
    assert has_only_common_words(query) is is_common


def test_a_query_of_common_words_is_said_to_be_one() -> None:
    mode = Mode("flat", "no entity named", "default", 5.0, 1.0)
    view = ExploreView("the", mode, 0.5, (), (), 0, ScopeView("", 63, 63), "", "")
    shown = text_of(no_results(view, Keymap())(200))
    assert "only words that nearly every text has" in shown
    assert "None of the 63 documents" not in shown


def test_a_base_without_documents_is_said_to_have_none() -> None:
    mode = Mode("flat", "no entity named", "default", 5.0, 1.0)
    view = ExploreView("plan", mode, 0.5, (), (), 0, ScopeView("", 0, 0), "", "")
    assert "This knowledge base holds no document." in text_of(no_results(view, Keymap())(200))


def test_a_base_is_summed_up_and_offers_its_own_queries() -> None:
    summary = BaseSummary(
        "demo", "/demo", True, 45, 4, contents="41 notes, 4 people", queries=("who is Ann?", "plan")
    )
    shown = text_of(no_query(summary, key="↑")(80))
    assert "for example  who is Ann?" in shown
    assert "↑ asks the next of them" in shown
    assert "41 notes, 4 people" in shown
    one = text_of(no_query(summary, ("plan",), "↑")(80))
    assert "recent queries  plan" in one
    assert "↑ asks it" in one
