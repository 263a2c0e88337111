"""Which local folder holds the index of a base whose index is published to an object store.

The machine that publishes has its own index in `.kbx/index`, which `.kbx/published.json` notes; any
other reads the mirror of what is published. Imports no client of an object store.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from kbx_tui.editing.state_files import replace_state_file, state_folder
from kbx_tui.errors import NotFound, StoreFault
from kbx_tui.formatting import format_minute, format_size
from kbx_tui.object_store.mirror import MirroredVersion, mirror_of
from kbx_tui.object_store.store_uri import OFFLINE, StoreUri
from kbx_tui.removal import STATE_FOLDER
from kbx_tui.state_file import decode_json, read_regular_file

NOTE = "published.json"
CHECK_SECONDS = 30.0
PROGRESS_SECONDS = 10.0
"""Time between two notices about the same download."""
NOTICED_BYTES = 10_000_000
"""Size of a download from which it is announced."""


FILES_LOOKED_FOR = 1000
"""Files of a published index that are looked for, to know whether the base has files here."""


class _Note(msgspec.Struct):
    uri: str


def publishes_from_here(root: Path, uri: StoreUri) -> bool:
    with suppress(OSError, ValueError):
        note = decode_json(read_regular_file(root / STATE_FOLDER / NOTE), _Note)
        return note.uri == str(uri)
    return False


def note_publisher(root: Path, uri: StoreUri) -> None:
    note = msgspec.json.encode(_Note(str(uri)))
    replace_state_file(state_folder(root) / NOTE, note)


def mirrored_index(uri: StoreUri) -> Path:
    """Return the index folder that is read of a store; one that does not exist before the first."""
    mirror = mirror_of(uri)
    return mirror.index_folder(mirror.current())


def files_here(root: Path, paths: Sequence[str]) -> Iterator[bool]:
    for path in paths[:: max(1, len(paths) // FILES_LOOKED_FOR)]:
        yield (root / path).exists()


class PublishedIndex:
    """The published index that one session reads. Cheap to make; not thread-safe."""

    def __init__(self, uri: StoreUri, *, limit: int, notice: Callable[[str], None]) -> None:
        """`limit` is how many bytes all mirrors of this user may have."""
        self.uri, self._limit, self._notice = uri, limit, notice
        self._mirror = mirror_of(uri)
        self._version: MirroredVersion | None = None
        self._checked_at: float | None = None
        self._thread: threading.Thread | None = None
        self._is_reachable = True
        self.failure = ""
        """Why the store could not be read the last time; empty if it could."""

    def open(self) -> str:
        self._version = self._mirror.current()
        return str(self._mirror.index_folder(self._version))

    def has_newer(self) -> bool:
        return self._mirror.current() != self._version

    def words(self) -> str:
        version = self._version
        if version is None:
            return f"{self.uri}, nothing yet"
        words = f"{self.uri}, version {version.version} of {format_minute(version.published_at)}"
        return f"{words}; {self.failure}" if self.failure else words

    def notes(self, *, has_files: bool) -> tuple[str, ...]:
        version, notes = self._version, []
        when = format_minute(version.published_at) if version else ""
        if self.failure:
            notes.append(f"{self.failure}; this is the version published {when}")
        if not has_files:
            notes.append(f"the files are not here, so redactions are those published {when}")
        return tuple(notes)

    def update(self) -> None:
        """Fetch the newest version the first time; later look for one beside what is going on.

        Raises StoreFault, or NotFound where nothing is published, if there is nothing to read.
        """
        now = time.monotonic()
        if os.environ.get(OFFLINE):
            if self._mirror.current() is None:
                raise NotFound(
                    f"there is no copy of {self.uri} on this machine yet ({OFFLINE} is set)"
                )
        elif self._checked_at is None or self._mirror.current() is None:
            self._checked_at = now
            self._fetch(self._notice)
            if self._mirror.current() is None and not self._is_reachable:
                raise StoreFault(self.failure)
            if self._mirror.current() is None:
                raise NotFound(
                    f"nothing is published at {self.uri} yet: run `kbx index` on the machine that "
                    "has the files"
                )
        elif now - self._checked_at > CHECK_SECONDS and not self._is_fetching():
            self._checked_at = now
            self._thread = threading.Thread(
                target=self._fetch, args=(lambda text: None,), name="kbx-mirror", daemon=True
            )
            self._thread.start()

    def fetch_again(self) -> None:
        """Replace the version that was opened, which is damaged, if no other process did before.

        Raises StoreFault, with the version still there.
        """
        from kbx_tui.object_store.mirror import discard_damaged
        from kbx_tui.object_store.object_client import ObjectClient

        if os.environ.get(OFFLINE):
            raise StoreFault(f"{OFFLINE} is set")
        if self._version is not None:
            discard_damaged(ObjectClient(self.uri), self._mirror, self._version)
        self._checked_at = None
        self.update()

    def _is_fetching(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _fetch(self, notice: Callable[[str], None]) -> None:
        from kbx_tui.object_store.mirror import fetch_newest
        from kbx_tui.object_store.object_client import ObjectClient

        said_at = 0.0

        def progress(done: int, total: int) -> None:
            nonlocal said_at
            now = time.monotonic()
            if total >= NOTICED_BYTES and now - said_at > PROGRESS_SECONDS:
                said_at = now
                notice(
                    f"fetching the index from {self.uri}: {format_size(done)} of "
                    f"{format_size(total)}"
                )

        try:
            client = ObjectClient(self.uri)
            is_there = fetch_newest(
                client,
                self._mirror,
                limit=self._limit,
                progress=progress,
                on_wait=lambda: notice(f"another process is fetching {self.uri}; waiting"),
            )
            self.failure = "" if is_there else f"nothing is published at {self.uri} any more"
            self._is_reachable = True
        except StoreFault as error:
            self._is_reachable, self.failure = False, str(error)
