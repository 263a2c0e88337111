"""Generate the index of a large base, without its files and without a model.

    python -m benchmarks.generated_index FOLDER [--documents 200000] [--check 0]

Writes the rows of documents, chunks, entities, facts, links and vectors, then what a run of
indexing derives from them. Frequencies of words and of people follow a Zipf distribution; a page
has 5 chunks on average, many have one and few have 40. The vectors are made up with the structure
of real ones (`topic_vectors`), identical in every run. `memory/notes/YYYY` and
`memory/meetings/YYYY` hold one in twenty of the pages each. With `--check`, the best ten of so many
searches are compared with those of a full scan, scores as they are shown; where only candidates are
scored, with those of `exact`, and the times of both are given. Queries then lie near the topics
of the vectors.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.common import peak_mb, row
from benchmarks.topic_vectors import DIMENSION, TopicQueries, TopicVectors
from kbx_tui import KnowledgeBase
from kbx_tui.api import session
from kbx_tui.config import Settings
from kbx_tui.embedding.embedder import BUNDLED
from kbx_tui.embedding.local import open_embedder
from kbx_tui.index import tables
from kbx_tui.index.build.stages import embedded_text
from kbx_tui.index.index_status import noted_settings
from kbx_tui.index.lexical.text_files import refresh_text_files
from kbx_tui.index.noted_state import note_state
from kbx_tui.index.store import Store
from kbx_tui.index.tables import (
    SCHEMA_VERSION,
    TEXT_RULES,
    document_version,
    table_schema,
    text_hash,
)
from kbx_tui.index.vectors.vector_lists import refresh_vector_lists
from kbx_tui.index.vectors.vector_matrix import refresh_vectors_file
from kbx_tui.knowledge.records import Entity, Fact
from kbx_tui.search.results.response import SearchResponse
from kbx_tui.settings_file import load_settings

SEED = 20
VOCABULARY = 60_000
BATCH = 4000
"""Documents per commit."""
MEAN_CHUNKS, MOST_CHUNKS = 5, 40
LEAST_WORDS, MOST_WORDS = 60, 130
"""Words of a chunk."""
PAGES_PER_PERSON, PROJECTS, TEAMS = 50, 300, 50
SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstvwxz" for vowel in "aeiou"]


@dataclass(slots=True)
class Generator:
    """Random words and names; each method continues one sequence of random numbers."""

    documents: int
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(SEED))
    words: list[str] = field(init=False)
    entities: list[Entity] = field(init=False)
    people: list[Entity] = field(init=False)

    def __post_init__(self) -> None:
        self.words = sorted({self._syllables(2 + n % 3) for n in range(VOCABULARY)})
        self.random.shuffle(self.words)
        names = {
            f"{self._syllables(2)} {self._syllables(3)}".title(): ""
            for _ in range(max(20, self.documents // PAGES_PER_PERSON))
        }
        teams = [f"Team {word.title()}" for word in self.words[-TEAMS:]]
        projects = [f"Project {word.title()}" for word in self.words[-TEAMS - PROJECTS : -TEAMS]]
        self.people = [
            self._entity("person", "people", number, name, team=teams[number % TEAMS])
            for number, name in enumerate(names)
        ]
        self.entities = [
            *self.people,
            *(self._entity("team", "teams", *named) for named in enumerate(teams)),
            *(self._entity("project", "projects", *named) for named in enumerate(projects)),
        ]

    def text(self, count: int) -> str:
        """Return words, the most frequent of which are one in ten."""
        return " ".join(map(self.words.__getitem__, self._zipf(len(self.words), count)))

    def some(self, entities: list[Entity], count: int) -> list[Entity]:
        """Return different entities; the first are the most frequent."""
        return [entities[number] for number in {*self._zipf(len(entities), count)}]

    def _zipf(self, size: int, count: int) -> list[int]:
        numbers = np.exp(self.random.random(count) * np.log(size)).astype(np.int64)
        return list((numbers % size).tolist())

    def _syllables(self, count: int) -> str:
        return "".join(SYLLABLES[n] for n in self.random.integers(0, len(SYLLABLES), count))

    def _entity(self, kind: str, folder: str, number: int, name: str, team: str = "") -> Entity:
        entity_id = f"{kind}:{name.lower().replace(' ', '-')}"
        return Entity(entity_id, name, kind, f"memory/{folder}/{number:06}.md", team=team)


@dataclass(slots=True)
class VectorWriter:
    """Adds a vector for each new hash of a text."""

    store: Store
    known: set[str] = field(default_factory=set)
    topics: TopicVectors = field(default_factory=TopicVectors)

    def add(self, sources: Iterable[tuple[str, str]]) -> None:
        """Add vectors for pairs of a text's hash and the hash that decides its topic."""
        source_of = {text: source for text, source in sources if text not in self.known}
        new = list(source_of)
        self.known.update(new)
        vectors = self.topics.near(list(source_of.values()))
        flat = pa.array(vectors.astype(np.float16).reshape(-1))
        columns = [pa.array(new, pa.string()), pa.FixedSizeListArray.from_arrays(flat, DIMENSION)]
        self.store.table("vectors").add(
            pa.table(columns, schema=table_schema("vectors", DIMENSION))
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--check", type=int, default=0)
    options = parser.parse_args()
    if not (options.folder / ".kbx" / "index").exists():
        generate(options.folder, options.documents)
    if options.check:
        row("searches equal to a full scan", compare(options.folder, options.check))


def generate(folder: Path, documents: int) -> None:
    """Write the index of a base of so many documents in a new folder."""
    (folder / "memory").mkdir(parents=True, exist_ok=True)
    settings, store = load_settings(folder), Store(str(folder / ".kbx" / "index"))
    began = time.monotonic()

    def finished(what: str, step: Callable[[], object]) -> None:
        start = time.monotonic()
        step()
        row(what, f"{time.monotonic() - start:.0f} s, peak memory {peak_mb():.0f} MB")

    store.create(model=BUNDLED.name, dimension=DIMENSION)
    finished("rows", lambda: write_rows(store, Generator(documents)))
    write_meta(store, settings)
    for name in ("documents", "chunks", "vectors"):
        finished(f"table {name} compacted", lambda name=name: store.optimize(name))  # type: ignore[misc]
    finished("words, bodies, documents", lambda: refresh_text_files(store))
    store.mark_searchable()
    finished(
        "vectors",
        lambda: refresh_vectors_file(store, model=BUNDLED.name, dimension=DIMENSION),
    )
    finished(
        "inverted file of the vectors",
        lambda: refresh_vector_lists(store, model=BUNDLED.name, dimension=DIMENSION),
    )
    finished("digests", lambda: note_state(store))
    counts = ", ".join(f"{count:,} {name}" for name, count in store.counts().items())
    row("in all", f"{time.monotonic() - began:.0f} s; {counts}")
    for name, size in store.sizes().items():
        row(f"    {name}", f"{size / 1e6:.0f} MB")


def write_rows(store: Store, generator: Generator) -> None:
    """Write all tables but meta."""
    vectors = VectorWriter(store)
    facts = [
        Fact(number, person.id, "fact", f"{person.name} {generator.text(9)}", "", person.path,
             6 + number % 3, "active", False, (person.path,))
        for number, person in enumerate(each for each in generator.people for _ in range(3))
    ]  # fmt: skip
    of_entity: dict[str, list[Fact]] = {entity.id: [] for entity in generator.entities}
    for fact in facts:
        of_entity[fact.entity_id].append(fact)
    by_id = {entity.id: entity for entity in generator.entities}
    entity_rows = [tables.entity_row(each, of_entity[each.id]) for each in generator.entities]
    fact_rows = [tables.fact_row(fact, by_id[fact.entity_id]) for fact in facts]
    store.replace("entities", entity_rows)
    store.replace("facts", fact_rows)
    vectors.add((each["text_hash"],) * 2 for each in (*entity_rows, *fact_rows))
    links: list[dict[str, Any]] = []
    pages = _pages(generator)
    while batch := list(islice(pages, BATCH)):
        documents = [page[0] for page in batch]
        chunks = [part for page in batch for part in page[1]]
        links += (link for page in batch for link in page[2])
        store.append("documents", documents)
        store.append("chunks", chunks)
        vectors.add((chunk["text_hash"], chunk["version"]) for chunk in chunks)
        vectors.add((text_hash(each["title"]), each["version"]) for each in documents)
    store.replace("links", links)


Page = tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]
"""The rows of a document, its chunks and its links."""


