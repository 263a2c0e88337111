"""Drafts, facts that are not written yet, stored in `.kbx/drafts.jsonl`; and the records of a draft
on its way to a page: check, verdict, plan, and what was written.

A check keeps matches down to a floor far below any threshold, so that `decide` can apply another
threshold without a search.
"""

from __future__ import annotations

import json
import os
import re
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kbx_tui.editing.page_edits import PageEdit
from kbx_tui.editing.state_files import Log
from kbx_tui.errors import ConfigError
from kbx_tui.formatting import format_age
from kbx_tui.knowledge.facts import read_fact_line, split_head
from kbx_tui.knowledge.records import FactKind
from kbx_tui.similarity.pair_score import PairSimilarity, SimilarityMatch
from kbx_tui.state_file import Notice, ignore

MAX_DRAFTS = 5_000
"""Drafts read from one text, or the stored ones: each is compared with the base and the others."""

Action = Literal["create", "merge", "supersede", "tick", "strike", "delete", "skip"]
"""`strike` and `delete` are of the facts in a choice; of these the draft only repeats the text."""

_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,9}[.)])\s+")
_HEADING = re.compile(r"#{1,6}\s+(.+)")


@dataclass(frozen=True, slots=True)
class Choice:
    action: Action
    fact_ids: tuple[int, ...] = ()
    """The fact to merge into, those to supersede or open items to tick; empty for other actions."""
    text: str = ""
    """The full text of the merged fact; empty means the text of the draft."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What an agent asks to have written: see `drafting/inbox.py`."""

    by: str
    """The name that the agent's program gives itself."""
    at: float
    """Time in seconds since 1970."""
    choice: Choice

    @property
    def words(self) -> str:
        """Who asks, and since when: `claude-code, 2 min ago`."""
        return f"{self.by}, {format_age(time.time() - self.at)}"


@dataclass(frozen=True, slots=True)
class Draft:
    id: str
    text: str
    """As it is to be written, with wikilinks and `(source: x)`, without the date."""
    kind: FactKind = "fact"
    entity_id: str = ""
    is_guessed: bool = True
    """False once the user chose the entity; checks then leave it unchanged."""
    date: str = ""
    """ISO date; when empty, a fact gets the day it is written and an open item none."""
    source: str = ""
    entity_name: str = ""
    stands_for: int | None = None
    choice: Choice | None = None
    asked: Asked | None = None
    """Who proposed it; None for a draft of the user."""


def new_draft(text: str, **fields: Any) -> Draft:
    """Return a draft of a text, which may begin with its date, with other fields of `Draft`."""
    box, _, undated = split_head(text)
    date = "" if box or not undated else read_fact_line(text).date
    if date and fields.get("date", "") in ("", date):
        text, fields["date"] = undated, date
    return Draft(uuid.uuid4().hex[:12], text, **fields)


def drafts_from_text(text: str) -> tuple[Draft, ...]:
    """Return a draft for each line with text, from a file or the clipboard.

    Bullets are removed, a leading `[2026-03-10]` is the date, and a check box makes an open item.
    A heading names the entity of the lines below it. A line may also be JSON: `{"text": "...",
    "entity": "...", "kind": "fact", "date": "...", "source": "..."}`. Raises ConfigError for JSON
    that is not a valid draft, and for more than ``MAX_DRAFTS``.
    """
    drafts, entity = [], ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if heading := _HEADING.match(line):
            entity = heading[1].rstrip("#").rstrip()
        elif line.startswith("{"):
            drafts.append(_from_json(line, number))
        elif draft := _from_line(line, entity):
            drafts.append(draft)
        if len(drafts) > MAX_DRAFTS:
            raise ConfigError(
                f"there are more than {MAX_DRAFTS:,} drafts, which are too many to check at once; "
                "give them in parts"
            )
    return tuple(drafts)


def read_drafts(root: Path, notice: Notice = ignore) -> tuple[Draft, ...]:
    """Return the stored drafts in order, the first of each id."""
    return tuple(dict.fromkeys(draft for _, draft in _read(root, notice)[1] if draft))


def write_drafts(root: Path, drafts: Iterable[Draft]) -> None:
    """Replace the stored drafts, keeping unreadable lines. Raises WriteFault, changing nothing."""
    log, lines = _read(root)
    log.replace(drafts, lines)


