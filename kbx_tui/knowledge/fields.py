"""Values of frontmatter: texts, names, tags, attendees, references; kind and id of a document."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from kbx_tui.knowledge.folding import WORD, fold, name_key, slug
from kbx_tui.knowledge.markdown import blank_unread, end_of_top, strip_markup, wikilink_targets
from kbx_tui.knowledge.records import Attendee, Document
from kbx_tui.knowledge.turns import is_written_as_name

ALIAS_KEYS = frozenset(
    {
        "alias", "aliases", "also_known_as", "also known as", "also_called", "also called",
        "codename", "codenames", "codename/also called", "nickname", "nicknames", "initials",
        "citekey", "citekeys", "citation_key", "citation-key", "citationkey", "citation key",
    }
)  # fmt: skip
_FOREIGN_AUTHOR_KEYS = frozenset(
    {"autor", "autoren", "auteur", "auteurs", "autores", "autore", "autori", "автор", "著者"}
)
FOREIGN_ATTENDEE_KEYS = _FOREIGN_AUTHOR_KEYS | {
    "anwesend", "teilnehmende", "teilnehmer", "présents", "asistentes", "participantes", "presenti",
    "partecipanti", "aanwezig", "deelnemers", "участники", "参加者", "出席者", "참석자",
}  # fmt: skip
AUTHOR_KEYS = _FOREIGN_AUTHOR_KEYS | {"author", "authors"}
ATTENDEE_KEYS = FOREIGN_ATTENDEE_KEYS | AUTHOR_KEYS | {
    "attendee", "attendees", "participant", "participants", "present", "speaker", "speakers",
}  # fmt: skip
REFERENCE_KEYS = frozenset(
    {
        "team", "teams", "lead", "leads", "reports_to", "manager", "owner", "owners", "company",
        "companies", "organisation", "organization", "lab", "labs", "person", "people", "project",
        "projects", "organiser", "organizer", "member", "members", "champion", "champions",
        "assignee", "assignees", "sponsor", "stakeholders", "related", "entities",
    }
)  # fmt: skip

_ADDRESS = re.compile(r"^(.*?)\s*[<(]\s*([^\s<>()@]+@[^\s<>()@]+)\s*[>)]\s*(.*)$")
EMAIL = re.compile(r"^[^\s<>()@,;]+@[^\s<>()@,;]+$")
_SEPARATOR, _BRACKET = re.compile(r" ?[,;] ?"), re.compile(r"[()<>\[\]]")
_SEMICOLON = re.compile(r"(?<!\s)\s*;\s*")
_WORD_OR_LINK = re.compile(r"(?:\[\[[^\[\]]*\]\]|\S)+")
_CONJUNCTION = re.compile(r"(?<!\s)\s+(?:and|&|und|et)\s+", re.IGNORECASE)
_NAME_SUFFIX = re.compile(
    r"(?:inc|ltd|llc|llp|gmbh|ag|plc|corp|co|s\.?a|jr|sr|ph\.?d|md|m\.?d|esq|ii|iii)\.?", re.I
)
_MAX_NAME = 200
_MAX_LIST = 10_000


def text_of(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return " ".join(str(value).split())
    return ""


def texts_of(value: object) -> Iterator[str]:
    """Yield the non-empty texts of a scalar, a mapping's ``name``, or nested lists of them.

    YAML reads an unquoted ``[[Name]]`` as nested lists.
    """
    if isinstance(value, list):
        for entry in value:
            yield from texts_of(entry)
    elif isinstance(value, Mapping):
        name = text_of(value.get("name"))
        if name:
            yield name
    elif text := text_of(value):
        yield text


def property_key(name: str) -> str:
    """Return the key of a property in any spelling: `due_date` for `Due date` and `due-date`."""
    return "_".join(WORD.findall(fold(name)))


def properties_of(frontmatter: Mapping[str, Any]) -> Iterator[str]:
    """Yield `key=value` for each text, number and date in frontmatter, also those of lists.

    A link has two values: the name of its page, and its words.
    """
    for name, value in frontmatter.items():
        if key := property_key(name):
            for text in texts_of(value):
                values = [text[:_MAX_NAME]]
                if text.startswith("[["):
                    page = link_target(text).rpartition("/")[2].removesuffix(".md")
                    values = [page[:_MAX_NAME], strip_markup(values[0])]
                yield from (f"{key}={each}" for each in dict.fromkeys(values))


def names_of(value: object) -> tuple[str, ...]:
    """Return the distinct names in a frontmatter value, without wikilink brackets.

    A text that may also be a single name (``Trust, Safety and Policy``) comes first, in full.
    """
    if not isinstance(value, str):
        entries = list(texts_of(value))
    else:
        entries = split_names(value)
        if may_be_one_name(entries):
            entries.insert(0, text_of(value))
    return tuple(dict.fromkeys(name for entry in entries if (name := link_target(entry))))


def split_names(text: str) -> list[str]:
    names: list[str] = []
    for line in text[:_MAX_LIST].split("\n"):
        for part in _separated(text_of(line).lstrip("-*• ")):
            if names and _NAME_SUFFIX.fullmatch(part):
                names[-1] += f", {part}"
            elif part:
                names.append(part)
    return names


def _separated(text: str) -> Iterator[str]:
    """Yield the parts of a text between commas and semicolons that are not in brackets."""
    brackets, done = [bracket.start() for bracket in _BRACKET.finditer(text)], 0
    for separator in _SEPARATOR.finditer(text):
        following = bisect_left(brackets, separator.end())
        if following == len(brackets) or text[brackets[following]] in "(<[":
            yield text[done : separator.start()]
            done = separator.end()
    yield text[done:]


def may_be_one_name(parts: Sequence[str]) -> bool:
    return len(parts) > 1 and _CONJUNCTION.search(parts[-1]) is not None


def link_target(text: str) -> str:
    text = text.strip()
    if text.startswith("[[") and text.endswith("]]"):
        return next(wikilink_targets(text), "")
    return text


def value_of(frontmatter: Mapping[str, Any], *keys: str) -> Any:
    """Return the value of the first of `keys`, in lower case, that a page has in any letter case"""
    if not frontmatter:
        return None
    values = {key.strip().casefold(): value for key, value in frontmatter.items()}
    return next((values[key] for key in keys if key in values), None)


def aliases_of(frontmatter: Mapping[str, Any]) -> tuple[str, ...]:
    values = (value for key, value in frontmatter.items() if key.casefold() in ALIAS_KEYS)
    return tuple(dict.fromkeys(name for value in values for name in names_of(value)))


def tags_of(frontmatter: Mapping[str, Any]) -> tuple[str, ...]:
    value = value_of(frontmatter, "tags", "tag")
    if value is None and isinstance(terms := value_of(frontmatter, "taxonomies"), Mapping):  # Zola
        value = value_of(terms, "tags", "tag")
    if isinstance(value, str):
        entries = re.split(r"[,;\n]", value)
        if len(entries) == 1:
            entries = _WORD_OR_LINK.findall(value)
    else:
        entries = list(texts_of(value))
    return tuple(
        dict.fromkeys(tag for entry in entries if (tag := link_target(entry.strip().lstrip("#"))))
    )


def attendees_of(frontmatter: Mapping[str, Any]) -> tuple[Attendee, ...]:
    by_name: dict[str, Attendee] = {}
    for key, value in frontmatter.items():
        if key.casefold() in ATTENDEE_KEYS:
            for attendee in _attendees(value):
                identity = name_key(attendee.name) or attendee.name
                previous = by_name.get(identity)
                if previous is None or (attendee.email and not previous.email):
                    by_name[identity] = attendee
    return tuple(by_name.values())


_ATTENDEE_LINE = re.compile(
    r"^[ \t>*_-]*+(?:attendees|participants|(?P<invited>invited)"
    r"|(?P<several>present|anwesend|présents)|teilnehme(?:r|nde|r[*:_]?innen)|asistentes|参加者|出席者|참석자)"
    r"[*_]*[ \t]*(?:[:：]|(?=\[[^\[\]\n]{1,200}\]\(mailto:))[*_]*[ \t]*"
    r"(?P<names>\[?[^\W\d_][^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)


_LINK_TO_ADDRESS = re.compile(r"\[([^\[\]\n]{1,200})\]\(mailto:([^()\s]{1,200})\)")
"""Someone in a document of Google's, which puts a space between several."""
_END_OF_NAMES = re.compile(
    r"[.!?](?<=[^\W\d_]{2}.)(?<!\b(?:Dr|Mr|Ms|St|Jr|Sr|Fr|Hr).)(?<!\b(?:Mrs|Drs).)"
    r"(?<!\b(?:Prof|Dipl).)(?=\s|$)"
    r"|[.,;|](?=\s+[^\W\d_][\w ]{1,30}[:：])"
)
"""The end of a sentence, or what is before another label, as in `Ann Lee; Apologies: Bo Chan`."""


