"""The search terms of texts, and postings: which text holds which term, how often, and where.

Terms are words without stop words, folded, and stemmed by the language of the text. A text is
identified by its doc id, 0..n-1. Positions number the words of all texts consecutively, with a gap
of one after each text, so that two words are adjacent exactly if their positions differ by one.
Words without a term still take a position. Offsets are characters from the start of a text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, groupby, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kbx_tui.errors import IndexFault
from kbx_tui.index.arrays import Bytes, Ints, Rows, Starts, Versions
from kbx_tui.index.derived_files import DocumentFile
from kbx_tui.knowledge.folding import (
    ENGLISH,
    FUNCTION_WORDS,
    LANGUAGES,
    fold,
    language_detector,
    language_of_query,
    make_stem,
)

LONGEST_WORD = 40
"""Words of this length or more are not indexed: they are keys or checksums."""

STOP_WORDS = frozenset(Path(__file__).with_name("stop_words.txt").read_text("ascii").split())
"""English stems that are not searched for: NLTK's list, as in LanceDB's analyzer."""

CJK_CHARACTER = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]"

_CJK = re.compile(f"({CJK_CHARACTER})")
OF = ":"
"""Separates language and stem in a term; no word contains it."""

_WORD = re.compile(r"[^\W_]+")

language_of = language_detector(STOP_WORDS)


def separate_cjk(text: str) -> str:
    """Return a text with spaces around each CJK character: those scripts do not separate words."""
    return text if text.isascii() else _CJK.sub(r" \1 ", text)


def words_in(text: str) -> list[str]:
    """Return the folded words of a text, in order; each CJK character is a word."""
    return _WORD.findall(separate_cjk(fold(text)))


def make_term(word: str, language: str = ENGLISH) -> str:
    """Return the term of a folded word in a language, empty for a word that is not indexed."""
    if len(word) >= LONGEST_WORD:
        return ""
    if language == ENGLISH:
        term = make_stem(word)
        return "" if term in STOP_WORDS else term
    if word in FUNCTION_WORDS[language]:
        return ""
    return term_of_stem(make_stem(word, language), language)


term_of = lru_cache(maxsize=4096)(make_term)
"""As `make_term`, for words of queries, which are looked up in all languages."""


def term_of_stem(word_stem: str, language: str) -> str:
    """Return the term of a stem: the stem itself in English, else `language:stem`.

    The prefix separates equal stems of different words in two languages. Numbers and CJK
    characters have none.
    """
    if language == ENGLISH or word_stem.isdigit() or _CJK.fullmatch(word_stem):
        return word_stem
    return f"{language}{OF}{word_stem}"


def stem_of_term(term: str) -> str:
    return term.rpartition(OF)[2]


def terms_in(text: str, language: str = ENGLISH) -> list[str]:
    return [term for word in words_in(text) if (term := term_of(word, language))]


def words_without_topic(words: Sequence[str], main_language: str) -> frozenset[str]:
    """Return the folded words of a query to leave out in all languages of a multilingual base.

    These are the function words of the main language and of the query's language, the one of which
    the query holds the most, and at least two: `die` is an article or a verb depending on its
    neighbours.
    """
    languages = {main_language, language_of_query(words, STOP_WORDS)} - {""}
    return frozenset(
        word for word in words for language in languages if not term_of(word, language)
    )


_NON_ASCII = re.compile(r"[^\x00-\x7f]+")
_ANY_CJK = re.compile(CJK_CHARACTER)
_WRITTEN_WORD = re.compile(rf"{CJK_CHARACTER}|(?:(?!{CJK_CHARACTER})[^\W_])+")
_ASCII_IN_WORD = np.array([chr(code).isalnum() for code in range(128)])


def word_offsets(text: str, words: Sequence[str]) -> Rows | None:
    """Return the character offset of each word of a text; `words` are those of `words_in`.

    None if folding the whole text gives other words than folding each word alone, as with
    decomposed accents.
    """
    starts = _starts_of_stretches(text)
    if starts is None:
        return _starts_one_by_one(text, words)
    return starts if len(starts) == len(words) else None


def _starts_of_stretches(text: str) -> Rows | None:
    """Return where each run of letters and digits starts; None if folding would change the runs."""
    if text.isascii():
        in_word = _ASCII_IN_WORD[np.frombuffer(text.encode(), np.uint8)]
    else:
        if not all(map(_keeps_words, set(_NON_ASCII.findall(text)))):
            return None
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        in_word = _ASCII_IN_WORD[np.minimum(codes, 127)]  # 127 (delete) is never in a word
        others = np.flatnonzero(codes > 127)
        in_word[others] = [text[index].isalnum() for index in others.tolist()]
    is_start = in_word.copy()
    is_start[1:] &= ~in_word[:-1]
    starts: Rows = np.flatnonzero(is_start)
    return starts


def _starts_one_by_one(text: str, words: Sequence[str]) -> Rows | None:
    """Return where each word starts in a text with CJK characters, or with characters like `½`,
    which fold to several."""
    found = [
        (match.start(), word)
        for match in _WRITTEN_WORD.finditer(text)
        for word in words_in(match[0])
    ]
    if [word for _, word in found] != list(words):
        return None
    return np.array([start for start, _ in found], np.int64)


@lru_cache(maxsize=4096)
def _keeps_words(run: str) -> bool:
    """Return whether folding a run of characters moves no word boundary in or beside it."""
    folded = fold(run)
    return not _ANY_CJK.search(folded) and _pattern(run) == _pattern(folded)


def _pattern(text: str) -> list[bool]:
    return [in_word for in_word, _ in groupby(text, str.isalnum)]


BEYOND = 2**16 - 1
"""Largest offset; also used for words that start later."""
UNKNOWN = -1
"""`text_sizes` of a text whose words have no offsets."""
BLOCK = 1 << 20
"""About how many words are processed at once."""
MERGED_UP_TO = 4
"""Ratio of the lengths of two position lists below which merging them is faster than looking up
the positions one by one."""
NO_WORDS = np.empty(0, np.int32)
MOST_WORDS = 2**31 - 1
"""Most words in one index, counting one more per text: positions are 32-bit integers."""


@dataclass(frozen=True, slots=True)
class Terms:
    """An inverted index: a sparse matrix stored by term. Read-only."""

    lengths: Ints
    """Number of terms in each text, shape (texts,)."""
    term_bytes: Bytes
    """All terms in UTF-8, concatenated in ascending order."""
    term_byte_starts: Starts
    """Where each term starts in `term_bytes`, shape (terms + 1,)."""
    posting_starts: Ints
    """Where each term starts in `doc_ids` and `term_frequencies`, shape (terms + 1,)."""
    doc_ids: Ints
    """The texts that contain each term, ascending per term."""
    term_frequencies: Ints

    def term_id(self, term: str) -> int:
        """Return the id of a term, found by binary search, or -1 if no text contains it."""
        text, ends = self.term_bytes.data, self.term_byte_starts.data  # slicing arrays is slower

        def bytes_of(term_id: int) -> bytes:
            return bytes(text[ends[term_id] : ends[term_id + 1]])

        wanted, term_ids = term.encode(), range(len(self.term_byte_starts) - 1)
        term_id = bisect_left(term_ids, wanted, key=bytes_of)
        return term_id if term_id < len(term_ids) and bytes_of(term_id) == wanted else -1

    def postings_of(self, term_id: int) -> tuple[Ints, Ints]:
        if term_id < 0:
            return self.doc_ids[:0], self.term_frequencies[:0]
        start, end = self.posting_starts[term_id], self.posting_starts[term_id + 1]
        return self.doc_ids[start:end], self.term_frequencies[start:end]

    def all_terms(self) -> Iterator[bytes]:
        text = self.term_bytes.tobytes()
        for start, end in pairwise(self.term_byte_starts.tolist()):
            yield text[start:end]

    def terms_from(self, beginning: str) -> Iterator[str]:
        return map(self._term, self._ids_from(beginning))

    def frequent_terms_from(self, beginning: str, limit: int) -> list[tuple[str, int]]:
        term_ids = self._ids_from(beginning)
        counts = np.diff(self.posting_starts[term_ids.start : term_ids.stop + 1])
        best = np.argsort(-counts, kind="stable")[:limit].tolist()
        return [(self._term(term_ids[each]), int(counts[each])) for each in best]

    def _ids_from(self, beginning: str) -> range:
        text, ends, wanted = self.term_bytes.data, self.term_byte_starts, beginning.encode()

        def bytes_of(term_id: int) -> bytes:
            return bytes(text[ends[term_id] : ends[term_id + 1]])[: len(wanted)]

        term_ids = range(len(ends) - 1)
        first = bisect_left(term_ids, wanted, key=bytes_of)
        return range(first, bisect_right(term_ids, wanted, lo=first, key=bytes_of))

    def _term(self, term_id: int) -> str:
        start, end = self.term_byte_starts[term_id], self.term_byte_starts[term_id + 1]
        return bytes(self.term_bytes.data[start:end]).decode()


@dataclass(frozen=True, slots=True)
class Postings(Terms):
    versions: Versions
    """Version of the document each text belongs to, shape (texts,)."""
    languages: NDArray[np.uint8]
    """Language of each text, as its number in `LANGUAGES`, shape (texts,)."""
    text_starts: Starts
    """Position of the first word of each text, shape (texts + 1,)."""
    position_starts: Ints
    """Where each term starts in `positions`, shape (terms + 1,)."""
    positions: Ints
    """The positions of each term, ascending per term."""
    text_sizes: Ints
    """Number of characters of each text, or UNKNOWN, shape (texts,)."""
    offsets: NDArray[np.uint16]
    """Where in its text the word at each of `positions` starts, capped at BEYOND."""

    def postings_of_pair(self, first: int, second: int) -> tuple[Ints, Ints]:
        """Return the texts where the second term directly follows the first, and how often."""
        rare, frequent, step = self.positions_of(first), self.positions_of(second), 1
        if len(rare) > len(frequent):
            rare, frequent, step = frequent, rare, -1
        if not len(rare):
            return self.doc_ids[:0], self.term_frequencies[:0]
        found = [
            _common(frequent, rare[begin : begin + BLOCK] + step)
            for begin in range(0, len(rare), BLOCK)
        ]
        doc_ids = doc_ids_at(self.text_starts, np.concatenate(found) - step)
        if not len(doc_ids):
            return self.doc_ids[:0], self.term_frequencies[:0]
        starts = np.concatenate(([0], np.flatnonzero(doc_ids[1:] != doc_ids[:-1]) + 1))
        return doc_ids[starts], np.diff(starts, append=len(doc_ids)).astype(np.int32)

    def positions_of(self, term_id: int) -> Ints:
        if term_id < 0:
            return self.positions[:0]
        return self.positions[self.position_starts[term_id] : self.position_starts[term_id + 1]]

    def offsets_in(self, doc_ids: Ints, term_id: int) -> list[list[int]]:
        """Return where a term's words start in each of these texts with offsets, ascending."""
        if term_id < 0:
            return [[] for _ in doc_ids]
        begin, end = self.position_starts[term_id : term_id + 2].tolist()
        bounds = np.array([self.text_starts[doc_ids], self.text_starts[doc_ids + 1]], np.int32)
        firsts, ends = self.positions[begin:end].searchsorted(bounds).tolist()
        offsets = self.offsets[begin:end]
        return [
            offsets[first:last].tolist() if first < last else []
            for first, last in zip(firsts, ends, strict=True)
        ]


