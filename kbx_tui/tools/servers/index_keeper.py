"""Keeps the index of a server in step with the files while no call is running.

Two threads of their own: one waits for the system to report changed files, the other indexes them,
text first and then vectors, a few at a time. A call never waits for them. Without an index nothing
happens: only a search or `kbx index` makes one.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from kbx_tui.errors import EmbeddingError, IndexElsewhere, IndexLocked, KbxError

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase

log = logging.getLogger(__name__)

STEP_SECONDS = 0.3
"""Seconds between two looks at whether calls are running, while there is work."""
FIRST_LOOKS = 2
"""Looks at whether to stop embedding that are skipped: one batch of chunks, one step of texts.

A server that is called all the time would never get on otherwise.
"""
RETRY_SECONDS = 60.0
"""Seconds until another try after the model or the index failed."""
JOIN_SECONDS = 1.0
"""Longest wait for the threads to stop; they end with the process in any case."""


class IndexKeeper:
    """Indexes files that change, and texts without vectors, whenever `is_idle` returns True."""

    def __init__(
        self,
        open_kb: Callable[[], KnowledgeBase],
        is_idle: Callable[[], bool],
        updated: Callable[[], object],
    ) -> None:
        """`updated` is called after the index changed, on a thread of this object."""
        self._open_kb, self._is_idle, self._updated = open_kb, is_idle, updated
        self._stopped, self._wake = threading.Event(), threading.Event()
        self._changed: set[str] = set()
        self._changing = threading.Lock()
        self._compare_all = self._embed = True  # files may have changed while nobody watched
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin, unless that was done before."""
        if not self._threads and not self._stopped.is_set():
            for target, name in ((self._keep, "kbx-keep"), (self._watch, "kbx-watch")):
                self._threads.append(threading.Thread(target=target, name=name, daemon=True))
            for thread in self._threads:
                thread.start()

    def stop(self) -> None:
        """Stop after the step that is being done."""
        self._stopped.set()
        self._wake.set()
        deadline = time.monotonic() + JOIN_SECONDS
        for thread in self._threads:
            thread.join(max(deadline - time.monotonic(), 0.0))

    def _watch(self) -> None:
        try:
            with closing(self._open_kb()) as kb:
                if kb.settings.app.watch:
                    kb.watch(self._note, stopped=self._stopped)
        except Exception as error:
            log.warning("changes on disk are not noticed: %s", error)

    def _note(self, paths: frozenset[str]) -> None:
        with self._changing:
            self._changed |= paths
        self._wake.set()

    def _keep(self) -> None:
        try:
            with closing(self._open_kb()) as kb:
                wait = STEP_SECONDS
                while not self._stopped.is_set():
                    self._wake.wait(None if wait < 0.0 else wait)
                    self._wake.clear()
                    if not self._stopped.wait(STEP_SECONDS):
                        wait = self._next(kb) if self._is_idle() else STEP_SECONDS
        except Exception as error:
            log.warning("the index is not kept up to date: %s", error)

    def _next(self, kb: KnowledgeBase) -> float:
        """Do what is to be done next; return the seconds to wait, -1 for the next change."""
        try:
            if not kb.is_indexed():
                return RETRY_SECONDS
            if self._index(kb) or self._add_vectors(kb):
                self._updated()
            return STEP_SECONDS if self._embed else -1.0
        except IndexElsewhere:
            return RETRY_SECONDS  # newer versions are fetched by whoever reads them
        except IndexLocked:
            return STEP_SECONDS * 10  # another process does the work
        except EmbeddingError as error:
            log.warning("vectors are not made up: %s", error)
            return float(getattr(error, "retry_after_seconds", RETRY_SECONDS))
        except KbxError as error:
            log.warning("the index is not kept up to date: %s", error)
            return RETRY_SECONDS

    def _index(self, kb: KnowledgeBase) -> bool:
        """Index the text of changed files; return whether there were any."""
        with self._changing:
            changed, self._changed = self._changed, set()
        everything = self._compare_all or not all(path.lower().endswith(".md") for path in changed)
        try:
            if everything:
                kb.reread_settings()  # kbx.toml may be what changed
            if everything and (changed or kb.count_newer_files() or kb.entities_outdated()):
                kb.index(fast=True, wait=False, cancelled=self._stopped.is_set)
            elif changed:
                kb.index(fast=True, wait=False, only=changed)
            else:
                self._compare_all = False
                return False
        except KbxError:
            self._note(frozenset(changed))
            raise
        self._compare_all, self._embed = False, True
        return True

    def _add_vectors(self, kb: KnowledgeBase) -> bool:
        """Embed texts until a call begins, but a few in any case; return whether any was."""
        if not self._embed:
            return False
        interrupted, looks = False, 0

        def cancelled() -> bool:
            nonlocal interrupted, looks
            looks += 1
            is_wanted = looks > FIRST_LOOKS and (bool(self._changed) or not self._is_idle())
            interrupted = self._stopped.is_set() or is_wanted
            return interrupted

        embedded = kb.add_vectors(cancelled=cancelled)
        self._embed = interrupted
        return embedded > 0
