"""The one store: LanceDB tables at a URI, opened, versioned and repaired here and nowhere else.

Errors of LanceDB carry no types, only text; this room turns them into IndexFault.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

from kbx_tui.config import Settings
from kbx_tui.errors import IndexFault, IndexForeign, NotFound
from kbx_tui.index import schema

TABLES = ("documents", "chunks", "entities", "facts", "links", "vectors", "meta")

os.environ.setdefault("LANCEDB_LOG", "error")
# Read once, at the first import of lancedb anywhere; its warnings would draw over the app.

BATCH = 8192
"""Rows read at once from a table that is not wanted in memory twice."""

SETTLED_NS = 100_000_000
"""Clocks of file systems tick every few milliseconds, some rarely."""

KEEP_OLD_FILES = timedelta(minutes=5)
"""Readers of another process may still need files that a run has replaced."""


_RUST_SOURCE = re.compile(r",? ?/\S+\.rs:\d+(:\d+)?")
"""Where in LanceDB's own source an error arose: of no use to whoever reads the message."""


def index_uri(root: Path, settings: Settings) -> str:
    """Return where the index of a knowledge base lies; a relative folder is below its root."""
    uri = settings.index.uri
    if "://" in uri:
        return uri
    return str(root / Path(uri).expanduser()) if uri else str(root / ".kbx" / "index")


@contextmanager
def translated(doing: str, uri: str) -> Iterator[None]:
    """Turn what LanceDB and the file system raise into one sentence."""
    try:
        yield
    except (RuntimeError, ValueError, OSError) as error:
        raise IndexFault(_sentence(doing, uri, error)) from error


def _sentence(doing: str, uri: str, error: Exception) -> str:
    text = str(error)
    if "No space left" in text or "os error 28" in text:
        return f"cannot {doing}: no space left on the device that holds {uri}; free some and retry"
    if "ermission denied" in text or "ead-only" in text:
        return f"cannot {doing}: {uri} may not be written; check its rights or set [index] uri"
    first = _RUST_SOURCE.sub("", text.strip().partition("\n")[0])[:200] or type(error).__name__
    return f"cannot {doing} at {uri} ({first}); `kbx index --full` builds it anew"


def made_with_another(model: str, asked: str) -> IndexForeign:
    """Return the error for an index that another embedding model made than the one asked for."""
    return IndexForeign(
        f"the index was made with embedding model {model}, but kbx.toml and this version use "
        f"{asked}: run `kbx index --full` to embed anew, or set [embedding] model back"
    )


