"""The LanceDB tables at one URI: the only module that creates, opens and replaces them.

LanceDB's errors have text but no types; `translate_errors` turns them into IndexFault.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

from kbx_tui.config import Settings
from kbx_tui.errors import IndexFault, IndexForeign, NotFound
from kbx_tui.index.schema import SCHEMA_VERSION, SCHEMAS, vectors_schema
from kbx_tui.index.where_clause import batched_clauses

TABLES = ("documents", "chunks", "entities", "facts", "links", "vectors", "meta")

os.environ.setdefault("LANCEDB_LOG", "error")
# Read when lancedb is first imported. Its warnings would be drawn over the app.

BATCH = 8192
"""Rows per batch of a table that is read in batches."""

DELETE_BATCH = 5000
"""Values in the where clause of one deletion."""

SETTLED_NS = 100_000_000
"""Age above which a modification time is trusted: file system clocks have coarse ticks."""

KEEP_OLD_FILES = timedelta(minutes=5)
"""How long replaced files are kept for readers in other processes."""

_RUST_SOURCE = re.compile(r",? ?/\S+\.rs:\d+(:\d+)?")
"""A position in LanceDB's source, which is left out of messages."""


def index_uri(root: Path, settings: Settings) -> str:
    """Return the URI or folder of a knowledge base's index; a relative folder is below `root`."""
    uri = settings.index.uri
    if "://" in uri:
        return uri
    return str(root / Path(uri).expanduser()) if uri else str(root / ".kbx" / "index")


@contextmanager
def translate_errors(action: str, uri: str) -> Iterator[None]:
    """Turn errors of LanceDB and the file system into IndexFault, with a message of one sentence.

    `action` completes the sentence "cannot ...".
    """
    try:
        yield
    except (RuntimeError, ValueError, OSError) as error:
        raise IndexFault(_message(action, uri, error)) from error


def _message(action: str, uri: str, error: Exception) -> str:
    text = str(error)
    if "No space left" in text or "os error 28" in text:
        return f"cannot {action}: no space left on the device of {uri}; free some and try again"
    if "ermission denied" in text or "ead-only" in text:
        return f"cannot {action}: no permission for {uri}; check its permissions or set [index] uri"
    first = _RUST_SOURCE.sub("", text.strip().partition("\n")[0])[:200] or type(error).__name__
    return f"cannot {action} at {uri} ({first}); `kbx index --full` rebuilds it"


def wrong_model_error(model: str, wanted: str) -> IndexForeign:
    """Return the error for an index made with `model` where model `wanted` is configured."""
    return IndexForeign(
        f"the index was made with embedding model {model}, but kbx.toml and this version use "
        f"{wanted}: run `kbx index --full` to embed everything again, or set [embedding] model back"
    )


