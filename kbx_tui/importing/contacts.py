"""The reader of contacts: vCard. It raises ValueError with a reason."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from vobject.base import ContentLine, VObjectError, textLineToContentLine

from kbx_tui.importing.imported_document import (
    Imported,
    ImportedDocument,
    ImportProblem,
    SourceFile,
    content_id,
)
from kbx_tui.knowledge.dates import iso_date
from kbx_tui.knowledge.fields import EMAIL

_UNREADABLE = (VObjectError, ValueError, TypeError, AttributeError, LookupError)
"""Exceptions of the library for broken lines, such as one in an unknown encoding."""

_PROPERTY = re.compile(r"[\w-]+(?:\.[\w-]+)?[;:]")
_CHARACTER = re.compile(r"\\(?P<escaped>.)|.", re.DOTALL)
_LABEL_OF_APPLE = re.compile(r"_\$!<(.*)>!\$_")
_FIELDS = frozenset(
    {"adr", "bday", "categories", "email", "fn", "n", "nickname", "note", "org", "role", "tel",
     "title", "uid", "url"}
)  # fmt: skip
_BOOKKEEPING = frozenset(
    {"begin", "class", "clientpidmap", "end", "key", "kind", "label", "logo", "mailer", "photo",
     "prodid", "rev", "sort-string", "sound", "source", "version", "x-abadr", "x-ablabel",
     "x-abshowas", "x-abuid"}
)  # fmt: skip
"""Properties that say nothing of a person, and pictures, sounds and keys."""

_NOBODY = ("application", "company", "device", "location", "org")
"""Kinds of cards that are of no person."""

Properties = dict[str, list[ContentLine]]


def read_contacts(file: SourceFile) -> Imported:
    """Return the people of an address book; others, such as organisations, as notes."""
    text = file.text
    if "BEGIN:VCARD" not in text.upper():
        raise ValueError("it does not hold a VCARD")
    documents, problems = [], []
    for number, card in enumerate(_cards(text), 1):
        try:
            documents.append(_contact(card))
        except _UNREADABLE as error:
            problems.append(ImportProblem(file.path, f"card {number} cannot be read: {error}"))
    return Imported(tuple(documents), tuple(problems))


def _cards(text: str) -> list[list[str]]:
    """Return the lines of each card, unfolded, so that a broken card does not hide the others."""
    cards: list[list[str]] = []
    for line in text.split("\n"):
        if line.strip().upper() == "BEGIN:VCARD":
            cards.append([])
        if not cards or not line.strip():
            continue
        lines = cards[-1]
        if lines and line[0] in " \t":
            lines[-1] += line[1:]
        elif lines and lines[-1].endswith("=") and "QUOTED-PRINTABLE" in lines[-1].upper():
            lines[-1] = lines[-1][:-1] + line
        elif lines and not _PROPERTY.match(line):
            lines[-1] += f"\\n{line}"  # a line of text that a program forgot to escape
        else:
            lines.append(line)
    return cards


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
    organisations = [_parts(line.value, ";") for line in found["org"]]
    units = [*filter(None, organisations[0])] if organisations else []
    kinds = {text.lower() for text in (*_texts(found, "kind"), *_texts(found, "x-abshowas"))}
    names = [*_texts(found, "fn"), *map(_written_name, found["n"])]
    names = list(dict.fromkeys(filter(None, (" ".join(name.split()) for name in names))))
    is_person = bool(names) and kinds.isdisjoint(_NOBODY) and names[0] not in units[:1]
    if not (names or units):
        raise faults[0] if faults else ValueError("it has no name")
    name = names[0] if names else units[0]
    if "group" in kinds:
        raise ValueError(f"{name} is a group")
    emails = list(dict.fromkeys(filter(EMAIL.match, _texts(found, "email"))))
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
        "email": emails[0] if emails else "",
        "emails": emails if emails[1:] else [],
        "role": next(iter(roles), ""),
        "company": units[0] if units and units[0] != name else "",
        "team": ", ".join(units[1:]),
        "phone": _one_or_all(phones),
        "address": _one_or_all(addresses),
        "birthday": next((iso_date(text) or text for text in _texts(found, "bday")), ""),
        "url": _one_or_all(_texts(found, "url")),
        "tags": [tag for line in found["categories"] for tag in _parts(line.value, ",") if tag],
    }
    kept += [f"- Role: {role}" for role in roles[1:]]
    kept += [f"- Organisation: {', '.join(filter(None, parts))}" for parts in organisations[1:]]
    kept += _others(found)
    body = "\n\n".join([*_texts(found, "note"), *(["\n".join(kept)] if kept else [])])
    uid = next(iter(_texts(found, "uid")), "") or content_id("\0".join([name, *emails]).encode())
    return ImportedDocument(
        import_id=f"vcard:{uid}",
        kind="person" if is_person else "note",
        title=name,
        fields={key: value for key, value in fields.items() if value},
        folder="contacts",
        body=body + "\n" if body else "",
    )


def _content_line(text: str) -> ContentLine:
    try:
        return textLineToContentLine(text)
    except UnicodeDecodeError:  # programs for Windows do not name their encoding
        if "CHARSET" in text.upper():
            raise
        return textLineToContentLine(text.replace(":", ";CHARSET=CP1252:", 1))


def _others(found: Properties) -> Iterator[str]:
    """Yield what no field takes as items of a list, by its label or the name of the property."""
    labels = {line.group: _LABEL_OF_APPLE.sub(r"\1", line.value) for line in found["x-ablabel"]}
    for name, lines in found.items():
        for line in lines if name not in _FIELDS | _BOOKKEEPING else ():
            value = " ".join(" ".join(_parts(line.value, ";")).split())
            label = labels.get(line.group) if line.group else None
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
