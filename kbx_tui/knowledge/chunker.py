"""Chunking, pure: whole paragraphs under their headings, as many as fit into one chunk.

The chunks of a document, concatenated, are its body. A chunk stays within a section (headings of
level 1-3) unless sections are tiny, and a heading stays with the text below it. Only a paragraph
that is too long for a chunk is split: after sentences, else between words, else inside a word.

Token counts are added up where segments are separated by white space. Where they are not, as in
parts of a word or sentences written without spaces, the joined text is counted again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import accumulate, chain, repeat, takewhile

from kbx_tui.knowledge.markdown import Heading, headings, read_as_markdown
from kbx_tui.knowledge.records import Chunk, Document

SECTION_LEVEL = 3

LONGEST_HEADING = 500
"""Characters of a heading that each chunk below it repeats."""

LARGE = 2_000_000
"""Characters from which short segments of a body are joined: each takes some 200 bytes."""

_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_SPEAKER_TURN = re.compile(r"^\*\*[^*\n]{1,80}(?::\*\*|\*\*:)", re.MULTILINE)
SENTENCE_END = re.compile(  # a leading character class lets the regex engine skip to candidates
    r"[\n.!?…。！？](?:(?<=\n)\n*|(?<=[。！？])|(?<=[.!?…])(?<!\d\.)[\"'”’)\]]{0,3}[^\S\n]+)"
)
WORD_END = re.compile(r"\s+")


@dataclass(slots=True)
class Segment:
    """A range of characters: a heading, a paragraph, a speaker turn, or a part of one of these.

    The segments of a body are contiguous; blank lines belong to the segment before them.
    """

    start: int
    end: int
    path: tuple[str, ...]
    """Texts of the headings above it, outermost first; a heading includes itself."""
    section: int
    is_heading: bool
    follows_space: bool = True
    """False if no white space precedes it: token counts may not add up with the one before."""
    tokens: int = -1


def split_segments(body: str, shortest: int = 0) -> list[Segment]:
    """Return the segments of ``body``, none if it is blank.

    In a large body, beyond the lines that are read as markdown, segments of fewer than ``shortest``
    characters are joined to the next ones.
    """
    if not body or body.isspace():
        return []
    read = read_as_markdown(body)
    body_headings = headings(body)
    heading_starts: list[tuple[int, Heading]] = []
    heading_bounds = set[int]()
    if body_headings:
        offsets = list(accumulate((len(line) + 1 for line in read.split("\n")), initial=0))
        heading_starts = [(offsets[heading.line], heading) for heading in body_headings]
        heading_bounds.update(start for start, _ in heading_starts)
        heading_bounds.update(min(offsets[heading.end], len(body)) for heading in body_headings)
    bounds = merge(
        (match.end() for match in _BLANK_LINES.finditer(body)),
        (match.start() for match in _SPEAKER_TURN.finditer(body)),
        sorted(heading_bounds),
    )
    joined_from = len(read) if len(body) >= LARGE else len(body)
    ranges = _ranges_between(body, bounds, 0, len(body), joined_from, shortest)
    return list(_under_headings(ranges, heading_starts))


def split_segment(
    body: str, segment: Segment, boundary: re.Pattern[str] | None, parts: int, shortest: int = 0
) -> Iterator[Segment]:
    """Split a segment at the ends of ``boundary``, or for None into ``parts`` of similar length.

    In a large body, parts with less than ``shortest`` characters are joined to the next ones.
    """
    bounds: Iterable[int]
    if boundary is None:
        text = body[segment.start : segment.end].rstrip()
        length = len(text.lstrip())
        parts = min(parts, length)
        first = segment.start + len(text) - length
        bounds = (first + length * part // parts for part in range(1, parts))
    else:
        bounds = (match.end() for match in boundary.finditer(body, segment.start, segment.end))
    joined_from = segment.start if boundary and len(body) >= LARGE else segment.end
    follows_space = segment.follows_space
    for start, end in _ranges_between(
        body, bounds, segment.start, segment.end, joined_from, shortest
    ):
        yield Segment(start, end, segment.path, segment.section, segment.is_heading, follows_space)
        follows_space = body[end - 1].isspace()


def _ranges_between(
    body: str, bounds: Iterable[int], start: int, end: int, joined_from: int, shortest: int
) -> Iterator[tuple[int, int]]:
    """Yield the ranges between ``bounds``, from ``start`` to ``end``.

    A blank range is joined to the one before it and, from offset ``joined_from``, one of fewer than
    ``shortest`` characters to the next.
    """
    pending = None
    for bound in chain(bounds, (end,)):
        if bound <= start or bound > end:
            continue
        is_blank = body[start:bound].isspace()
        if pending is not None:
            is_short = pending[0] >= joined_from and start - pending[0] < shortest
            if is_blank or is_short:
                pending = (pending[0], bound)
            else:
                yield pending
                pending = (start, bound)
        elif is_blank:
            continue
        else:
            pending = (start, bound)
        start = bound
    if pending is not None:
        yield pending


def _under_headings(
    ranges: Iterable[tuple[int, int]], heading_starts: list[tuple[int, Heading]]
) -> Iterator[Segment]:
    ancestors: list[Heading] = []
    path: tuple[str, ...] = ()
    section = next_heading = 0
    for start, end in ranges:
        is_heading = next_heading < len(heading_starts) and heading_starts[next_heading][0] < end
        if is_heading:
            heading = heading_starts[next_heading][1]
            next_heading += 1
            while ancestors and ancestors[-1].level >= heading.level:
                ancestors.pop()
            ancestors.append(heading)
            path = tuple(each.text[:LONGEST_HEADING] for each in ancestors if each.text)
            section += heading.level <= SECTION_LEVEL
        yield Segment(start, end, path, section, is_heading)


CountTokens = Callable[[Sequence[str]], list[int]]

Segmented = tuple[str, list[Segment]]

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


_TINY_SHARE = 4
_NEGLIGIBLE_SHARE = 32
_CHARACTERS_PER_TOKEN = 16
_SHORTEST_SHARE = 4


@dataclass(frozen=True, slots=True)
class Limits:
    tokens: int
    characters: int
    """Needed as a vocabulary may read any long word, such as base64, as one unknown token."""
    tiny: int
    """Tokens up to which a section may share a chunk with another tiny one."""
    negligible: int
    """Tokens up to which a text says too little to be found: a rule, a comment, "None."."""
    shortest: int
    """Characters below which parts of a large body are joined."""

    @classmethod
    def of(cls, max_tokens: int) -> Limits:
        return cls(
            tokens=max_tokens,
            characters=max_tokens * _CHARACTERS_PER_TOKEN,
            tiny=max_tokens // _TINY_SHARE,
            negligible=max_tokens // _NEGLIGIBLE_SHARE,
            shortest=max_tokens // _SHORTEST_SHARE,
        )


@dataclass(slots=True)
class Group:
    segments: list[Segment]
    tokens: int
    section: int

    @property
    def start(self) -> int:
        return self.segments[0].start

    @property
    def end(self) -> int:
        return self.segments[-1].end

    @property
    def path(self) -> tuple[str, ...]:
        paths = [segment.path for segment in self.segments if not segment.is_heading]
        paths = paths or [segment.path for segment in self.segments]
        low_and_high = zip(min(paths), max(paths), strict=False)
        return tuple(low for low, _ in takewhile(lambda pair: pair[0] == pair[1], low_and_high))

    def add(self, other: Group) -> None:
        self.segments += other.segments
        self.tokens += other.tokens
        self.section = other.section

    def split_at_joins(self) -> list[Group]:
        parts: list[Group] = []
        for segment in self.segments:
            single = Group([segment], segment.tokens, segment.section)
            if parts and segment.follows_space:
                parts[-1].add(single)
            else:
                parts.append(single)
        return parts


def pack(segments: Sequence[Segment], limits: Limits) -> list[Group]:
    section_tokens = Counter[int]()
    for segment in segments:
        section_tokens[segment.section] += segment.tokens
    packed: list[Group] = []
    for unit in _units(segments, limits):
        if packed and _may_join(packed[-1], unit, section_tokens[unit.section], limits):
            packed[-1].add(unit)
        else:
            packed.append(unit)
    return packed


def heading_tokens(segments: Sequence[Segment], index: int, limits: Limits) -> int:
    """Return the tokens of the headings above a segment, 0 if they fill more than half a chunk."""
    total = 0
    while index and segments[index - 1].is_heading:
        index -= 1
        total += segments[index].tokens
        if total > limits.tokens // 2:
            return 0
    return total


def _units(segments: Iterable[Segment], limits: Limits) -> Iterator[Group]:
    pending: Group | None = None
    for segment in segments:
        unit = Group([segment], segment.tokens, segment.section)
        if pending is None:
            pending = unit
        elif _fits(pending, unit, limits):
            pending.add(unit)
        else:
            yield pending
            pending = unit
        if not segment.is_heading:
            yield pending
            pending = None
    if pending is not None:
        yield pending


def _may_join(group: Group, unit: Group, section_tokens: int, limits: Limits) -> bool:
    if not _fits(group, unit, limits):
        return False
    if group.section == unit.section or group.segments[-1].is_heading:
        return True
    less, more = sorted((group.tokens, section_tokens))
    return more <= limits.tiny or less <= limits.negligible


def _fits(group: Group, unit: Group, limits: Limits) -> bool:
    return (
        group.tokens + unit.tokens <= limits.tokens and unit.end - group.start <= limits.characters
    )