def _pages(generator: Generator) -> Iterator[Page]:
    """Yield the rows of every page: those of entities, then as many notes as meetings."""
    for entity in generator.entities:
        yield _page(generator, entity.path, entity.id, entity.type, entity.name, "", 1, entity)
    rest = generator.documents - len(generator.entities)
    counts = np.minimum(generator.random.geometric(1 / MEAN_CHUNKS, rest), MOST_CHUNKS).tolist()
    for number, count in enumerate(counts):
        kind, folder = ("meeting", "meetings") if number % 2 else ("note", "notes")
        year, month, day = 2016 + number // 2 % 10, 1 + number // 20 % 12, 1 + number // 240 % 28
        path = f"memory/{folder}/{year}/{month:02}/d{number:07}.md"
        title, date = generator.text(5).capitalize(), f"{year}-{month:02}-{day:02}"
        yield _page(generator, path, f"{kind}:{path}", kind, title, date, count, None)


def _page(
    generator: Generator, path: str, document_id: str, kind: str, title: str, date: str,
    count: int, own: Entity | None,
) -> Page:  # fmt: skip
    attendees = generator.some(generator.people, 4) if kind == "meeting" else []
    mentioned = [] if own else generator.some(generator.entities, 2)
    sizes: NDArray[np.int64] = generator.random.integers(LEAST_WORDS, MOST_WORDS, count)
    texts = [f"## {generator.text(3)}\n\n{generator.text(size)}.\n\n" for size in sizes.tolist()]
    names = " and ".join(entity.name for entity in mentioned)
    _, _, first = texts[0].partition("\n\n")
    texts[0] = f"# {title}\n\n{names} {first}"
    body = "".join(texts)
    content_hash = text_hash(body)
    version = document_version(path, content_hash)
    document = {
        "path": path, "id": document_id, "title": title, "date": date,
        "kind": kind, "subtype": "", "aliases": [], "tags": generator.text(1).split(),
        "attendees": json.dumps([[person.name, ""] for person in attendees]), "references": [],
        "links": [], "property_links": [], "frontmatter": "{}", "body": body, "body_line": 1,
        "states_title": True, "content_hash": content_hash, "public_hash": content_hash,
        "version": version, "size": len(body), "problems": "[]", "speakers": [],
    }  # fmt: skip
    chunks, start = [], 0
    for ordinal, text in enumerate(texts):
        chunks.append(
            {
                "path": path,
                "version": version,
                "ordinal": ordinal,
                "start": start,
                "end": start + len(text),
                "heading": title,
                "line_start": 1 + 4 * ordinal,
                "line_end": 4 + 4 * ordinal,
                "text_hash": text_hash(embedded_text(title, ordinal, text)),
            }
        )
        start += len(text)
    kinds = [("own_page", [own] if own else []), ("attendee", attendees), ("mention", mentioned)]
    links = [
        {"entity_id": entity.id, "path": path, "kind": link_kind, "count": 1}
        for link_kind, entities in kinds
        for entity in entities
    ]
    return document, chunks, links


