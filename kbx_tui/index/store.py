"""The LanceDB tables in one folder: the only module that creates, opens and replaces them.

LanceDB's errors have text but no types. When its Rust code panics it raises an exception that is
no `Exception`, and so would end a thread or a process that catches all errors. All of them become
IndexFault here.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from kbx_tui.errors import IndexDamaged, IndexFault, IndexForeign, NotFound
from kbx_tui.index.ownership import (
    claim,
    index_id,
    is_foreign,
    is_own,
    is_remembered,
    was_put_aside,
)
from kbx_tui.index.stamp import ID_KEY, Stamp, newest_version, read_stamp, require_sound_table
from kbx_tui.index.tables import SCHEMA_VERSION, TEXT_RULES, problems_from, table_schema
from kbx_tui.knowledge.records import Problem
from kbx_tui.removal import (
    INDEX_TABLES,
    PUBLIC_INDEX,
    remove_index,
    remove_index_file,
    remove_index_temporaries,
)
from kbx_tui.state_file import UnusableFile, check_regular_file, read_regular_file, set_aside

Result = TypeVar("Result")

os.environ.setdefault("LANCEDB_LOG", "error")
# Read when lancedb is first imported. Its warnings would be drawn over the app.

MARKER_LIMIT = 1024

BATCH = 8192

DELETE_BATCH = 5000

COUNTED_TABLES = tuple(name for name in INDEX_TABLES if name not in ("name_uses", "meta"))

BUILD = "BUILD"
"""File that appears when its text can be searched; holds the id of the build."""
_BUILD_ID = re.compile(rb"[0-9a-f]{32}")

NO_AGE = timedelta(0)
"""Age from which replaced files are deleted.

