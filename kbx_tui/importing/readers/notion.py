"""Exports of Notion: markdown pages and tables whose names end in an id of 32 digits."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from kbx_tui.importing.imported_document import (
    Imported,
    ImportedDocument,
    ImportProblem,
    SourceFile,
)
from kbx_tui.importing.readers.reading_help import text_of_file
from kbx_tui.knowledge.folding import name_key, slug
from kbx_tui.knowledge.parsing.dates import iso_date
from kbx_tui.knowledge.parsing.link_syntax import is_in_table, wikilink
from kbx_tui.knowledge.parsing.markdown import links_of
from kbx_tui.knowledge.records import Attendee

FOLDER = "notion"

_ID = re.compile(r"^(?P<name>.*?)[ _-]?(?P<id>[0-9a-f]{32})(?:_all)?$")
_PROPERTY = re.compile(r"^(?P<key>[^\W\d_][\w /&-]{0,40}): (?P<value>\S.*)$")
_DATES = ("date", "created", "created time", "meeting date", "event time", "due")
_PEOPLE = ("attendees", "participants", "people", "owner", "assignee", "created by")


def is_notion(files: Sequence[SourceFile]) -> bool:
    """Return whether most pages have names with an id, as in an export."""
    pages = [file for file in files if file.suffix == ".md"]
    named = sum(_ID.match(file.stem) is not None for file in pages)
    return named > 0 and named * 2 >= len(pages)


def read_notion(files: Sequence[SourceFile]) -> Imported:
    """Return the pages of an export, and tables as pages that list their rows."""
    targets = _link_targets(files)
    documents = [_page(file, targets) for file in files if file.suffix == ".md"]
    problems = []
    with_all = {_id(file) for file in files if file.stem.endswith("_all")}
    tables = (
        file
        for file in files
        if file.suffix == ".csv" and (file.stem.endswith("_all") or _id(file) not in with_all)
    )
    for file in tables:
        try:
            documents.append(_table(file))
        except csv.Error as error:
            problems.append(ImportProblem(file.path, f"it is not a readable table: {error}"))
    return Imported(tuple(documents), tuple(problems))


def _link_targets(files: Sequence[SourceFile]) -> dict[str, str]:
    """Return what a wikilink to each file says, by id: its title, or its path if that is shared."""
    titles = {_id(file): _title(file) for file in files if _id(file)}
    counts = Counter(map(name_key, titles.values()))
    shared = {title for title in titles.values() if counts[name_key(title)] > 1}
    paths = {_id(file): f"{_folder(file.path)}/{slug(_title(file))}" for file in files}
    return {id_: paths[id_] if title in shared else title for id_, title in titles.items()}


def _id(file: SourceFile) -> str:
    match = _ID.match(file.stem)
    return match["id"] if match else ""


def _title(file: SourceFile) -> str:
    if file.suffix == ".md":
        for line in text_of_file(file).split("\n", 5)[:5]:
            if line.startswith("# ") and (title := line[2:].strip()):
                return title
    match = _ID.match(file.stem)
    return (match["name"] if match else file.stem).strip() or "Untitled"


def _folder(path: str) -> str:
    """Return the folder of a page below the notes, without ids."""
    parts = []
    for part in PurePosixPath(path).parts[:-1]:
        match = _ID.match(part)
        name = slug(match["name"] if match else part)
        if name and not name.startswith("export-"):
            parts.append(name)
    return "/".join([FOLDER, *parts])


def _page(file: SourceFile, targets: dict[str, str]) -> ImportedDocument:
    lines = text_of_file(file).split("\n")
    title = _title(file)
    if lines and lines[0].startswith("# "):
        lines = lines[1:]
    while lines and not lines[0].strip():
        lines = lines[1:]
    properties: dict[str, str] = {}
    for line in lines:
        match = _PROPERTY.match(line)
        if not match:
            break
        properties[match["key"].strip().lower()] = match["value"].strip()
    if properties and len(lines) > len(properties) and lines[len(properties)].strip():
        properties = {}  # a paragraph that begins like a property
    body = "\n".join(lines[len(properties) :]).strip("\n")
    people = [value for key, value in properties.items() if key in _PEOPLE]
    names = [name.strip() for value in people for name in value.split(",") if name.strip()]
    day = next((found for key in _DATES if (found := _date(properties.get(key, "")))), "")
    fields: dict[str, Any] = {
        key.replace(" ", "_").replace("/", "_"): value
        for key, value in properties.items()
        if key not in _PEOPLE and key != "date" and key != "tags"
    }
    if tags := [tag.strip() for tag in properties.get("tags", "").split(",") if tag.strip()]:
        fields["tags"] = tags
    return ImportedDocument(
        import_id=f"notion:{_id(file) or slug(file.path)}",
        kind="note",
        title=title,
        date=day,
        attendees=tuple(map(Attendee, dict.fromkeys(names))),
        fields=fields,
        folder=_folder(file.path),
        stem=slug(title),
        body=_with_wikilinks(body, targets) + "\n" if body else "",
    )


def _with_wikilinks(body: str, targets: dict[str, str]) -> str:
    """Return a body whose links to exported pages are wikilinks; others stay as they are."""
    lines = body.split("\n")
    parts, done = [], 0
    for link in links_of(body):
        match = _ID.match(PurePosixPath(link.page).stem)
        target = targets.get(match["id"]) if match else None
        is_shown = body[link.start] == "!"
        if target is None or is_shown or link.is_wikilink or set(target) & set("[]|#"):
            continue
        in_table = is_in_table(lines, body.count("\n", 0, link.start))
        parts += [body[done : link.start], wikilink(target, link.label, in_table=in_table)]
        done = link.end
    return "".join([*parts, body[done:]])


def _date(value: str) -> str:
    text = re.split(r"\s+(?:\d{1,2}:\d{2}|→)", value)[0].strip()
    return iso_date(text)


def _table(file: SourceFile) -> ImportedDocument:
    rows = [row for row in csv.reader(io.StringIO(text_of_file(file))) if any(row)]
    cells = [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    if cells:
        lines.insert(1, "|" + " --- |" * len(cells[0]))
    return ImportedDocument(
        import_id=f"notion:table-{_id(file) or slug(file.path)}",
        kind="note",
        title=_title(file),
        folder=_folder(file.path),
        stem=slug(_title(file)),
        body="\n".join(lines) + "\n" if lines else "",
    )
