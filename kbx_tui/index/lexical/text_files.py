"""Loading of words and facts of a snapshot, and refreshing of words.bin, bodies.bin and facts.bin.

Documents newer than words.bin are read from their table. Of the postings that are written, only a
block of texts is in memory at a time: each block goes to a temporary file, then they are merged
term by term. The arrays are those that `make_postings` returns for all texts at once, to the last
bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.array_file import ArrayPart, ArrayWriter
from kbx_tui.index.derived_files import BODIES, FACTS, WORDS, is_few
from kbx_tui.index.lexical.bm25 import Bm25Index, PostingsSegment
from kbx_tui.index.lexical.postings import Postings, check_word_count, make_postings
from kbx_tui.index.lexical.terms import language_of, words_in
from kbx_tui.index.load_snapshot import (
    documents_by_path,
    matching_documents,
    read_snapshot,
    refresh_documents_file,
    refresh_entity_files,
)
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.store import Store, batched_clauses, release_memory
from kbx_tui.index.stored_documents import BODY_COLUMNS, write_bodies
from kbx_tui.index.stored_entities import NO_STATE, StoredFacts, make_facts
from kbx_tui.index.tables import SEARCHED_COLUMNS, searched_text
from kbx_tui.index.versions import FACT_TABLES, rows_of_versions, stored_versions, table_state
from kbx_tui.knowledge.languages import LANGUAGES


def load_bm25(store: Store, snapshot: Snapshot) -> Bm25Index:
    """Return the BM25 index of the documents of `snapshot`, by row. Raises IndexFault.

    Entity pages can be found but do not count in the statistics: they are short and made of names,
    and many of them would distort how rare a word is. Chosen by the experiment "entity pages in
    BM25 statistics" in docs/quality.md.
    """
    size = len(snapshot.versions)
    segments, covered = [], np.zeros(size, np.bool_)
    if (mapped := WORDS.map(store)) is not None:
        rows = rows_of_versions(mapped.versions, snapshot.versions)
        segments.append(PostingsSegment(mapped, rows))
        covered[rows[rows >= 0]] = True
    newer = {snapshot.versions[row] for row in np.flatnonzero(~covered).tolist()}
    if newer:
        added = make_postings(texts_of(store, newer, size), with_offsets=True)
        rows = rows_of_versions(added.versions, snapshot.versions)
        segments.append(PostingsSegment(added, rows))
    in_statistics = np.ones(size, np.bool_)
    in_statistics[snapshot.entity_pages.rows] = False
    return Bm25Index(segments, size, in_statistics=in_statistics)


def refresh_text_files(store: Store) -> None:
    """Bring the files of texts up to date where they are stale. Raises IndexFault."""
    versions = stored_versions(store)
    if not WORDS.is_current(store, versions):
        write_words(store, texts(documents_by_path(store, TEXT_COLUMNS)))
    if not BODIES.is_current(store, versions):
        with BODIES.writer(store) as file:
            write_bodies(file, versions, documents_by_path(store, BODY_COLUMNS))
    refresh_documents_file(store, versions)
    refresh_entity_files(store)
    refresh_facts_file(store)


def load_facts(store: Store, snapshot: Snapshot) -> StoredFacts:
    """Return the facts of the entities of a snapshot, read where it has none. Raises IndexFault."""
    if snapshot.facts is not None:
        return snapshot.facts
    languages = partial(languages_of_pages, store, snapshot)
    return make_facts(store, snapshot.entities, languages, NO_STATE)


def refresh_facts_file(store: Store) -> None:
    """Bring facts.bin up to date where it is stale. Raises IndexFault.

    For the holder of the writer lock, once the files of words and entities are up to date.
    """
    state = table_state(FACT_TABLES, store.versions(), store.meta())
    if FACTS.map_state(store, state) is None:
        FACTS.write(store, replace(load_facts(store, read_snapshot(store)), state=state))


UNKNOWN = -1


def languages_of_pages(store: Store, snapshot: Snapshot, paths: Iterable[str]) -> dict[str, str]:
    """Return the language of each of some pages, without those that are gone.

    Pages newer than words.bin are read. Raises IndexFault.
    """
    rows = {path: row for path in paths if (row := snapshot.row_of.get(path)) is not None}
    numbers = np.full(len(snapshot.versions), UNKNOWN, np.int16)
    if (mapped := WORDS.map(store)) is not None:
        indexed = rows_of_versions(mapped.versions, snapshot.versions)
        numbers[indexed[indexed >= 0]] = mapped.languages[indexed >= 0]
    newer = {snapshot.versions[row] for row in rows.values() if numbers[row] == UNKNOWN}
    read = {
        version: LANGUAGES.index(language_of(words_in(text)))
        for version, text in (texts_of(store, newer, len(numbers)) if newer else ())
    }
    known = {path: int(numbers[row]) for path, row in rows.items() if numbers[row] != UNKNOWN}
    versions = {path: snapshot.versions[row] for path, row in rows.items() if path not in known}
    known |= {path: read[version] for path, version in versions.items() if version in read}
    return {path: LANGUAGES[number] for path, number in known.items()}


BATCH = 500
"""Documents listed in one where clause."""
TEXT_COLUMNS = ["version", *SEARCHED_COLUMNS]


def texts_of(store: Store, versions: set[str], total: int) -> Iterator[tuple[str, str]]:
    """Yield version and text of the documents of these versions, of `total` documents."""
    if not is_few(len(versions), total):
        rows = documents_by_path(store, TEXT_COLUMNS)
        yield from texts(row for row in rows if row["version"] in versions)
        return
    for clause in batched_clauses("version", sorted(versions), BATCH):
        yield from texts(matching_documents(store, TEXT_COLUMNS, clause))


def texts(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield version and searched text of documents."""
    for row in rows:
        yield row["version"], searched_text(row)