Any other keeps some: compaction commits two versions, often within a millisecond.
"""

INDEXED_BY_PATH = ("documents", "chunks")
PATH_INDEX = "path_idx"


REBUILD = "run `kbx index --full` to rebuild it"


def wrong_model_error(model: str, wanted: str) -> IndexForeign:
    return IndexForeign(
        f"the index was made with embedding model {model}, but kbx.toml and this version use "
        f"{wanted}: run `kbx index --full` to embed everything again, or set [embedding] model back"
    )


class Store:
    """The tables in one folder. Cheap to create; connects on first use.

    Reads always see the newest version, including writes of other processes and replaced tables.
    """

    def __init__(self, uri: str, *, advice: str = REBUILD, is_copy: bool = False) -> None:
        """`advice` says what to do about an index that another version of the program made.

        `is_copy`: what is published at an address that the user trusts, copied to this machine.
        """
        self.uri, self._advice, self._is_copy = uri, advice, is_copy
        self.damaged_files: set[str] = set()
        self._tables: dict[str, Any] = {}
        self._sound: dict[str, tuple[object, ...]] = {}
        """The manifests of the open tables when they were last found to be sound."""
        self._opened_build = ""

    def again(self) -> Store:
        """Return the same tables, none of them open."""
        return Store(self.uri, advice=self._advice, is_copy=self._is_copy)

    @property
    def is_own(self) -> bool:
        """Whether the index may be opened: it was made here, or the user says that it is theirs."""
        return self._is_copy or (is_own(self.uri) and not Path(self.uri).is_symlink())

    def foreign_words(self) -> str:
        """Return a clause about an index that is there but is not opened; empty if none is."""
        is_hidden = not self._is_copy and is_foreign(Path(self.uri))
        known = index_id(Path(self.uri))
        by = "" if known else ", or by a version before 0.1.0"
        if is_remembered(known):
            by = ", but copied from another folder"
        return f"the index at {self.uri} was not made here{by}" if is_hidden else ""

    def foreign_advice(self) -> str:
        """Return what to do about that index, as after a semicolon."""
        return f"{self.trust_advice()}`kbx index` puts it aside and makes one"

    def trust_advice(self) -> str:
        """Return how to open that index, as part of a list; empty without an id to trust."""
        return "`kbx trust` opens it if it is yours, " if index_id(Path(self.uri)) else ""

    def missing_error(self) -> NotFound:
        if words := self.foreign_words():
            return NotFound(f"{words}: {self.foreign_advice()}")
        return NotFound(f"no index at {self.uri}: run `kbx index` first")

    @cached_property
    def _database(self) -> Any:
        import lancedb  # slow to import

        self._opened_build = self.build_id()
        # Its caches keep an entry of every version, and a version is read once: nothing is kept.
        session = lancedb.Session(index_cache_size_bytes=0, metadata_cache_size_bytes=0)
        with translate_errors("open the index", self.uri):
            return lancedb.connect(
                self.uri, read_consistency_interval=timedelta(0), session=session
            )

    def is_searchable(self) -> bool:
        """Return whether the text stage of a run has finished; cheap."""
        with suppress(OSError):  # asked by every search, so the marker is not read
            status = os.lstat(f"{self.uri}/{BUILD}")
            return stat.S_ISREG(status.st_mode) and 0 < status.st_size <= MARKER_LIMIT
        return False

    def build_id(self) -> str:
        """Return the id of the index, new after a full rebuild; empty if unfinished or damaged."""
        with suppress(OSError):
            data = read_regular_file(self._marker, limit=MARKER_LIMIT)
            return data.decode() if _BUILD_ID.fullmatch(data) else ""
        return ""

    def mark_searchable(self) -> None:
        with translate_errors("finish the index", self.uri):
            if self.build_id():
                os.utime(self._marker)
            else:
                self._remove_marker()
                self._marker.write_text(uuid4().hex, encoding="utf-8")

    def _remove_marker(self) -> None:
        try:
            check_regular_file(self._marker)
            remove_index_file(Path(self.uri), BUILD)
        except UnusableFile:
            set_aside(self._marker)
        except FileNotFoundError:
            pass

    @property
    def _marker(self) -> Path:
        return Path(self.uri) / BUILD

    def exists(self) -> bool:
        """Return whether there is an index, and one that may be opened."""
        folders = [f"{self.uri}/{name}.lance" for name in ("documents", "meta")]
        return all(map(os.path.isdir, folders)) and self.is_own

    def table(self, name: str) -> Any:
        """Open a table. Raises NotFound when the index does not exist, IndexFault when damaged.

        An open one reads its newest version, which may have come with `git pull` meanwhile.
        """
        if name not in self._tables:
            if not self.exists():
                raise self.missing_error()
            self._tables[name] = self.open_any(name)
        elif self._sound[name] != self._manifests(name):
            self._require_sound(name)
        return self._tables[name]

    def open_any(self, name: str) -> Any:
        self._require_sound(name)
        with translate_errors(f"open table {name}", self.uri):
            return self._database.open_table(name)

    def _require_sound(self, name: str) -> None:
        folder, manifests = Path(self.uri), self._manifests(name)
        require_sound_table(folder / f"{name}.lance", index_id(folder))
        self._sound[name] = manifests

    def _manifests(self, name: str) -> tuple[object, ...]:
        """Return what differs after a manifest of a table is added or replaced; quick."""
        table, changed = f"{self.uri}/{name}.lance", 0
        with suppress(OSError):
            changed = os.stat(f"{table}/_versions").st_mtime_ns  # noqa: PTH116 - faster
        return changed, newest_version(table)

    def reopen(self) -> None:
        self.__dict__.pop("_database", None)
        self._tables.clear()

    def reopen_if_replaced(self) -> bool:
        """Return whether another index has taken this one's place, which is then read."""
        is_replaced = "_database" in self.__dict__ and self.build_id() != self._opened_build
        if is_replaced:
            self.reopen()
        return is_replaced

    def _read(self, action: str, read: Callable[[], Result]) -> Result:
        """Return what `read` returns; try again if another process may have made it fail.

        That process may have replaced the index, or compacted a table and deleted the files that
        were being read.
        """
        with translate_errors(action, self.uri):
            for _ in range(READ_ATTEMPTS - 1):
                try:
                    return read()
                except BaseException as error:
                    is_fault = isinstance(error, IndexFault) or is_store_error(error)
                    if not is_fault or not (self.reopen_if_replaced() or is_missing_file(error)):
                        raise
            return read()

    def rows(self, name: str, columns: list[str], where: str | None = None) -> Any:
        """Return the given columns of a table, of rows that match `where`, as a pyarrow Table."""

        def read() -> Any:
            query = self.table(name).search().select(columns)
            return (query.where(where) if where else query).to_arrow()

        return self._read(f"read table {name}", read)

    def column(self, name: str, column: str) -> list[Any]:
        return list(self.rows(name, [column])[column].to_pylist())

    def mapping(self, name: str, key: str, value: str, where: str | None = None) -> dict[str, Any]:
        table = self.rows(name, [key, value], where)
        return dict(zip(table[key].to_pylist(), table[value].to_pylist(), strict=True))

    def read_batches(
        self, name: str, columns: list[str], use: Callable[[Iterator[Any]], Result]
    ) -> Result:
        """Return what `use` returns for the given columns of a table.

        It gets pyarrow RecordBatches, one in memory at a time, and is called again, with all of
        them, where another process replaced what was being read.
        """

        def read() -> Result:
            return use(iter(self.table(name).search().select(columns).to_batches(BATCH)))

        return self._read(f"read table {name}", read)

    def count(self, name: str) -> int:
        """Return the number of rows of a table; without opening it, if it is as stamped."""
        if (stamp := self._stamp_of(name)) and (count := stamp.counts.get(name)) is not None:
            return count
        return self._stored_count(name)

    def counts(self) -> dict[str, int]:
        return {name: self.count(name) for name in COUNTED_TABLES}

    def stored_counts(self) -> dict[str, int]:
        return {name: self._stored_count(name) for name in COUNTED_TABLES}

    def _stored_count(self, name: str) -> int:
        return self._read(f"count table {name}", lambda: int(self.table(name).count_rows()))

    def versions(self) -> dict[str, int]:
        """Return the version of every table, without opening it; each write increments it."""
        versions = {name: newest_version(f"{self.uri}/{name}.lance") for name in INDEX_TABLES}
        known = {name: version for name, version in versions.items() if version is not None}
        is_known = len(known) == len(versions) and self.is_own
        return known if is_known else self.opened_versions()

    def opened_versions(self) -> dict[str, int]:
        def read() -> dict[str, int]:
            return {name: int(self.table(name).version) for name in INDEX_TABLES}

        return self._read("read the index", read)

    def meta(self) -> dict[str, Any]:
        """Return what the last run stored in table meta, from the stamp if that fits."""
        stamp = self._stamp_of("meta")
        return self.stored_meta() if stamp is None else stamp.meta

    def stored_meta(self) -> dict[str, Any]:
        texts = self.mapping("meta", "key", "value")
        with translate_errors("read table meta", self.uri):
            return {key: json.loads(text) for key, text in texts.items()}

    def _stamp_of(self, name: str) -> Stamp | None:
        with suppress(IndexDamaged):
            stamp = read_stamp(Path(self.uri)) if self.is_own else None
            if stamp and stamp.versions.get(name) == newest_version(f"{self.uri}/{name}.lance"):
                return stamp
        return None

    def check_compatible(self, *, model: str | None = None) -> None:
        """Raise IndexForeign for another schema version or, with `model`, another model."""
        meta = self.meta()
        if meta.get("schema_version") != SCHEMA_VERSION:
            raise IndexForeign(
                f"the index at {self.uri} has schema version {meta.get('schema_version')}, this "
                f"program needs {SCHEMA_VERSION}: {self._advice}"
            )
        if model is not None and meta.get("model") != model:
            raise wrong_model_error(str(meta.get("model")), model)

    def require_dimension(self, dimension: int) -> None:
        """Raise IndexForeign unless the vectors of the index have as many numbers."""
        stored = self.table("vectors").schema.field("vector").type.list_size
        if stored != dimension:
            raise IndexForeign(
                f"the index at {self.uri} has vectors of {stored} dimensions, the model makes "
                f"{dimension}: run `kbx index --full` to embed everything again"
            )

    def create(self, *, model: str, dimension: int, index_id: str = "") -> None:
        """Create empty tables in an empty folder, of an index with this id, by default a new one.

        Raises IndexFault.
        """
        from lancedb.index import BTree

        with translate_errors("mark the index", self.uri):
            claim(Path(self.uri), index_id)
        with translate_errors("create the index", self.uri):
            for name in INDEX_TABLES:
                if name != "meta":
                    schema = self._marked_schema(name, dimension)
                    self._database.create_table(name, schema=schema)
            for name in INDEXED_BY_PATH:
                self._database.open_table(name).create_index("path", config=BTree())
        meta = {"schema_version": SCHEMA_VERSION, "model": model, "dimension": dimension}
        self.write_meta({**meta, "text_rules": TEXT_RULES})

    def _marked_schema(self, name: str, dimension: int = 0) -> Any:
        """Return the schema of a new table, with the id of the index (`require_sound_table`)."""
        known = index_id(Path(self.uri))
        return table_schema(name, dimension).with_metadata({ID_KEY: known} if known else {})

    def write_meta(self, values: Mapping[str, Any]) -> None:
        rows = [{"key": key, "value": json.dumps(value)} for key, value in values.items()]
        self.replace("meta", rows)

    def append(self, name: str, rows: list[dict[str, Any]]) -> None:
        import pyarrow as pa

        if rows:
            with translate_errors(f"write table {name}", self.uri):
                self.table(name).add(pa.Table.from_pylist(rows, schema=table_schema(name)))

    def replace(self, name: str, rows: Any) -> None:
        import pyarrow as pa

        with translate_errors(f"write table {name}", self.uri):
            is_table = isinstance(rows, pa.Table)
            table = rows if is_table else pa.Table.from_pylist(rows, schema=table_schema(name))
            schema = self._marked_schema(name)
            table = table.replace_schema_metadata(schema.metadata)
            self._database.create_table(name, table, schema=schema, mode="overwrite")

    def delete(self, name: str, column: str, values: Iterable[str]) -> None:
        for clause in batched_clauses(column, sorted(values), DELETE_BATCH):
            with translate_errors(f"delete from table {name}", self.uri):
                self.table(name).delete(clause)

    def public(self) -> Store:
        """Return the index of the base without its redacted parts; its folder may not exist."""
        uri = f"{self.uri}/{PUBLIC_INDEX}"
        return Store(uri, advice=self._advice, is_copy=self._is_copy)

    def has_public(self) -> bool:
        """Return whether the base has redacted parts, so that agents search another index."""
        return os.path.lexists(f"{self.uri}/{PUBLIC_INDEX}")

    def make_public(self) -> None:
        """Make the folder of the public index, if there is none. Raises IndexFault."""
        if not self.has_public():
            folder = Path(self.uri) / PUBLIC_INDEX
            with translate_errors("mark the index", str(folder)):
                claim(folder)

    def remove(self) -> None:
        """Remove an index that was made or put aside here. Raises IndexFault for any other."""
        folder = Path(self.uri)
        if folder.exists() and not (self.is_own or was_put_aside(folder)):
            raise IndexFault(f"the index at {folder} was not made here; it is left alone")
        self.reopen()
        for part in folder.glob(f"{PUBLIC_INDEX}*"):
            if not part.is_symlink() and (is_own(part) or was_put_aside(part)):
                Store(str(part)).remove()
        remove_index(folder)

    def remove_temporary_files(self) -> None:
        if self.is_own:
            remove_index_temporaries(Path(self.uri))

    def optimize(self, name: str) -> None:
        """Add new rows to the indices of a table, compact it, and delete files it no longer needs.

        That includes files of runs that were killed, so it is for the holder of the writer lock.
        Readers of a file that is gone read the table again.
        """
        self._require_sound(name)
        with translate_errors(f"optimize table {name}", self.uri), warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"optimize\(cleanup_older_than=0\)")  # of readers
            self.table(name).optimize(cleanup_older_than=NO_AGE, delete_unverified=True)

    def sizes(self) -> dict[str, int]:
        entries = sorted(Path(self.uri).glob("*"))
        return {entry.name.removesuffix(".lance"): bytes_in(entry) for entry in entries}

    def size_bytes(self) -> int:
        return sum(self.sizes().values())


