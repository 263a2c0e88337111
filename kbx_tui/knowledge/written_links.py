"""Links as they are written in a body or a property: wikilinks, embeds, markdown links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple
from urllib.parse import unquote

from kbx_tui.knowledge.folding import normalized
from kbx_tui.knowledge.markdown import CODE_SPAN, LINK_TITLE, blank_unread

LINK = re.compile(r"!?\[\[[^\[\]\n]{1,500}\]\]|!?\[[^\[\]\n]{1,500}\]\([^()\s]{1,1000}\)")

EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*://|(?:mailto|tel|data|javascript|obsidian):", re.I)
_ELSEWHERE = re.compile(
    EXTERNAL.pattern + r"|[a-z][a-z0-9+.-]+:(?!.*\.md(?:[#?]|$))|:/|//", re.IGNORECASE
)
"""An address with a scheme or a host, or `:/` and an id, as Joplin writes it.

What is before a colon and no known scheme may begin the name of a file: `ADR:queues.md`.
"""

_LINK = re.compile(
    CODE_SPAN + r"|\[(?<!\\\[)(?:"
    r"\[(?P<target>[^\[\]\n|]{1,500})(?:\|(?P<label>[^\[\]\n]{0,500}))?\]\]"
    r"|(?P<text>[^\[\]\n]{0,500})(?<!\\)\]\("
    r"(?P<address><[^<>\n]{1,1000}>|(?:[^()\s<>]|\([^()\s]{0,200}\)){1,1000})" + LINK_TITLE + r"\))"
)
_OF_VAULT = re.compile(r"\s*dendron://[^/\s]{1,200}/")
_IN_DELIMITER_ROW = frozenset("|-: \t>")


class WrittenLink(NamedTuple):
    page: str
    """The file as written: a name or a path; empty for the note itself. In a markdown link it is
    relative to the note, and begins with `./`, `../` or `/`."""
    part: str
    label: str
    is_wikilink: bool
    start: int
    end: int
    address: tuple[int, int]
    """Where the target or address is written, for a reference link in its definition."""

    @property
    def target(self) -> str:
        page = self.page.replace("#", "%23").replace("|", "%7C")
        return f"{page}#{self.part}" if self.part else page


def find_written_links(text: str, *, labels_first: bool = False) -> Iterator[WrittenLink]:
    """Yield the wikilinks, embeds and markdown links in a text.

    With `labels_first`, the label of a wikilink is before its bar, and its target may name the
    vault of the note.
    """
    for match in _LINK.finditer(text):
        if match["target"] is not None:
            target, label = match["target"], match["label"] or ""
            if labels_first and label.strip():
                target, label = label, target.rstrip("\\")
            if labels_first:
                target = _OF_VAULT.sub("", target)
            if EXTERNAL.match(target.strip()):
                continue
            page, part = split_target(target)
            shown = " > ".join(piece for piece in (page, *part.split("#")) if piece)
            label = label.strip() or shown
        elif match["address"] is not None:
            page, part = local_address(match["address"])
            label = match["text"].strip() or match["address"]
        else:
            continue
        if page or part:
            start, end = match.span()
            start -= _is_shown(text, start)
            is_wikilink = match["target"] is not None
            address = match.span("target" if is_wikilink else "address")
            yield WrittenLink(page, part, label, is_wikilink, start, end, address)


def _is_shown(text: str, start: int) -> bool:
    """Return whether the exclamation mark of a picture or embed precedes a bracket."""
    return text[start - 1 : start] == "!" and text[start - 2 : start - 1] != "\\"


def wikilink(page: str, label: str, *, in_table: bool = False) -> str:
    """Return a wikilink to `page` that shows `label`; its bar is escaped in a table."""
    bar = "\\|" if in_table else "|"
    return f"[[{page}]]" if label in ("", page) else f"[[{page}{bar}{label}]]"


def lines_in_tables(lines: Sequence[str]) -> frozenset[int]:
    """Return the numbers of the lines that are rows of tables."""
    found = set[int]()
    for has_bar, run in groupby(enumerate(lines), key=lambda numbered: "|" in numbered[1]):
        rows = dict(run) if has_bar else {}
        if any(_IN_DELIMITER_ROW.issuperset(row) and "-" in row for row in rows.values()):
            found.update(rows)
    return frozenset(found)


def split_target(target: str) -> tuple[str, str]:
    """Return the page and part of a link target, which may include a label, `[[ ]]` or `< >`."""
    target = normalized("NFC", target.strip())
    target = target.removeprefix("[[").removesuffix("]]")
    if target.startswith("<") and target.endswith(">"):
        target = target[1:-1]
    page, _, part = target.partition("|")[0].partition("#")
    return page.strip().rstrip("\\").strip(), part.strip().rstrip("\\").strip()  # `\\|` in tables


def local_address(address: str) -> tuple[str, str]:
    address = address.removeprefix("<").removesuffix(">")
    if _ELSEWHERE.match(address):
        return "", ""
    page, _, part = address.partition("#")  # split before decoding: `%23` is part of a name
    page = page.partition("?")[0].removeprefix("@site")  # the root, as Docusaurus writes it
    page, part = (normalized("NFC", unquote(piece)) for piece in (page, part))
    if page and not page.startswith(("/", "./", "../")):
        page = f"./{page}"
    return page, part.strip()


def property_link_targets(value: object) -> Iterator[str]:
    """Yield the targets of all wikilinks in frontmatter or one of its values, at any depth."""
    if isinstance(value, str):
        if "[[" in value:
            yield from (link.target for link in find_written_links(value) if link.is_wikilink)
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from property_link_targets(entry)
    elif isinstance(value, list):
        inner = value[0] if len(value) == 1 else None
        if isinstance(inner, list) and len(inner) == 1 and isinstance(inner[0], str):
            yield "#".join(split_target(inner[0])).rstrip("#")  # nested lists: YAML's `[[Name]]`
        else:
            for entry in value:
                yield from property_link_targets(entry)


def links_of(body: str, *, labels_first: bool = False) -> Iterator[WrittenLink]:
    """Yield the links of a body in order, reference links (`[text][id]`) included.

    Code, comments, placeholders of templates and mathematics hold none.
    """
    if not any(mark in body for mark in ("[[", "](", "]:")):
        return
    text = blank_unread(body)
    links = find_written_links(text, labels_first=labels_first)
    definitions = [
        match
        for match in (_DEFINITION.finditer(text) if "]:" in text else ())
        if not body[match.end("id") + 2 : match.start("address")].strip()  # a placeholder
    ]
    definitions.reverse()  # the first one of an id counts
    if by_id := {_reference_key(match["id"]): match for match in definitions}:
        with_references = [*links, *_reference_links(text, by_id)]
        links = iter(sorted(with_references, key=lambda link: link.start))
    yield from links


_DEFINITION = re.compile(
    r"^ {0,3}\[(?!\^)(?P<id>[^\[\]\n]{1,200})\]:[ \t]*(?P<address><[^<>\n]{1,1000}>|\S{1,1000})",
    re.MULTILINE,
)
_REFERENCE = re.compile(
    CODE_SPAN + r"|(?<![\\\]\[])!?\[(?P<text>[^\[\]\n]{1,500})\]"
    r"(?:\[(?P<id>[^\[\]\n]{0,200})\])?(?![\[(:\]])"
)


def _reference_links(text: str, by_id: Mapping[str, re.Match[str]]) -> Iterator[WrittenLink]:
    for match in _REFERENCE.finditer(text):
        label = match["text"] or ""
        definition = by_id.get(_reference_key(match["id"] or label))
        page, part = local_address(definition["address"] if definition else "")
        if definition and (page or part):
            address = definition.span("address")
            yield WrittenLink(page, part, label.strip(), False, *match.span(), address)


def _reference_key(reference: str) -> str:
    return " ".join(reference.split()).casefold()
