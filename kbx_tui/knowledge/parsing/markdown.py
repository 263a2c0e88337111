"""Block structure of a markdown body: headings, list items, code, links.

Line numbers are 0-based lines of the body; add ``Document.body_line`` for lines of the file. Blocks
are those of CommonMark, parsed by markdown-it without its inline rules.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, islice

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.parsing.headings import Heading, atx_text, scan_headings
from kbx_tui.knowledge.parsing.inline import strip_markup
from kbx_tui.knowledge.parsing.link_syntax import WrittenLink, find_written_links

MAX_LINES = 100_000
"""Lines of a body that are read as markdown; those after them are text without structure."""

_LARGE = 1_000_000
"""Characters from which a body and its outline take much memory."""


_LINE_END = re.compile("\n")


@dataclass(frozen=True, slots=True)
class ListItem:
    """A list item outside block quotes."""

    line: int
    text_end: int
    """First line after the item's own text; nested items begin there or later."""
    end: int
    """First line after the item and its nested items."""
    depth: int
    """Number of items around it, 0 for a top-level item."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The blocks of a body, as they follow each other."""

    headings: tuple[Heading, ...]
    items: tuple[ListItem, ...]
    code: tuple[tuple[int, int], ...]
    """Half-open line ranges of code blocks and raw HTML."""
    section_ends: tuple[int, ...] = field(init=False)
    """First line after the section of each heading; ``sys.maxsize`` for those that end the body."""

    def __post_init__(self) -> None:
        ends, open_sections = [sys.maxsize] * len(self.headings), list[int]()
        for index, heading in enumerate(self.headings):
            while open_sections and self.headings[open_sections[-1]].level >= heading.level:
                ends[open_sections.pop()] = heading.line
            open_sections.append(index)
        object.__setattr__(self, "section_ends", tuple(ends))

    def section_end(self, index: int) -> int:
        """Return the first line after the section of ``headings[index]``."""
        return self.section_ends[index]


def outline(body: str) -> Outline:
    """Return the blocks in the first ``MAX_LINES`` lines of ``body``.

    Cached, as several readers need them.
    """
    body = read_as_markdown(body)
    return _outline(body) if len(body) < _LARGE else _outline_of_large(body)


def _read_outline(body: str) -> Outline:
    lines = body.split("\n")
    try:
        parsed = _parser().parse(body)
    except RecursionError:  # nested too deeply to parse: treated as text without structure
        return Outline((), (), ())
    return Outline(
        tuple(_headings(parsed, lines)),
        tuple(_items(parsed)),
        tuple(
            (token.map[0], token.map[1])
            for token in parsed
            if token.map and token.type in ("fence", "code_block", "html_block")
        ),
    )


_outline = lru_cache(maxsize=64)(_read_outline)
_outline_of_large = lru_cache(maxsize=2)(_read_outline)


def has_unread_lines(body: str) -> bool:
    """Return whether ``body`` has more than ``MAX_LINES`` lines."""
    return body.count("\n") >= MAX_LINES


def read_as_markdown(body: str) -> str:
    """Return the first ``MAX_LINES`` lines of ``body``, all of it if it has no more."""
    if not has_unread_lines(body):
        return body
    line_ends = (match.start() for match in _LINE_END.finditer(body))
    return body[: next(islice(line_ends, MAX_LINES - 1, None))]


def headings(body: str) -> tuple[Heading, ...]:
    """Return ``outline(body).headings``, without a full parse if `scan_headings` is certain."""
    scanned = scan_headings(read_as_markdown(body))
    return outline(body).headings if scanned is None else scanned


def states_title(body: str, title: str) -> bool:
    """Return whether a heading of ``body`` has the words of ``title``."""
    key = name_key(title)
    return any(name_key(heading.text) == key for heading in headings(body))


def line_offsets(text: str) -> list[int]:
    """Return the offset of each line of ``text``, then the length of ``text`` plus 1."""
    return list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))


def links_of(body: str) -> Iterator[WrittenLink]:
    """Yield the links of a body outside code, in order; offsets are into ``body``."""
    if "[[" in body or "](" in body:
        yield from find_written_links(blank_code(body))


def blank_code(body: str) -> str:
    """Return ``body`` with code blocks and raw HTML replaced by spaces; offsets stay the same."""
    if not any(mark in body for mark in ("```", "~~~", "    ", "\t")):
        return body
    lines = body.split("\n")
    for first, end in outline(body).code:
        lines[first:end] = [" " * len(line) for line in lines[first:end]]
    return "\n".join(lines)


class _BlockParser(MarkdownIt):
    """A CommonMark parser that leaves the addresses of link definitions alone."""

    def normalizeLink(self, url: str) -> str:  # noqa: N802  # markdown-it's name
        return url  # percent-encoding an embedded picture (data URL) is slow


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = _BlockParser("commonmark")
    parser.core.ruler.disable(["inline", "normalize"])  # decoding normalizes line ends
    return parser


def _headings(parsed: Sequence[Token], lines: Sequence[str]) -> Iterator[Heading]:
    for token in parsed:
        if token.type != "heading_open" or token.level or not token.map:
            continue
        first, end = token.map
        if token.markup in ("=", "-"):
            text = strip_markup(" ".join(line.strip() for line in lines[first : end - 1]))
        else:
            text = atx_text(lines[first])
        yield Heading(int(token.tag[1:]), text, first, end)


def _items(parsed: Sequence[Token]) -> Iterator[ListItem]:
    quotes = depth = 0
    for index, token in enumerate(parsed):
        if token.type == "blockquote_open":
            quotes += 1
        elif token.type == "blockquote_close":
            quotes -= 1
        elif token.type == "list_item_open":
            if token.map and not quotes:
                first, end = token.map
                inner = parsed[index + 1]
                own = inner.map[1] if inner.type == "paragraph_open" and inner.map else first
                yield ListItem(first, own, end, depth)
            depth += 1
        elif token.type == "list_item_close":
            depth -= 1