def attendee_line(body: str) -> dict[str, list[dict[str, str]]]:
    """Return who attended as a property if a line at the top says so: `Attendees: Ann Lee, Bo`.

    What is in the line and no name (`and others`, `me`) is left out.
    """
    end = end_of_top(body)
    if not _ATTENDEE_LINE.search(body, 0, end):  # most bodies, which are not parsed for that
        return {}
    lines = _ATTENDEE_LINE.finditer(blank_unread(body), 0, end)
    line = min(lines, key=lambda each: each["invited"] is not None, default=None)
    if line is None or "[[" in line["names"]:  # links say it already
        return {}
    names = _LINK_TO_ADDRESS.sub(r"\1 <\2>,", line["names"])
    listed = _attendees(_END_OF_NAMES.split(names, maxsplit=1)[0])
    found = [each for each in listed if is_written_as_name(each.name) and ":" not in each.name]
    is_list = len(found) > (1 if line["several"] else 0)
    return {"attendees": [asdict(each) for each in found]} if is_list else {}


def references_of(frontmatter: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the distinct values of ``REFERENCE_KEYS`` at any depth, and wikilinks elsewhere."""
    return tuple(
        dict.fromkeys(name for name in _references(frontmatter) if name and len(name) <= _MAX_NAME)
    )


def _attendees(value: object) -> Iterator[Attendee]:
    if isinstance(value, Mapping):
        email = text_of(value.get("email"))
        email = email if EMAIL.match(email) else ""
        name = link_target(text_of(value.get("name"))) or email
        if _is_plausible(name):
            yield Attendee(name, email)
    elif isinstance(value, list):
        for entry in value:
            if isinstance(entry, str):
                yield from _attendee(entry)
            elif isinstance(entry, Mapping | list):
                yield from _attendees(entry)
    elif isinstance(value, str):
        entries = _family_names_first(value) or [
            entry for part in split_names(value) for entry in _CONJUNCTION.split(part)
        ]
        for entry in entries:
            yield from _attendee(entry)


def _family_names_first(text: str) -> list[str]:
    """Return the names of `Byron, Ada; Lee, Bo` or `Byron, Ada and Lee, Bo`; nothing for others."""
    for separator in (_SEMICOLON, _CONJUNCTION):
        names = separator.split(text[:_MAX_LIST])
        if len(names) > 1 and all(name.count(",") == 1 for name in names):
            return names
    return []


def given_name_first(name: str) -> str:
    """Return `Ada Byron` for `Byron, Ada`; other names as they are."""
    family, *given = map(str.strip, name.split(","))
    is_inverted = len(given) == 1 and given[0] and not _NAME_SUFFIX.fullmatch(given[0])
    return f"{given[0]} {family}" if is_inverted else name


def _attendee(text: str) -> Iterator[Attendee]:
    text = strip_markup(link_target(text_of(text)))
    address = _ADDRESS.match(text) if len(text) <= 2 * _MAX_NAME else None
    if address:
        name = f"{address[1]} {address[3]}".strip(" \"'") or address[2]
        email = address[2]
    else:
        name, email = text, text if EMAIL.match(text) else ""
    if _is_plausible(name):
        yield Attendee(name, email)


def _is_plausible(name: str) -> bool:
    return len(name) <= _MAX_NAME and any(character.isalpha() for character in name)


def _references(values: Mapping[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        folded = key.casefold()
        if folded in ATTENDEE_KEYS:
            continue
        if folded in REFERENCE_KEYS and (names := names_of(value)):
            yield from (name for name in names if not EMAIL.match(name))
        elif isinstance(value, Mapping):
            yield from _references(value)
        else:
            for text in texts_of(value):
                if "[[" in text:
                    yield from wikilink_targets(text)


CORE_ENTITY_TYPES = frozenset({"person", "project", "team"})
DEFAULT_ENTITY_TYPES = CORE_ENTITY_TYPES | {"lab", "company", "organization", "organisation"}
TAG = "tag"

_ENTITY_FOLDERS = {"people": "person", "projects": "project", "teams": "team"}
_PLAIN_FOLDERS = {"notes": "note", "context": "context", "glossary": "glossary"}

DOCUMENT_KINDS = CORE_ENTITY_TYPES | {"meeting", *_PLAIN_FOLDERS.values()}


def is_entity_kind(kind: str, entity_types: frozenset[str] | None = None) -> bool:
    return kind in CORE_ENTITY_TYPES or kind in (
        DEFAULT_ENTITY_TYPES if entity_types is None else entity_types
    )


def kind_of(path: str, frontmatter: Mapping[str, Any]) -> tuple[str, str]:
    """Return the kind and subtype of the document at ``path``.

    Folders are compared by `folder_name`. Everything below ``meetings/`` is a meeting with its
    ``type:`` as the subtype. A page directly in ``people/``, ``projects/`` or ``teams/`` is an
    entity of that type unless its name is that of an overview, as is the page of a folder there
    (``teams/harbour/index.md``). Otherwise
    the innermost folder named ``notes``, ``context`` or ``glossary`` decides, then ``type:``, then
    it is a note.
    """
    *above, name = path.casefold().split("/")
    folders = list(map(folder_name, above))
    declared = next(texts_of(value_of(frontmatter, "type")), "")
    declared = slug(declared) if declared else ""
    if "meetings" in folders:
        return "meeting", declared
    is_of_folder = is_folder_page(path) or folders[-1:] == [folder_name(stem_of(path))]
    owner = folders[:-1] if is_of_folder else folders
    is_entity = owner and owner[-1] in _ENTITY_FOLDERS and folders[-1] not in _PLAIN_FOLDERS
    if is_entity and (is_of_folder or not _is_overview(path)):
        return _ENTITY_FOLDERS[owner[-1]], ""
    if name == "glossary.md":
        return "glossary", ""
    for folder in reversed(folders):
        if folder in _PLAIN_FOLDERS:
            return _PLAIN_FOLDERS[folder], ""
    return {"notes": "note"}.get(declared, declared) or "note", ""


def dotted_place(path: str) -> str:
    """Return the path of a page whose file name holds its folders: `people/ann.md`."""
    folder, slash, _ = path.rpartition("/")
    return f"{folder}{slash}{stem_of(path).replace('.', '/')}.md"


def stem_of(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


FOLDER_PAGES = ("index", "_index", "README")
"""Stems of the file that is the page of its folder, in any letter case; the first one counts."""
_FOLDER_PAGES = frozenset(map(str.casefold, FOLDER_PAGES))


_OVERVIEWS = frozenset({
    "contents", "overview", "table_of_contents", "toc", "inhalt", "inhaltsverzeichnis", "ubersicht",
    "uebersicht", "apercu", "sommaire", "vue_d_ensemble", "indice", "resumen", "vision_general",
    "panoramica", "sommario", "sumario", "inhoud", "overzicht", "oversigt", "oversikt", "przeglad",
    "обзор", "оглавление", "一覧", "概要", "目次", "目录", "목차",
})  # fmt: skip
"""Keys of the names of a page about all those beside it, in the languages whose months are read."""


def _is_overview(path: str) -> bool:
    return property_key(folder_name(stem_of(path))) in _OVERVIEWS


def is_folder_page(path: str) -> bool:
    """Return whether a file is the page of its folder: `index.md`, `README.md`."""
    return stem_of(path).casefold() in _FOLDER_PAGES


_ID_OF_NOTION = re.compile(r"(?<=\S) [0-9a-f]{32}\Z")
_BEFORE_NAME = re.compile(r"[\W_]*(?:\d+[\W_]+)*(?=\d*[^\W\d_])")


def page_name(path: str) -> str:
    """Return the name that a path gives its page: the stem of the file, or the folder's name.

    Without the id that Notion adds when it exports a page.
    """
    folder = path.rpartition("/")[0].rpartition("/")[2]
    name = folder if folder and is_folder_page(path) else stem_of(path)
    return _ID_OF_NOTION.sub("", name)


@lru_cache(maxsize=4096)
def folder_name(folder: str) -> str:
    """Return the name of a folder in small letters, without what only orders or decorates it.

    That is `projects` for `01 Projects`, `1_Projects` and `🎯 Projects`; `3D printing` is whole.
    """
    name = _ID_OF_NOTION.sub("", folder.casefold())
    before = _BEFORE_NAME.match(name)
    return name[before.end() :] if before else name


def document_id(path: str, kind: str, name: str, explicit: str, *, entity: bool) -> str:
    if explicit:
        return explicit
    if entity and (name_slug := slug(name)):
        return f"{kind}:{name_slug}"
    return f"{kind}:{short_path(path)}"


def short_path(path: str) -> str:
    return path.removeprefix("memory/").rpartition(".")[0]


def unique_ids(documents: Sequence[Document]) -> dict[str, str]:
    """Return a unique id for every document, by path.

    Documents with the same id get ``kind:`` and the shortest end of their path that distinguishes
    them, so that ids do not depend on the order of files.
    """
    by_id = defaultdict[str, list[Document]](list)
    for document in documents:
        by_id[document.id].append(document)
    taken = {document_id for document_id, same_id in by_id.items() if len(same_id) == 1}
    ids = {document.path: document.id for document in documents}
    for document_id in sorted(by_id.keys() - taken):
        ids |= _path_ids(by_id[document_id], taken)
    return ids


def _path_ids(documents: Iterable[Document], taken: set[str]) -> dict[str, str]:
    parts = {document: short_path(document.path).split("/") for document in documents}
    for length in range(1, max(map(len, parts.values())) + 1):
        ids = {
            page.path: f"{page.kind}:{'/'.join(folders[-length:])}"
            for page, folders in parts.items()
        }
        if len(set(ids.values())) == len(ids) and taken.isdisjoint(ids.values()):
            break
    else:
        ids = {document.path: f"{document.kind}:{document.path}" for document in parts}
        if not taken.isdisjoint(ids.values()):  # frontmatter has the same id
            marks = "~" * (1 + max(len(each) - len(each.rstrip("~")) for each in taken))
            ids = {path: f"{path_id}{marks}" for path, path_id in ids.items()}
    taken.update(ids.values())
    return ids
