"""The reader of contacts: vCard. It raises ValueError with a reason."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from vobject.base import ContentLine, VObjectError, textLineToContentLine

from kbx_tui.formatting import join_limited
from kbx_tui.importing.imported_document import (
    Imported,
    ImportedDocument,
    ImportProblem,
    SourceFile,
    content_id,
)
from kbx_tui.knowledge.dates import only_day
from kbx_tui.knowledge.fields import EMAIL

_UNREADABLE = (VObjectError, ValueError, TypeError, AttributeError, LookupError)
"""Exceptions of the library for broken lines, such as one in an unknown encoding."""

_EDGE = re.compile(r"\s*(?:[\w-]+\.)?(BEGIN|END):\s*VCARD\b\s*", re.IGNORECASE)
_PROPERTY = re.compile(r"[\w-]+(?:\.[\w-]+)?(?:\([^)]*\))?[;:]")
_QUOTED = re.compile(r"[^:]{0,500}QUOTED-PRINTABLE", re.IGNORECASE)
_NO_ENCODING = re.compile(r"[^:]{0,500};CHARSET=\"?(?:punycode|idna)", re.IGNORECASE)
"""What Python decodes in quadratic time."""
_LINE = re.compile(
    r"(?:[a-z0-9_-]++\.)?[a-z0-9_-]++;?(?:;[a-z0-9_-]++(?:[=,](?:\"[^\"]*+\"|[^\";:,]*+))*+)*+:",
    re.IGNORECASE | re.ASCII,
)
_ODD_PARAMETERS = re.compile(r"\A([\w.-]+);[^:]*")
_ADDRESS = re.compile(r"(?:mailto:)?([^<>]*)|[^<>]*<([^<>]*)>", re.IGNORECASE)
_CHARACTER = re.compile(r"\\(?P<escaped>.)|.", re.DOTALL)
_USUAL_LABELS = frozenset({"Home", "Work", "Other", "Mobile", "HomePage", "Main", "School"})
_LABEL_OF_APPLE = re.compile(r"_\$!<([^<>]*)>!\$_")
_FIELDS = frozenset(
    {"adr", "bday", "categories", "email", "fn", "n", "nickname", "note", "org", "role", "tel",
     "title", "uid", "url"}
)  # fmt: skip
_BOOKKEEPING = frozenset(
    {"begin", "class", "clientpidmap", "end", "key", "kind", "logo", "mailer", "photo", "prodid",
     "rev", "sort-string", "sound", "source", "version", "x-abadr", "x-ablabel", "x-abshowas",
     "x-abuid", "x-addressbookserver-kind", "x-ms-ol-default-postal-address", "x-ms-ol-design"}
)  # fmt: skip
"""Properties that say nothing of a person, and pictures, sounds and keys."""

_NOBODY = ("application", "company", "device", "location", "org")
"""Kinds of cards that are of no person."""

_KINDS = ("kind", "x-abshowas", "x-addressbookserver-kind")

_RANK = re.compile(r"\d{1,3}")

_READ_AT_MOST = 10_000
"""Characters of the names of a card in which others are looked up."""

Properties = dict[str, list[ContentLine]]


def read_contacts(file: SourceFile) -> Imported:
    """Return the people of an address book; others, such as organisations, as notes."""
    text = file.unfolded
    if "BEGIN:VCARD" not in text.upper():
        raise ValueError("it does not hold a VCARD")
    by_uid: dict[str, dict[str, ImportedDocument]] = defaultdict(dict)
    problems = []
    cards, outside = _cards(text)
    if outside:
        lines = join_limited(outside)
        problems.append(ImportProblem(file.path, f"left out, outside of cards: {lines}"))
    for number, card in enumerate(cards, 1):
        try:
            contact = _contact(card)
        except _UNREADABLE as error:
            problems.append(ImportProblem(file.path, f"card {number} cannot be read: {error}"))
            continue
        by_uid[contact.import_id][content_id(repr(contact).encode())] = contact
    documents = (
        contact if len(cards) == 1 else replace(contact, import_id=f"{uid}#{content}")
        for uid, cards in by_uid.items()
        for content, contact in cards.items()
    )
    return Imported(tuple(documents), tuple(problems))


def _cards(text: str) -> tuple[list[list[str]], list[str]]:
    """Return the lines of each card, so that a broken card does not hide the others, and the rest.

    A card lies in another one only as its AGENT; elsewhere, that one is not closed.
    """
    cards: list[list[list[str]]] = []  # of the pieces of each line
    opened: list[list[list[str]]] = []
    outside: list[str] = []
    for line in text.split("\n"):
        if edge := _EDGE.match(line):
            line = line[edge.end() :]
            if edge[1].upper() == "END":
                del opened[-1:]
            else:
                if opened and opened[-1][-1:] != [["AGENT:"]]:
                    opened.clear()
                opened.append([])
                cards.append(opened[-1])
        if not line.strip():
            continue
        if not opened:
            outside.append(line.strip())
            continue
        lines = opened[-1]
        pieces = lines[-1] if lines else [""]
        if pieces[-1].endswith("=") and _QUOTED.match(pieces[0]):
            pieces[-1:] = [pieces[-1][:-1], line]
        elif lines and not _PROPERTY.match(line):
            pieces.append(f"\\n{line}")  # a line of text that a program forgot to escape
        else:
            lines.append([line])
    return [["".join(pieces) for pieces in card] for card in cards], outside


def _contact(card: Sequence[str]) -> ImportedDocument:
    found: Properties = defaultdict(list)
    kept, faults = [], []
    for text in card:
        try:
            line = _content_line(text)
        except _UNREADABLE as error:
            kept.append(f"- {text}")
            faults.append(error)
        else:
            found[line.name.lower()].append(line)
    for lines in found.values():
        lines.sort(key=_preference)
    organisations = [_parts(line.value, ";") for line in found["org"]]
    units = [*filter(None, organisations[0])] if organisations else []
    kinds = {text.lower() for name in _KINDS for text in _texts(found, name)}
    names = [*_texts(found, "fn"), *map(_written_name, found["n"])]
    names = list(dict.fromkeys(filter(None, (" ".join(name.split()) for name in names))))
    is_person = bool(names) and kinds.isdisjoint(_NOBODY) and names[0] not in units[:1]
    emails = dict.fromkeys(_email(text) for text in _texts(found, "email"))
    if not (names or units):
        raise faults[0] if faults else ValueError(" ".join(["it has no name", *emails]))
    name = names[0] if names else units[0]
    if "group" in kinds:
        raise ValueError(f"{name} is a group")
    known = [email for email in emails if EMAIL.match(email)]
    kept += [f"- Email: {text}" for text in emails if not EMAIL.match(text)]
    roles = [*_texts(found, "title"), *_texts(found, "role")]
    nicknames = [alias for line in found["nickname"] for alias in _parts(line.value, ",")]
    aliases = dict.fromkeys([*_texts(found, "fn")[1:], *nicknames])
    phones = [phone.removeprefix("tel:") for phone in _texts(found, "tel")]
    addresses = [
        ", ".join(" ".join(part.split()) for part in _parts(line.value, ";") if part.strip())
        for line in found["adr"]
    ]
    fields: dict[str, Any] = {
        "aliases": [alias for alias in aliases if alias and alias != name],
        "email": known[0] if known else "",
        "emails": known if known[1:] else [],
        "role": next(iter(roles), ""),
        "company": units[0] if units and units[0] != name else "",
        "team": ", ".join(units[1:]),
        "phone": _one_or_all(phones),
        "address": _one_or_all(addresses),
        "birthday": next((only_day(text) or text for text in _texts(found, "bday")), ""),
        "url": _one_or_all(_texts(found, "url")),
        "tags": [tag for line in found["categories"] for tag in _parts(line.value, ",") if tag],
    }
    kept += _further_names(found, [name, *aliases])
    kept += [f"- Role: {role}" for role in roles[1:]]
    kept += [f"- Organisation: {', '.join(filter(None, parts))}" for parts in organisations[1:]]
    kept += _others(found)
    body = "\n\n".join([*_texts(found, "note"), *(["\n".join(kept)] if kept else [])])
    uid = next(iter(_texts(found, "uid")), "") or content_id("\0".join([name, *known]).encode())
    return ImportedDocument(
        import_id=f"vcard:{uid}",
        kind="person" if is_person else "note",
        title=name,
        fields={key: value for key, value in fields.items() if value},
        folder="contacts",
        body=body + "\n" if body else "",
    )


def _content_line(text: str) -> ContentLine:
    if _NO_ENCODING.match(text):
        raise ValueError("its encoding is that of names of hosts")
    if not _LINE.match(text):  # the library may take for ever to find out
        text = _ODD_PARAMETERS.sub(r"\1", text)
    try:
        return textLineToContentLine(text)
    except UnicodeDecodeError:  # programs for Windows do not name their encoding
        if "CHARSET" in text.upper():
            raise
        return textLineToContentLine(text.replace(":", ";CHARSET=CP1252:", 1))


def _preference(line: ContentLine) -> int:
    """Return the rank of a value among those of its property, the preferred one first."""
    rank = next(iter(line.params.get("PREF", [])), "")
    if _RANK.fullmatch(rank):
        return int(rank)
    types = (*line.params.get("TYPE", []), *line.singletonparams)
    return 0 if "PREF" in map(str.upper, types) else 101


def _email(text: str) -> str:
    """Return the address in `mailto:a@b.example` or `Name <a@b.example>`, others as written."""
    found = _ADDRESS.fullmatch(text)
    return ((found[1] or found[2] or "") if found else "").strip() or text


def _further_names(found: Properties, names: Sequence[str]) -> Iterator[str]:
    """Yield structured names of which a part is in no other name, such as titles and scripts."""
    written = "\0".join(names)[:_READ_AT_MOST].casefold()
    for line in found["n"]:
        family, given, additional, before, after, *more = [*_parts(line.value, ";"), *[""] * 5]
        parts = [part for part in (before, given, additional, family, after, *more) if part]
        if any(word.casefold() not in written for part in parts for word in part.split(",")):
            yield f"- Full name: {' '.join(parts)}"


def _others(found: Properties) -> Iterator[str]:
    """Yield what no field takes as items of a list, by its label or the name of the property."""
    labels = {line.group: _LABEL_OF_APPLE.sub(r"\1", line.value) for line in found["x-ablabel"]}
    for name, lines in found.items():
        for line in lines:
            value = " ".join(" ".join(_parts(line.value, ";")).split())
            label = labels.get(line.group) if line.group else None
            is_shown = name not in _FIELDS | _BOOKKEEPING and not (name == "label" and found["adr"])
            if value and (is_shown or (label and name in _FIELDS and label not in _USUAL_LABELS)):
                yield f"- {label or name.removeprefix('x-').capitalize()}: {value}"


def _written_name(line: ContentLine) -> str:
    """Return `given additional family` of the structured name."""
    family, given, additional, *_ = [*_parts(line.value, ";"), "", "", ""]
    return f"{given} {additional} {family}"


def _texts(found: Properties, name: str) -> list[str]:
    texts = (_parts(line.value, "")[0].strip() for line in found[name])
    return list(filter(None, texts))


def _one_or_all(values: Sequence[str]) -> str | list[str]:
    return list(values) if values[1:] else "".join(values)


def _parts(value: str, separator: str) -> list[str]:
    """Return the parts of a value between unescaped separators, each as text."""
    parts: list[list[str]] = [[]]
    for character in _CHARACTER.finditer(value):
        if character[0] == separator:
            parts.append([])
        else:
            escaped = character["escaped"]
            parts[-1].append("\n" if escaped in ("n", "N") else escaped or character[0])
    return ["".join(part).replace("\r\n", "\n").strip() for part in parts]
