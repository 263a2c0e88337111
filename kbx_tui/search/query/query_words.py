"""The words of a query: which are used up, and what stands around a word."""

from __future__ import annotations

from collections.abc import Sequence

from kbx_tui.knowledge.entities.common_words import COMMON_WORDS, HONORIFICS
from kbx_tui.search.query.english_words import (
    ASKING_AFTER,
    ASKING_BEFORE,
    ASKING_WHO,
    DAYS_AND_MONTHS,
    FUNCTION_WORDS,
    NAMES_THAT_ARE_WORDS,
    OFFICES,
    REQUEST_WORDS,
    VERB_FOLLOWS,
    has_topic,
    words_of,
)

TITLE_FROM = 3
"""A query of more words than this, all with capitals, is written like a title: they say nothing."""

_OPENINGS = FUNCTION_WORDS | REQUEST_WORDS | ASKING_BEFORE | HONORIFICS | OFFICES
"""Words that a name stands after in English."""

_ENDS = frozenset("?!.;:,&")
_FARTHEST = 20
"""Characters between two names of a list."""
_LISTING = frozenset({",", "&", "and", "or", ", and", ", or"})


class QueryWords:
    """The words of a query, and which of them are used up."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = words_of(text)
        """In order; methods count them from 0."""
        self.taken = [False] * len(self.words)
        self.all_lower = not any(
            word.is_capitalised and (at > 0 or word.folded not in _OPENINGS)
            for at, word in enumerate(self.words)
        )
        """True when capitals tell nothing: there are none, but for the first of a question's."""
        topic = [word for word in self.words if word.folded not in FUNCTION_WORDS]
        self.in_title_case = len(topic) > TITLE_FROM and all(word.is_capitalised for word in topic)

    def is_free(self, at: int, size: int) -> bool:
        """Tell whether none of the words from `at` on is used up."""
        return not any(self.taken[at : at + size])

    def take(self, at: int, size: int) -> tuple[int, int]:
        """Use words up and return their span, with the honorifics before them."""
        self.taken[at : at + size] = [True] * size
        first = at
        while first and self.words[first - 1].folded in HONORIFICS - {"the"}:
            first -= 1
            self.taken[first] = True
        return self.words[first].start, self.words[at + size - 1].end

    def asks_who(self, at: int) -> bool:
        """Tell whether word `at` is all that is asked for: `Will`, `who is Will?`"""
        if at + 1 < len(self.words):
            return False
        before = tuple(word.folded for word in self.words[:at])
        return not before or before in ASKING_WHO

    def is_listed_with(self, at: int, spans: Sequence[tuple[int, int]]) -> bool:
        """Tell whether no more than `and` or a comma parts word `at` from one of some stretches.

        It must end there or go on as with a name: `alice or chase the invoice` lists nobody.
        """
        word, after = self.words[at], self.after(at + 1)
        goes_on = not after or after in ASKING_AFTER or after in _LISTING
        sign = self.text[word.end : word.end + _FARTHEST].lstrip()[:1]
        if not (goes_on or sign in _ENDS):
            return False
        return any(
            self._is_listing(end, word.start) or self._is_listing(word.end, start)
            for start, end in reversed(spans)  # in a list the one beside it came last
        )

    def _is_listing(self, end: int, start: int) -> bool:
        """Tell whether what stands between two stretches lists them."""
        between = self.text[end:start] if start - end <= _FARTHEST else ""
        return " ".join(between.casefold().split()) in _LISTING

    def before(self, at: int) -> str:
        """Return the word before word `at`, folded; empty at the start."""
        return self.words[at - 1].folded if at else ""

    def after(self, end: int) -> str:
        """Return word `end`, the one after a stretch, folded; empty past the last."""
        return self.words[end].folded if end < len(self.words) else ""

    def is_compound(self, at: int, size: int) -> bool:
        """Tell whether a hyphen joins the words to others: `Chapman-Enskog`."""
        start, end = self.words[at].start, self.words[at + size - 1].end
        before, after = self.text[max(start - 2, 0) : start], self.text[end : end + 2]
        return (before[-1:] in "-‐‑–" and before[:1].isalnum()) or (
            after[:1] in "-‐‑–" and after[1:].isalnum()
        )

    def is_within_a_name(self, at: int, size: int) -> bool:
        """Tell whether a word beside it makes the words part of a longer name, of someone or
        something else: `Gerard Salton` is no J. M. Gerard.
        """
        return self._may_be_first(at - 1) or self.may_be_surname_after(at + size)

    def may_be_surname_after(self, at: int) -> bool:
        """Tell whether word `at` is written like a surname of who stands right before it."""
        return self._is_like_a_name(at, at - 1) and self.words[at].folded not in DAYS_AND_MONTHS

    def _may_be_first(self, at: int) -> bool:
        dates = DAYS_AND_MONTHS - NAMES_THAT_ARE_WORDS
        return self._is_like_a_name(at, at) and self.words[at].folded not in dates

    def _is_like_a_name(self, at: int, joint: int) -> bool:
        if not 0 < at < len(self.words) or self.taken[at] or self.in_title_case:
            return False
        word = self.words[at]
        if self._gap(joint) != " " or not word.is_capitalised or word.text.isupper():
            return False
        return word.folded not in COMMON_WORDS | HONORIFICS | FUNCTION_WORDS | OFFICES

    def has_other_surname(self, at: int) -> bool:
        """Tell whether the words around first name `at` and the word after it, which is written
        like a surname, show that the two are one name.

        `did X Y agree` and `X Y said` do. The end of the query, punctuation and other words without
        a topic do after an English beginning only: `Hat Ruth Urlaub` ends with a noun. After `tell
        X` a clause may begin: `tell Ruth Postgres is down`.
        """
        before, after, gap = self.before(at), self.after(at + 2), self._gap(at + 1)
        if before in ("tell", "told"):
            return False
        if before in VERB_FOLLOWS or (gap == " " and after in ASKING_AFTER):
            return True
        if before and before not in _OPENINGS:
            return False
        possessive = gap in ("'", "’") and after == "s"
        ends = not after or (gap[0] in ".,;:!?)" and gap[-1].isspace())
        return possessive or ends or (gap == " " and after in FUNCTION_WORDS)

    def _gap(self, at: int) -> str:
        """Return what stands between word `at` and the next, or the end."""
        end = self.words[at + 1].start if at + 1 < len(self.words) else len(self.text)
        return self.text[self.words[at].end : end]

    def is_asked_about(self, at: int, size: int) -> bool:
        """Tell whether the words stand where a person or group does: `did X say`, `X on Y`."""
        before, after = self.before(at), self.after(at + size)
        return (
            before in HONORIFICS - {"the"}
            or before in ASKING_BEFORE
            or after in ASKING_AFTER
            or not has_topic(w.folded for i, w in enumerate(self.words) if not at <= i < at + size)
        )
