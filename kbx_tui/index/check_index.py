"""Checks an index: its structure and, with `read_data`, every byte and row. Read-only."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from kbx_tui.errors import IndexFault
from kbx_tui.index.array_file import verified_files
from kbx_tui.index.build.stages import read_chunk_texts
from kbx_tui.index.derived_files import DerivedFile
from kbx_tui.index.lexical.postings import WORDS
from kbx_tui.index.noted_state import find_damage
from kbx_tui.index.snapshot import LINKS, stored_entities
from kbx_tui.index.stamp import read_stamp
from kbx_tui.index.store import Store, stored_problems
from kbx_tui.index.stored_names import NAMES
from kbx_tui.index.stored_records import BODIES, DOCUMENTS, ENTITIES, FACTS
from kbx_tui.index.tables import (
    SCHEMA_VERSION,
    document_version,
    fact_hash,
    table_schema,
    text_hash,
)
from kbx_tui.index.vectors import vector_lists
from kbx_tui.index.vectors.stored_vectors import are_unit, read_coverage, vectors_file
from kbx_tui.index.vectors.vector_lists import LISTS
from kbx_tui.knowledge.records import Entity
from kbx_tui.knowledge.redaction import NEAR_MARK
from kbx_tui.removal import INDEX_TABLES

INDEX = "`kbx index`"
FULL = "`kbx index --full`"
KEEP = "move it away; what it holds is skipped until then"


@dataclass(frozen=True, slots=True)
class Fault:
    where: str
    what: str
    remedy: str


@dataclass(slots=True)
class IndexCheck:
    faults: list[Fault] = field(default_factory=list)
    files: int = 0
    rows: int = 0

    def add(self, where: str, what: str, remedy: str = FULL) -> None:
        self.faults.append(Fault(where, what, remedy))


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Result of `KnowledgeBase.check`."""

    sound: bool
    faults: tuple[Fault, ...]
    read_data: bool
    files: int
    """Number of index files that have a digest."""
    rows: int
    seconds: float
    near_marks: tuple[str, ...]
    """A line for each place of a page that looks like a redaction mark, but is not one."""


def check_index(
    store: Store, unreadable: Iterable[tuple[str, str]] = (), *, read_data: bool
) -> CheckReport:
    """Return the faults of an index that exists, and those of `unreadable` state files.

    It checks the structure: tables open, have the expected schema and versions, and refer to each
    other; headers and files match their digests, unless the file is unchanged since the last
    comparison. With `read_data`, all digests are compared again, and every row with its hashes.
    """
    began, check = time.monotonic(), IndexCheck()
    if read_data:
        verified_files.cache_clear()
        verified_files(store.uri).forget()
    steps = [_check_files, _check_tables, _check_links, _check_derived_files]
    steps += [_check_rows, _check_vectors] if read_data else []
    parts = [store, store.public()] if store.has_public() else [store]
    for part, step in product(parts, steps):
        try:
            step(part, check)
        except IndexFault as error:
            check.add("index", str(error).partition("; `kbx")[0])
    for path, reason in unreadable:
        check.add(path, reason, KEEP)
    seconds = round(time.monotonic() - began, 3)
    faults = tuple(dict.fromkeys(check.faults))
    near_marks = _near_marks(store)
    return CheckReport(not faults, faults, read_data, check.files, check.rows, seconds, near_marks)


def _near_marks(store: Store) -> tuple[str, ...]:
    with suppress(IndexFault):
        return tuple(
            f"{problem.path}:{problem.line}: {problem.reason}"
            for problem in stored_problems(store)
            if problem.reason.startswith(NEAR_MARK)
        )
    return ()


def _check_files(store: Store, check: IndexCheck) -> None:
    if not store.is_searchable():
        check.add("BUILD", "the index is not finished", INDEX)
    elif not store.build_id():
        check.add("BUILD", "does not have the bytes that were written", INDEX)
    for sentence in find_damage(store):
        check.add("tables", sentence.rpartition("; ")[0], INDEX)
    if stamp := read_stamp(Path(store.uri)):
        check.files += len(stamp.files)


def _check_tables(store: Store, check: IndexCheck) -> None:
    meta = store.meta()
    if meta.get("schema_version") != SCHEMA_VERSION:
        found = meta.get("schema_version")
        check.add("meta", f"schema version {found} instead of {SCHEMA_VERSION}")
    for name in INDEX_TABLES:
        if store.table(name).schema != table_schema(name, int(meta.get("dimension", 0))):
            check.add(name, "has other columns than this version writes")
        check.rows += store.count(name)


