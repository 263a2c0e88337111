"""A reader of tables for searches, through LanceDB's asynchronous interface.

Its blocking interface crosses to an event loop six times for one query; here a read crosses once.
Chosen by the experiment "asynchronous reader" in docs/quality.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread, current_thread
from typing import Any, TypeVar
from weakref import finalize

from kbx_tui.index.store import READ_ATTEMPTS, is_store_error, translate_errors
from kbx_tui.removal import INDEX_TABLES

Result = TypeVar("Result")

END_SECONDS = 1.0
"""Longest wait for reads in progress when the tables are closed."""


class TableReader:
    """Reads the tables at one URI as of the last call of `versions`; connects on first use.

    Looking for a newer version before each read would take a third of its time.
    """

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._session: _Session | None = None

    def rows(self, table: str, columns: Sequence[str], where: str) -> Any:
        """Return the given columns of the matching rows as a pyarrow Table. Raises IndexFault."""
        with translate_errors(f"read table {table}", self._uri):
            return self._read(lambda: self.start_reading(table, columns, where).result())

    def start_reading(self, table: str, columns: Sequence[str], where: str) -> Future[Any]:
        """Start a read and return its future, without translating errors."""
        session = self._open()
        return session.start(session.rows(table, columns, where))

    def versions(self) -> dict[str, int]:
        """Switch to the newest version of every table and return the version numbers."""
        with translate_errors("read the index", self._uri):
            return self._read(self._read_versions)

    def _read_versions(self) -> dict[str, int]:
        session = self._open()
        return dict(session.start(session.versions()).result())

    def _read(self, read: Callable[[], Result]) -> Result:
        """Return what `read` returns; after a failure, with the tables opened again.

        Another process may have replaced the index, or compacted a table.
        """
        for _ in range(READ_ATTEMPTS - 1):
            try:
                return read()
            except BaseException as error:
                if not is_store_error(error):
                    raise
                self.close()
        return read()

    def close(self) -> None:
        """Close the tables after the reads already started, waiting a moment for them."""
        if self._session is not None:
            self._session.end()
        self._session = None

    def _open(self) -> _Session:
        if self._session is None:
            self._session = _Session(self._uri)
            # In case `close` is never called. At the end of the interpreter, too: it would abort if
            # a read came to an end while it is torn down.
            finalize(self, self._session.end)
        return self._session


class _Session:
    """An event loop in its own thread, with the tables opened on it."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._loop = asyncio.new_event_loop()
        self._database: Any = None
        self._tables: dict[str, Any] = {}
        self._thread = Thread(target=_run, args=(self._loop,), name="kbx-reader", daemon=True)
        self._thread.start()

    def start(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def end(self) -> None:
        with suppress(RuntimeError):  # closed already
            self._loop.call_soon_threadsafe(self._loop.stop)
        if self._thread is not current_thread():  # collected there
            self._thread.join(END_SECONDS)

    async def rows(self, name: str, columns: Sequence[str], where: str) -> Any:
        table = await self._table(name)
        return await table.query().where(where).select(list(columns)).to_arrow()

    async def versions(self) -> dict[str, int]:
        tables = await asyncio.gather(*(self._table(name) for name in INDEX_TABLES))
        await asyncio.gather(*(table.checkout_latest() for table in tables))
        versions = await asyncio.gather(*(table.version() for table in tables))
        return dict(zip(INDEX_TABLES, map(int, versions), strict=True))

    async def _table(self, name: str) -> Any:
        if self._database is None:
            import lancedb

            self._database = await lancedb.connect_async(self._uri)
        if name not in self._tables:
            self._tables[name] = await self._database.open_table(name)
        return self._tables[name]


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run until stopped, finish the reads already started, and close the loop.

    LanceDB answers from its own threads and would fail on a closed loop.
    """
    loop.run_forever()
    while remaining := asyncio.all_tasks(loop):
        loop.run_until_complete(asyncio.wait(remaining))
    loop.close()
