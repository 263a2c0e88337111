"""The reads of a search.

LanceDB's blocking interface crosses to its event loop six times for one query; here a read crosses
once (measured on 500 documents: 2 ms instead of 4).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from threading import Thread
from typing import Any

from kbx_tui.index.store import TABLES, translated


class Reader:
    """Reads the tables at one URI as they were when `versions` was last asked.

    To look for a newer version before each query would cost a third of its time. Connects on
    first use.
    """

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._loop: asyncio.AbstractEventLoop | None = None
        self._database: Any = None
        self._tables: dict[str, Any] = {}

    def rows(self, table: str, columns: Sequence[str], where: str) -> Any:
        """Return the given columns of the rows that fit, as a pyarrow Table."""
        with translated(f"read table {table}", self._uri):
            return self._start(self._rows(table, columns, where)).result()

    def versions(self) -> dict[str, int]:
        """Turn to the newest version of every table and return them; a write raises one."""
        with translated("read the index", self._uri):
            found: dict[str, int] = self._start(self._versions()).result()
            return found

    def close(self) -> None:
        """End the event loop and let go of the tables."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._loop, self._database, self._tables = None, None, {}

    def _start(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            Thread(target=self._loop.run_forever, name="kbx-reader", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _rows(self, name: str, columns: Sequence[str], where: str) -> Any:
        table = await self._table(name)
        return await table.query().where(where).select(list(columns)).to_arrow()

    async def _versions(self) -> dict[str, int]:
        tables = await asyncio.gather(*(self._table(name) for name in TABLES))
        await asyncio.gather(*(table.checkout_latest() for table in tables))
        versions = await asyncio.gather(*(table.version() for table in tables))
        return dict(zip(TABLES, map(int, versions), strict=True))

    async def _table(self, name: str) -> Any:
        if self._database is None:
            import lancedb

            self._database = await lancedb.connect_async(self._uri)
        if name not in self._tables:
            self._tables[name] = await self._database.open_table(name)
        return self._tables[name]