class Store:
    """The tables at one URI. Cheap to make; connects on first use.

    Open tables follow what other handles and processes write, also a table made anew.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._tables: dict[str, Any] = {}

    @cached_property
    def _database(self) -> Any:
        import lancedb  # one second of import: only commands that need it pay

        with translated("open the index", self.uri):
            return lancedb.connect(self.uri, read_consistency_interval=timedelta(0))

    @property
    def is_local(self) -> bool:
        return "://" not in self.uri

    def is_searchable(self) -> bool:
        """Tell whether text and entities of one whole run are here; cheap for a local index."""
        return bool(self.build_id()) if self.is_local else bool(self.meta().get("indexed_at"))

    def build_id(self) -> str:
        """Return what tells this index from one made anew in its place, empty while unfinished."""
        with suppress(OSError):
            return self._marker.read_text(encoding="utf-8")
        return ""

    def finish(self) -> None:
        """Note that text and entities can be searched."""
        if self.is_local:
            with translated("finish the index", self.uri):
                if self._marker.exists():
                    os.utime(self._marker)
                else:
                    self._marker.write_text(uuid4().hex, encoding="utf-8")

    def stamp(self) -> tuple[int, ...] | None:
        """Return what changes with every commit, at the price of a look at some folders.

        None where that cannot be told: for a remote index, and for a commit of just now, which a
        second one may share its time with.
        """
        if not self.is_local:
            return None
        try:
            folders = (Path(self.uri) / f"{name}.lance" / "_versions" for name in TABLES)
            stamp = tuple(folder.stat().st_mtime_ns for folder in folders)
        except OSError:
            return None
        return stamp if max(stamp) < time.time_ns() - SETTLED_NS else None

    def finished_at(self) -> float:
        """Return when files and index were last known to agree, in seconds since 1970."""
        if self.is_local:
            with suppress(OSError):
                return self._marker.stat().st_mtime
            return 0.0
        return float(self.meta().get("indexed_at") or 0.0)

    @property
    def _marker(self) -> Path:
        return Path(self.uri) / "BUILD"

    def exists(self) -> bool:
        """Tell whether an index was ever begun here; imports nothing for a local one."""
        if self.is_local:
            return (Path(self.uri) / "documents.lance").is_dir() and (
                Path(self.uri) / "meta.lance"
            ).is_dir()
        return "meta" in self.table_names()

    def table_names(self) -> set[str]:
        with translated("list the index", self.uri):
            return set(self._database.list_tables().tables)

    def table(self, name: str) -> Any:
        """Open a table. Raises NotFound when the index does not exist, IndexFault when damaged."""
        if name not in self._tables:
            if not self.exists():
                raise NotFound(f"no index at {self.uri}: run `kbx index` first")
            with translated(f"open table {name}", self.uri):
                self._tables[name] = self._database.open_table(name)
        return self._tables[name]

    def rows(self, name: str, columns: list[str], where: str | None = None) -> Any:
        """Return the given columns of a table as a pyarrow Table."""
        table = self.table(name)
        with translated(f"read table {name}", self.uri):
            query = table.search().select(columns)
            return (query.where(where) if where else query).to_arrow()

    def batches(self, name: str, columns: list[str]) -> Iterator[Any]:
        """Yield the given columns of a table as pyarrow RecordBatches: never all in memory."""
        table = self.table(name)
        with translated(f"read table {name}", self.uri):
            yield from table.search().select(columns).to_batches(BATCH)

    def count(self, name: str) -> int:
        """Return the number of rows of a table."""
        table = self.table(name)
        with translated(f"count table {name}", self.uri):
            return int(table.count_rows())

    def versions(self) -> dict[str, int]:
        """Return the version of every table; a write to one raises its number."""
        with translated("read the index", self.uri):
            return {name: int(self.table(name).version) for name in TABLES}

    def meta(self) -> dict[str, Any]:
        """Return what the last run noted: schema version, model, dimension, problems ..."""
        rows = self.rows("meta", ["key", "value"]).to_pylist()
        return {row["key"]: json.loads(row["value"]) for row in rows}

    def require(self, *, model: str | None = None) -> None:
        """Raise IndexForeign unless schema version, and model if given, are ours."""
        meta = self.meta()
        if meta.get("schema_version") != schema.SCHEMA_VERSION:
            raise IndexForeign(
                f"the index at {self.uri} has schema version {meta.get('schema_version')}, this "
                f"program needs {schema.SCHEMA_VERSION}: run `kbx index --full` to build it anew"
            )
        if model is not None and meta.get("model") != model:
            raise made_with_another(str(meta.get("model")), model)

    def create(self, *, model: str, dimension: int, keep_vectors: bool = False) -> None:
        """Make all tables empty, with their indices; known vectors may stay."""
        from lancedb.index import BTree

        if self.is_local:
            self._marker.unlink(missing_ok=True)
        made = {
            "documents": schema.DOCUMENTS,
            "chunks": schema.CHUNKS,
            "entities": schema.ENTITIES,
            "facts": schema.FACTS,
            "links": schema.LINKS,
            "vectors": schema.vectors_schema(dimension),
        }
        if keep_vectors:
            del made["vectors"]
        with translated("create the index", self.uri):
            for name, shape in made.items():
                self._create_empty(name, shape)
            for name in ("documents", "chunks"):
                self._database.open_table(name).create_index("path", config=BTree())
        self.write_meta(
            {"schema_version": schema.SCHEMA_VERSION, "model": model, "dimension": dimension}
        )

    def _create_empty(self, name: str, shape: Any) -> None:
        try:
            self._database.create_table(name, schema=shape, mode="overwrite")
        except (RuntimeError, ValueError):  # what is there is damaged: nothing to overwrite
            self._database.drop_table(name, ignore_missing=True)
            self._tables.pop(name, None)
            self._database.create_table(name, schema=shape)

    def write_meta(self, values: Mapping[str, Any]) -> None:
        """Replace the notes."""
        rows = [{"key": key, "value": json.dumps(value)} for key, value in values.items()]
        self.replace("meta", rows, schema.META)

    def replace(self, name: str, rows: list[dict[str, Any]], shape: Any) -> None:
        """Replace the content of a small table in one step."""
        import pyarrow as pa

        with translated(f"write table {name}", self.uri):
            self._database.create_table(
                name, pa.Table.from_pylist(rows, schema=shape), schema=shape, mode="overwrite"
            )

    def remove(self) -> None:
        """Delete a local index, damaged or not."""
        self.__dict__.pop("_database", None)
        self._tables.clear()
        if self.is_local:
            shutil.rmtree(self.uri, ignore_errors=True)

    def optimize(self, name: str) -> None:
        """Bring rows into the indices and drop files no reader needs."""
        table = self.table(name)
        with translated(f"tidy table {name}", self.uri):
            table.optimize(cleanup_older_than=KEEP_OLD_FILES)

    def size_bytes(self) -> int:
        """Return the bytes of a local index on disk, 0 for a remote one."""
        if not self.is_local:
            return 0
        total = 0
        for file in Path(self.uri).rglob("*"):
            with suppress(FileNotFoundError):  # another process is tidying up
                total += file.stat().st_size if file.is_file() else 0
        return total
