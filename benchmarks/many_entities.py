"""Generate an index of many entities, and measure pass 1 over them.

    python -m benchmarks.many_entities FOLDER [--entities 2000000] [--queries 100]

Writes the rows of entities, one fact and three links for each, few pages, and seeded vectors; then
what a run of indexing derives from them. Names are made of 3,000 first names and 60,000 surnames,
the most frequent of which hundreds of people share; 500 roles, 5,000 teams, an alias for every
fifth person. Vectors are random but identical in every run. Measured are opening, own memory, and
pass 1 for queries that name someone, misspell the name, and name nobody, without their embedding.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.common import own_mb, peak_mb, row
from benchmarks.generated_index import SYLLABLES, VectorWriter, write_meta
from benchmarks.topic_vectors import DIMENSION
from kbx_tui.embedding.embedder import BUNDLED
from kbx_tui.index.lexical.text_files import refresh_text_files
from kbx_tui.index.noted_state import note_state, undamaged_versions
from kbx_tui.index.store import Store
from kbx_tui.index.tables import document_version, table_schema, text_hash
from kbx_tui.index.vectors.vector_matrix import refresh_vectors_file
from kbx_tui.search.open_index import IndexGeneration
from kbx_tui.search.query.query_terms import NamedQuery
from kbx_tui.settings_file import load_settings

SEED = 22
PAGES = 20_000
FIRST_NAMES, SURNAMES, ROLES, TEAMS = 3_000, 60_000, 500, 5_000
BATCH = 100_000
"""Vectors per commit."""
TOPICS = ("harbour", "migration", "budget", "planning", "retro", "outage", "pricing", "survey")


class Names:
    """Seeded names and words."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(SEED)
        self.first, self.last = self._words(FIRST_NAMES, 2), self._words(SURNAMES, 3)
        self.roles = [f"{a} {b}".title() for a, b in pairs_of(self._words(2 * ROLES, 3))]
        self.teams = [f"{a} {b}".title() for a, b in pairs_of(self._words(2 * TEAMS, 2))]
        self.words = [*TOPICS, *self._words(20_000, 3)]

    def _words(self, count: int, syllables: int) -> list[str]:
        numbers = self.random.integers(0, len(SYLLABLES), (count, syllables))
        return ["".join(SYLLABLES[n] for n in each) for each in numbers.tolist()]

    def zipf(self, words: list[str], count: int) -> list[str]:
        """Return words, of which the first are the most frequent."""
        numbers = np.exp(self.random.random(count) * np.log(len(words))).astype(np.int64)
        return [words[n] for n in (numbers % len(words)).tolist()]


