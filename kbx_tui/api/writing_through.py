"""What every write goes through: the journal, the index that follows, git. And taking it back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kbx_tui.api.comparing import Comparing
from kbx_tui.api.opened import Notice, well_formed
from kbx_tui.config import Settings
from kbx_tui.errors import IndexFault, IndexLocked, KbxError, NotFound, WriteFault

if TYPE_CHECKING:
    from kbx_tui.drafting.written import Written
    from kbx_tui.editing.file_edits import FileEdit, Outcome
    from kbx_tui.editing.journal import JournalEntry
    from kbx_tui.editing.page_edits import PageEdit
    from kbx_tui.knowledge.records import Entity


FOLLOW_SECONDS = 2.0
"""Longest wait for another process that writes the index."""


class WritingThrough(Comparing):
    """Writes files, each write as one entry of the journal, and takes them back."""

    def __init__(
        self,
        root: Path | str | None = None,
        *,
        settings: Settings | None = None,
        notice: Notice | None = None,
    ) -> None:
        """Open the base as `OpenedBase` does, and finish a write during which a process died."""
        super().__init__(root, settings=settings, notice=notice)
        self._behind: set[str] = set()
        self.finish_interrupted()

    def undo(self, number: int | None = None) -> JournalEntry:
        """Take back a write, the last that is not undone by default; return what it was.

        Raises WriteFault when there is none, FileChanged when a file was edited since.
        """
        from kbx_tui.editing.undo import undo

        entry = undo(self.root, number)
        paths = tuple(change.path for change in entry.changes)
        self._follow(paths)
        self._commit(paths, "undo", str(entry.number))
        return entry

    def undoable(self, limit: int = 20) -> tuple[JournalEntry, ...]:
        """Return the last writes, newest first; undone ones are marked, undoing is not listed."""
        from kbx_tui.editing.journal import entries

        made = [entry for entry in entries(self.root) if entry.undoes is None]
        return tuple(reversed(made[-limit:] if limit else []))

    def finish_interrupted(self) -> tuple[str, ...]:
        """Finish a write during which a process died; return the files it wrote then."""
        from kbx_tui.editing.journal import BEGUN, FOLDER

        if not (self.root / FOLDER / BEGUN).exists():
            return ()
        from kbx_tui.editing.file_edits import finish_interrupted

        try:
            paths = finish_interrupted(self.root)
        except KbxError as error:
            self._notice(f"an interrupted write waits to be finished: {error}")
            return ()
        if paths:
            self._notice(f"finished an interrupted write of {', '.join(paths)}")
        return paths

    def _write(
        self,
        path: str,
        edits: Sequence[PageEdit],
        told: str,
        *,
        dry_run: bool = False,
        before: bytes | None = None,
        begun: bytes | None = None,
        force: bool = False,
        answer: Callable[..., Written] | None = None,
    ) -> Written:
        """Make edits of one file. `begun` is what a page that does not exist yet begins with.

        A text that somebody else added since the file was read is not added twice, but with
        `force`.
        """
        from kbx_tui.drafting.rebase_edits import remade
        from kbx_tui.drafting.written import Written
        from kbx_tui.editing.file_edits import FileEdit
        from kbx_tui.editing.page_edits import edited

        make = answer or Written
        if begun is None and before is None:
            before = self._read(path)
        start = begun if begun is not None else before or b""
        after = edited(path, start, edits)
        fact_id, line = _new_fact(path, start, after, edits)
        known: dict[str, Any] = {"fact_id": fact_id, "line": line}
        diff = self._diff(path, before, after)
        if dry_run or after == before:
            return make(written=False, path=path, diff=diff, **known)
        again = partial(remade, path, tuple(edits), None if force else before or b"")
        entry = self._put([FileEdit(path, before, after, again)], told)
        return make(written=True, path=path, diff=diff, entry=entry, **known)

    def _put(self, edits: Sequence[FileEdit], told: str) -> int | None:
        """Write files, all or none, and have index and git follow; return the journal's number."""
        from kbx_tui.editing.file_edits import write_files

        outcome = write_files(self.root, edits, told, whole=True)
        self._after(outcome, told)
        return outcome.entry.number if outcome.entry else None

    def _after(self, outcome: Outcome, told: str) -> None:
        if not outcome.paths:
            return
        self._follow(outcome.paths)
        operation, _, target = told.partition(" ")
        self._commit(outcome.paths, operation, target)

    def _take_in(self, paths: Sequence[str]) -> bool:
        """Index pages that were edited since: what is compared is what stands there now."""
        from kbx_tui.editing.file_edits import read_file
        from kbx_tui.knowledge.parsing.decoding import content_hash
        from kbx_tui.search.browsing.known_facts import indexed_hash

        newer = [
            path
            for path in dict.fromkeys(paths)
            if (data := read_file(self.root, path)) is not None
            and content_hash(data) != indexed_hash(self._open_index(), path)
        ]
        if newer:
            self._follow(newer, f"{newer[0]} was edited")
        return bool(newer)

    def _follow(self, paths: Sequence[str], told: str = "it is written") -> None:
        """Bring the index up to date with files just written; what was written stays written.

        Another process that indexes what it wrote is waited for, one that indexes the base is not.
        """
        self._behind.update(paths)
        until = time.monotonic() + FOLLOW_SECONDS
        while True:
            try:
                self.index(fast=True, wait=False, only=sorted(self._behind))
            except IndexLocked:
                if time.monotonic() < until:
                    time.sleep(0.05)
                    continue
                self._notice(f"{told}; the index follows when the other process has finished")
            except IndexFault as error:
                self._notice(f"{told}, but the index did not follow: {error}")
            else:
                self._behind.clear()
                self.refresh()
            return

    def _commit(self, paths: Sequence[str], operation: str, target: str) -> None:
        writes = self.settings.writes
        if not (writes.auto_commit and paths):
            return
        from kbx_tui.editing.git_commit import commit

        problem = commit(
            self.root, paths, operation, target,
            message=writes.auto_commit_message_format, author=writes.auto_commit_author,
        )  # fmt: skip
        if problem:
            self._notice(f"it is written, but not committed: {problem}")

    def _ready_index(self) -> None:
        if not self.is_indexed():
            self._notice(f"{self.root} is not indexed yet; indexing it first")
            self.index(fast=True)
        self._keep_fresh()

    def _find_entity(self, name: str, kind: str | None = None) -> Entity:
        from kbx_tui.similarity.entity_finder import EntityFinder

        entities = self._open_index().loaded().snapshot.entities
        if kind is not None:
            entities = tuple(one for one in entities if one.type == kind)
        return EntityFinder(entities).find(well_formed(name))

    def _read(self, path: str) -> bytes:
        from kbx_tui.editing.file_edits import read_file

        data = read_file(self.root, path)
        if data is None:
            raise NotFound(f"{path} is gone; `kbx index` takes that in")
        return data

    def _refuse_existing(self, path: str, name: str) -> None:
        from kbx_tui.editing.file_edits import read_file

        if read_file(self.root, path) is not None:
            raise WriteFault(f"{name} has a page already: {path}")

    def _prefix(self) -> str:
        from kbx_tui.knowledge.vault import walked_folder

        return "" if walked_folder(self.root) == self.root else "memory/"

    @staticmethod
    def _diff(path: str, before: bytes | None, after: bytes) -> str:
        from kbx_tui.drafting.planning import file_diff

        return file_diff(path, before, after)


def _new_fact(
    path: str, before: bytes, after: bytes, edits: Sequence[PageEdit]
) -> tuple[int | None, int]:
    """Return id and line of the fact that edits added or worded anew."""
    from kbx_tui.editing.fact_edits import AddFact, ChangeFact
    from kbx_tui.knowledge.facts.fact_sections import new_fact, read_facts
    from kbx_tui.knowledge.parsing.reading import parse_document

    for edit in edits:
        if isinstance(edit, AddFact | ChangeFact):
            old, new = (
                read_facts(parse_document(path, data), edit.entity_id) for data in (before, after)
            )
            if fact := new_fact(old, new):
                return fact.fact_id, fact.line
    return None, 0
