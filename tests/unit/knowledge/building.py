"""Builders for test data: documents, entities, folders, token counters, markdown bodies."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from hypothesis import strategies as st

from kbx_tui.knowledge.reading import parse_document
from kbx_tui.knowledge.records import Document, Entity, Link

PERSON = "memory/people/maria-novak.md"
MEETING = "memory/meetings/2026/03/17/sync.md"


def page(text: str, path: str = "memory/notes/page.md") -> Document:
    return parse_document(path, text.encode())


def write(root: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def count_quarters(texts: Sequence[str]) -> list[int]:
    """Count one token per four characters, rounded up: not additive inside a word."""
    return [sum(-(-len(word) // 4) for word in text.split()) for text in texts]


def count_squares(texts: Sequence[str]) -> list[int]:
    """Count more tokens for a long word than for its parts together."""
    return [sum(1 + len(word) ** 2 // 64 for word in text.split()) for text in texts]


def person(name: str, *aliases: str, **fields: object) -> Entity:
    return _entity("person", name, aliases, fields)


def team(name: str, *aliases: str, **fields: object) -> Entity:
    return _entity("team", name, aliases, fields)


def project(name: str, *aliases: str, **fields: object) -> Entity:
    return _entity("project", name, aliases, fields)


def kinds(links: Sequence[Link]) -> dict[str, dict[str, int]]:
    """Return links as ``{entity_id: {kind: count}}``."""
    counts: dict[str, dict[str, int]] = {}
    for link in links:
        counts.setdefault(link.entity_id, {})[link.kind] = link.count
    return counts


def _entity(type_: str, name: str, aliases: tuple[str, ...], fields: dict[str, object]) -> Entity:
    slug = name.lower().replace(" ", "-")
    values: dict[str, object] = {"id": f"{type_}:{slug}", "path": "", "aliases": aliases} | fields
    return Entity(name=name, type=type_, **values)  # type: ignore[arg-type]


_LINES = [
    "# Title", "## Recent Facts", "## Open Items", "### Deeper", "#### Deepest", "Underlined\n===",
    "Also\n---", "plain words here", "- item one", "  - nested item", "- [ ] to do", "- [x] done",
    "1. first", "```", "~~~", "```python", "  ```", "    indented", "> quote", "> # quoted",
    "<div>", "</div>", "<!-- note -->", "<!-- open", "-->", "<pre>", "</pre>",
    "**Maria:** hello there",
    "**Tom**: hi. And more! Yes?", "| a | b |", "---", "", "", "", "[[Helix|it]]", "`[[code]]`",
    "- [2026-03-17] a fact (from: [[Kickoff]])", "~~gone~~", "漢字。かな。", "word " * 40, "x" * 90,
    "\t- tabbed", " # one space", "   ## three", "-", "==", "#", "#hashtag", "\u00a0", "# ",
]  # fmt: skip

markdown_bodies = st.lists(st.sampled_from(_LINES) | st.text(max_size=30), max_size=25).map(
    "\n".join
)
"""Bodies of lines with markdown syntax, mixed with any text."""
