"""A first version of the text that merges a draft with a known fact, as a person would write it.

Pure. Texts are as written; links and emphasis are kept, and so are the notes of the draft.
"""

from __future__ import annotations

import re

from kbx_tui.editing.pages.inline_markup import transfer_markup
from kbx_tui.knowledge.facts.fact_line import notes_in, read_fact_line
from kbx_tui.similarity.scoring.compared_words import FUNCTION_WORDS, analyse_words

_WORD = re.compile(r"\S+\s*")


def merged_text(text: str, known: str) -> str:
    """Return the text in which `m` begins: one sentence, or else both joined by a semicolon."""
    return one_sentence(text, known) or f"{_without_end(known)}; {text}"


def one_sentence(text: str, known: str) -> str:
    """Return one sentence that says what both say, empty if there is none that is safe to make.

    That is the text that contains all content words of the other. If both begin alike, it is the
    beginning with both ends: `likes milk and tea`.
    """
    ours, theirs = (analyse_words(read_fact_line(side).text).content for side in (text, known))
    if ours <= theirs:
        return known
    plain, notes = _split_notes(text)
    if theirs <= ours:
        marked = transfer_markup(plain, known)
        return "" if marked is None else marked + notes
    joined = _joined_ends(plain.rstrip(), known)
    return f"{joined} {notes}".strip() if joined else ""


def _joined_ends(text: str, known: str) -> str:
    """Return the common beginning and both ends, joined by `and`; empty if there is none."""
    start = _common_start(text, known)
    begins = known[:start]
    shared = analyse_words(begins).tokens
    ends = _without_end(known[start:]), text[start:].strip()
    if not set(shared) - FUNCTION_WORDS or not all(ends) or any(" and " in end for end in ends):
        return ""
    return f"{begins}{ends[0]} and {ends[1]}"


def _common_start(text: str, known: str) -> int:
    """Return how many characters of whole words two texts begin with in common."""
    length = 0
    for word, other in zip(_WORD.findall(text), _WORD.findall(known), strict=False):
        if word.casefold() != other.casefold() or word[-1:].strip():
            break
        length += len(word)
    return length


def _split_notes(text: str) -> tuple[str, str]:
    """Return a text without and with only its notes, such as a source."""
    notes = notes_in(text)
    start = text.find(notes[0]) if notes else len(text)
    return text[:start], text[start:]


def _without_end(text: str) -> str:
    return text.rstrip(" .;")