def drop_drafts(root: Path, ids: Iterable[str]) -> None:
    """Remove drafts from the file; the caller holds the edit lock. Raises WriteFault."""
    dropped, stored = set(ids), read_drafts(root)
    if any(draft.id in dropped for draft in stored):
        write_drafts(root, [draft for draft in stored if draft.id not in dropped])


def merge_drafts(
    ours: Sequence[Draft], ancestor: Mapping[str, Draft], theirs: Sequence[Draft]
) -> list[Draft]:
    """Return a three-way merge.

    `ancestor` holds by id the versions that both sides began with. A draft that they removed stays
    removed unless we changed it, one that only they changed takes their version, and those that
    they added come last.
    """
    stored = {draft.id: draft for draft in theirs}
    merged: dict[str, Draft] = {}
    for draft in ours:
        if draft != ancestor.get(draft.id):
            merged[draft.id] = draft
        elif draft.id in stored:
            merged[draft.id] = stored[draft.id]
    our_ids = {draft.id for draft in ours}
    added = (draft for draft in theirs if draft.id not in ancestor and draft.id not in our_ids)
    return [*merged.values(), *added]


def _read(root: Path, notice: Notice = ignore) -> tuple[Log[Draft], list[tuple[str, Draft | None]]]:
    log, first = Log(root, "drafts.jsonl", Draft, notice), dict[str, Draft]()
    others = set[str]()

    def is_first(draft: Draft | None) -> bool:
        if draft is None or not draft.id or not draft.text.strip():
            return False
        if len(first) >= MAX_DRAFTS and draft.id not in first:
            others.add(draft.id)
            return False
        return first.setdefault(draft.id, draft) == draft

    lines = [(line, draft if is_first(draft) else None) for line, draft in log.lines()]
    if others:
        notice(f"only {MAX_DRAFTS:,} drafts are shown; the others follow once these are settled")
    return log, lines


def _from_line(line: str, entity: str) -> Draft | None:
    item = _BULLET.sub("", line)
    box, _, text = split_head(item)
    entry = read_fact_line(item)
    if not entry.text:
        return None
    kind: FactKind = "open_item" if box else "fact"
    return new_draft(text, kind=kind, entity_name=entity, date=entry.date)


def _from_json(line: str, number: int) -> Draft:
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise ConfigError(f"line {number} is not valid JSON: {error}") from error
    except RecursionError as error:
        raise ConfigError(f"line {number} is nested too deeply; a draft has flat fields") from error
    valid = ("text", "entity", "kind", "date", "source")
    if unknown := sorted(fields.keys() - set(valid)):
        raise ConfigError(f"line {number}: unknown field {unknown[0]}; valid: {', '.join(valid)}")
    text = fields.get("text")
    if not isinstance(text, str) or not text.strip():
        raise ConfigError(f'line {number} has no text; a draft is at least {{"text": ...}}')
    try:
        kind = fact_kind(str(fields.get("kind") or "fact"))
    except ConfigError as error:
        raise ConfigError(f"line {number}: {error}") from None
    entity, date, source = (str(fields.get(key) or "") for key in ("entity", "date", "source"))
    return new_draft(text.strip(), kind=kind, entity_name=entity, date=date, source=source)


def fact_kind(word: str) -> FactKind:
    """Return the kind that a word names, `open-item` too. Raises ConfigError."""
    match word.replace("-", "_"):
        case "fact" | "open_item" as kind:
            return kind
    raise ConfigError(f"kind must be fact or open_item, got {word}")


def complete_file(text: str, root: Path, limit: int = 20) -> tuple[str, ...]:
    """Return at most `limit` completions of `text`: folders with a final slash, then files.

    Paths are relative to the current folder, then to `root`, as in `kb.drafts.in_file`. Hidden
    names are completed only after a dot; unreadable folders have no completions.
    """
    prefix, slash, name = text.rpartition("/")
    prefix += slash
    if not slash and name.startswith("~"):
        return (f"{name}/",) if _expand_home(name) is not None else ()
    folder = _expand_home(prefix)
    if folder is None:
        return ()
    folders, files = set[str](), set[str]()
    for candidate in (folder,) if folder.is_absolute() else (folder, root / folder):
        for entry, is_folder in _entries(candidate):
            if entry.startswith(name) and (name or not entry.startswith(".")):
                (folders if is_folder else files).add(f"{prefix}{entry}{'/' * is_folder}")
    return (*sorted(folders), *sorted(files - folders))[:limit]


def _expand_home(text: str) -> Path | None:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # no such user
        return None