def pairs_of(words: list[str]) -> Iterator[tuple[str, str]]:
    return zip(words[::2], words[1::2], strict=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--entities", type=int, default=2_000_000)
    parser.add_argument("--queries", type=int, default=100)
    options = parser.parse_args()
    if not (options.folder / ".kbx" / "index").exists():
        generate(options.folder, options.entities)
    measure(options.folder, options.queries)


def generate(folder: Path, count: int) -> None:
    """Write the index of a base of so many entities in a new folder."""
    (folder / "memory").mkdir(parents=True, exist_ok=True)
    store = Store(str(folder / ".kbx" / "index"))

    def finished(what: str, step: Callable[[], object]) -> None:
        start = time.monotonic()
        step()
        row(what, f"{time.monotonic() - start:.0f} s, peak memory {peak_mb():.0f} MB")

    store.create(model=BUNDLED.name, dimension=DIMENSION)
    finished("rows", lambda: write_rows(store, count))
    write_meta(store, load_settings(folder))
    finished("files of texts and entities", lambda: refresh_text_files(store))
    store.mark_searchable()
    finished(
        "vectors",
        lambda: refresh_vectors_file(store, model=BUNDLED.name, dimension=DIMENSION),
    )
    finished("digests", lambda: note_state(store))
    for name, size in store.sizes().items():
        row(f"    {name}", f"{size / 1e6:.0f} MB")


def write_rows(store: Store, count: int) -> None:
    """Write all tables but meta."""
    names, vectors = Names(), VectorWriter(store)
    called = [
        f"{first} {last}".title()
        for first, last in zip(
            names.zipf(names.first, count), names.zipf(names.last, count), strict=True
        )
    ]
    ids = [f"person:{number:07}" for number in range(count)]
    roles, teams = names.zipf(names.roles, count), names.zipf(names.teams, count)
    facts = zip(called, *(names.zipf(names.words, count) for _ in range(4)), strict=True)
    texts = [" ".join(each) for each in facts]
    profiles = [" | ".join(each) for each in zip(called, roles, teams, texts, strict=True)]
    hashes = list(map(text_hash, profiles))
    aliases = [[f"{name[:3]}{n}"] if n % 5 == 0 else [] for n, name in enumerate(called)]
    nothing: list[list[str]] = [[]] * count
    pages = [f"memory/people/{number % PAGES:05}.md" for number in range(count)]
    columns: dict[str, list[Any]] = {
        "id": ids, "name": called, "type": ["person"] * count, "path": [""] * count,
        "aliases": aliases, "role": roles, "team": teams, "members": nothing, "emails": nothing,
        "profile": profiles, "text_hash": hashes,
    }  # fmt: skip
    store.replace("entities", pa.table(columns, schema=table_schema("entities")))
    columns = {
        "fact_id": list(range(1, count + 1)), "entity_id": ids, "kind": ["fact"] * count,
        "text": texts, "date": [""] * count, "path": pages, "line": [6] * count,
        "status": ["active"] * count, "done": [False] * count, "sources": nothing,
        "confidence": [0.7] * count, "text_hash": list(map(text_hash, texts)),
    }  # fmt: skip
    store.replace("facts", pa.table(columns, schema=table_schema("facts")))
    linked = names.random.integers(0, PAGES, 3 * count).tolist()
    columns = {
        "entity_id": ids * 3, "path": [f"memory/people/{number:05}.md" for number in linked],
        "kind": ["mention"] * (3 * count), "count": [1] * (3 * count),
    }  # fmt: skip
    store.replace("links", pa.table(columns, schema=table_schema("links")))
    chunk_hashes = write_pages(store, names)
    for begin in range(0, count, BATCH):
        vectors.add((each, each) for each in hashes[begin : begin + BATCH])
    vectors.add((each, each) for each in chunk_hashes)


def write_pages(store: Store, names: Names) -> list[str]:
    """Write the pages, a chunk each, and return the hashes of what is embedded of them."""
    documents: list[dict[str, Any]] = []
    chunks: list[dict[str, Any]] = []
    for number in range(PAGES):
        path, title = f"memory/people/{number:05}.md", f"Page {number}"
        body = f"# {title}\n\n{' '.join(names.zipf(names.words, 60))}.\n"
        content_hash = text_hash(body)
        version = document_version(path, content_hash)
        documents.append({
            "path": path, "id": f"note:{path}", "title": title,
            "date": "", "kind": "note", "subtype": "", "aliases": [], "tags": [],
            "attendees": "[]", "references": [], "links": [], "property_links": [],
            "frontmatter": json.dumps({}), "body": body, "body_line": 1, "states_title": True,
            "content_hash": content_hash, "public_hash": content_hash, "version": version,
            "size": len(body), "problems": "[]", "speakers": [],
        })  # fmt: skip
        chunks.append({
            "path": path, "version": version, "ordinal": 0, "start": 0, "end": len(body),
            "heading": title, "line_start": 1, "line_end": 3, "text_hash": content_hash,
        })  # fmt: skip
    store.append("documents", documents)
    store.append("chunks", chunks)
    return [text_hash(f"Page {n}") for n in range(PAGES)] + [each["text_hash"] for each in chunks]


def measure(folder: Path, count: int) -> None:
    """Show the times of opening and of pass 1, and the memory they take."""
    store = Store(str(folder / ".kbx" / "index"))
    versions, before = undamaged_versions(store), own_mb()
    began, processor = time.perf_counter(), time.process_time()
    generation = IndexGeneration(store, versions)
    _ = generation.entity_pass, generation.facts, generation.known_items
    vectors = generation.vectors(model=BUNDLED.name, dimension=DIMENSION)
    wall, used = time.perf_counter() - began, time.process_time() - processor
    entities = generation.snapshot.entities
    row("opening", f"{wall * 1e3:.0f} ms, {used * 1e3:.0f} ms of processor time")
    random = np.random.default_rng(SEED + 2)

    def pass_one(query: str) -> None:
        matches = generation.entity_pass.names.find(query)
        NamedQuery.of(query, matches, entities)
        vector = random.standard_normal(DIMENSION, dtype=np.float32)
        vector /= np.linalg.norm(vector)
        found = generation.entity_pass.find(
            query,
            matches,
            generation.facts.find(query),
            lambda: vectors.profiles.nearest(vector, 20),
        )
        for candidate in found[:5]:
            generation.entity_documents.linked(candidate.id)

    chosen = [entities[n].name for n in random.integers(0, len(entities), count).tolist()]
    subjects = random.choice(TOPICS, (count, 2)).tolist()
    queries = {
        "named": [
            f"what did {name} say about the {a} {b}"
            for name, (a, b) in zip(chosen, subjects, strict=True)
        ],
        "misspelt": [
            f"what did {name[:5] + name[6:]} say about the {a} {b}"
            for name, (a, b) in zip(chosen, subjects, strict=True)
        ],
        "nobody named": [f"how does the {a} for the {b} work" for a, b in subjects],
    }
    for kind, texts in queries.items():
        walls, processors = [], []
        for number, text in enumerate([*texts[:5], *texts]):
            began, processor = time.perf_counter(), time.process_time()
            pass_one(text)
            if number >= 5:  # the first ones read the files
                walls.append((time.perf_counter() - began) * 1e3)
                processors.append((time.process_time() - processor) * 1e3)
        shown = (
            f"{name} p50 {np.percentile(of, 50):.1f} p95 {np.percentile(of, 95):.1f} ms"
            for name, of in (("wall", walls), ("processor", processors))
        )
        row(f"pass 1, {kind}", ", ".join(shown))
    row("own memory", f"{own_mb() - before:.0f} MB more, {own_mb():.0f} MB in all")


if __name__ == "__main__":
    main()
