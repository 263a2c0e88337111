"""Packing of segments into chunks, from their token counts alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from kbx_tui.knowledge.chunking.segments import Segment

_TINY_SHARE = 4
_NEGLIGIBLE_SHARE = 32
_CHARACTERS_PER_TOKEN = 16
_SHORTEST_SHARE = 4


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one chunk may hold."""

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
        """Return the limits for chunks of at most ``max_tokens`` tokens."""
        return cls(
            tokens=max_tokens,
            characters=max_tokens * _CHARACTERS_PER_TOKEN,
            tiny=max_tokens // _TINY_SHARE,
            negligible=max_tokens // _NEGLIGIBLE_SHARE,
            shortest=max_tokens // _SHORTEST_SHARE,
        )


@dataclass(slots=True)
class Group:
    """Consecutive segments that share a chunk."""

    segments: list[Segment]
    tokens: int
    section: int
    """Section of its last segment."""

    @property
    def start(self) -> int:
        return self.segments[0].start

    @property
    def end(self) -> int:
        return self.segments[-1].end

    @property
    def path(self) -> tuple[str, ...]:
        """The headings shared by all of its text, outermost first."""
        paths = [segment.path for segment in self.segments if not segment.is_heading]
        paths = paths or [segment.path for segment in self.segments]
        low_and_high = zip(min(paths), max(paths), strict=False)
        return tuple(low for low, _ in takewhile(lambda pair: pair[0] == pair[1], low_and_high))

    def add(self, other: Group) -> None:
        self.segments += other.segments
        self.tokens += other.tokens
        self.section = other.section

    def split_at_joins(self) -> list[Group]:
        """Split the group wherever two segments meet without white space."""
        parts: list[Group] = []
        for segment in self.segments:
            single = Group([segment], segment.tokens, segment.section)
            if parts and segment.follows_space:
                parts[-1].add(single)
            else:
                parts.append(single)
        return parts


def pack(segments: Sequence[Segment], limits: Limits) -> list[Group]:
    """Join consecutive segments into groups, greedily, within the limits and sections."""
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
    """Return the tokens of the headings directly above a segment, which go into its chunk.

    Returns 0 if they fill more than half a chunk: such headings are not kept with their text.
    """
    total = 0
    while index and segments[index - 1].is_heading:
        index -= 1
        total += segments[index].tokens
        if total > limits.tokens // 2:
            return 0
    return total


def _units(segments: Iterable[Segment], limits: Limits) -> Iterator[Group]:
    """Yield each segment that is not a heading, with the headings directly above it."""
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
