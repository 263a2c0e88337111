"""Graphs of Logseq: journals and pages as outlines, with properties and block references."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from kbx_tui.importing.imported_document import ImportedDocument, SourceFile
from kbx_tui.importing.readers.reading_help import text_of_file
from kbx_tui.knowledge.folding import slug
from kbx_tui.knowledge.records import Attendee

FOLDER = "logseq"

_PROPERTY = re.compile(r"^(?P<key>[A-Za-z][\w.-]*):: ?(?P<value>.*)$")
_BLOCK = re.compile(r"^(?P<indent>[\t ]*)- ?(?P<text>.*)$")
_BLOCK_ID = re.compile(r"^\s*id:: (?P<id>[0-9a-f-]{36})\s*$")
_EMBED = re.compile(r"\{\{embed \(\((?P<id>[0-9a-f-]{36})\)\)\}\}")
_REFERENCE = re.compile(r"\(\((?P<id>[0-9a-f-]{36})\)\)")
_PAGE_EMBED = re.compile(r"\{\{embed (\[\[[^\]]+\]\])\}\}")
_OPEN = re.compile(r"^(?P<head>[\t ]*- )(?:TODO|DOING|NOW|LATER|WAITING) ")
_DONE = re.compile(r"^(?P<head>[\t ]*- )DONE ")
_HIDDEN_KEYS = ("id", "collapsed", "created-at", "updated-at", "heading")
_PEOPLE = ("attendees", "participants", "people")


def is_logseq(files: Sequence[SourceFile]) -> bool:
    """Return whether files are a graph: settings of Logseq, or its two folders."""
    folders = {part for file in files for part in file.path.split("/")[:-1]}
    return "logseq" in folders or {"journals", "pages"} <= folders


def read_logseq(files: Sequence[SourceFile]) -> list[ImportedDocument]:
    """Return journals and pages. Backups, the recycle bin and whiteboards are left out."""
    pages = [
        file
        for file in files
        if file.suffix == ".md"
        and "logseq" not in file.path.split("/")[:-1]
        and text_of_file(file).strip()
    ]
    blocks: dict[str, str] = {}
    for file in pages:
        blocks |= _blocks(text_of_file(file))
    return [_page(file, blocks) for file in pages]


def _blocks(text: str) -> dict[str, str]:
    """Return the first line of each block that has an id."""
    found, current = {}, ""
    for line in text.split("\n"):
        if match := _BLOCK_ID.match(line):
            found[match["id"]] = current
        elif match := _BLOCK.match(line):
            current = match["text"].strip()
    return found


def _page(file: SourceFile, blocks: dict[str, str]) -> ImportedDocument:
    lines = text_of_file(file).split("\n")
    properties: dict[str, str] = {}
    while lines and (match := _PROPERTY.match(lines[0].removeprefix("- "))):
        properties[match["key"].lower()] = match["value"].strip()
        lines = lines[1:]
    is_journal = "journals" in file.path.split("/")
    day = file.stem.replace("_", "-") if is_journal else ""
    day = day if re.fullmatch(r"\d{4}-\d{2}-\d{2}", day) else ""
    name = unquote(file.stem).replace("___", "/").replace("%2F", "/")
    title = properties.pop("title", "") or day or name
    folder, _, stem = title.rpartition("/")
    people = [value for key, value in properties.items() if key in _PEOPLE]
    names = [name for value in people for name in _names(value)]
    body = "\n".join(_lines(lines, blocks)).strip("\n")
    return ImportedDocument(
        import_id=f"logseq:{'journals' if is_journal else 'pages'}/{file.stem}",
        kind="note",
        title=title,
        date=day,
        attendees=tuple(map(Attendee, dict.fromkeys(names))),
        fields=_fields(properties),
        folder="/".join(
            [FOLDER, "journals"]
            if is_journal
            else [FOLDER, *map(slug, filter(None, folder.split("/")))]
        ),
        stem=day or slug(stem) or slug(title),
        body=body + "\n" if body else "",
    )


def _lines(lines: Sequence[str], blocks: dict[str, str]) -> list[str]:
    kept = []
    for line in lines:
        match = _PROPERTY.match(line.strip())
        if match and match["key"].lower() in _HIDDEN_KEYS:
            continue
        line = _PAGE_EMBED.sub(r"!\1", line)
        for reference in (_EMBED, _REFERENCE):
            line = reference.sub(lambda found: blocks.get(found["id"], found[0]), line)
        line = _DONE.sub(r"\g<head>[x] ", _OPEN.sub(r"\g<head>[ ] ", line))
        kept.append(line.replace("\t", "  "))
    return kept


def _fields(properties: dict[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in properties.items():
        if key in _HIDDEN_KEYS or key in _PEOPLE or not value:
            continue
        if key in ("tags", "alias", "aliases"):
            fields["aliases" if key == "alias" else key] = _names(value)
        else:
            fields[key] = value
    return fields


def _names(value: str) -> list[str]:
    names = (name.strip().removeprefix("#") for name in value.split(","))
    return [bare for name in names if (bare := name.removeprefix("[[").removesuffix("]]").strip())]
