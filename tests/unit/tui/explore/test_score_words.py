"""The sentences that say what numbers and signs mean."""

from dataclasses import replace
from typing import get_args

import pytest

from kbx_tui.formatting import FLAT_REASONS
from kbx_tui.search.evidence.evidence import Scope, SignalKind
from kbx_tui.search.request import Filters
from kbx_tui.tui.explore.inputs import threshold_note
from kbx_tui.tui.explore.presenting import (
    SIGNAL_WORDS,
    link_sentence,
    meaning_sentence,
    words_sentence,
)
from kbx_tui.tui.explore.view import (
    Addend,
    EntityRow,
    ExploreView,
    Mode,
    ResultRow,
    Section,
    Term,
    Why,
)
from kbx_tui.tui.explore.why_pane import (
    MEANINGS,
    REASONS,
    SIGNALS,
    entity_words,
    meanings,
    mode_words,
    moved_words,
    result_words,
    why_words,
)
from kbx_tui.tui.widgets.number_slider import NumberSlider
from tests.command_line import CHECKOUT

ALICE = EntityRow("person:alice", "Alice", "person", "", 1.0, True, "name “alice”, 2 facts")
PLATFORM = EntityRow("team:platform", "Platform", "team", "", 0.4, False, "")


def test_every_reason_signal_and_meaning_has_a_sentence_on_the_page() -> None:
    assert REASONS.keys() == FLAT_REASONS.keys()
    assert set(SIGNALS) == {SIGNAL_WORDS.get(kind, kind) for kind in get_args(SignalKind)}

    page = (CHECKOUT / "docs" / "scores.md").read_text(encoding="utf-8")
    for sentence in (*MEANINGS.values(), *REASONS.values(), *SIGNALS.values()):
        assert f"| {sentence} |" in page


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (words_sentence(0.0, 0.0), "bm25 0.0: no word of your question occurs here"),
        (words_sentence(15.5, 0.51), "bm25 15.5: rare words of your question occur often here"),
        (words_sentence(6.0, 0.29), "bm25 6.0: several words of your question occur here"),
        (meaning_sentence(None), "no number: meaning was not compared for this document"),
        (meaning_sentence(0.45), "cosine .45: its best passage is about something related"),
        (meaning_sentence(0.62), "cosine .62: its best passage says nearly what you ask"),
        (
            link_sentence("Alice", 0.4, "attendee × .80 answered"),
            "Alice adds .40: the document is linked to it by attendee, as far as it answers the"
            " topic",
        ),
        (link_sentence("Alice", 0.0, "not linked"), "Alice adds nothing: not linked"),
    ],
)
def test_numbers_are_put_in_words(sentence: str, expected: str) -> None:
    assert sentence == expected


def test_each_line_of_the_why_pane_has_a_sentence() -> None:
    document = Section(
        "document",
        0.3,
        (Addend(0.1, 0.66, "words", "bm25 3.8", "few words"), Addend(0.2, None, "date", "March")),
        ("98 % of a full answer (relevance .34)", "compared with a page too"),
    )
    entity = Section("entity", 0.9, (Addend(0.9, None, "Alice", "title", "by its title"),))
    terms = (Term(0.5, 0.3, "document"), Term(0.5, 0.9, "entity"))
    why = Why(0, "Plan", "plan.md", "note", "", 0.6, terms, None, "title", (document, entity))
    words = dict(why_words(why, 0.5))
    assert list(words) == [
        "title asked for", "score .60", "alpha .50", "document .30", "words .10", "date .20",
        "98 % of a full answer (relevance .34)", "compared with a page too", "entity .90",
        "Alice .90",
    ]  # fmt: skip
    assert all(words.values())
    assert words["alpha .50"] == "the document part weighs 50 %, the entity part 50 %"


@pytest.mark.parametrize(
    ("entities", "mode", "note"),
    [
        ((ALICE, PLATFORM), "two-pass", "1 entity counts, next change at .40"),
        ((PLATFORM,), "flat", "0 entities count, next change at .40"),
        (
            (replace(ALICE, kept=False, muted=True), PLATFORM),
            "flat",
            "0 entities count, next change at .40",
        ),
        ((ALICE,), "fast", "threshold has no effect on a fast search"),
        (
            (ALICE, replace(PLATFORM, is_outnamed=True)),
            "two-pass",
            "threshold has no effect: only named ones count",
        ),
        (
            (ALICE, replace(PLATFORM, score=0.8, left_out="only the best 1 count")),
            "two-pass",
            "threshold has no effect: only the best 1 count",
        ),
        ((ALICE,), "two-pass", "threshold has no effect: all entities are sure"),
        ((), "flat", "threshold has no effect: no entity is found"),
    ],
)
def test_the_threshold_says_when_it_has_no_effect(
    entities: tuple[EntityRow, ...], mode: str, note: str
) -> None:
    assert threshold_note(view_of(entities, mode)) == note


