"""What frontmatter says about a document: its tags, who took part, what it refers to. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.parsing.inline import plain_text, wikilink_targets
from kbx_tui.knowledge.records import Attendee

ATTENDEE_KEYS = frozenset(
    {
        "attendee", "attendees", "participant", "participants", "present", "speaker", "speakers",
        "author", "authors",
    }
)  # fmt: skip
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
_SEPARATOR = re.compile(r" ?[,;] ?(?![^()<\[]*[)>\]])")
_CONJUNCTION = re.compile(r"\s+(?:and|&)\s+", re.IGNORECASE)
_NAME_SUFFIX = re.compile(
    r"(?:inc|ltd|llc|llp|gmbh|ag|plc|corp|co|s\.?a|jr|sr|ph\.?d|md|m\.?d|esq|ii|iii)\.?", re.I
)
_MAX_NAME = 200
_MAX_LIST = 10_000


def text_of(value: object) -> str:
    """Return a scalar as trimmed text, empty for anything else."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return " ".join(str(value).split())
    return ""


def texts_of(value: object) -> Iterator[str]:
    """Yield the non-empty texts of a scalar, a list, or lists in lists.

    ``[[Name]]`` without quotes is a list in a list to YAML, so nesting is read as brackets.
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


def names_of(value: object) -> tuple[str, ...]:
    """Return the names in a frontmatter value, wikilink brackets and repetitions removed.

    A list gives one name per entry. A text is split at commas, unless what follows belongs to the
    name (``Acme, Inc.``); where it may be one name as well (``Trust, Safety and Policy``), it comes
    first, whole.
    """
    if not isinstance(value, str):
        entries = list(texts_of(value))
    else:
        entries = split_names(value)
        if may_be_one_name(entries):
            entries.insert(0, text_of(value))
    return tuple(dict.fromkeys(name for entry in entries if (name := unlink(entry))))


def split_names(text: str) -> list[str]:
    """Return the parts of a text between commas, semicolons and line ends; bullets are dropped."""
    names: list[str] = []
    for line in text[:_MAX_LIST].split("\n"):
        for part in _SEPARATOR.split(text_of(line).lstrip("-*• ")):
            if names and _NAME_SUFFIX.fullmatch(part):
                names[-1] += f", {part}"
            elif part:
                names.append(part)
    return names


def may_be_one_name(parts: Sequence[str]) -> bool:
    """Tell whether parts look like one name that happens to hold a comma: the last has an "and"."""
    return len(parts) > 1 and _CONJUNCTION.search(parts[-1]) is not None


def unlink(text: str) -> str:
    """Return the target of a text that is one wikilink, else the text itself."""
    text = text.strip()
    if text.startswith("[[") and text.endswith("]]"):
        return next(wikilink_targets(text), "")
    return text


def tags_of(frontmatter: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the tags as text, ``#`` removed; one text is split at commas, or at spaces."""
    value = frontmatter.get("tags", frontmatter.get("tag"))
    if isinstance(value, str):
        entries = re.split(r"[,;\n]" if re.search(r"[,;\n]", value) else r"\s+", value)
    else:
        entries = list(texts_of(value))
    return tuple(
        dict.fromkeys(tag for entry in entries if (tag := unlink(entry).lstrip("#").strip()))
    )


def attendees_of(frontmatter: Mapping[str, Any]) -> tuple[Attendee, ...]:
    """Return attendees and authors in file order, each person once.

    Understood are mappings with name and email, texts, ``Name <email>``, and one text with commas;
    an entry without a letter is junk.
    """
    found: dict[str, Attendee] = {}
    for key, value in frontmatter.items():
        if key.casefold() in ATTENDEE_KEYS:
            for attendee in _attendees(value):
                identity = name_key(attendee.name) or attendee.name
                known = found.get(identity)
                if known is None or (attendee.email and not known.email):
                    found[identity] = attendee
    return tuple(found.values())


def references_of(frontmatter: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names frontmatter refers to, each once.

    These are the values of the keys in ``REFERENCE_KEYS`` at any depth, and every wikilink in other
    values; attendees are not among them.
    """
    found: dict[str, None] = {}
    for name in _references(frontmatter):
        if name and len(name) <= _MAX_NAME:
            found.setdefault(name, None)
    return tuple(found)


def _attendees(value: object) -> Iterator[Attendee]:
    if isinstance(value, Mapping):
        email = text_of(value.get("email"))
        email = email if EMAIL.match(email) else ""
        name = unlink(text_of(value.get("name"))) or email
        if _plausible(name):
            yield Attendee(name, email)
    elif isinstance(value, list):
        for entry in value:
            if isinstance(entry, str):
                yield from _one_attendee(entry)
            elif isinstance(entry, Mapping | list):
                yield from _attendees(entry)
    elif isinstance(value, str):
        for part in split_names(value):
            for entry in _CONJUNCTION.split(part):
                yield from _one_attendee(entry)


def _one_attendee(text: str) -> Iterator[Attendee]:
    text = plain_text(unlink(text_of(text)))
    address = _ADDRESS.match(text) if len(text) <= 2 * _MAX_NAME else None
    if address:
        name = f"{address[1]} {address[3]}".strip(" \"'") or address[2]
        email = address[2]
    else:
        name, email = text, text if EMAIL.match(text) else ""
    if _plausible(name):
        yield Attendee(name, email)


def _plausible(name: str) -> bool:
    return len(name) <= _MAX_NAME and any(character.isalpha() for character in name)


def _references(values: Mapping[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        folded = key.casefold()
        if folded in ATTENDEE_KEYS:
            continue
        if folded in REFERENCE_KEYS and not isinstance(value, Mapping):
            for name in names_of(value):
                if not EMAIL.match(name):
                    yield name
        elif folded in REFERENCE_KEYS and (name := text_of(value.get("name"))):
            yield unlink(name)
        elif isinstance(value, Mapping):
            yield from _references(value)
        else:
            for text in texts_of(value):
                if "[[" in text:
                    yield from wikilink_targets(text)
