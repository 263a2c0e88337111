"""Readers of notes: Logseq graphs and Notion exports."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import dropwhile, takewhile
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from kbx_tui.importing.imported_document import (
    Imported,
    ImportedDocument,
    ImportProblem,
    SourceFile,
    markdown_table,
    name_left_out,
)
from kbx_tui.knowledge.dates import day_in, whole_day
from kbx_tui.knowledge.folding import name_key, slug
from kbx_tui.knowledge.records import Attendee
from kbx_tui.knowledge.written_links import lines_in_tables, links_of, wikilink

LOGSEQ_FOLDER = "logseq"

_LOGSEQ_PROPERTY = re.compile(r"^(?P<key>[A-Za-z][\w.-]*):: ?(?P<value>.*)$")
_BLOCK = re.compile(r"^(?P<indent>[\t ]*)- ?(?P<text>.*)$")
_BLOCK_ID = re.compile(r"^\s*id:: (?P<id>[0-9a-f-]{36})\s*$")
_EMBED = re.compile(r"\{\{embed \(\((?P<id>[0-9a-f-]{36})\)\)\}\}")
_REFERENCE = re.compile(r"\(\((?P<id>[0-9a-f-]{36})\)\)")
_PAGE_EMBED = re.compile(r"\{\{embed (\[\[[^\[\]]+\]\])\}\}")
_OPEN = re.compile(r"^(?P<head>[\t ]*- )(?:TODO|DOING|NOW|LATER|WAITING) ")
_DONE = re.compile(r"^(?P<head>[\t ]*- )DONE ")
_HIDDEN_KEYS = ("id", "collapsed", "created-at", "updated-at", "heading")
_LOGSEQ_PEOPLE = ("attendees", "participants", "people")


def is_logseq(files: Sequence[SourceFile]) -> bool:
    """Return whether files are a Logseq graph: they include its settings or its two folders."""
    folders = {part for file in files for part in file.path.split("/")[:-1]}
    return "logseq" in folders or {"journals", "pages"} <= folders


def read_logseq(files: Sequence[SourceFile]) -> Imported:
    """Return journals and pages. Backups, the recycle bin and whiteboards are left out."""
    pages = [
        file
        for file in files
        if file.suffix == ".md" and "logseq" not in file.path.split("/")[:-1] and file.text.strip()
    ]
    blocks = _Blocks()
    for file in pages:
        blocks.texts |= _blocks(file.text)
    documents = tuple(_logseq_page(file, blocks) for file in pages)
    others = (
        file.path
        for file in files
        if file.suffix != ".md" and "logseq" not in file.path.split("/")[:-1]
    )
    return Imported(documents) + name_left_out("the graph", others)


class _Blocks:
    """The texts of blocks by id, of which references in all pages show so many characters."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.room = 50_000_000

    def shown(self, reference: re.Match[str]) -> str:
        text = self.texts.get(reference["id"], reference[0])
        self.room -= len(text)
        return text if self.room >= 0 else reference[0]


def _blocks(text: str) -> dict[str, str]:
    found, current = {}, ""
    for line in text.split("\n"):
        if match := _BLOCK_ID.match(line):
            found[match["id"]] = current
        elif match := _BLOCK.match(line):
            current = match["text"].strip()
    return found


def _logseq_page(file: SourceFile, blocks: _Blocks) -> ImportedDocument:
    lines = file.text.split("\n")
    matches = (_LOGSEQ_PROPERTY.match(line.removeprefix("- ").strip()) for line in lines)
    written = list(filter(None, takewhile(bool, matches)))
    values: dict[str, list[str]] = defaultdict(list)
    for match in written:
        values[match["key"].lower()].append(match["value"].strip())
    properties = {key: ", ".join(texts) for key, texts in values.items()}
    is_journal = "journals" in file.path.split("/")
    day = day_in(file.stem) if is_journal else ""
    name = unquote(file.stem).replace("___", "/").replace("%2F", "/")
    title = properties.pop("title", "") or day or name
    folder, _, stem = title.rpartition("/")
    people = [value for key, value in properties.items() if key in _LOGSEQ_PEOPLE]
    names = [name for value in people for name in _names(value)]
    body = "\n".join(_logseq_lines(lines[len(written) :], blocks)).strip("\n")
    return _note(
        f"logseq:{'journals' if is_journal else 'pages'}/{file.stem}",
        title,
        body,
        names,
        date=day,
        fields=_logseq_fields(properties),
        folder="/".join(
            [LOGSEQ_FOLDER, "journals"]
            if is_journal
            else [LOGSEQ_FOLDER, *map(slug, filter(None, folder.split("/")))]
        ),
        stem=day or slug(stem) or slug(title),
    )


