"""Two texts word by word: what one says that the other does not. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from kbx_tui.knowledge.folding import fold
from kbx_tui.similarity.conflicts.conflict_guard import Conflict

Mark = Literal["same", "differs", "conflict"]

_WORD = re.compile(r"\w+(?:[-'’.]\w+)*|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text. The pieces of a side join to the whole text."""

    text: str
    mark: Mark
    """`same`: in the other text too; `conflict`: one of the words that contradict each other."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Both texts as pieces."""

    left: tuple[Piece, ...]
    right: tuple[Piece, ...]


def difference(left: str, right: str, conflicts: Sequence[Conflict] = ()) -> Difference:
    """Return both texts as pieces; `conflicts` are those of the pair, in this order of sides."""
    ours, theirs = list(_WORD.finditer(left)), list(_WORD.finditer(right))
    matcher = SequenceMatcher(
        None,
        [fold(word.group()) for word in ours],
        [fold(word.group()) for word in theirs],
        autojunk=False,
    )
    kept = matcher.get_matching_blocks()
    same_left = {block.a + at for block in kept for at in range(block.size)}
    same_right = {block.b + at for block in kept for at in range(block.size)}
    return Difference(
        _pieces(left, ours, same_left, _spans(left, [one.left for one in conflicts])),
        _pieces(right, theirs, same_right, _spans(right, [one.right for one in conflicts])),
    )


def _spans(text: str, listed: Sequence[str]) -> list[tuple[int, int]]:
    """Return where the words of conflicts stand; several are listed with commas."""
    spans = []
    for words in (part for one in listed for part in {one, *one.split(", ")}):
        start = text.find(words) if words else -1
        if start >= 0:
            spans.append((start, start + len(words)))
    return spans


def _pieces(
    text: str,
    words: Sequence[re.Match[str]],
    same: set[int],
    conflicts: Sequence[tuple[int, int]],
) -> tuple[Piece, ...]:
    found: list[tuple[int, Mark]] = []
    for at, word in enumerate(words):
        clashes = any(word.start() < end and start < word.end() for start, end in conflicts)
        found.append((word.start(), "conflict" if clashes else "same" if at in same else "differs"))
    pieces: list[Piece] = []
    start, mark = 0, found[0][1] if found else "same"
    for place, following in found:
        if following != mark:
            end = len(text[:place].rstrip())
            pieces += [Piece(text[start:end], mark), Piece(text[end:place], "same")]
            start, mark = place, following
    pieces.append(Piece(text[start:], mark))
    return _joined(pieces)


def _joined(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].mark == piece.mark:
            joined[-1] = Piece(joined[-1].text + piece.text, piece.mark)
        elif piece.text:
            joined.append(piece)
    return tuple(joined)