class Store:
    """The tables at one URI. Cheap to create; connects on first use.

    Reads always see the newest version, including writes of other processes and replaced tables.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._tables: dict[str, Any] = {}

    @cached_property
    def _database(self) -> Any:
        import lancedb  # slow to import

        with translate_errors("open the index", self.uri):
            return lancedb.connect(self.uri, read_consistency_interval=timedelta(0))

    @property
    def is_local(self) -> bool:
        return "://" not in self.uri

    def is_searchable(self) -> bool:
        """Return whether the text stage of a run has finished; cheap for a local index."""
        return bool(self.build_id()) if self.is_local else bool(self.meta().get("indexed_at"))

    def build_id(self) -> str:
        """Return the id of a local index, new after a full rebuild; empty while unfinished."""
        with suppress(OSError):
            return self._marker.read_text(encoding="utf-8")
        return ""

    def mark_searchable(self) -> None:
        """Note that text and entities are up to date and can be searched."""
        if self.is_local:
            with translate_errors("finish the index", self.uri):
                if self._marker.exists():
                    os.utime(self._marker)
                else:
                    self._marker.write_text(uuid4().hex, encoding="utf-8")

    def stamp(self) -> tuple[int, ...] | None:
        """Return a stamp of the tables that changes with every commit, from modification times.

        None for a remote index, and just after a commit, when a second one could have the same
        time.
        """
        if self.is_local:
            folders = (Path(self.uri) / f"{name}.lance" / "_versions" for name in TABLES)
            with suppress(OSError):
                stamp = tuple(folder.stat().st_mtime_ns for folder in folders)
                if max(stamp) < time.time_ns() - SETTLED_NS:
                    return stamp
        return None

    def finished_at(self) -> float:
        """Return when a run last brought the text up to date, in seconds since 1970."""
        if self.is_local:
            with suppress(OSError):
                return self._marker.stat().st_mtime
            return 0.0
        return float(self.meta().get("indexed_at") or 0.0)

    @property
    def _marker(self) -> Path:
        return Path(self.uri) / "BUILD"

    def exists(self) -> bool:
        """Return whether an index was ever created here; imports no LanceDB for a local one."""
        if self.is_local:
            folders = (Path(self.uri) / f"{name}.lance" for name in ("documents", "meta"))
            return all(folder.is_dir() for folder in folders)
        with translate_errors("list the index", self.uri):
            return "meta" in self._database.list_tables().tables

    def table(self, name: str) -> Any:
        """Open a table. Raises NotFound when the index does not exist, IndexFault when damaged."""
        if name not in self._tables:
            if not self.exists():
                raise NotFound(f"no index at {self.uri}: run `kbx index` first")
            with translate_errors(f"open table {name}", self.uri):
                self._tables[name] = self._database.open_table(name)
        return self._tables[name]

    def rows(self, name: str, columns: list[str], where: str | None = None) -> Any:
        """Return the given columns of a table, of rows that match `where`, as a pyarrow Table."""
        with translate_errors(f"read table {name}", self.uri):
            query = self.table(name).search().select(columns)
            return (query.where(where) if where else query).to_arrow()

    def column(self, name: str, column: str) -> list[Any]:
        """Return one column of a table."""
        return list(self.rows(name, [column])[column].to_pylist())

    def mapping(self, name: str, key: str, value: str, where: str | None = None) -> dict[str, Any]:
        """Return column `value` of a table by its column `key`, of rows that match `where`."""
        table = self.rows(name, [key, value], where)
        return dict(zip(table[key].to_pylist(), table[value].to_pylist(), strict=True))

    def batches(self, name: str, columns: list[str]) -> Iterator[Any]:
        """Yield the given columns of a table as pyarrow RecordBatches, one in memory at a time."""
        with translate_errors(f"read table {name}", self.uri):
            yield from self.table(name).search().select(columns).to_batches(BATCH)

    def count(self, name: str) -> int:
        """Return the number of rows of a table."""
        with translate_errors(f"count table {name}", self.uri):
            return int(self.table(name).count_rows())

    def counts(self) -> dict[str, int]:
        """Return the number of rows of every table but `meta`, by name."""
        return {name: self.count(name) for name in TABLES if name != "meta"}

    def versions(self) -> dict[str, int]:
        """Return the version of every table; each write to a table increments it."""
        with translate_errors("read the index", self.uri):
            return {name: int(self.table(name).version) for name in TABLES}

    def meta(self) -> dict[str, Any]:
        """Return what the last run stored in table meta: schema version, model, dimension ..."""
        return {key: json.loads(text) for key, text in self.mapping("meta", "key", "value").items()}

    def check_compatible(self, *, model: str | None = None) -> None:
        """Raise IndexForeign for another schema version or, with `model`, another model."""
        meta = self.meta()
        if meta.get("schema_version") != SCHEMA_VERSION:
            raise IndexForeign(
                f"the index at {self.uri} has schema version {meta.get('schema_version')}, this "
                f"program needs {SCHEMA_VERSION}: run `kbx index --full` to rebuild it"
            )
        if model is not None and meta.get("model") != model:
            raise wrong_model_error(str(meta.get("model")), model)

    def create(self, *, model: str, dimension: int, keep_vectors: bool = False) -> None:
        """Create all tables empty, with their indices; with `keep_vectors` those are left alone."""
        from lancedb.index import BTree

        if self.is_local:
            self._marker.unlink(missing_ok=True)
        schemas = {name: SCHEMAS[name] for name in SCHEMAS if name != "meta"}
        if not keep_vectors:
            schemas["vectors"] = vectors_schema(dimension)
        with translate_errors("create the index", self.uri):
            for name, table_schema in schemas.items():
                self._create_empty(name, table_schema)
            for name in ("documents", "chunks"):
                self._database.open_table(name).create_index("path", config=BTree())
        self.write_meta({"schema_version": SCHEMA_VERSION, "model": model, "dimension": dimension})

    def _create_empty(self, name: str, table_schema: Any) -> None:
        try:
            self._database.create_table(name, schema=table_schema, mode="overwrite")
        except (RuntimeError, ValueError):  # a damaged table cannot be overwritten
            self._database.drop_table(name, ignore_missing=True)
            self._tables.pop(name, None)
            self._database.create_table(name, schema=table_schema)

    def write_meta(self, values: Mapping[str, Any]) -> None:
        """Replace the content of table meta."""
        rows = [{"key": key, "value": json.dumps(value)} for key, value in values.items()]
        self.replace("meta", rows)

    def append(self, name: str, rows: list[dict[str, Any]]) -> None:
        """Add rows to a table, if there are any, in one commit."""
        import pyarrow as pa

        if rows:
            with translate_errors(f"write table {name}", self.uri):
                self.table(name).add(pa.Table.from_pylist(rows, schema=SCHEMAS[name]))

    def replace(self, name: str, rows: list[dict[str, Any]]) -> None:
        """Replace the content of a small table in one commit."""
        import pyarrow as pa

        with translate_errors(f"write table {name}", self.uri):
            table = pa.Table.from_pylist(rows, schema=SCHEMAS[name])
            self._database.create_table(name, table, schema=SCHEMAS[name], mode="overwrite")

    def delete(self, name: str, column: str, values: Iterable[str]) -> None:
        """Delete the rows of a table whose column is one of the values."""
        for clause in batched_clauses(column, sorted(values), DELETE_BATCH):
            with translate_errors(f"delete from table {name}", self.uri):
                self.table(name).delete(clause)

    def remove(self) -> None:
        """Delete a local index, damaged or not."""
        self.__dict__.pop("_database", None)
        self._tables.clear()
        if self.is_local:
            shutil.rmtree(self.uri, ignore_errors=True)

    def optimize(self, name: str) -> None:
        """Add new rows to the indices of a table and delete files that no reader needs."""
        with translate_errors(f"optimize table {name}", self.uri):
            self.table(name).optimize(cleanup_older_than=KEEP_OLD_FILES)

    def size_bytes(self) -> int:
        """Return the bytes of a local index on disk, 0 for a remote one."""
        if not self.is_local:
            return 0
        total = 0
        for file in Path(self.uri).rglob("*"):
            with suppress(FileNotFoundError):  # deleted by another process
                total += file.stat().st_size if file.is_file() else 0
        return total