def _entries(folder: Path) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            return [(entry.name, entry.is_dir()) for entry in entries]
    except (OSError, ValueError):
        return []


State = Literal["new", "exact", "near", "conflict", "repeated"]


@dataclass(frozen=True, slots=True)
class EntityGuess:
    id: str
    name: str
    type: str
    path: str
    score: float
    """0..1, from the entity pass."""
    reason: str
    is_named: bool = True
    """False when the text only hints at it, by a role or part of one."""
    is_ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class DraftMatch:
    known: SimilarityMatch
    """Its `threshold` is that of its type; in `known.conflicts` the draft is on the left."""
    is_own: bool
    """True when it belongs to the draft's entity, or the draft has none. Only these decide."""
    written: str = ""
    """The text as written in its file, with markup, without notes; empty when not looked up."""
    is_redacted: bool = False
    is_of_another: bool = False
    """Whether it says of another entity what the draft says of its own: a hint, without effect."""


@dataclass(frozen=True, slots=True)
class BatchMatch:
    draft_id: str
    text: str
    kind: FactKind
    pair: PairSimilarity
    threshold: float
    date: str = ""


@dataclass(frozen=True, slots=True)
class DraftCheck:
    draft: Draft
    """The draft as given, with the guessed entity unless the user chose one."""
    text: str
    """The compared text: the draft without notes, markup and the name it begins with."""
    entity: EntityGuess | None
    candidates: tuple[EntityGuess, ...]
    """Entities it may belong to, best first, including the chosen one."""
    matches: tuple[DraftMatch, ...]
    """Best first; on ties those of the draft's own entity first."""
    repeats: tuple[BatchMatch, ...]
    """Best first."""
    model: str
    is_calibrated: bool
    notes: tuple[str, ...] = ()
    written: str = ""
    """The draft as written, without the name it begins with; empty means its text."""
    closest: float | None = None
    """Highest cosine (-1..1) with what is known of its entity, or 1 if they share a word; None if
    nothing is known of it and no earlier draft is about it."""

    @property
    def of_another(self) -> DraftMatch | None:
        """The fact that says the same of another entity: perhaps only one of them can be true."""
        return next((match for match in self.matches if match.is_of_another), None)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `decide` concludes from a check under a threshold."""

    state: State
    proposal: Choice
    is_sure: bool
    """True when the proposal needs no review; unattended `apply` carries out only these."""
    reason: str
    match: DraftMatch | None = None
    """The deciding match for exact, near and conflict; None when an earlier draft decided."""
    repeat: BatchMatch | None = None


@dataclass(frozen=True, slots=True)
class PlannedFile:
    path: str
    before: bytes
    after: bytes
    edits: tuple[PageEdit, ...] = ()
    """The edits themselves, so that they can be rebased if the file changes before `apply`."""
    draft_ids: tuple[str, ...] = ()
    diff: str = ""


@dataclass(frozen=True, slots=True)
class DraftProblem:
    draft_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    files: tuple[PlannedFile, ...]
    drafts: tuple[Draft, ...]
    """Those that can be carried out, in order; each has a choice."""
    problems: tuple[DraftProblem, ...]

    @property
    def actions(self) -> tuple[tuple[str, Action], ...]:
        return tuple((draft.id, draft.choice.action) for draft in self.drafts if draft.choice)

    @property
    def diff(self) -> str:
        return "".join(file.diff for file in self.files)


@dataclass(frozen=True, slots=True)
class Applied:
    created: int
    merged: int
    superseded: int
    ticked: int
    removed: int
    skipped: int
    failed: tuple[DraftProblem, ...]
    done: tuple[str, ...]
    """Ids of the settled drafts, skipped ones included; they can be dropped."""
    paths: tuple[str, ...]
    entry: int | None
    """Journal number that `undo` takes to revert everything; None when nothing changed."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was or would be written to one file, or why nothing was."""

    written: bool
    """False for a dry run, for a known fact, and when nothing would change."""
    path: str
    diff: str
    fact_id: int | None = None
    """Id of the fact that was added or reworded; a new text gives a new id."""
    line: int = 0
    matches: tuple[SimilarityMatch, ...] = ()
    """For an added fact: what says the same or contradicts it, best first."""
    hints: tuple[str, ...] = ()
    entry: int | None = None
    """Journal number that `undo` takes to revert the write."""
    paths: tuple[str, ...] = ()
    """All files of a correction of a name, or a merge; `path` is the first."""