WORDS = DocumentFile("words", "4", Postings)


def make_postings(
    texts: Iterable[tuple[str, str]],
    detect: Callable[[str, Sequence[str]], str] = lambda _, words: language_of(words),
) -> Postings:
    """Return the postings of texts, each given as (version, text).

    `detect` returns the language of a text, given its version and folded words. Raises IndexFault
    for more than `MOST_WORDS`.
    """
    next_id = count().__next__
    word_ids_of: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(next_id))
    versions, sizes, languages, word_ids = [], [], [], []
    text_sizes, offsets_of_words = [], []
    for version, text in texts:
        words = words_in(text)
        language = detect(version, words)
        word_id_of = word_ids_of[language]
        versions.append(version.encode())
        sizes.append(len(words))
        languages.append(LANGUAGES.index(language))
        word_ids.append(np.fromiter(map(word_id_of.__getitem__, words), np.int32, len(words)))
        offsets = word_offsets(text, words)
        text_sizes.append(UNKNOWN if offsets is None else len(text))
        offsets = np.zeros(len(words), np.int64) if offsets is None else offsets
        offsets_of_words.append(np.minimum(offsets, BEYOND).astype(np.uint16))
    text_starts = np.concatenate(([0], np.cumsum(np.array(sizes, np.int64) + 1)))
    check_word_count(int(text_starts[-1]))
    terms, term_of_word = _terms_of_words(word_ids_of)
    packed, lengths = _packed(word_ids, term_of_word, text_starts)
    word_ids.clear()  # arrays of all words are large: free each as early as possible
    packed.sort()
    positions, term_ids = (packed & 0xFFFFFFFF).astype(np.int32), (packed >> 32).astype(np.int32)
    count_of_words = len(packed)
    del packed
    doc_of_position = doc_ids_at(text_starts, positions)
    offsets_by_word = np.concatenate([*offsets_of_words, np.empty(0, np.uint16)])
    begins_posting = np.ones(count_of_words, np.bool_)
    begins_posting[1:] = (term_ids[1:] != term_ids[:-1]) | (
        doc_of_position[1:] != doc_of_position[:-1]
    )
    posting_begins = np.flatnonzero(begins_posting)
    all_terms = np.arange(len(terms) + 1, dtype=np.int32)
    return Postings(
        versions=np.array(versions or [], dtype=np.bytes_),
        languages=np.array(languages, np.uint8),
        lengths=lengths,
        text_starts=text_starts,
        term_bytes=np.frombuffer(b"".join(terms), np.uint8),
        term_byte_starts=np.concatenate(([0], np.cumsum([len(t) for t in terms], dtype=np.int64))),
        posting_starts=np.searchsorted(term_ids[posting_begins], all_terms).astype(np.int32),
        doc_ids=doc_of_position[posting_begins],
        term_frequencies=np.diff(posting_begins, append=count_of_words).astype(np.int32),
        position_starts=np.searchsorted(term_ids, all_terms).astype(np.int32),
        positions=positions,
        text_sizes=np.array(text_sizes, np.int32),
        offsets=offsets_by_word[positions - doc_of_position],
    )


