"""Markup within a line: code, emphasis, wikilinks, markdown links to files of the base. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any
from urllib.parse import unquote

CODE_SPAN = (
    r"(?<!`)(?P<ticks>`{1,16})(?!`)(?:[^`\n]|\n(?!\n)|(?!(?P=ticks)(?!`))`){1,2000}?(?P=ticks)(?!`)"
)

_CODE_SPAN_OR_WIKILINK = re.compile(
    CODE_SPAN + r"|\[\[(?P<target>[^\[\]\n|#]{1,300})(?:#[^\[\]\n|]{0,300})?"
    r"(?:\|[^\[\]\n]{0,300})?\]\]"
)
EMPHASIS = (
    re.compile(r"(?<![*\\])\*\*(?=\S)([^*\n]{1,500}?)(?<=\S)\*\*(?!\*)"),
    re.compile(r"(?<![*\\\w])\*(?=\S)([^*\n]{1,500}?)(?<=\S)\*(?![*\w])"),
    re.compile(r"(?<![_\\\w])__(?=\S)([^_\n]{1,500}?)(?<=\S)__(?![_\w])"),
    re.compile(r"(?<![_\\\w])_(?=\S)([^_\n]{1,500}?)(?<=\S)_(?![_\w])"),
    re.compile(r"(?<!`)`([^`\n]{1,500})`(?!`)"),
)
"""Bold, italic and code markup; the group is the text inside."""

_INLINE_MARKUP = (  # replaced by the group
    re.compile(r"!?\[\[([^\[\]\n|]{1,300})\]\]"),
    re.compile(r"!?\[\[[^\[\]\n|]{1,300}\|([^\[\]\n]{1,300})\]\]"),
    re.compile(
        r"!?\[([^\[\]\n]{0,500})\]"
        r"\((?:[^()\s]|\([^()\s]{0,200}\)){0,1000}(?:\s+\"[^\"\n]{0,200}\")?\)"
    ),
    *EMPHASIS,
    re.compile(r"\\([!-/:-@\[-`{-~])"),
)

LINK = re.compile(r"!?\[\[[^\[\]\n]{1,500}\]\]|!?\[[^\[\]\n]{1,500}\]\([^()\s]{1,1000}\)")


def wikilink_targets(text: str) -> Iterator[str]:
    for match in _CODE_SPAN_OR_WIKILINK.finditer(text):
        target = (match["target"] or "").strip().rstrip("\\").strip()
        if target:
            yield target


def strip_markup(text: str) -> str:
    if not any(mark in text for mark in "[*_`\\"):
        return text
    for pattern in _INLINE_MARKUP:
        text = pattern.sub(r"\1", text)
    return text


EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*://|(?:mailto|tel|data|javascript|obsidian):", re.I)

_LINK = re.compile(
    CODE_SPAN + r"|(?<!\\)!?\[(?:"
    r"\[(?P<target>[^\[\]\n|]{1,500})(?:\|(?P<label>[^\[\]\n]{0,500}))?\]\]"
    r"|(?P<text>[^\[\]\n]{0,500})\]\("
    r"(?P<address><[^<>\n]{1,1000}>|(?:[^()\s<>]|\([^()\s]{0,200}\)){1,1000})"
    r"(?:[ \t]+\"[^\"\n]{0,200}\")?\))"
)
_IN_DELIMITER_ROW = frozenset("|-: \t>")


@dataclass(frozen=True, slots=True)
class WrittenLink:
    page: str
    """The file as written: a name or a path; empty for the note itself. Of a markdown link it
    begins with `./`, `../` or `/`, as it is relative to the note."""
    part: str
    label: str
    is_wikilink: bool
    start: int
    end: int

    @property
    def target(self) -> str:
        """Page and part as they are written in a wikilink; `#` and `|` of a name are encoded."""
        page = self.page.replace("#", "%23").replace("|", "%7C")
        return f"{page}#{self.part}" if self.part else page


def find_written_links(text: str) -> Iterator[WrittenLink]:
    """Yield the links of a text without code blocks, in order; skips code spans."""
    for match in _LINK.finditer(text):
        if match["target"] is not None:
            page, part = split_target(match["target"])
            label = (match["label"] or "").strip() or shown_target(page, part)
        elif match["address"] is not None:
            page, part = local_address(match["address"])
            label = match["text"].strip() or match["address"]
        else:
            continue
        if page or part:
            yield WrittenLink(page, part, label, match["target"] is not None, *match.span())


def wikilink(page: str, label: str, *, in_table: bool = False) -> str:
    """Return a wikilink to `page` that shows `label`; in a table its bar must be escaped."""
    bar = "\\|" if in_table else "|"
    return f"[[{page}]]" if label in ("", page) else f"[[{page}{bar}{label}]]"


def is_in_table(lines: Sequence[str], number: int) -> bool:
    rows = [*takewhile(_has_bar, lines[number:])]  # from here on
    if rows:
        rows += takewhile(_has_bar, reversed(lines[:number]))
    return any(_IN_DELIMITER_ROW.issuperset(row) and "-" in row for row in rows)


def property_link_targets(frontmatter: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(_in_value(frontmatter))


def split_target(target: str) -> tuple[str, str]:
    """Return the page and part of a link target; either may be empty.

    Also accepts a complete wikilink, a label after `|`, and a URL in angle brackets.
    """
    target = unicodedata.normalize("NFC", target.strip())
    target = target.removeprefix("[[").removesuffix("]]")
    if target.startswith("<") and target.endswith(">"):
        target = target[1:-1]
    page, _, part = target.partition("|")[0].partition("#")
    return page.strip().rstrip("\\").strip(), part.strip().rstrip("\\").strip()  # `\\|` in tables


def shown_target(page: str, part: str) -> str:
    return " > ".join(piece for piece in (page, *part.split("#")) if piece)


def local_address(address: str) -> tuple[str, str]:
    address = address.removeprefix("<").removesuffix(">")
    if EXTERNAL.match(address) or address.startswith("//"):
        return "", ""
    page, part = (unicodedata.normalize("NFC", unquote(piece)) for piece in _halves(address))
    if page and not page.startswith(("/", "./", "../")):
        page = f"./{page}"
    return page, part.strip()


def _has_bar(line: str) -> bool:
    return "|" in line


def _halves(address: str) -> tuple[str, str]:
    page, _, part = address.partition("#")  # before decoding: `%23` is part of a name
    return page, part


def _in_value(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from (link.target for link in find_written_links(value) if link.is_wikilink)
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _in_value(entry)
    elif isinstance(value, list):
        inner = value[0] if len(value) == 1 else None
        if isinstance(inner, list) and len(inner) == 1 and isinstance(inner[0], str):
            yield "#".join(split_target(inner[0])).rstrip("#")  # YAML's reading of `[[Name]]`
        else:
            for entry in value:
                yield from _in_value(entry)
