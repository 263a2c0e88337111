"""The links of a document as rows of one list. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line

if TYPE_CHECKING:
    from kbx_tui.search.links.link_records import DocumentLinks, UnlinkedMention

Kind = Literal["backlink", "mention", "outgoing", "broken"]
NOUNS: dict[Kind, str] = {
    "backlink": "backlink",
    "mention": "mention",
    "outgoing": "outgoing link",
    "broken": "broken link",
}


@dataclass(frozen=True, slots=True)
class LinkRow:
    """One link or mention. Texts are without control characters."""

    kind: Kind
    title: str
    """Of the other document; of a broken link its target."""
    place: str
    """Where it is: `memory/notes/plan.md:12`, `line 12`, `in a property`."""
    text: str
    """The line it is in, or what may be meant; may be empty."""
    path: str = ""
    """The document to open."""
    line: int = 0
    """1-based line to open it at, 0 for the beginning."""
    entity_id: str = ""
    """The entity to open, where `path` is empty."""
    mention: UnlinkedMention | None = None
    """What can become a link."""


def link_rows(links: DocumentLinks) -> tuple[LinkRow, ...]:
    """Return all rows: backlinks, mentions, outgoing links, broken links."""
    backlinks = [
        LinkRow("backlink", safe_line(each.title), _place(each.path, each.line),
                safe_line(each.text) if each.line else "in a property", each.path, each.line)
        for each in links.backlinks
    ]  # fmt: skip
    mentions = [
        LinkRow("mention", safe_line(each.title), _place(each.path, each.line),
                safe_line(each.text), each.path, each.line, mention=each)
        for each in links.mentions
    ]  # fmt: skip
    outgoing = [
        LinkRow("outgoing", safe_line(each.title), _place("", each.line), "", each.path,
                entity_id=each.entity_id)
        for each in links.outgoing
    ]  # fmt: skip
    broken = [
        LinkRow("broken", safe_line(f"[[{each.target}]]"), _place("", each.line),
                _suggestions(each.suggestions), each.path, each.line)
        for each in links.broken
    ]  # fmt: skip
    return (*backlinks, *mentions, *outgoing, *broken)


def group_title(rows: tuple[LinkRow, ...], kind: Kind) -> str:
    """Return the title of a group: `3 mentions without a link`."""
    count = format_count(sum(row.kind == kind for row in rows), NOUNS[kind])
    return f"{count} without a link" if kind == "mention" else count


def counts(rows: tuple[LinkRow, ...]) -> str:
    """Return the number of each kind that there is: `13 backlinks, 6 outgoing links`."""
    numbers = {kind: sum(row.kind == kind for row in rows) for kind in NOUNS}
    parts = [format_count(number, NOUNS[kind]) for kind, number in numbers.items() if number]
    return ", ".join(parts) or "no links"


def _suggestions(paths: tuple[str, ...]) -> str:
    return f"leads to nothing; may mean {safe_line(', '.join(paths))}" if paths else (
        "leads to nothing"
    )  # fmt: skip


def _place(path: str, line: int) -> str:
    if not line:
        return safe_line(path) if path else "in a property"
    return safe_line(f"{path}:{line}") if path else f"line {line}"
