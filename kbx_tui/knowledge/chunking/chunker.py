"""Chunking: whole paragraphs under their headings, as many as fit into one chunk.

The chunks of a document, concatenated, are its body. A chunk stays within a section (headings of
level 1-3) unless sections are tiny, and a heading stays with the text below it. Only a paragraph
that is too long for a chunk is split: after sentences, else between words, else inside a word.

Token counts are added up where segments are separated by white space. Where they are not, as in
parts of a word or sentences written without spaces, the joined text is counted again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat

from kbx_tui.knowledge.chunking.packing import Group, Limits, heading_tokens, pack
from kbx_tui.knowledge.chunking.segments import (
    SENTENCE_END,
    WORD_END,
    Segment,
    split_segment,
    split_segments,
)
from kbx_tui.knowledge.records import Chunk, Document

CountTokens = Callable[[Sequence[str]], list[int]]
"""Returns the number of tokens of each text, without special tokens."""

Segmented = tuple[str, list[Segment]]
"""A body and its segments, which are replaced in place by shorter ones."""

MAX_TOKENS = 254
"""Tokens per chunk by default: the 256 of the bundled model less two special ones."""


def split_documents(
    documents: Sequence[Document], count_tokens: CountTokens, max_tokens: int = MAX_TOKENS
) -> list[tuple[Chunk, ...]]:
    """Return the chunks of each document, none for a blank body.

    A chunk has at most ``max_tokens`` tokens, unless a single character has more. The tokens of all
    documents are counted in one batch.
    Raises ValueError if ``max_tokens`` is less than 1.
    """
    if max_tokens < 1:
        raise ValueError(f"max_tokens must be at least 1, got {max_tokens}")
    limits = Limits.of(max_tokens)
    segmented = [
        (document.body, split_segments(document.body, limits.shortest)) for document in documents
    ]
    _count_segments(segmented, count_tokens)
    _split_long_segments(segmented, count_tokens, limits)
    packed = [(body, pack(segments, limits)) for body, segments in segmented]
    _split_oversized_groups(packed, count_tokens, limits)
    return [
        tuple(_chunks(document, groups))
        for document, (_, groups) in zip(documents, packed, strict=True)
    ]


def _count_segments(segmented: Sequence[Segmented], count_tokens: CountTokens) -> None:
    uncounted = [
        (body, segment)
        for body, segments in segmented
        for segment in segments
        if segment.tokens < 0
    ]
    if uncounted:
        counts = count_tokens([body[segment.start : segment.end] for body, segment in uncounted])
        for (_, segment), tokens in zip(uncounted, counts, strict=True):
            segment.tokens = tokens


def _split_long_segments(
    segmented: Sequence[Segmented], count_tokens: CountTokens, limits: Limits
) -> None:
    affected = [
        (body, segments)
        for body, segments in segmented
        if any(_chunks_needed(body, segments, index, limits) > 1 for index in range(len(segments)))
    ]
    for boundary in chain((SENTENCE_END, WORD_END), repeat(None)):
        changed = [_split_long(body, segments, boundary, limits) for body, segments in affected]
        if boundary is None and not any(changed):
            return
        _count_segments(affected, count_tokens)


def _split_long(
    body: str, segments: list[Segment], boundary: re.Pattern[str] | None, limits: Limits
) -> bool:
    """Replace every segment that is too long by its parts; return whether any was split."""
    replaced: list[Segment] = []
    for index, segment in enumerate(segments):
        needed = _chunks_needed(body, segments, index, limits)
        if needed > 1:
            replaced += split_segment(body, segment, boundary, needed, limits.shortest)
        else:
            replaced.append(segment)
    changed = len(replaced) > len(segments)
    segments[:] = replaced
    return changed


def _chunks_needed(body: str, segments: Sequence[Segment], index: int, limits: Limits) -> int:
    """Return the number of chunks a segment needs with its headings, at least 1."""
    segment = segments[index]
    size = segment.end - segment.start
    under_heading = index > 0 and segments[index - 1].is_heading and not segment.is_heading
    if segment.tokens <= limits.tokens and size <= limits.characters and not under_heading:
        return 1
    room = limits.tokens - (heading_tokens(segments, index, limits) if under_heading else 0)
    if size > limits.characters:
        size = len(body[segment.start : segment.end].strip())
    return max(-(-segment.tokens // room), -(-size // limits.characters))


def _split_oversized_groups(
    packed: Sequence[tuple[str, list[Group]]], count_tokens: CountTokens, limits: Limits
) -> None:
    """Split the groups that have too many tokens as a whole, though not as a sum of segments."""
    uncertain = [
        (body, groups, group)
        for body, groups in packed
        for group in groups
        if not all(segment.follows_space for segment in group.segments[1:])
    ]
    if not uncertain:
        return
    counts = count_tokens([body[group.start : group.end] for body, _, group in uncertain])
    for (_, groups, group), tokens in zip(uncertain, counts, strict=True):
        if tokens > limits.tokens:
            index = next(index for index, other in enumerate(groups) if other is group)
            groups[index : index + 1] = group.split_at_joins()


def _chunks(document: Document, groups: Sequence[Group]) -> Iterator[Chunk]:
    body = document.body
    line, counted_to = document.body_line, 0
    for ordinal, group in enumerate(groups):
        text = body[group.start : group.end]
        first = group.end - len(text.lstrip())
        last = group.start + len(text.rstrip())
        line_start = line + body.count("\n", counted_to, first)
        line_end = line_start + body.count("\n", first, last)
        line, counted_to = line_end, last
        yield Chunk(ordinal, " > ".join(group.path), text, line_start, line_end)
