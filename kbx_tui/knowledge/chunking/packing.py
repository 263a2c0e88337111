"""Which pieces share a chunk. Pure arithmetic on counts; no text is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kbx_tui.knowledge.chunking.segments import Piece

_TINY_SHARE = 4
_SLIGHT_SHARE = 32
_CHARACTERS_PER_TOKEN = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one chunk may hold."""

    tokens: int
    characters: int
    """Bounds what a vocabulary calls one unknown token: base64 is one, however long."""
    tiny: int
    """Tokens up to which a section is too small to stand alone."""
    slight: int
    """Tokens that say too little to be found by: a rule, a comment, "None."."""

    @classmethod
    def of(cls, max_tokens: int) -> Limits:
        """Return the limits of chunks of at most so many tokens."""
        return cls(
            tokens=max_tokens,
            characters=max_tokens * _CHARACTERS_PER_TOKEN,
            tiny=max_tokens // _TINY_SHARE,
            slight=max_tokens // _SLIGHT_SHARE,
        )


@dataclass(slots=True)
class Group:
    """Neighbouring pieces that stay together: a heading with its paragraph, then a whole chunk."""

    pieces: list[Piece]
    tokens: int
    section: int

    @property
    def start(self) -> int:
        return self.pieces[0].start

    @property
    def end(self) -> int:
        return self.pieces[-1].end

    @property
    def path(self) -> tuple[str, ...]:
        """The headings all of its text stands under."""
        paths = [piece.path for piece in self.pieces if not piece.is_heading]
        return _shared(paths or [piece.path for piece in self.pieces])

    @property
    def is_bare(self) -> bool:
        """Whether it holds headings alone."""
        return self.pieces[-1].is_heading

    def add(self, other: Group) -> None:
        self.pieces += other.pieces
        self.tokens += other.tokens
        self.section = other.section

    def apart(self) -> list[Group]:
        """Return groups that begin where pieces meet without white space between them."""
        parts: list[Group] = []
        for piece in self.pieces:
            single = Group([piece], piece.tokens, piece.section)
            if parts and piece.firm:
                parts[-1].add(single)
            else:
                parts.append(single)
        return parts


def pack(pieces: Sequence[Piece], limits: Limits) -> list[Group]:
    """Return the pieces as groups within the limits, in order, none left out."""
    sections: dict[int, int] = {}
    for piece in pieces:
        sections[piece.section] = sections.get(piece.section, 0) + piece.tokens
    packed: list[Group] = []
    for unit in _units(pieces, limits):
        if packed and _may_join(packed[-1], unit, sections[unit.section], limits):
            packed[-1].add(unit)
        else:
            packed.append(unit)
    return packed


def lead_tokens(pieces: Sequence[Piece], index: int, limits: Limits) -> int:
    """Return the tokens of the headings right above a piece, which its chunk has to hold as well.

    Headings of more than half a chunk are no longer headings anyone keeps together.
    """
    lead = 0
    while index and pieces[index - 1].is_heading:
        index -= 1
        lead += pieces[index].tokens
        if lead > limits.tokens // 2:
            return 0
    return lead


def _units(pieces: Iterable[Piece], limits: Limits) -> Iterator[Group]:
    waiting: Group | None = None
    for piece in pieces:
        unit = Group([piece], piece.tokens, piece.section)
        if waiting is not None and _fits(waiting, unit, limits):
            waiting.add(unit)
        else:
            if waiting is not None:
                yield waiting
            waiting = unit
        if not piece.is_heading:
            yield waiting
            waiting = None
    if waiting is not None:
        yield waiting


def _may_join(group: Group, unit: Group, section_tokens: int, limits: Limits) -> bool:
    if not _fits(group, unit, limits):
        return False
    if group.section == unit.section or group.is_bare:
        return True
    less, more = sorted((group.tokens, section_tokens))
    return more <= limits.tiny or less <= limits.slight


def _shared(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    low, high = min(paths), max(paths)
    count = next((at for at, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    return low[:count]


def _fits(group: Group, unit: Group, limits: Limits) -> bool:
    return (
        group.tokens + unit.tokens <= limits.tokens and unit.end - group.start <= limits.characters
    )