BLOCK_CHARACTERS = 5 * 10**7
"""Characters of the texts of one block: some 7 million words, half a gigabyte of memory."""
MERGED_AT_ONCE = 1 << 21
"""Positions merged at once."""

Text = tuple[str, str]
"""Version of a document, and its text."""


def write_words(
    store: Store, texts: Iterable[Text], *, block_characters: int = BLOCK_CHARACTERS
) -> None:
    """Write words.bin for texts in the order of the paths. Raises IndexFault."""
    blocks = _blocks(texts, block_characters)
    postings = make_postings(next(blocks, ()), with_offsets=True)
    if (block := next(blocks, None)) is None:
        WORDS.write(store, postings)
        return
    with ExitStack() as temporary_files:
        runs = [temporary_files.enter_context(WORDS.spilled(store, postings))]
        while block is not None:
            del postings  # before the next ones are made
            release_memory()
            postings = make_postings(block, with_offsets=True)
            check_word_count(sum(int(run.text_starts[-1]) for run in (*runs, postings)))
            runs.append(temporary_files.enter_context(WORDS.spilled(store, postings)))
            block = next(blocks, None)
        del postings
        with WORDS.writer(store) as file:
            merge_postings(runs, file)


def _blocks(texts: Iterable[Text], characters: int) -> Iterator[Iterator[Text]]:
    """Yield the texts in blocks, each of which must be used up before the next is asked for."""
    remaining = iter(texts)

    def block(text: Text) -> Iterator[Text]:
        size = len(text[1])
        yield text
        while size < characters and (following := next(remaining, None)) is not None:
            size += len(following[1])
            yield following

    while (first := next(remaining, None)) is not None:
        yield block(first)


def merge_postings(blocks: Sequence[Postings], file: ArrayWriter) -> None:
    """Write the postings of all texts, given those of consecutive blocks. Raises OSError."""
    terms = sorted({term for block in blocks for term in block.all_terms()})
    runs = _runs(blocks, {term: term_id for term_id, term in enumerate(terms)})
    posting_starts = _starts(runs, "posting_starts", len(terms))
    position_starts = _starts(runs, "position_starts", len(terms))
    postings, positions = int(posting_starts[-1]), int(position_starts[-1])

    def add(name: str, pieces: Iterable[NDArray[Any]]) -> None:
        file.add(name, np.concatenate(list(pieces)))

    add("versions", (block.versions for block in blocks))
    add("languages", (block.languages for block in blocks))
    add("lengths", (block.lengths for block in blocks))
    text_starts = [run.postings.text_starts[:-1] + run.first_position for run in runs]
    end = runs[-1].first_position + blocks[-1].text_starts[-1:]
    add("text_starts", [*text_starts, end])
    file.add("term_bytes", np.frombuffer(b"".join(terms), np.uint8))
    add(
        "term_byte_starts",
        (np.zeros(1, np.int64), np.cumsum([len(term) for term in terms], dtype=np.int64)),
    )
    file.add("posting_starts", posting_starts.astype(np.int32))
    of_texts = {
        "doc_ids": file.begin("doc_ids", np.int32, postings),
        "term_frequencies": file.begin("term_frequencies", np.int32, postings),
    }
    file.add("position_starts", position_starts.astype(np.int32))
    of_words = {"positions": file.begin("positions", np.int32, positions)}
    add("text_sizes", (block.text_sizes for block in blocks if block.text_sizes is not None))
    of_words["offsets"] = file.begin("offsets", np.uint16, positions)
    for group in _groups(position_starts):
        _merge(runs, group, "posting_starts", posting_starts, of_texts)
        _merge(runs, group, "position_starts", position_starts, of_words)


