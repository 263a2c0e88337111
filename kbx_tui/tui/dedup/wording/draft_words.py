"""What the panes of the dedup mode show, in sentences for the help. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kbx_tui.formatting import format_score
from kbx_tui.tui.dedup.known_rows import KnownRow

if TYPE_CHECKING:
    from kbx_tui.tui.dedup.view import DraftRow

Meanings = tuple[tuple[str, str], ...]

STATES: Mapping[str, str] = {
    "new": "Nothing that is known about its entity is similar enough. It would be written.",
    "exact": "Its entity has this very text already, apart from case, accents and spacing.",
    "near": "A fact of its entity says almost the same: compare them word by word on the right.",
    "conflict": "A similar fact differs in a number, date, name, negation or opposite.",
    "repeated": "An earlier draft of this list says the same.",
    "checking": "It is being compared with what is known.",
}
ACTIONS: Mapping[str, str] = {
    "create": "A new line on the page of its entity.",
    "merge": "One line in place of the known one, which you edit first.",
    "supersede": "The known line is struck out, and the draft written above it.",
    "skip": "Nothing is written, and the draft leaves the list.",
    "keep both": "Both lines stay as they are on their pages, and are not found again.",
}
RELATIONS: Mapping[str, str] = {
    "exact": "the same text",
    "duplicate": "the same in other words",
    "conflict": "similar, but they contradict each other",
    "related": "about the same thing",
    "different": "something else",
}


def draft_words(draft: DraftRow) -> Meanings:
    """Return what state and action of a draft mean."""
    words = [(f"{draft.sign} {draft.state}", STATES[draft.state])]
    if draft.hint:
        about = "The base says this of exactly one other. Perhaps only one of them can be right."
        words.append((draft.hint, f"{about} It decides nothing."))
    if draft.action:
        mark = "✓" if draft.is_decided else "" if draft.is_sure else "?"
        by = "You have decided that." if draft.is_decided else "It is proposed."
        review = "" if draft.is_decided or draft.is_sure else " The ? asks you to look at it first."
        text = f"{ACTIONS[draft.action_words]} {by}{review}"
        words.append((f"→ {draft.action_words} {mark}".rstrip(), text))
    return tuple(words)


def known_words(known: KnownRow) -> Meanings:
    """Return what the figures beside a known fact mean."""
    score = "How likely both say the same, 0 to 1, calibrated on pairs of facts."
    decides = "" if known.decides else " It belongs to another entity, so it does not decide."
    words = [(f"{format_score(known.score)} {known.relation}", f"{score}{decides}")]
    if known.relation in RELATIONS:
        words[0] = (words[0][0], f"{score} Here: {RELATIONS[known.relation]}.{decides}")
    details = "raw is the similarity of their vectors, words the share of content words in common."
    words.append((known.details, details[0].upper() + details[1:]))
    if known.conflicts:
        words.append(
            (known.conflicts, "What the known fact says, and what the draft says instead.")
        )
    words.append(("[words]", "In brackets is what only one of the two texts has."))
    return tuple(words)


def threshold_words(threshold: float, note: str) -> Meanings:
    """Return what the threshold of drafts does, and the note on it, if any."""
    text = (
        "From this score on, a known fact keeps a draft from being new. Moving it searches nothing."
    )
    return ((f"threshold {format_score(threshold)}", text), *((("now", note),) if note else ()))


DIFF_WORDS: Meanings = (
    (
        "+ │ −",
        "The very lines of the file that would be added and removed, as decided or proposed.",
    ),
)
