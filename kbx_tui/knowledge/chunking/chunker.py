"""Documents to chunks: whole paragraphs under their headings, as many as fit. Pure.

The chunks of a document join to its body exactly. Sections (headings of level 1-3) are not mixed,
unless both are tiny; a heading stays with what follows it. Only what is too long for one chunk is
cut: after sentences, else between words, else inside a word.

Counts are added up across white space alone. Where parts of a word, or sentences written without
spaces, come together, their sum is checked by counting the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat

from kbx_tui.knowledge.chunking.packing import Group, Limits, lead_tokens, pack
from kbx_tui.knowledge.chunking.segments import Piece, pieces_of, sentences, slices, words
from kbx_tui.knowledge.records import Chunk, Document

CountTokens = Callable[[Sequence[str]], list[int]]
"""Number of tokens of each text, without special tokens."""

Cutter = Callable[[str, Piece, int], Iterable[Piece]]
"""Cuts a piece of a body; the number says how many parts would do at least."""

MAX_TOKENS = 254


def split_chunks(
    document: Document, count_tokens: CountTokens, max_tokens: int = MAX_TOKENS
) -> tuple[Chunk, ...]:
    """Return the chunks of one document, none when its body is blank."""
    return split_many([document], count_tokens, max_tokens)[0]


def split_many(
    documents: Sequence[Document], count_tokens: CountTokens, max_tokens: int = MAX_TOKENS
) -> list[tuple[Chunk, ...]]:
    """Return the chunks of each document, counting the tokens of all of them together.

    No chunk has more than ``max_tokens`` tokens, unless a single character has.
    """
    if max_tokens < 1:
        raise ValueError(f"max_tokens must be at least 1, got {max_tokens}")
    limits = Limits.of(max_tokens)
    bodies = [document.body for document in documents]
    pieces = [pieces_of(body) for body in bodies]
    _count(bodies, pieces, count_tokens)
    _cut_what_is_long(bodies, pieces, count_tokens, limits)
    groups = [pack(found, limits) for found in pieces]
    _part_what_grew(bodies, groups, count_tokens, limits)
    return [
        tuple(_chunks(document, packed)) for document, packed in zip(documents, groups, strict=True)
    ]


def _count(bodies: Sequence[str], pieces: Sequence[list[Piece]], count_tokens: CountTokens) -> None:
    uncounted = [
        (body, piece)
        for body, found in zip(bodies, pieces, strict=True)
        for piece in found
        if piece.tokens < 0
    ]
    if uncounted:
        counts = count_tokens([body[piece.start : piece.end] for body, piece in uncounted])
        for (_, piece), tokens in zip(uncounted, counts, strict=True):
            piece.tokens = tokens


def _cut_what_is_long(
    bodies: Sequence[str],
    pieces: Sequence[list[Piece]],
    count_tokens: CountTokens,
    limits: Limits,
) -> None:
    affected = [
        (body, found)
        for body, found in zip(bodies, pieces, strict=True)
        if any(_excess(body, found, index, limits) > 1 for index in range(len(found)))
    ]
    cutters: Iterator[Cutter] = chain((sentences, words), repeat(slices))
    for cutter in cutters:
        changed = [_cut_long(body, found, cutter, limits) for body, found in affected]
        if cutter is slices and not any(changed):
            return
        _count([body for body, _ in affected], [found for _, found in affected], count_tokens)


def _cut_long(body: str, pieces: list[Piece], cutter: Cutter, limits: Limits) -> bool:
    """Put the parts of every piece that is too long in its place."""
    parts: list[Piece] = []
    for index, piece in enumerate(pieces):
        excess = _excess(body, pieces, index, limits)
        parts += cutter(body, piece, excess) if excess > 1 else (piece,)
    changed = len(parts) > len(pieces)
    pieces[:] = parts
    return changed


def _excess(body: str, pieces: Sequence[Piece], index: int, limits: Limits) -> int:
    """Return how many chunks a piece would fill: more than 1 when it has to be cut."""
    piece = pieces[index]
    size = piece.end - piece.start
    under_heading = index > 0 and pieces[index - 1].is_heading and not piece.is_heading
    if piece.tokens <= limits.tokens and size <= limits.characters and not under_heading:
        return 1
    room = limits.tokens - (lead_tokens(pieces, index, limits) if under_heading else 0)
    if size > limits.characters:
        size = len(body[piece.start : piece.end].strip())
    return max(-(-piece.tokens // room), -(-size // limits.characters))


def _part_what_grew(
    bodies: Sequence[str],
    groups: Sequence[list[Group]],
    count_tokens: CountTokens,
    limits: Limits,
) -> None:
    """Take groups apart whose whole has more tokens than its pieces together."""
    doubtful = [
        (body, packed, group)
        for body, packed in zip(bodies, groups, strict=True)
        for group in packed
        if not all(piece.firm for piece in group.pieces[1:])
    ]
    if not doubtful:
        return
    counts = count_tokens([body[group.start : group.end] for body, _, group in doubtful])
    for (_, packed, group), tokens in zip(doubtful, counts, strict=True):
        if tokens > limits.tokens:
            at = next(index for index, other in enumerate(packed) if other is group)
            packed[at : at + 1] = group.apart()


def _chunks(document: Document, groups: Sequence[Group]) -> Iterator[Chunk]:
    body = document.body
    line, counted = document.body_line, 0
    for ordinal, group in enumerate(groups):
        text = body[group.start : group.end]
        first = group.end - len(text.lstrip())
        last = group.start + len(text.rstrip())
        line_start = line + body.count("\n", counted, first)
        line_end = line_start + body.count("\n", first, last)
        line, counted = line_end, last
        yield Chunk(ordinal, " > ".join(group.path), text, line_start, line_end)
