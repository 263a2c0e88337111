"""Why nothing was found, and what a base offers before a query."""

from dataclasses import replace

import pytest

from kbx_tui.search.evidence.evidence import Scope, Signal
from kbx_tui.search.query.typed_filters import read_filters
from kbx_tui.search.request import Filters
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import Line, longest_fitting
from kbx_tui.tui.explore.answer_display import has_only_common_words, no_query, no_results
from kbx_tui.tui.explore.inputs import mode_candidates
from kbx_tui.tui.explore.presenting import signal_words
from kbx_tui.tui.explore.view import BaseSummary, DatesView, ExploreView, Mode


def text_of(lines: list[Line]) -> str:
    return " ".join("".join(span.text for span in line) for line in lines)


@pytest.mark.parametrize(
    ("query", "is_common"),
    [("the", True), ("what of it", True), ("the plan", False), ("", False), ("?!", False)],
)
def test_words_that_nearly_every_text_has_are_recognised(query: str, is_common: bool) -> None:
    assert has_only_common_words(query) is is_common


def test_no_results_say_that_words_are_common_or_documents_missing() -> None:
    mode = Mode("flat", "no entity named", "default", 5.0, 1.0)
    view = ExploreView("the", mode, 0.5, (), (), 0, Scope("", Filters(), 63, 63), "", "")
    shown = text_of(no_results(view, Keymap())(200))
    assert "only words that nearly every text has" in shown
    assert "None of the 63 documents" not in shown

    mode = Mode("flat", "no entity named", "default", 5.0, 1.0)
    view = ExploreView("plan", mode, 0.5, (), (), 0, Scope("", Filters(), 0, 0), "", "")
    assert "This knowledge base holds no document." in text_of(no_results(view, Keymap())(200))


@pytest.mark.parametrize(
    ("query", "emptied_by", "reason", "advice"),
    [
        (
            "plan from:yesterday",
            0,
            "from:yesterday holds no date such as 2026-03-17",
            "v d removes",
        ),
        ("type:meeting tag:x in:a", 1, "No document matches type:meeting and tag:x", "/ changes"),
        ("plan type:meeting", None, "None of the 25 documents with type:meeting has", "v d takes"),
        ("plan type:log", None, "The one document with type:log does not have these", "v d takes"),
    ],
)
def test_a_filter_that_lets_nothing_in_is_named(
    query: str, emptied_by: int | None, reason: str, advice: str
) -> None:
    typed = read_filters(query).filters
    let_in = {"plan type:meeting": 25, "plan type:log": 1}.get(query, 0)
    scope = Scope("", Filters(typed=typed), let_in, 63, emptied_by=emptied_by)
    mode = Mode("flat", "no entity named", "default", 5.0, 1.0)
    view = ExploreView(query, mode, 0.5, (), (), 0, scope, "", "", filters=(*map(str, typed),))
    shown = text_of(no_results(view, Keymap())(200))
    assert reason in shown
    assert advice in shown


def test_a_base_is_summed_up_and_offers_its_own_queries() -> None:
    summary = BaseSummary(
        "demo", "/demo", True, 45, 4, contents="41 notes, 4 people", queries=("who is Ann?", "plan")
    )
    shown = text_of(no_query(summary, (), Keymap())(80))
    assert "for example  who is Ann?" in shown
    assert "↑ enter      asks the next of them" in shown
    assert "41 notes, 4 people" in shown
    one = text_of(no_query(summary, ("plan",), Keymap())(80))
    assert "recent queries  plan" in one
    assert "↑ enter         asks it" in one


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        (
            Mode("two-pass", "Alice Chen + Migration", "default", 9.4, 1.0),
            "two-pass · Alice Chen + Migration · 9 ms",
        ),
        (
            Mode("two-pass", "Alice Chen", "seed", 9.4, 1.0),
            "two-pass, seed · Alice Chen · 9 ms",
        ),
        (Mode("flat", "no entity named", "default", 12.0, 1.0), "flat · no entity named · 12 ms"),
        (Mode("fast", "", "default", 3.0, 1.0), "fast · 3 ms"),
        (
            Mode("flat", "switched off", "default", 3.0, 0.34),
            "flat · switched off · meaning incomplete · 3 ms",
        ),
        (
            Mode("fast", "", "default", 3.0, 1.0, is_cut=True),
            "fast · first 2,000 characters · 3 ms",
        ),
    ],
    ids=["two-pass", "seed", "flat", "fast", "vectors-incomplete", "cut"],
)
def test_badge_shows_mode_reason_and_time(mode: Mode, text: str) -> None:
    assert mode_candidates(mode)[0] == text


def test_small_badge_keeps_mode_and_reason() -> None:
    mode = Mode("flat", "no sure entity", "default", 12.0, 1.0)
    assert longest_fitting(mode_candidates(mode), 24) == "flat · no sure entity"
    assert longest_fitting(mode_candidates(mode), 6) == "flat"


def test_several_facts_are_counted_and_escape_sequences_removed() -> None:
    signals = [Signal("name", 1.0, "alice"), Signal("fact", 0.4, "a"), Signal("fact", 0.3, "b")]
    assert signal_words(signals) == "name “alice”, 2 facts"
    assert "\x1b" not in signal_words([Signal("fact", 0.4, "\x1b[2Jgone")])


def test_a_time_without_documents_is_the_first_reason_that_nothing_is_found() -> None:
    mode, scope = Mode("flat", "no entity named", "default", 5.0, 1.0), Scope("", Filters(), 63, 63)
    dates = DatesView("prefer", "", "16 to 22 November 2026")
    query = "what was decided last week?"
    view = ExploreView(query, mode, 0.5, (), (), 0, scope, "", "", dates=dates)
    shown = text_of(no_results(view, Keymap())(200))
    assert "No document is dated 16 to 22 November 2026. None of the 63 documents has" in shown
    assert "Ask for another time, or name a person or project." in shown
    off = replace(view, dates=DatesView("off", "", "16 to 22 November 2026"))
    assert "No document is dated" not in text_of(no_results(off, Keymap())(200))