def _note(
    import_id: str, title: str, body: str, attendees: Sequence[str] = (), **others: Any
) -> ImportedDocument:
    return ImportedDocument(
        import_id=import_id,
        kind="note",
        title=title,
        attendees=tuple(map(Attendee, dict.fromkeys(attendees))),
        body=body + "\n" if body else "",
        **others,
    )


def _logseq_lines(lines: Sequence[str], blocks: _Blocks) -> list[str]:
    kept = []
    for line in lines:
        match = _LOGSEQ_PROPERTY.match(line.strip())
        if match and match["key"].lower() in _HIDDEN_KEYS and " " not in match["value"].strip():
            continue
        line = _PAGE_EMBED.sub(r"!\1", line)
        for reference in (_EMBED, _REFERENCE):
            line = reference.sub(blocks.shown, line)
        line = _DONE.sub(r"\g<head>[x] ", _OPEN.sub(r"\g<head>[ ] ", line))
        kept.append(line.replace("\t", "  "))
    return kept


def _logseq_fields(properties: dict[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in properties.items():
        if key in _HIDDEN_KEYS or key in _LOGSEQ_PEOPLE or not value:
            continue
        if key in ("tags", "alias", "aliases"):
            fields["aliases" if key == "alias" else key] = _names(value)
        else:
            fields[key] = value
    return fields


def _names(value: str) -> list[str]:
    names = (name.strip().removeprefix("#") for name in value.split(","))
    return [bare for name in names if (bare := name.removeprefix("[[").removesuffix("]]").strip())]


NOTION_FOLDER = "notion"

_ID = re.compile(r"^(?P<name>.*?)[ _-]?(?P<id>[0-9a-f]{32})(?:_all)?$")
_NOTION_PROPERTY = re.compile(r"^(?P<key>[^\W\d_][\w /&-]{0,40}):(?P<value>| .*)$")
_DATES = ("date", "created", "created time", "meeting date", "event time", "due")
_NOTION_PEOPLE = ("attendees", "participants", "people", "owner", "assignee", "created by")


def is_notion(files: Sequence[SourceFile]) -> bool:
    """Return whether most pages have an id in their file names, as in a Notion export."""
    pages = [file for file in files if file.suffix == ".md"]
    named = sum(_ID.match(file.stem) is not None for file in pages)
    return named > 0 and named * 2 >= len(pages)


def read_notion(files: Sequence[SourceFile]) -> Imported:
    """Return the pages of a Notion export; a table becomes a page that lists its rows."""
    targets = _link_targets(files)
    documents = [_notion_page(file, targets) for file in files if file.suffix == ".md"]
    problems = []
    with_all = {_notion_id(file) for file in files if file.stem.endswith("_all")}
    tables = (
        file
        for file in files
        if file.suffix == ".csv"
        and (file.stem.endswith("_all") or _notion_id(file) not in with_all)
    )
    for file in tables:
        try:
            documents.append(_notion_table(file))
        except csv.Error as error:
            problems.append(ImportProblem(file.path, f"it is not a readable table: {error}"))
    others = (file.path for file in files if file.suffix not in (".md", ".csv"))
    return Imported(tuple(documents), tuple(problems)) + name_left_out("the export", others)


def _link_targets(files: Sequence[SourceFile]) -> dict[str, str]:
    """Return the wikilink target of each file by id: its title, or its path if titles clash."""
    titles = {_notion_id(file): _notion_title(file) for file in files if _notion_id(file)}
    counts = Counter(map(name_key, titles.values()))
    shared = {title for title in titles.values() if counts[name_key(title)] > 1}
    paths = {
        _notion_id(file): f"{_notion_folder(file.path)}/{slug(_notion_title(file))}"
        for file in files
    }
    return {id_: paths[id_] if title in shared else title for id_, title in titles.items()}


def _notion_id(file: SourceFile) -> str:
    match = _ID.match(file.stem)
    return match["id"] if match else ""


def _notion_title(file: SourceFile) -> str:
    if file.suffix == ".md":
        for line in file.text.split("\n", 5)[:5]:
            if line.startswith("# ") and (title := line[2:].strip()):
                return title
    match = _ID.match(file.stem)
    return (match["name"] if match else file.stem).strip() or "Untitled"


def _notion_folder(path: str) -> str:
    """Return the target folder of a page below the notes, without Notion's ids."""
    parts = []
    for part in PurePosixPath(path).parts[:-1]:
        match = _ID.match(part)
        name = slug(match["name"] if match else part)
        if name and not name.startswith("export-"):
            parts.append(name)
    return "/".join([NOTION_FOLDER, *parts])


def _notion_page(file: SourceFile, targets: dict[str, str]) -> ImportedDocument:
    lines = file.text.split("\n")
    title = _notion_title(file)
    if lines and lines[0].startswith("# "):
        lines = lines[1:]
    lines = list(dropwhile(lambda line: not line.strip(), lines))
    properties: dict[str, str] = {}
    for line in lines:
        match = _NOTION_PROPERTY.match(line)
        if not match:
            break
        properties[match["key"].strip().lower()] = match["value"].strip()
    is_text = len(lines) > len(properties) and lines[len(properties)].strip()
    if is_text or not any(properties.values()):
        properties = {}  # not properties, but a paragraph that looks like one
    body = "\n".join(lines[len(properties) :]).strip("\n")
    people = [value for key, value in properties.items() if key in _NOTION_PEOPLE]
    names = [name for value in people for name in _names(value)]
    day = next((found for key in _DATES if (found := day_in(properties.get(key, "")))), "")
    fields: dict[str, Any] = {
        key.replace(" ", "_").replace("/", "_"): value
        for key, value in properties.items()
        if key not in _NOTION_PEOPLE and key != "date" and key != "tags"
    }
    when = properties.get("date", "")
    if when and not whole_day(when):  # a time, two days or words
        fields["when"] = when
    if tags := _names(properties.get("tags", "")):
        fields["tags"] = tags
    return _note(
        f"notion:{_notion_id(file) or slug(file.path)}",
        title,
        _with_wikilinks(body, targets),
        names,
        date=day,
        fields=fields,
        folder=_notion_folder(file.path),
        stem=slug(title),
    )


_TARGET = re.compile(r"[^\[\]|#\n]{1,300}")
"""What a wikilink can name."""


def _with_wikilinks(body: str, targets: dict[str, str]) -> str:
    """Return the body with links to exported pages turned into wikilinks; others stay."""
    in_tables = lines_in_tables(body.split("\n"))
    parts, done, line = [], 0, 0
    for link in links_of(body):
        match = _ID.match(PurePosixPath(link.page).stem)
        target = targets.get(match["id"]) if match else None
        is_shown = body[link.start] == "!"
        if target is None or is_shown or link.is_wikilink or not _TARGET.fullmatch(target):
            continue
        line += body.count("\n", done, link.start)
        parts += [body[done : link.start], wikilink(target, link.label, in_table=line in in_tables)]
        line += body.count("\n", link.start, link.end)
        done = link.end
    return "".join([*parts, body[done:]])


def _notion_table(file: SourceFile) -> ImportedDocument:
    rows = [row for row in csv.reader(io.StringIO(file.text)) if any(row)]
    return _note(
        f"notion:table-{_notion_id(file) or slug(file.path)}",
        _notion_title(file),
        markdown_table(rows),
        folder=_notion_folder(file.path),
        stem=slug(_notion_title(file)),
    )
