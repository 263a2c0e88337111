"""The inbox of a base: what agents propose to write, and what became of it.

`.kbx/inbox.jsonl` has a line for each proposal, which is a draft, and a line for each decision of
the user about one. It is only appended to, except that the oldest decisions are dropped at times.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec

from kbx_tui.drafting.drafts import Draft
from kbx_tui.editing.state_files import Log, replace_state_file
from kbx_tui.errors import NotConfirmed
from kbx_tui.state_file import Notice, ignore

MOST_WAITING = 200
"""Most proposals that wait: a user cannot look at more, and an agent may be in a loop."""
KEPT_DECIDED = 300
MOST_LINES = 1_400
"""Lines above which only the newest `KEPT_DECIDED` decisions are kept."""

Outcome = Literal["waiting", "accepted", "changed", "refused"]


@dataclass(frozen=True, slots=True)
class Proposal:
    draft: Draft
    outcome: Outcome = "waiting"
    """`changed`: something else was written than asked for."""
    decided_at: float | None = None
    """Time in seconds since 1970."""
    written: str = ""
    """The text written instead, if changed."""
    entry: int = 0
    """Journal number of the write that settled it; 0 without one."""


class _Line(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    draft: Draft | None = None
    """What is proposed; None in the line of a decision."""
    outcome: Outcome = "waiting"
    at: float = 0.0
    written: str = ""
    entry: int = 0


class Inbox:
    def __init__(self, root: Path, notice: Notice = ignore) -> None:
        self._log = Log(root, "inbox.jsonl", _Line, notice, mode=0o600)

    def version(self) -> tuple[int, ...] | None:
        """Return a value that differs after each change of the file; None without a file."""
        return self._log.version()

    def proposals(self) -> list[Proposal]:
        """Return all proposals that are kept, oldest first."""
        found: dict[str, Proposal] = {}
        for line in self._log.records():
            draft, known = line.draft, found.get(line.id)
            if known is not None:
                at = None if line.outcome == "waiting" else line.at
                found[line.id] = Proposal(known.draft, line.outcome, at, line.written, line.entry)
            elif draft is not None and draft.asked and draft.id == line.id and draft.text.strip():
                found[line.id] = Proposal(draft)
        return list(found.values())

    def waiting(self) -> tuple[Draft, ...]:
        return tuple(each.draft for each in self.proposals() if each.outcome == "waiting")

    def add(self, draft: Draft, *, again: bool = False) -> Proposal:
        """Add a draft that an agent asks for, and return its proposal.

        That is the former one if the same waits already, or was refused and is not to be proposed
        `again`. Raises NotConfirmed if too many wait, and WriteFault.
        """
        with self._log.locked():
            known, wanted = self.proposals(), _request(draft)
            for each in [each for each in reversed(known) if _request(each.draft) == wanted]:
                if each.outcome == "waiting" or (each.outcome == "refused" and not again):
                    return each
            if sum(each.outcome == "waiting" for each in known) >= MOST_WAITING:
                raise NotConfirmed(
                    f"nothing was proposed: {MOST_WAITING} proposals wait, which is the most; "
                    "ask the user to review them, with F2 in the app"
                )
            self._append([_Line(draft.id, draft)])
        return Proposal(draft)

    def reopen(self, entry: int) -> None:
        """Let proposals wait again whose write was undone. Raises WriteFault."""
        settled = (each.draft.id for each in self.proposals() if each.entry == entry)
        self.decide(dict.fromkeys(settled, ("waiting", "")))

    def decide(self, outcomes: Mapping[str, tuple[Outcome, str]], entry: int = 0) -> None:
        """Note outcome and, where changed, the written text of proposals. Raises WriteFault.

        `entry` is the journal number of the write by which they were decided.
        """
        at = round(time.time(), 3)
        if outcomes:
            with self._log.locked():
                self._append(
                    _Line(draft_id, outcome=outcome, at=at, written=written, entry=entry)
                    for draft_id, (outcome, written) in outcomes.items()
                )

    def _append(self, lines: Iterable[_Line]) -> None:
        added, before = list(map(msgspec.json.encode, lines)), len(self._log.records())
        self._log.append(added)
        if before + len(added) > MOST_LINES:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        """Keep what waits and the newest decisions, a line or two each; unreadable lines stay."""
        proposals = sorted(self.proposals(), key=lambda each: each.decided_at or math.inf)
        waiting = sum(each.outcome == "waiting" for each in proposals)  # which are the last
        data = b""
        for each in proposals[-KEPT_DECIDED - waiting :]:
            data += msgspec.json.encode(_Line(each.draft.id, each.draft)) + b"\n"
            if each.decided_at is not None:
                decision = (each.outcome, each.decided_at, each.written, each.entry)
                line = _Line(each.draft.id, None, *decision)
                data += msgspec.json.encode(line) + b"\n"
        unreadable = (line for line, record in self._log.lines() if record is None)
        data += "".join(f"{line}\n" for line in unreadable).encode("utf-8", "surrogateescape")
        replace_state_file(self._log.file, data)


def _request(draft: Draft) -> Draft:
    """Return what a draft asks for, the same whoever asks and whenever."""
    asked = draft.asked and replace(draft.asked, by="", at=0.0)
    return replace(draft, id="", text=" ".join(draft.text.split()), asked=asked)


def outcome_of(asked: Draft, settled: Draft) -> tuple[Outcome, str]:
    """Return what became of a proposal that was settled with a choice, and the text written."""
    if (choice := settled.choice) is None or choice.action == "skip":
        return "refused", ""
    text = choice.text or settled.text
    as_asked = replace(settled, choice=None) == asked and text == asked.text
    if as_asked and asked.asked and replace(choice, text="") == asked.asked.choice:
        return "accepted", ""
    return "changed", text
