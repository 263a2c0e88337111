"""Drafts: facts that are not written yet, kept in `.kbx/drafts.jsonl` when the app is left."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from kbx_tui.editing.state.state_folder import kept_lines, put_lines, readable
from kbx_tui.errors import ConfigError
from kbx_tui.knowledge.facts.fact_line import read_fact_line, split_head
from kbx_tui.knowledge.records import FactKind

DRAFTS = Path(".kbx", "drafts.jsonl")
"""Below the root."""

Action = Literal["create", "merge", "supersede", "skip"]

_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,9}[.)])\s+")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$")


@dataclass(frozen=True, slots=True)
class Choice:
    """What is to become of a draft."""

    action: Action
    fact_ids: tuple[int, ...] = ()
    """Facts it is merged into (one) or that it supersedes (one or more); empty otherwise."""
    text: str = ""
    """For a merge the whole text the fact is to have; empty: the text of the draft."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A fact or open item that somebody may want to write."""

    id: str
    """Unique in the base, 12 hex digits."""
    text: str
    """As it is to stand in the file, wikilinks and `(source: x)` included, without date."""
    kind: FactKind = "fact"
    entity_id: str = ""
    """Whose page it belongs on; empty while nobody knows."""
    is_guessed: bool = True
    """False once somebody chose the entity; then no check changes it."""
    date: str = ""
    """ISO date; empty: a fact gets the day it is written on, an open item none."""
    source: str = ""
    entity_name: str = ""
    """The entity as it was named in a file of drafts; a check turns it into `entity_id`."""
    stands_for: int | None = None
    """The fact this is, for what `scan_duplicates` found: it is in the base already."""
    choice: Choice | None = None
    """None while undecided."""


def new_draft(text: str, **known: Any) -> Draft:
    """Return a draft with a fresh id."""
    return Draft(uuid.uuid4().hex[:12], text, **known)


def drafts_from_text(text: str) -> tuple[Draft, ...]:
    """Return a draft for every line that says something, as it is pasted or stands in a file.

    Bullets go; `[2026-03-10]` in front is the date, a check box makes an open item. A heading names
    the entity of the lines below it. A line of JSON says all by name: `{"text": "...", "entity":
    "...", "kind": "fact", "date": "...", "source": "..."}`. Raises ConfigError for JSON that is
    no draft.
    """
    drafts, entity = [], ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if heading := _HEADING.match(line):
            entity = heading[1]
        elif line.startswith("{"):
            drafts.append(_from_json(line, number))
        elif draft := _from_line(line, entity):
            drafts.append(draft)
    return tuple(drafts)


def read_drafts(root: Path) -> tuple[Draft, ...]:
    """Return the drafts kept in a base, in order, each id once.

    A line that cannot be read is passed over.
    """
    return _read(root)[0]


def write_drafts(root: Path, drafts: Iterable[Draft]) -> None:
    """Keep these drafts and no others; lines that cannot be read stay as they are, at the end.

    Raises WriteFault; then the old ones are still there.
    """
    lines = [json.dumps(asdict(draft), ensure_ascii=False) for draft in drafts]
    put_lines(root, DRAFTS, [*lines, *_read(root)[1]])


def drop_drafts(root: Path, ids: Iterable[str]) -> None:
    """Take drafts off the file, for whoever holds the lock. Raises WriteFault."""
    gone, kept = set(ids), read_drafts(root)
    if any(draft.id in gone for draft in kept):
        write_drafts(root, [draft for draft in kept if draft.id not in gone])


def merged(
    ours: Sequence[Draft], known: Mapping[str, Draft], theirs: Sequence[Draft]
) -> list[Draft]:
    """Return the drafts to keep: ours, with what another process did since we knew them `known`.

    What is gone from `theirs` stays gone unless we changed it; what only they changed is theirs;
    what they added comes last.
    """
    there = {draft.id: draft for draft in theirs}
    kept: dict[str, Draft] = {}
    for draft in ours:
        if draft != known.get(draft.id):
            kept[draft.id] = draft
        elif draft.id in there:
            kept[draft.id] = there[draft.id]
    own = {draft.id for draft in ours}
    added = (draft for draft in theirs if draft.id not in known and draft.id not in own)
    return [*kept.values(), *added]


def _read(root: Path) -> tuple[tuple[Draft, ...], list[str]]:
    """Return the drafts of the file and the lines that are none, or have the id of another."""
    found: dict[str, Draft] = {}
    unread = []
    for line in kept_lines(root / DRAFTS):
        draft = _kept(line)
        if draft is None or found.setdefault(draft.id, draft) != draft:
            unread.append(line)
    return tuple(found.values()), unread


def _from_line(line: str, entity: str) -> Draft | None:
    box, _, text = split_head(_BULLET.sub("", line))
    entry = read_fact_line(_BULLET.sub("", line))
    if not entry.text:
        return None
    kind: FactKind = "open_item" if box else "fact"
    return new_draft(text, kind=kind, entity_name=entity, date=entry.date)


def _from_json(line: str, number: int) -> Draft:
    try:
        told = json.loads(line)
    except ValueError as error:
        raise ConfigError(f"line {number} is not valid JSON: {error}") from error
    except RecursionError as error:
        raise ConfigError(f"line {number} is nested too deeply; a draft is flat") from error
    valid = ("text", "entity", "kind", "date", "source")
    if unknown := sorted(told.keys() - set(valid)):
        raise ConfigError(f"line {number}: {unknown[0]} is no field; valid: {', '.join(valid)}")
    text = told.get("text")
    if not isinstance(text, str) or not text.strip():
        raise ConfigError(f'line {number} has no text; a draft is at least {{"text": ...}}')
    kind = str(told.get("kind") or "fact").replace("-", "_")
    if kind not in ("fact", "open_item"):
        raise ConfigError(f"line {number}: kind must be fact or open_item, got {kind}")
    named = {key: str(told.get(key) or "") for key in ("date", "source")}
    entity = str(told.get("entity") or "")
    return new_draft(text.strip(), kind=kind, entity_name=entity, **named)


def _kept(line: str) -> Draft | None:
    """Return the draft of a line; None when it is none, or holds what a draft cannot."""
    try:
        draft = msgspec.json.decode(readable(line), type=Draft)
    except (msgspec.DecodeError, RecursionError):
        return None
    return draft if draft.id and draft.text.strip() else None
