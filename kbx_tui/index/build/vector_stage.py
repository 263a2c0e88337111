"""Second half of a build: chunks, then a vector for every text that has none.

A vector is found by the hash of its text. Dying between two batches loses the batch, no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kbx_tui.embedding.embedder import Embedder, Vectors
from kbx_tui.index import rows, schema
from kbx_tui.index.build.progress import Cancelled, Meter
from kbx_tui.index.paths.where_clause import quoted
from kbx_tui.index.store import Store, translated
from kbx_tui.knowledge.chunking.chunker import split_many

DOCUMENTS_PER_BATCH = 500
FIRST_BATCH, TEXTS_PER_BATCH, TEXTS_PER_STEP = 64, 512, 32
"""Texts in the first commit and at most, sorted by length so that little is padded; per report."""
DELETE_BATCH = 5000


def write_chunks(store: Store, embedder: Embedder, meter: Meter, cancelled: Cancelled) -> bool:
    """Split documents whose chunks are missing or of another version; False when cancelled."""
    import pyarrow as pa

    documents = store.rows("documents", ["path", "version", "date"])
    wanted = dict(zip(documents["version"].to_pylist(), documents["path"].to_pylist(), strict=True))
    table = store.table("chunks")
    have = set(store.rows("chunks", ["version"])["version"].unique().to_pylist())
    missing = sorted((wanted[version], version) for version in wanted.keys() - have)
    meter.begin("chunks", len(missing))
    for start in range(0, len(missing), DOCUMENTS_PER_BATCH):
        if cancelled():
            return False
        batch = missing[start : start + DOCUMENTS_PER_BATCH]
        where = f"path IN ({_listed([path for path, _ in batch])})"
        found = store.rows("documents", rows.DOCUMENT_COLUMNS, where).to_pylist()
        parsed = sorted((rows.document_from_row(row) for row in found), key=lambda d: d.path)
        pieces = split_many(parsed, embedder.count_tokens, max_tokens=embedder.max_tokens - 2)
        made = [
            rows.chunk_row(document, chunk)
            for document, chunks in zip(parsed, pieces, strict=True)
            for chunk in chunks
        ]
        if made:
            with translated("write chunks", store.uri):
                table.add(pa.Table.from_pylist(made, schema=schema.CHUNKS))
        meter.report(start + len(batch))
    _delete(store, "chunks", "version", sorted(have - wanted.keys()))
    return True


def write_vectors(
    store: Store, embedder: Embedder, meter: Meter, cancelled: Cancelled
) -> tuple[int, int, bool]:
    """Embed every text that has no vector, drop vectors of texts that are gone.

    Returns how many texts were embedded, how many were known, and False when cancelled.
    """
    wanted = _wanted_hashes(store)
    have = set(store.rows("vectors", ["text_hash"])["text_hash"].to_pylist())
    missing = [found for found in wanted if found[1] not in have]
    reused, embedded = len(wanted) - len(missing), 0
    meter.begin("vectors", len(missing))
    start = 0
    while start < len(missing):  # small commits first: meaning begins to grow within seconds
        batch = missing[start : start + min(TEXTS_PER_BATCH, max(FIRST_BATCH, start))]
        texts = sorted(_texts(store, batch).items(), key=lambda found: -len(found[1]))
        made: list[Vectors] = []
        for at in range(0, len(texts), TEXTS_PER_STEP):
            if cancelled():
                break
            step = texts[at : at + TEXTS_PER_STEP]
            made.append(embedder.embed([text for _, text in step]))
            embedded += len(step)
            meter.report(start + at + len(step))
        _add_vectors(store, [found for found, _ in texts], made)
        if len(made) * TEXTS_PER_STEP < len(texts):
            return embedded, reused, False
        start += len(batch)
    _delete(store, "vectors", "text_hash", sorted(have - {text for _, text in wanted}))
    return embedded, reused, True


def _wanted_hashes(store: Store) -> list[tuple[str, str]]:
    """Return (table, hash) of all texts once: entities, facts, titles; chunks, newest first."""
    seen: dict[str, str] = {}
    for name in ("entities", "facts"):
        for found in store.rows(name, ["text_hash"])["text_hash"].to_pylist():
            seen.setdefault(found, name)
    documents = store.rows("documents", ["path", "date", "title"])
    for title in documents["title"].to_pylist():
        if title.strip():
            seen.setdefault(schema.text_hash(title), "documents")
    dates = dict(zip(documents["path"].to_pylist(), documents["date"].to_pylist(), strict=True))
    chunks = store.rows("chunks", ["path", "text_hash"])
    pairs = zip(chunks["path"].to_pylist(), chunks["text_hash"].to_pylist(), strict=True)
    for _, found in sorted(pairs, key=lambda pair: dates.get(pair[0], ""), reverse=True):
        seen.setdefault(found, "chunks")
    return [(name, found) for found, name in seen.items()]


def _texts(store: Store, batch: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return the texts of the given hashes."""
    texts: dict[str, str] = {}
    for name, column in (("entities", "profile"), ("facts", "text"), ("chunks", "text")):
        hashes = [found for table, found in batch if table == name]
        if hashes:
            found = store.rows(name, ["text_hash", column], f"text_hash IN ({_listed(hashes)})")
            texts |= zip(found["text_hash"].to_pylist(), found[column].to_pylist(), strict=True)
    titles = {found for table, found in batch if table == "documents"}
    for title in set(store.rows("documents", ["title"])["title"].to_pylist()) if titles else ():
        if (found := schema.text_hash(title)) in titles:
            texts[found] = title
    return texts


def _add_vectors(store: Store, hashes: list[str], made: Sequence[Vectors]) -> None:
    """Store the vectors made of the first texts, in order."""
    import numpy as np
    import pyarrow as pa

    if not made:
        return
    rows_made = np.concatenate(made)
    count, dimension = rows_made.shape
    shape = schema.vectors_schema(dimension)
    flat = pa.array(rows_made.reshape(-1), pa.float32())
    table = pa.table(
        [pa.array(hashes[:count]), pa.FixedSizeListArray.from_arrays(flat, dimension)],
        schema=shape,
    )
    with translated("write vectors", store.uri):
        store.table("vectors").add(table)


def _delete(store: Store, name: str, column: str, values: Sequence[str]) -> None:
    for start in range(0, len(values), DELETE_BATCH):
        with translated(f"tidy table {name}", store.uri):
            listed = _listed(values[start : start + DELETE_BATCH])
            store.table(name).delete(f"{column} IN ({listed})")


def _listed(values: Iterable[str]) -> str:
    return ", ".join(quoted(value) for value in values)