def view_of(
    entities: tuple[EntityRow, ...] = (),
    mode: str = "two-pass",
    results: tuple[ResultRow, ...] = (),
    note: str = "",
) -> ExploreView:
    how, scope = Mode(mode, "", "default", 5.0, 1.0), Scope("", Filters(), 63, 63)
    return ExploreView("q", how, 0.5, entities, results, 3, scope, "", note)


def test_a_moved_slider_says_what_changed() -> None:
    rows = [ResultRow(n, f"{n}.md", "", "", n + 1, 0.5, 0.5, 0.0, 0.0, "") for n in range(3)]
    swapped = (replace(rows[1], rank=1), replace(rows[0], rank=2), rows[2])
    after = view_of((), results=swapped, note="next change at .60")
    alpha, threshold = NumberSlider("alpha", 0.55), NumberSlider("threshold", 0.6)
    assert moved_words(alpha, rows, after) == "alpha .55: 2 results moved, next change at .60"
    assert moved_words(threshold, rows, after) == (
        "threshold .60: 2 results moved, threshold has no effect: no entity is found"
    )


def test_a_threshold_that_moves_nothing_says_why_and_what_would() -> None:
    threshold = NumberSlider("threshold", 0.5)
    view = view_of((replace(ALICE, score=0.62), replace(PLATFORM, score=0.453)))
    assert moved_words(threshold, (), view) == (
        "threshold .50: no score changed, 1 entity counts, next changes at .45 and .63"
    )
    sure = view_of((replace(ALICE, score=1.0),))
    none = "threshold has no effect: all entities are sure"
    assert moved_words(threshold, (), sure) == none.replace("threshold", "threshold .50")
    row = ResultRow(0, "0.md", "", "", 1, 0.5, 0.5, 0.0, 0.0, "")
    higher = view_of(sure.entities, results=(replace(row, score=0.7),))
    assert moved_words(threshold, sure.results, sure, is_back=True) == (
        f"threshold .50 again: all is as it was, {none}"
    )
    assert moved_words(threshold, [row], higher) == f"threshold .50: the order stays, {none}"


def test_parts_of_a_result_add_up_to_its_score() -> None:
    result = ResultRow(0, "a.md", "A", "", 1, 0.861, 0.3956, 0.4654, 0.0, "")
    words = dict(result_words(result))
    assert list(words)[:3] == [".86", "━ .40", "─ .46"]
    assert "alpha × how fully its own text answers" in words["━ .40"]
    assert "linked to what you named" in words["─ .46"]


def test_alpha_modes_and_entities_are_explained() -> None:
    view = view_of(note="next change at .90")
    assert dict(meanings(NumberSlider("alpha", 1.0), view, 1.0))["now"] == (
        "only the document part counts; next change at .90"
    )
    reason = FLAT_REASONS["below_threshold"]
    mode = Mode("flat", reason, "seed", 5.0, 0.5)
    view = ExploreView("q", mode, 0.5, (), (), 0, Scope("", Filters(), 1, 1), "", "")
    assert dict(mode_words(view)) == {
        "flat": MEANINGS["flat"],
        reason: REASONS["below_threshold"],
        "seed": MEANINGS["seed"],
        "meaning incomplete": "some texts have no vector yet: only their words find them.",
    }
    kept, dropped = dict(entity_words(ALICE, 0.5)), dict(entity_words(PLATFORM, 0.5))
    assert kept["name “alice”, 2 facts"] == f"{SIGNALS['name']}; {SIGNALS['fact']}."
    assert dropped["why ○"] == "its score is below the threshold of .50"


def test_only_the_signals_of_an_entity_are_explained() -> None:
    signals = "first name “Grace” (a name here, 92 %), fact “her team has a new role”, meaning"
    words = dict(entity_words(replace(ALICE, signals=signals), 0.5))
    found = [SIGNALS[word] for word in ("first name", "fact", "meaning")]
    assert words[signals] == "; ".join(found) + "."
