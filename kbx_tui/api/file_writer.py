"""Writes to the base and undo. Each write is journaled, then indexed and committed to git."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from kbx_tui.api.session import Session
from kbx_tui.base_trust import GIT_COMMITS
from kbx_tui.drafting.drafts import Written
from kbx_tui.drafting.inbox import Inbox
from kbx_tui.drafting.planning import file_diff, rebase_edits
from kbx_tui.editing import journal
from kbx_tui.editing.fact_edits import AddFact, ChangeFact, owner_of
from kbx_tui.editing.file_edits import FileEdit, commit_files, undo, write_files
from kbx_tui.editing.journal import JournalEntry, finish_interrupted, read_file
from kbx_tui.editing.lossless_text import with_same_change
from kbx_tui.editing.page_edits import PageEdit, apply_edits
from kbx_tui.errors import (
    EmbeddingError,
    IndexElsewhere,
    IndexFault,
    IndexLocked,
    KbxError,
    NotFound,
    WriteFault,
)
from kbx_tui.knowledge.decoding import content_hash
from kbx_tui.knowledge.entities import first_new_fact, read_facts
from kbx_tui.knowledge.reading import parse_document
from kbx_tui.knowledge.redaction import is_same_public_text
from kbx_tui.knowledge.vault import CONFIG_NAME
from kbx_tui.search.browse import indexed_hash
from kbx_tui.settings_file import with_settings
from kbx_tui.state_file import is_read_only

INDEX_LOCK_SECONDS = 2.0
"""Longest wait for another process that writes the index; after that the index follows later."""


EMBEDDING_SECONDS = 1.0
"""Longest time for the vectors of what was written; the rest is computed later."""


class FileWriter:
    """Writes files of a session, each write as one journal entry, and undoes them."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def read(self, path: str) -> bytes:
        """Return what a file of the base contains. Raises NotFound and WriteFault."""
        data = read_file(self._session.root, path)
        if data is None:
            raise NotFound(f"{path} is gone; `kbx index` updates the index")
        return data

    def edit_page(
        self,
        path: str,
        edits: Sequence[PageEdit],
        description: str,
        *,
        dry_run: bool = False,
        before: bytes | None = None,
        template: bytes | None = None,
        force: bool = False,
    ) -> Written:
        """Apply edits to one file.

        `before` is the file as read earlier, `template` what a new page starts from. A fact that
        someone else added since `before` is not added again, except with `force`.
        """
        if template is None and before is None:
            before = self.read(path)
        if before is None:
            self._require_new(path)
        start = before or b"" if template is None else template
        after = self._edited(path, start, edits)
        shown = self._session.shown(path, after)
        fact_id, line = _written_fact(path, self._session.shown(path, start), shown, edits)
        diff = file_diff(path, self._session.shown(path, before), shown)
        written = Written(written=False, path=path, diff=diff, fact_id=fact_id, line=line)
        if dry_run or after == before:
            return written
        rebase = partial(self._rebased, path, tuple(edits), None if force else before or b"")
        entry = self.write([FileEdit(path, before, after, rebase)], description)
        return replace(written, written=True, entry=entry)

    def settings(self) -> bytes | None:
        return read_file(self._session.root, CONFIG_NAME)

    def set_settings(
        self, section: str, values: Mapping[str, Any], verb: str, *, dry_run: bool = False
    ) -> Written:
        """Write settings of a section to kbx.toml and use them; `verb` is for the history."""
        before = self.settings()
        after = with_settings(before, section, values) if values else before
        return self.write_settings(before, after, verb, dry_run=dry_run)

    def write_settings(
        self, before: bytes | None, after: bytes | None, verb: str, *, dry_run: bool
    ) -> Written:
        """Write kbx.toml, whose content was `before`, and use what it says then."""
        diff = file_diff(CONFIG_NAME, before, after)
        if dry_run or after is None or after == before:
            return Written(False, CONFIG_NAME, diff)
        entry = self.write([FileEdit(CONFIG_NAME, before, after)], f"{verb} {CONFIG_NAME}")
        self._session.reread_settings()
        return Written(True, CONFIG_NAME, diff, entry=entry)

    def write_pages(
        self,
        path: str,
        edits: Sequence[FileEdit],
        description: str,
        hints: Sequence[str] = (),
        *,
        dry_run: bool,
    ) -> Written:
        """Write pages, of which `path` is the one to name, unless it is a dry run."""
        diff = "".join(file_diff(edit.path, edit.before, edit.after) for edit in edits)
        entry = None if dry_run else self.write(edits, description)
        paths = tuple(edit.path for edit in edits)
        return Written(not dry_run, path, diff, hints=tuple(hints), entry=entry, paths=paths)

    def write(self, edits: Sequence[FileEdit], description: str) -> int | None:
        """Write files, all or none, update index and git, and return the journal number."""
        for edit in edits:
            if edit.before is None:
                self._require_new(edit.path)
        self.finish_interrupted()
        outcome = write_files(self._session.root, edits, description, all_or_nothing=True)
        operation, _, target = description.partition(" ")
        self.publish(outcome.paths, operation, target)
        return outcome.entry.number if outcome.entry else None

    def _edited(self, path: str, data: bytes, edits: Sequence[PageEdit]) -> bytes:
        """Return a page after edits; an agent makes them in what it may see of the page.

        So neither the place of a line nor a refusal depends on what is redacted. Raises WriteFault.
        """
        shown = self._session.shown(path, data)
        if shown is None or shown == data:
            return apply_edits(path, data, edits)
        for edit in edits:
            after = apply_edits(path, shown, [edit])
            data = with_same_change(data, shown, after)
            shown = self._session.shown(path, data)
            if shown is None or not is_same_public_text(shown, after):
                raise WriteFault(f"{path} cannot be edited without changing what is redacted in it")
        return data

    def _rebased(
        self, path: str, edits: Sequence[PageEdit], before: bytes | None, current: bytes
    ) -> bytes:
        after = rebase_edits(
            path,
            edits,
            self._session.shown(path, before),
            self._session.shown(path, current) or b"",
        )
        return self._edited(path, current, edits) if self._session.is_public else after

    def _require_new(self, path: str) -> None:
        """Raise IndexElsewhere for a page that another machine has: it would be created again."""
        session = self._session
        if session.published is not None and indexed_hash(session.open_index(), path):
            raise IndexElsewhere(
                f"{path} is not on this machine, which only reads the published index: change it "
                "where the files are"
            )

    def publish(self, paths: Sequence[str], operation: str, target: str) -> None:
        """Index files just written and commit them, as far as kbx.toml asks for that."""
        if not paths:
            return
        if pages := [path for path in paths if path != CONFIG_NAME]:
            self._update_index(pages)
        writes = self._session.settings.writes
        if not writes.auto_commit:
            return
        if GIT_COMMITS in self._session.refused:
            self._session.notice(
                "saved, but not committed: the base is not trusted; `kbx trust` lets it run git"
            )
            return
        message, author = writes.auto_commit_message_format, writes.auto_commit_author
        root = self._session.root
        if problem := commit_files(root, paths, operation, target, message=message, author=author):
            self._session.notice(f"saved, but not committed: {problem}")

    def undo(self, number: int | None) -> JournalEntry:
        self.finish_interrupted()
        entry = undo(self._session.root, number)
        try:
            Inbox(self._session.root, self._session.notice_once).reopen(entry.number)
        except WriteFault as error:
            self._session.notice(f"undone, but the proposals stay decided: {error}")
        paths = [change.path for change in entry.changes]
        self.publish(paths, "undo", str(entry.number))
        if CONFIG_NAME in paths:
            self._session.reread_settings()
        return entry

    def history(self, limit: int) -> tuple[JournalEntry, ...]:
        """Return the last writes, newest first, without undos."""
        entries = journal.entries(self._session.root, self._session.notice_once)
        writes = [entry for entry in entries if entry.undoes is None]
        return tuple(reversed(writes[-limit:] if limit else []))

    def finish_interrupted(self) -> tuple[str, ...]:
        """Complete a write during which a process died; return the files it wrote."""
        session = self._session.owner  # its notices, as the files may be hidden from agents
        try:
            paths = finish_interrupted(session.root, session.notice)
        except KbxError as error:
            session.notice_once(f"an interrupted write is still to be finished: {error}")
            return ()
        if paths:
            session.notice(f"finished an interrupted write of {', '.join(paths)}")
        return paths

    def index_edited(self, paths: Sequence[str], *, wait: bool = True, notify: bool = True) -> bool:
        """Index those of `paths` that were edited since the last run; return whether any was.

        Without `wait`, only if the index can be written now; without `notify`, no notice says that
        it could not.
        """
        session = self._session

        def hash_now(path: str) -> str:
            data = self._session.shown(path, read_file(session.root, path))
            return "" if data is None else content_hash(data)

        edited = [
            path
            for path in dict.fromkeys(paths)
            if hash_now(path) != indexed_hash(session.open_index(), path)
        ]
        if edited:
            self._update_index(edited, f"{edited[0]} was edited" if notify else "", wait=wait)
        return bool(edited)

    def _update_index(
        self, paths: Sequence[str], reason: str = "saved", *, wait: bool = True
    ) -> None:
        """Index `paths`, or leave them for the next write or run when the index is locked.

        A failure is a notice, not an error: the files themselves are written. Waits for a process
        that indexes its own write, not for one that indexes the whole base. A base that is open
        for reading only stays as it was indexed. Without a `reason`, there is no notice.
        """
        if is_read_only(self._session.root):
            return
        session = self._session
        session.unindexed_paths.update(paths)
        deadline = time.monotonic() + INDEX_LOCK_SECONDS * wait

        def notice(text: str) -> None:
            if reason:
                session.notice(f"{reason}{text}")

        while True:
            try:
                session.index(fast=True, wait=False, only=sorted(session.unindexed_paths))
            except IndexElsewhere as error:
                notice(f", but not found here before it is published: {error}")
            except IndexLocked:
                if time.monotonic() < deadline:
                    time.sleep(0.05)
                    continue
                notice("; the index follows when the other process has finished")
            except (IndexFault, EmbeddingError) as error:
                notice(f", but the index was not updated: {error}")
            else:
                session.embed_briefly(sorted(session.unindexed_paths), seconds=EMBEDDING_SECONDS)
                session.unindexed_paths.clear()
                session.refresh()
            return


def _written_fact(
    path: str, before: bytes | None, after: bytes | None, edits: Sequence[PageEdit]
) -> tuple[int | None, int]:
    """Return id and line of the fact that `edits` added or reworded; None and 0 without one."""
    for edit in edits:
        if isinstance(edit, AddFact | ChangeFact):
            old, new = (
                read_facts(parse_document(path, data or b""), owner_of(edit))
                for data in (before, after)
            )
            if fact := first_new_fact(old, new):
                return fact.fact_id, fact.line
    return None, 0
