"""People of an address book: vCard files."""

from __future__ import annotations

from typing import Any

import vobject
from vobject.base import Component, VObjectError

from kbx_tui.importing.imported_document import (
    Imported,
    ImportedDocument,
    ImportProblem,
    SourceFile,
)
from kbx_tui.importing.readers.reading_help import content_id, text_of_file
from kbx_tui.knowledge.parsing.fields import EMAIL

_UNREADABLE = (VObjectError, ValueError, TypeError, AttributeError, LookupError)
"""What the library raises for broken cards, such as one in an unknown encoding."""


def read_contacts(file: SourceFile) -> Imported:
    """Return the people of a vCard file. Raises ValueError with a reason."""
    text = text_of_file(file)
    if "BEGIN:VCARD" not in text.upper():
        raise ValueError("it does not hold a VCARD")
    documents, problems = [], []
    for number, card in enumerate(_cards(text), 1):
        try:
            documents.append(_person(vobject.readOne(card, allowQP=True)))
        except _UNREADABLE as error:
            problems.append(ImportProblem(file.path, f"card {number} cannot be read: {error}"))
    return Imported(tuple(documents), tuple(problems))


def _cards(text: str) -> list[str]:
    """Return the text of each card, so that a broken one does not hide the others."""
    cards: list[list[str]] = []
    for line in text.split("\n"):
        if line.strip().upper() == "BEGIN:VCARD":
            cards.append([])
        if cards:
            cards[-1].append(line)
    return ["\n".join(lines).strip() + "\n" for lines in cards]


def _person(card: Component) -> ImportedDocument:
    emails = [email for line in card.contents.get("email", []) if (email := _text(line))]
    emails = list(dict.fromkeys(email for email in emails if EMAIL.match(email)))
    name = _name(card)
    if not name:
        raise ValueError("it has no name")
    fields: dict[str, Any] = {}
    if aliases := [alias for alias in _texts(card, "nickname") if alias != name]:
        fields["aliases"] = aliases
    if emails:
        fields["email"] = emails[0]
    if emails[1:]:
        fields["emails"] = emails
    if role := next(iter(_texts(card, "title") or _texts(card, "role")), ""):
        fields["role"] = role
    if organisation := card.contents.get("org"):
        units = [str(unit).strip() for unit in organisation[0].value if str(unit).strip()]
        if units:
            fields["company"] = units[0]
        if units[1:]:
            fields["team"] = units[1]
    if phones := _texts(card, "tel"):
        fields["phone"] = phones if phones[1:] else phones[0]
    notes = "\n\n".join(_texts(card, "note"))
    uid = next(iter(_texts(card, "uid")), "") or content_id("\0".join([name, *emails]).encode())
    return ImportedDocument(
        import_id=f"vcard:{uid}",
        kind="person",
        title=name,
        fields=fields,
        body=notes + "\n" if notes else "",
    )


def _name(card: Component) -> str:
    """Return the formatted name, else one made from its parts, else nothing."""
    if names := _texts(card, "fn"):
        return " ".join(names[0].split())
    for line in card.contents.get("n", []):
        parts = (getattr(line.value, part, "") for part in ("given", "additional", "family"))
        if name := " ".join(" ".join(str(part).split()) for part in parts if part).strip():
            return name
    return ""


def _texts(card: Component, key: str) -> list[str]:
    values = (line.value for line in card.contents.get(key, []))
    flat = (part for value in values for part in (value if isinstance(value, list) else [value]))
    return [text for part in flat if (text := str(part).strip())]


def _text(line: Any) -> str:
    return str(line.value).strip()
