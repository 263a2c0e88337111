"""The words of a query: which ones are already used by a name, and the context of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kbx_tui.knowledge.entity_names import HONORIFICS, is_common_word
from kbx_tui.knowledge.name_uses import DETERMINERS
from kbx_tui.search.query import english_words as english
from kbx_tui.search.query.english_words import FUNCTION_WORDS, Word, has_topic, words_of

TITLE_FROM = 3
"""A query of more topic words than this, all capitalised, is in title case."""

_BEFORE_NAMES = (
    FUNCTION_WORDS | english.REQUEST_WORDS | english.ASKING_BEFORE | HONORIFICS | english.OFFICES
)
"""Words that precede names in English."""
_NEVER_NAMES = HONORIFICS | FUNCTION_WORDS | english.OFFICES
TITLES = HONORIFICS - {"the"}
"""Words that are part of the name they precede."""

_INTERROGATIVES = frozenset(
    {"how", "what", "when", "where", "which", "who", "whom", "whose", "why"}
)
_SUBJECT_PRONOUNS = frozenset({"he", "i", "it", "she", "they", "we", "you"})
_PLURAL_BE = frozenset({"are", "were"})
_AFTER_ADJECTIVES = frozenset({"about", "at", "by", "for", "from", "in", "of", "on", "to", "with"})

_AFTER_RECIPIENTS = english.CONJUNCTIONS | {"about", "for", "on"}
_SOURCES = frozenset({"by", "from"})
"""Words before whoever did, said or gave something."""
_PARTICIPLES = ("ing", "ed")

_SENTENCE_ENDS = frozenset("?!.;:,&")
_MAX_SEPARATOR = 20
"""Maximum number of characters between two names of a list."""
_SEPARATORS = frozenset({",", "&", "and", "or", ", and", ", or"})
_HYPHENS = "-‐‑–"
_APOSTROPHES = ("'", "’")


class QueryWords:
    """The words of a query, and which of them are used."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = words_of(text)
        """In order; methods take indices into it."""
        self.folded = [word.folded for word in self.words]
        self.used = [False] * len(self.words)
        self.all_lower = not any(
            word.is_capitalised
            and (index > 0 or word.folded not in _BEFORE_NAMES or _is_all_capitals(word))
            for index, word in enumerate(self.words)
        )
        """True when capitals say nothing about names: there is none, or the first word's only."""
        self.all_upper = text.isupper()
        topic = [word for word in self.words if word.folded not in FUNCTION_WORDS]
        self.in_title_case = len(topic) > TITLE_FROM and all(word.is_capitalised for word in topic)

    def is_free(self, start: int, size: int) -> bool:
        """Return whether none of `size` words from `start` on is used."""
        return not any(self.used[start : start + size])

    def free_ranges(self, sizes: Iterable[int]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Yield every range of unused words of these sizes: start, size and folded words."""
        for size in sizes:
            for start in range(len(self.words) - size + 1):
                if self.is_free(start, size):
                    yield start, size, tuple(self.folded[start : start + size])

    def text_of(self, start: int, size: int) -> str:
        """Return the text of `size` words from `start` on."""
        return self.text[self.words[start].start : self.words[start + size - 1].end]

    def use(self, start: int, size: int) -> tuple[int, int]:
        """Mark words as used and return their span in the text, including honorifics before."""
        self.used[start : start + size] = [True] * size
        first = start
        while self.before(first) in TITLES:
            first -= 1
            self.used[first] = True
        return self.words[first].start, self.words[start + size - 1].end

    def asks_who(self, index: int) -> bool:
        """Return whether the query asks for this word and nothing else: `Will`, `who is Will?`"""
        if index + 1 < len(self.words):
            return False
        return not index or tuple(self.folded[:index]) in english.ASKING_WHO

    def is_listed_with(self, index: int, spans: Sequence[tuple[int, int]]) -> bool:
        """Return whether only `and` or a comma separates a word from one of some spans.

        The list must end with it, or continue as after a name: `alice or chase the invoice` is not
        a list of names.
        """
        word, after = self.words[index], self.after(index + 1)
        follows_name = not after or after in english.ASKING_AFTER or after in _SEPARATORS
        mark = self.text[word.end : word.end + _MAX_SEPARATOR].lstrip()[:1]
        if not (follows_name or mark in _SENTENCE_ENDS):
            return False
        return any(
            self._is_separator(end, word.start) or self._is_separator(word.end, start)
            for start, end in reversed(spans)  # the neighbour in a list was usually added last
        )

    def _is_separator(self, start: int, end: int) -> bool:
        """Return whether the text between two offsets separates names of a list."""
        between = self.text[start:end] if end - start <= _MAX_SEPARATOR else ""
        return " ".join(between.casefold().split()) in _SEPARATORS

    def before(self, index: int) -> str:
        """Return the folded word before word `index`, empty at the start."""
        return self.folded[index - 1] if index else ""

    def after(self, end: int) -> str:
        """Return folded word `end`, the one after a range of words, empty past the last."""
        return self.folded[end] if end < len(self.words) else ""

    def is_compound(self, start: int, size: int) -> bool:
        """Return whether the words are part of a compound, `Chapman-Enskog`, `grace period`, or of
        a contraction, `don't`.
        """
        if f"{self.folded[start]}-{self.after(start + size)}" in english.COMPOUNDS:
            return True
        if self.after(start + size) == "t" and self._gap(start + size - 1) in _APOSTROPHES:
            return True
        first, last = self.words[start].start, self.words[start + size - 1].end
        before, after = self.text[max(first - 2, 0) : first], self.text[last : last + 2]
        return (before[-1:] in _HYPHENS and before[:1].isalnum()) or (
            after[:1] in _HYPHENS and after[1:].isalnum()
        )

    def is_part_of_longer_name(self, start: int, size: int) -> bool:
        """Return whether an adjacent word makes the words part of another entity's name.

        `Gerard Salton` is not J. M. Gerard.
        """
        return self.may_be_first_name(start - 1) or self.may_be_surname(start + size)

    def may_be_surname(self, index: int) -> bool:
        """Return whether a word looks like the surname of the first name right before it."""
        return (
            self._looks_like_name(index, index - 1)
            and self.folded[index] not in english.DAYS_AND_MONTHS
        )

    def may_be_first_name(self, index: int) -> bool:
        """Return whether a word looks like the first name of the surname right after it."""
        dates = english.DAYS_AND_MONTHS - english.NAMES_THAT_ARE_WORDS
        return self._looks_like_name(index, index) and self.folded[index] not in dates

    def _looks_like_name(self, index: int, gap_after: int) -> bool:
        """Return whether a word looks like part of a name, given the gap after word `gap_after`."""
        if not 0 < index < len(self.words) or self.used[index] or self.in_title_case:
            return False
        word = self.words[index]
        if self._gap(gap_after) != " " or not word.is_capitalised or word.text.isupper():
            return False
        return not (word.folded in _NEVER_NAMES or is_common_word(word.folded))

    def has_other_surname(self, index: int) -> bool:
        """Return whether the context of a first name shows that the next word is its surname.

        The next word must look like a surname. The context does in `did X Y agree` and `X Y said`.
        The end of the query, punctuation and other words without a topic do only if the words
        before the name are English: `Hat Ruth Urlaub` ends with a noun. After `tell X` a clause may
        begin: `tell Ruth Postgres is down`.
        """
        before, after, gap = self.before(index), self.after(index + 2), self._gap(index + 1)
        if before in ("tell", "told"):
            return False
        if before in english.VERB_FOLLOWS or (gap == " " and after in english.ASKING_AFTER):
            return True
        if before and before not in _BEFORE_NAMES:
            return False
        possessive = self.is_possessive(index + 1)
        ends = not after or (gap[0] in ".,;:!?)" and gap[-1].isspace())
        return possessive or ends or (gap == " " and after in FUNCTION_WORDS)

    def is_possessive(self, index: int) -> bool:
        """Return whether `'s` follows word `index`."""
        return self._gap(index) in _APOSTROPHES and self.after(index + 1) == "s"

    def is_hyphenated(self, index: int) -> bool:
        """Return whether a hyphen joins word `index` to the next one."""
        gap = self._gap(index)
        return len(gap) == 1 and gap in _HYPHENS and index + 1 < len(self.words)

    def is_initial(self, index: int) -> bool:
        """Return whether a word may be an initial: one letter, not that of `what's`."""
        is_joined = index > 0 and self._gap(index - 1) in _APOSTROPHES
        return len(self.folded[index]) == 1 and not is_joined

    def _gap(self, index: int) -> str:
        """Return the text between word `index` and the next word or the end of the query."""
        end = self.words[index + 1].start if index + 1 < len(self.words) else len(self.text)
        return self.text[self.words[index].end : end]

    def is_in_place_of_word(self, start: int) -> bool:
        """Return whether a word is where English has no name.

        After a determiner (`this Bill`, `a Young person`); in small letters also after a word of
        degree or `be` (`to be frank`), between a plural verb and a preposition (`are high on the
        list`: no single person is the subject there), or as a verb with its object (`to grant the
        request`).
        """
        before, after = self.before(start), self.after(start + 1)
        if before in DETERMINERS:
            return True
        if self.words[start].is_capitalised:
            return False
        is_verb = before == "to" and (after in DETERMINERS or after == "that")
        is_predicate = before in _PLURAL_BE and after in _AFTER_ADJECTIVES
        return before in english.BEFORE_ADJECTIVES or is_predicate or is_verb

    def is_in_place_of_name(self, index: int) -> bool:
        """Return whether a word is where a query has a name: asked about, or with a capital."""
        word = self.words[index]
        is_name = index > 0 and word.is_capitalised and not (self.all_lower or self.in_title_case)
        is_name = is_name or self.is_possessive(index) or self.is_asked_about(index, 1)
        is_word = self.is_compound(index, 1) or self.is_in_place_of_word(index)
        return is_name and not is_word and not self.is_part_of_longer_name(index, 1)

    def is_surely_asked_about(self, start: int, size: int) -> bool:
        """Return whether words are meant as a name although the base uses them otherwise.

        They must follow a title, be all that is asked for, or be asked about on both sides (`did
        bill say`, `are bill's plans`); a capital within the query stands for one side.
        """
        before, after = self.before(start), self.after(start + size)
        if before in TITLES or not has_topic((*self.folded[:start], *self.folded[start + size :])):
            return True
        is_written_as_name = not self.all_lower and self._is_written_as_name(start)
        is_asked_after = after in english.ASKING_AFTER or self.is_possessive(start + size - 1)
        signs = (self._is_asked_before(start), is_asked_after, is_written_as_name)
        return not self.is_in_place_of_word(start) and sum(signs) > 1

    def _is_written_as_name(self, index: int) -> bool:
        """Return whether the capitals of a word tell something: not the first one of a sentence.

        All of a word do where others are small: `DE on decorators`.
        """
        if index > 0:
            return self.words[index].is_capitalised
        return _is_all_capitals(self.words[0]) and not self.all_upper

    def is_source(self, start: int, size: int) -> bool:
        """Return whether words are where people are named as the source: `by X`, `from X and Y`.

        The clause must end after them, or a list go on.
        """
        after, mark = self.after(start + size), self._gap(start + size - 1)[:1]
        ends = not after or mark in _SENTENCE_ENDS or after in english.CONJUNCTIONS
        return ends and self.before(start) in _SOURCES

    def is_modifier(self, start: int, size: int) -> bool:
        """Return whether a word follows that the words may describe: `is rich use`, `by rich data`.

        Not where a verb may follow: `did rich agree`, `is rich attending`.
        """
        after, gap = self.after(start + size), self._gap(start + size - 1)
        is_verb = self.before(start) in english.VERB_FOLLOWS or after.endswith(_PARTICIPLES)
        is_noun = after not in english.ASKING_AFTER and has_topic([after])
        return gap == " " and is_noun and not is_verb

    def is_infinitive(self, index: int) -> bool:
        """Return whether a word is where a verb is after `to`: `to skip over`, `to mark paths`.

        Not at the end of a clause, nor in `talk to X about` and `according to`.
        """
        after, mark = self.after(index + 1), self._gap(index)[:1]
        is_last = not after or mark in _SENTENCE_ENDS or after in _AFTER_RECIPIENTS
        is_after_to = self.before(index) == "to" and self.before(index - 1) != "according"
        return is_after_to and not is_last and not self.words[index].is_capitalised

    def is_after_topic(self, index: int) -> bool:
        """Return whether a word that may be a topic, and no title or office, directly precedes."""
        before = self.before(index)
        is_space = index > 0 and self._gap(index - 1) == " "
        return is_space and has_topic([before]) and before not in _BEFORE_NAMES

    def is_subject(self, start: int, size: int) -> bool:
        """Return whether words are where only the subject of a query is: `did X say`, `X on Y`."""
        is_first = not start or self.before(start) in english.ASKING_BEFORE
        return is_first and self.after(start + size) in english.ASKING_AFTER

    def is_agent(self, start: int, size: int) -> bool:
        """Return whether words are where someone does or has something: `did X`, `by X`, `X's`.

        Not after `is`, `what is X` asks what it stands for, nor after `do`, which several do.
        """
        before, after = self.before(start), self.after(start + size)
        is_subject = before in english.VERB_FOLLOWS - {"do"} or after in english.ASKING_AFTER
        is_source = before in _SOURCES or (before == "to" and self.before(start - 1) == "according")
        return is_subject or is_source or self.is_possessive(start + size - 1)

    def is_asked_about(self, start: int, size: int) -> bool:
        """Return whether the words are where a person or group is: `did X say`, `X on Y`."""
        before, after = self.before(start), self.after(start + size)
        if before in TITLES or self._is_asked_before(start) or after in english.ASKING_AFTER:
            return True
        return not has_topic((*self.folded[:start], *self.folded[start + size :]))

    def _is_asked_before(self, start: int) -> bool:
        """Return whether the word before is one before whoever a query asks about: `did X`, `by X`.

        One that a verb may follow is only in the order of a question: `what can X do`, not `you can
        skip`.
        """
        before = self.before(start)
        if before not in english.VERB_FOLLOWS or start < 2:
            return before in english.ASKING_BEFORE
        subject, earlier = self.folded[start - 2], self.folded[: start - 1]
        if subject in english.CONJUNCTIONS or self._gap(start - 2) != " ":
            return True
        is_question = not _INTERROGATIVES.isdisjoint(earlier)
        return is_question and subject not in _SUBJECT_PRONOUNS


def _is_all_capitals(word: Word) -> bool:
    return len(word.text) > 1 and word.text.isupper()