def _check_links(store: Store, check: IndexCheck) -> None:
    """Check what tables refer to, but not the documents of chunks.

    A run that writes only the text, or ends before the chunks, leaves those of older versions. No
    reader sees them, and the next run that embeds deletes them.
    """
    paths, entities = set(store.column("documents", "path")), set(store.column("entities", "id"))
    for name, column, known, target in (
        ("links", "path", paths, "document"),
        ("links", "entity_id", entities, "entity"),
        ("name_uses", "path", paths, "document"),
        ("facts", "entity_id", entities, "entity"),
    ):
        if unknown := set(store.column(name, column)) - known:
            count = len(unknown)
            what = f"{count:,} values of {column} belong to no {target}, as {min(unknown)}"
            check.add(name, what, INDEX)
    for name, column in (("documents", "path"), ("entities", "id"), ("vectors", "text_hash")):
        values = store.column(name, column)
        if len(values) != len(set(values)):
            check.add(name, f"{len(values) - len(set(values)):,} values of {column} occur twice")


def map_derived_files(store: Store) -> dict[str, bool]:
    """Map each derived file, so that damage is noted; return by name whether it could be mapped."""
    meta = store.meta()
    vectors = vectors_file(str(meta.get("model", "")), int(meta.get("dimension", 0)))
    files: list[DerivedFile[Any]] = [ENTITIES, NAMES, FACTS, LINKS, LISTS]
    for file in (WORDS, BODIES, DOCUMENTS, vectors):
        files += (file, file.of_newer)
    return {file.name: file.map(store) is not None for file in files}


def _check_derived_files(store: Store, check: IndexCheck) -> None:
    chunks = store.count("chunks")
    needed_from = {"vectors.bin": 1, LISTS.name: vector_lists.EXACT_CHUNKS + 1}
    for name, is_mapped in map_derived_files(store).items():
        is_optional = name == LISTS.name or name.endswith("-new.bin")
        is_there = (Path(store.uri) / name).exists()
        check.files += is_mapped or not is_optional
        if name in store.damaged_files:
            check.add(name, "does not have the bytes that were written", INDEX)
        elif is_mapped or chunks < needed_from.get(name, 0):
            continue
        elif is_there:
            check.add(name, "is of another version", INDEX)
        elif name.endswith("-new.bin") or (name in needed_from and read_coverage(store).missing):
            continue  # files of vectors are written once no text lacks one
        else:
            check.add(name, "is missing; searches take longer", INDEX)


def _check_rows(store: Store, check: IndexCheck) -> None:
    entities = {entity.id: entity for entity in stored_entities(store)}
    for name in INDEX_TABLES:
        if name == "vectors":
            continue
        count = partial(_count_inconsistent, store, name, entities)
        if wrong := store.read_batches(name, table_schema(name).names, count):
            check.add(name, f"{wrong:,} rows differ from the hash they carry")


def _count_inconsistent(
    store: Store, name: str, entities: Mapping[str, Entity], batches: Iterable[Any]
) -> int:
    wrong = 0
    for batch in batches:
        rows = batch.to_pylist()
        if name == "chunks":
            texts = read_chunk_texts(store, rows)
            rows = [{**row, "text": text} for row, text in zip(rows, texts, strict=True)]
        wrong += sum(1 for row in rows if not _is_consistent(name, row, entities))
    return wrong


def _is_consistent(name: str, row: dict[str, Any], entities: Mapping[str, Entity]) -> bool:
    if name == "documents":
        return bool(row["version"] == document_version(row["path"], row["content_hash"]))
    if name == "facts":
        return bool(row["text_hash"] == fact_hash(row["text"], entities.get(row["entity_id"])))
    column = {"chunks": "text", "entities": "profile"}.get(name)
    if column is None or row[column] is None:  # a chunk of an older version
        return True
    return bool(row["text_hash"] == text_hash(row[column]))


def _check_vectors(store: Store, check: IndexCheck) -> None:
    def count(batches: Iterable[Any]) -> int:
        return sum(int(np.count_nonzero(~are_unit(batch["vector"]))) for batch in batches)

    if wrong := store.read_batches("vectors", ["vector"], count):
        check.add("vectors", f"{wrong:,} vectors are not finite or not of length 1")
