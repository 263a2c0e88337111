"""Texts of drafts: merging two texts into one, and comparing two word by word. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, takewhile
from typing import Literal

from rapidfuzz.distance import LCSseq

from kbx_tui.knowledge.facts import notes_in, read_fact_line
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.markdown import EMPHASIS, strip_markup
from kbx_tui.knowledge.written_links import LINK
from kbx_tui.similarity.compared_words import FUNCTION_WORDS, analyse_words
from kbx_tui.similarity.conflict_guard import Conflict

Mark = Literal["same", "differs", "conflict"]

MAX_MATCHED = 40_000
"""Most pairs of words for which the more readable matching is used; it takes up to cubic time."""
MAX_COMPARED = 5_000

_WORD = re.compile(r"\w+(?:[-'’.]\w+)*|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    mark: Mark
    """`same`: also in the other text; `conflict`: contradicts a word of the other text."""


@dataclass(frozen=True, slots=True)
class Difference:
    left: tuple[Piece, ...]
    right: tuple[Piece, ...]


def difference(left: str, right: str, conflicts: Sequence[Conflict] = ()) -> Difference:
    """Return both texts as pieces; `conflicts` are between them, with the same left and right.

    In long texts, the words of the longest common subsequence are marked `same`.
    """
    sides = [list(_WORD.finditer(text)) for text in (left, right)]
    blocks = _equal_runs(*([fold(word[0]) for word in words[:MAX_COMPARED]] for words in sides))
    same_left = {left + offset for left, _, size in blocks for offset in range(size)}
    same_right = {right + offset for _, right, size in blocks for offset in range(size)}
    return Difference(
        _pieces(left, sides[0], same_left, [conflict.left for conflict in conflicts]),
        _pieces(right, sides[1], same_right, [conflict.right for conflict in conflicts]),
    )


def _equal_runs(left: Sequence[str], right: Sequence[str]) -> Sequence[tuple[int, int, int]]:
    if len(left) * len(right) <= MAX_MATCHED:
        return SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
    equal = (code for code in LCSseq.opcodes(left, right) if code.tag == "equal")
    return [(code.src_start, code.dest_start, code.src_end - code.src_start) for code in equal]


def _pieces(
    text: str, words: Sequence[re.Match[str]], same: set[int], conflicts: Sequence[str]
) -> tuple[Piece, ...]:
    # one side of a conflict may list several words
    listed = {part for side in conflicts for part in (side, *side.split(", ")) if part}
    spans = [(text.index(part), text.index(part) + len(part)) for part in listed if part in text]
    pieces: list[Piece] = []
    end, previous = 0, None
    for position, word in enumerate(words):
        in_conflict = any(word.start() < stop and start < word.end() for start, stop in spans)
        mark: Mark = "conflict" if in_conflict else "same" if position in same else "differs"
        space = text[end : word.start()]
        pieces += [Piece(space, mark if previous in (None, mark) else "same"), Piece(word[0], mark)]
        end, previous = word.end(), mark
    pieces.append(Piece(text[end:], previous or "same"))
    runs = groupby((piece for piece in pieces if piece.text), key=lambda piece: piece.mark)
    return tuple(Piece("".join(piece.text for piece in run), mark) for mark, run in runs)


_WORD_AND_SPACE = re.compile(r"\S+\s*")


def merged_text(text: str, known: str) -> str:
    return one_sentence(text, known) or f"{_without_end(known)}; {text}"


def one_sentence(text: str, known: str) -> str:
    """Return one sentence that says what both say; empty if none can be made safely.

    It is the text that contains all content words of the other, or else their common beginning
    followed by both endings: `likes milk and tea`.
    """
    ours, theirs = (analyse_words(read_fact_line(side).text).content for side in (text, known))
    if ours <= theirs:
        return known
    start = text.find(noted[0]) if (noted := notes_in(text)) else len(text)
    plain, notes = text[:start], text[start:]
    if theirs <= ours:
        marked = transfer_markup(plain, known)
        return "" if marked is None else marked + notes
    joined = _joined_ends(plain.rstrip(), known)
    return f"{joined} {notes}".strip() if joined else ""


def _joined_ends(text: str, known: str) -> str:
    start = _common_start(text, known)
    begins = known[:start]
    shared = analyse_words(begins).tokens
    ends = _without_end(known[start:]), text[start:].strip()
    if not set(shared) - FUNCTION_WORDS or not all(ends) or any(" and " in end for end in ends):
        return ""
    return f"{begins}{ends[0]} and {ends[1]}"


def _common_start(text: str, known: str) -> int:
    length = 0
    for word, other in zip(
        _WORD_AND_SPACE.findall(text), _WORD_AND_SPACE.findall(known), strict=False
    ):
        if word.casefold() != other.casefold() or word[-1:].strip():
            break
        length += len(word)
    return length


def _without_end(text: str) -> str:
    return text.rstrip(" .;")


_MARKED = re.compile("|".join(pattern.pattern for pattern in (LINK, *EMPHASIS)))
_PLAIN_WORD = re.compile(r"\w+")
_CONTEXT = 100
LONGEST = 4_000
"""Largest combined length of two texts; the running time grows with the product of both."""


def transfer_markup(text: str, source: str) -> str | None:
    """Return a text with the links and emphasis of `source` around the same words.

    Words already linked or emphasised stay so; emphasis of words that the text lacks is dropped.
    None if it lacks the words of a link, or if the texts are too long together. If the same words
    occur several times, those in the most similar context get the markup.
    """
    if len(text) + len(source) > LONGEST:
        return None
    for marked in _MARKED.finditer(source):
        markup, shown = marked[0], strip_markup(marked[0])
        if markup in text or not shown:
            continue
        is_link = LINK.search(markup) is not None
        taken = [match.span() for match in (LINK if is_link else _MARKED).finditer(text)]
        places = [
            place.span()
            for place in re.finditer(rf"(?<!\w){re.escape(shown)}(?!\w)", text)
            if all(place.end() <= start or end <= place.start() for start, end in taken)
        ]
        if not places and is_link:
            return None
        if places:
            before, after = source[: marked.start()], source[marked.end() :]
            shared = [
                _shared_words(text[:start], before, -1) + _shared_words(text[end:], after, 1)
                for start, end in places
            ]
            start, end = places[shared.index(max(shared))]
            text = text[:start] + markup + text[end:]
    return text


def _shared_words(left: str, right: str, step: int) -> int:
    """Return how many leading words two texts share; with a step of -1, trailing words."""
    near = slice(None, _CONTEXT) if step > 0 else slice(-_CONTEXT, None)
    plain = (strip_markup(text[near]).casefold() for text in (left, right))
    words = [_PLAIN_WORD.findall(text)[::step] for text in plain]
    pairs = zip(*words, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
