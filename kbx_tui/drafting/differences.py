"""Word-by-word difference of two texts. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

from rapidfuzz.distance import LCSseq

from kbx_tui.knowledge.folding import fold
from kbx_tui.similarity.conflict_guard import Conflict

Mark = Literal["same", "differs", "conflict"]

MAX_MATCHED = 40_000
"""Pairs of words up to which runs are matched as people see them, in up to cubic time."""
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
    """Return both texts as pieces; `conflicts` are those between them, sides in this order.

    Words of long texts are the same if they are in their longest common subsequence.
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
    # a side of a conflict may list several words
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
