"""Block structure of a markdown body: headings, list items, code, wikilinks. Pure.

Lines are 0-based lines of the body; who shows them adds ``Document.body_line``. CommonMark decides
what is a heading and what is code, through markdown-it without its inline part.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kbx_tui.knowledge.parsing.headings import Heading, atx_text, scan_headings
from kbx_tui.knowledge.parsing.inline import plain_text, wikilink_targets


@dataclass(frozen=True, slots=True)
class ListItem:
    """A list item outside quotes, whatever its bullet."""

    line: int
    text_end: int
    """First line after the item's own text; its nested items begin there or later."""
    end: int
    depth: int
    """0 for an item that is in no other."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The blocks of one body, each in order of appearance."""

    headings: tuple[Heading, ...]
    items: tuple[ListItem, ...]
    code: tuple[tuple[int, int], ...]
    """Line ranges of code blocks and raw HTML, end excluded."""

    def section_end(self, index: int) -> int:
        """Return the first line after the section of heading number ``index``."""
        level = self.headings[index].level
        following = (
            heading.line for heading in self.headings[index + 1 :] if heading.level <= level
        )
        return next(following, sys.maxsize)


@lru_cache(maxsize=64)
def outline(body: str) -> Outline:
    """Return the blocks of ``body``; those of the last bodies are remembered."""
    lines = body.split("\n")
    try:
        parsed = _parser().parse(body)
    except RecursionError:  # nesting beyond what the parser bears: text without structure
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


def headings(body: str) -> tuple[Heading, ...]:
    """Return ``outline(body).headings``, without a full parse where lines alone can tell."""
    scanned = scan_headings(body)
    return outline(body).headings if scanned is None else scanned


def line_offsets(text: str) -> list[int]:
    """Return where each line of ``text`` begins, and its length plus one as the last entry."""
    return list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))


def wikilinks(body: str) -> tuple[str, ...]:
    """Return the targets of ``[[target#part|alias]]`` outside code, in order, with repetition."""
    if "[[" not in body:
        return ()
    return tuple(wikilink_targets(_without_code(body)))


class _BlockParser(MarkdownIt):
    """Reads link definitions to know that they are no text; their addresses are of no use here."""

    def normalizeLink(self, url: str) -> str:  # noqa: N802  # markdown-it's name
        return url  # encoding a picture that is written as an address takes a second


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = _BlockParser("commonmark")
    parser.core.ruler.disable(["inline", "normalize"])  # decoding has normalised line ends
    return parser


def _headings(parsed: Sequence[Token], lines: Sequence[str]) -> Iterator[Heading]:
    for token in parsed:
        if token.type != "heading_open" or token.level or not token.map:
            continue
        first, end = token.map
        if token.markup in ("=", "-"):
            text = plain_text(" ".join(line.strip() for line in lines[first : end - 1]))
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


def _without_code(body: str) -> str:
    if not any(mark in body for mark in ("```", "~~~", "    ", "\t")):
        return body
    lines = body.split("\n")
    for first, end in outline(body).code:
        lines[first:end] = [""] * (end - first)
    return "\n".join(lines)