def stored_problems(store: Store) -> list[Problem]:
    table = store.rows("documents", ["problems"], "problems != '[]'")
    return [problem for text in table["problems"].to_pylist() for problem in problems_from(text)]


def bytes_in(path: Path) -> int:
    size = 0
    for file in [path] if path.is_file() else path.rglob("*"):
        with suppress(FileNotFoundError):  # deleted by another process
            size += file.stat().st_size if file.is_file() else 0
    return size


def is_one_of(column: str, values: Collection[str]) -> str:
    """Return the clause for rows whose column is one of the values; none for an empty list."""
    return f"{column} IN ({', '.join(map(quoted, values))})" if values else "false"


def batched_clauses(column: str, values: Sequence[str], size: int) -> Iterator[str]:
    for start in range(0, len(values), size):
        yield is_one_of(column, values[start : start + size])


def quoted(text: str) -> str:
    """Return a SQL string literal; only the single quote needs escaping."""
    return "'" + text.replace("'", "''") + "'"


PANICS = ("PanicException", "RustPanic")
"""Names of the exceptions of a panic in Rust; their modules cannot be imported."""

DAMAGE = (errno.ENOENT, errno.EIO, errno.ENOTDIR, errno.EISDIR)
"""Error numbers of the system that mean that a file of the index is missing or unreadable."""