def _common(numbers: Ints, wanted: Ints) -> Ints:
    """Return the wanted numbers that are in `numbers`; both ascend, `wanted` is not empty."""
    first, end = numbers.searchsorted((wanted[0], wanted[-1] + np.int64(1))).tolist()
    numbers = numbers[first:end]
    if not len(numbers):
        return numbers
    if len(numbers) < MERGED_UP_TO * len(wanted):
        both = np.concatenate((numbers, wanted))
        both.sort(kind="stable")  # merges two ascending runs
        twice: Ints = both[1:][both[1:] == both[:-1]]
        return twice
    nearest = numbers.searchsorted(wanted)
    nearest[nearest == len(numbers)] = 0  # any index works: the wanted number exceeds all of them
    found: Ints = wanted[numbers[nearest] == wanted]
    return found


def check_word_count(words: int) -> None:
    if words > MOST_WORDS:
        raise IndexFault(
            f"the pages have more than {MOST_WORDS:,} words, the most that one index can hold: "
            "divide them among several bases, which `--kb`, given more than once, searches together"
        )


def _packed(
    word_ids: Sequence[NDArray[np.int32]],
    term_of_word: NDArray[np.int64],
    text_starts: NDArray[np.int64],
) -> tuple[NDArray[np.int64], Ints]:
    """Return one number per word that has a term, and how many such words each text has.

    A number has the term in its high and the position in its low 32 bits: sorting by one key is
    faster than by two. `word_ids` has the word ids of each text.
    """
    sizes = np.array([len(of_text) for of_text in word_ids], np.int64)
    packed, lengths, end = np.empty(int(sizes.sum()), np.int64), np.zeros(len(sizes), np.int32), 0
    blocks = np.flatnonzero(np.diff(np.cumsum(sizes) // BLOCK, prepend=0)).tolist()
    for first, last in pairwise([0, *(block for block in blocks if block), len(sizes)]):
        doc_ids = np.repeat(np.arange(first, last), sizes[first:last])
        term_ids = term_of_word[np.concatenate([*word_ids[first:last], NO_WORDS])]
        positions = text_starts[first] + np.arange(len(term_ids)) + doc_ids - first
        kept = np.flatnonzero(term_ids >= 0)
        lengths[first:last] = np.bincount(doc_ids[kept] - first, minlength=last - first)
        packed[end : end + len(kept)] = (term_ids[kept] << 32) | positions[kept]
        end += len(kept)
    return packed[:end], lengths


def doc_ids_at(text_starts: NDArray[np.int64], positions: Ints) -> Ints:
    doc_ids = np.empty(len(positions), np.int32)
    for begin in range(0, len(positions), BLOCK):
        block = slice(begin, begin + BLOCK)
        doc_ids[block] = np.searchsorted(text_starts, positions[block], side="right") - 1
    return doc_ids


def _terms_of_words(
    word_ids_of: Mapping[str, Mapping[str, int]],
) -> tuple[list[bytes], NDArray[np.int64]]:
    """Return the terms, ascending, and the term id of each word id, -1 for words without one."""
    term_by_word = [b""] * sum(map(len, word_ids_of.values()))
    for language, word_ids in word_ids_of.items():
        for word, word_id in word_ids.items():
            term_by_word[word_id] = make_term(word, language).encode()
    terms = sorted({term for term in term_by_word if term})
    id_of = {term: term_id for term_id, term in enumerate(terms)}
    return terms, np.array([id_of.get(term, -1) for term in term_by_word], np.int64)