def write_meta(store: Store, settings: Settings) -> None:
    store.write_meta(
        {
            "schema_version": SCHEMA_VERSION,
            "model": BUNDLED.name,
            "dimension": DIMENSION,
            "text_rules": TEXT_RULES,
            "daily_notes": [],
            **noted_settings(settings),
            "is_vault": False,
            "digests": True,
            "indexed_at": time.time(),
        }
    )


def compare(folder: Path, count: int) -> str:
    """Compare the best ten of searches with those of a full scan; return how many are equal.

    Where only candidates are scored, show the share of the best ten that they hold, and the times.
    """
    generator, equal, recalls = Generator(1000), 0, list[float]()
    times: dict[bool, list[float]] = {False: [], True: []}
    vars(session)["open_embedder"] = lambda model: TopicQueries(open_embedder(model))
    with KnowledgeBase(folder) as kb:
        kb.warm()

        def search(query: str, path: str | None, *, exact: bool) -> SearchResponse:
            began = time.perf_counter()
            response: SearchResponse = kb.search(query, path=path, exact=exact)
            times[exact].append((time.perf_counter() - began) * 1000)
            return response

        for number in range(count):
            query = generator.text(3)
            path = None if number % 3 else f"memory/notes/{2016 + number % 10}"
            response = search(query, path, exact=False)
            found = [(each.path, each.score) for each in response.results]
            if response.meta.candidates is not None:
                scanned = [
                    (each.path, each.score) for each in search(query, path, exact=True).results
                ]
                recalls.append(len({*found} & {*scanned}) / len(scanned))
            else:
                evidence = kb.retrieve(query, path=path)
                best = kb.rank(evidence).top(10)
                scanned = [(evidence.paths[each.row], round(each.score, 4)) for each in best]
            equal += found == scanned
    if recalls:
        row("recall@10 of searches that score candidates", f"{np.mean(recalls):.4f}")
        for exact, name in ((False, "searches"), (True, "exact searches")):
            p50, p95 = np.percentile(times[exact], (50, 95))
            row(f"time of {name}", f"median {p50:.0f} ms, p95 {p95:.0f} ms")
    return f"{equal:,} of {count:,}"


if __name__ == "__main__":
    main()