@dataclass(frozen=True, slots=True)
class _Run:
    """The postings of one block of texts, and where they belong among those of all."""

    postings: Postings
    term_ids: NDArray[np.int64]
    """The number among all terms of each of its terms, ascending."""
    first_text: int
    first_position: int

    def bounds(self, terms: range, starts: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which of some terms it has, and where each starts in its arrays, and the last
        ends; `starts` is the field of Postings that says so."""
        first, end = self.term_ids.searchsorted((terms.start, terms.stop)).tolist()
        return self.term_ids[first:end], getattr(self.postings, starts)[first : end + 1].astype(
            np.int64
        )

    def numbers(self, field: str, begin: int, end: int) -> NDArray[Any]:
        """Return a part of one of its arrays, with doc ids and positions among those of all."""
        shift = {"doc_ids": self.first_text, "positions": self.first_position}.get(field, 0)
        numbers: NDArray[Any] = getattr(self.postings, field)[begin:end]
        return numbers + shift if shift else numbers


def _runs(blocks: Sequence[Postings], id_of: Mapping[bytes, int]) -> list[_Run]:
    runs, text, position = [], 0, 0
    for block in blocks:
        term_ids = np.array([id_of[term] for term in block.all_terms()], np.int64)
        runs.append(_Run(block, term_ids, text, position))
        text, position = text + len(block.versions), position + int(block.text_starts[-1])
    return runs


def _starts(runs: Sequence[_Run], name: str, terms: int) -> NDArray[np.int64]:
    """Return where each term starts in the merged arrays, and the last ends, shape (terms + 1,)."""
    counts = np.zeros(terms, np.int64)
    for run in runs:
        counts[run.term_ids] += np.diff(getattr(run.postings, name))
    return np.concatenate(([0], np.cumsum(counts)))


def _groups(starts: NDArray[np.int64]) -> Iterator[range]:
    """Yield the terms in groups of about `MERGED_AT_ONCE` numbers; one that has more is alone."""
    first, terms = 0, len(starts) - 1
    while first < terms:
        end = int(starts.searchsorted(starts[first] + MERGED_AT_ONCE, "right")) - 1
        end = min(max(end, first + 1), terms)
        yield range(first, end)
        first = end


def _merge(
    runs: Sequence[_Run],
    terms: range,
    starts_name: str,
    starts: NDArray[np.int64],
    arrays: Mapping[str, ArrayPart],
) -> None:
    """Append the numbers of some terms to arrays of the file, by term, then in order of the runs.

    `starts` is where each term starts in them; in the arrays of a run, the field `starts_name`.
    """
    begin, end = starts[terms.start], starts[terms.stop]
    if len(terms) == 1:  # nothing to reorder, however many numbers there are
        for run in runs:
            _, bounds = run.bounds(terms, starts_name)
            for first in range(int(bounds[0]), int(bounds[-1]), MERGED_AT_ONCE):
                last = min(first + MERGED_AT_ONCE, int(bounds[-1]))
                for name, array in arrays.items():
                    array.append(run.numbers(name, first, last))
        return
    merged = {name: np.empty(end - begin, array.dtype) for name, array in arrays.items()}
    following = starts[terms.start : terms.stop] - begin
    for run in runs:
        term_ids, own_starts = run.bounds(terms, starts_name)
        first, last = int(own_starts[0]), int(own_starts[-1])
        counts, own_terms = np.diff(own_starts), term_ids - terms.start
        places = np.repeat(following[own_terms] - own_starts[:-1], counts)
        places += np.arange(first, last)
        following[own_terms] += counts
        for name, numbers in merged.items():
            numbers[places] = run.numbers(name, first, last)
    for name, array in arrays.items():
        array.append(merged[name])