READ_ATTEMPTS = 4
"""How often a table is read while another process changes it, or deletes files it replaced."""

_RUST_SOURCE = re.compile(r",? ?/\S+\.rs:\d+(:\d+)?")
"""A position in LanceDB's source, which is left out of messages."""

_OS_ERROR = re.compile(r"os error (\d+)")


@contextmanager
def translate_errors(action: str, uri: str) -> Iterator[None]:
    """Turn errors of LanceDB and the file system into IndexFault, with a message of one sentence.

    They become IndexDamaged if files of the index are missing, or not what was written. `action`
    completes the sentence "cannot ...".
    """
    try:
        yield
    except IndexFault:
        raise
    except BaseException as error:
        if not is_store_error(error):
            raise
        raise _translated(action, uri, error) from error


def is_store_error(error: BaseException) -> bool:
    kind = type(error)
    return (
        isinstance(error, (RuntimeError, ValueError, OSError))
        or kind.__name__ in PANICS
        or kind.__module__.startswith(("pyarrow", "lance"))
    )


def is_missing_file(error: BaseException) -> bool:
    """Return whether a file was missing, perhaps deleted by another process meanwhile."""
    return _number(error) == errno.ENOENT or "not found" in str(error).lower()


def _translated(action: str, uri: str, error: BaseException) -> IndexFault:
    text = str(error)
    if "No space left" in text or "os error 28" in text:
        return IndexFault(
            f"cannot {action}: no space left on the device of {uri}; free some and try again"
        )
    if "ermission denied" in text or "ead-only" in text:
        return IndexFault(
            f"cannot {action}: no permission for {uri}; check its permissions or set [index] uri"
        )
    first = _RUST_SOURCE.sub("", text.strip().partition("\n")[0])[:200] or type(error).__name__
    what = f"cannot {action} at {uri} ({first})"
    if _number(error) not in (None, *DAMAGE):
        return IndexFault(f"{what}; try again, and `kbx index --full` if that does not help")
    return IndexDamaged(f"{what}; `kbx index --full` rebuilds it")


def _number(error: BaseException) -> int | None:
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    number = _OS_ERROR.search(str(error))
    return int(number[1]) if number else None
