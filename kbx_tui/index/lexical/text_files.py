"""Loading of words and facts of a snapshot, and refreshing of words.bin, bodies.bin and facts.bin.

Documents newer than words.bin are read from their table. Postings are written with one block of
texts in memory at a time: each block goes to a temporary file, then the files are merged term by
term. The arrays are bit-identical to those that `make_postings` returns for all texts at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.array_file import ArrayWriter
from kbx_tui.index.arrays import Rows, Versions
from kbx_tui.index.derived_files import DocumentFile
from kbx_tui.index.lexical.bm25 import Bm25Index, PostingsSegment
from kbx_tui.index.lexical.postings import WORDS, Postings, check_word_count, make_postings
from kbx_tui.index.snapshot import (
    Snapshot,
    documents_of,
    read_snapshot,
    refresh_documents_files,
    refresh_entity_files,
)
from kbx_tui.index.store import Store
from kbx_tui.index.stored_records import (
    BODIES,
    BODY_COLUMNS,
    FACTS,
    Bodies,
    StoredFacts,
    make_facts,
    write_bodies,
)
from kbx_tui.index.tables import SEARCHED_COLUMNS, searched_text
from kbx_tui.index.versions import NO_STATE, rows_of_versions, stored_versions
from kbx_tui.knowledge.folding import ENGLISH
from kbx_tui.system import release_memory

Text = tuple[str, str]
"""The version of a document and its text."""


def load_bm25(store: Store, snapshot: Snapshot) -> Bm25Index:
    """Return the BM25 index of the documents of `snapshot`, by row. Raises IndexFault.

    Entity pages can be found but do not count in the statistics: they are short and made of names,
    and many of them would distort how rare a word is. Chosen by the experiment "entity pages in
    BM25 statistics" in docs/quality.md.
    """
    current = snapshot.versions
    found, missing = WORDS.map_for(store, current)
    if len(missing):
        newer = make_postings(_texts(store, current[missing]))
        found.append((newer, rows_of_versions(newer.versions, current)))
    in_statistics = np.ones(len(current), np.bool_)
    in_statistics[snapshot.entity_pages.rows] = False
    segments = [PostingsSegment(postings, rows) for postings, rows in found]
    return Bm25Index(segments, len(current), in_statistics=in_statistics)


def load_facts(
    store: Store, snapshot: Snapshot, words: Bm25Index, state: Versions = NO_STATE
) -> StoredFacts:
    """Return the facts of a snapshot's entities, read unless it holds them. Raises IndexFault."""
    if snapshot.facts is not None:
        return snapshot.facts

    def language_of(path: str) -> str:
        row = snapshot.row_of.get(path)
        return ENGLISH if row is None else words.language_of(row)

    return make_facts(store, snapshot.entities, language_of, state)


def refresh_text_files(store: Store) -> None:
    current = stored_versions(store)

    def put_words(file: DocumentFile[Postings], versions: Versions | None) -> None:
        write_words(store, file, _texts(store, versions))

    def put_bodies(file: DocumentFile[Bodies], versions: Versions | None) -> None:
        with file.writer(store) as writer:
            write_bodies(writer, documents_of(store, BODY_COLUMNS, versions))

    WORDS.refresh(store, current, put_words)
    BODIES.refresh(store, current, put_bodies)
    refresh_documents_files(store, current)
    refresh_entity_files(store)
    state = FACTS.state(store.versions(), store.meta())
    if FACTS.map_state(store, state) is None:
        snapshot = read_snapshot(store)
        FACTS.write(store, load_facts(store, snapshot, load_bm25(store, snapshot), state))


def _texts(store: Store, versions: Versions | None) -> Iterator[Text]:
    for row in documents_of(store, SEARCHED_COLUMNS, versions):
        yield row["version"], searched_text(row)


BLOCK_CHARACTERS = 5 * 10**7
"""Characters of text in a block: some 7 million words, half a gigabyte of memory."""
MERGED_AT_ONCE = 1 << 21


def write_words(
    store: Store,
    file: DocumentFile[Postings],
    texts: Iterable[Text],
    *,
    block_characters: int = BLOCK_CHARACTERS,
) -> None:
    blocks = _blocks(texts, block_characters)
    postings = make_postings(next(blocks, ()))
    if (block := next(blocks, None)) is None:
        file.write(store, postings)
        return
    with ExitStack() as temporary_files:
        runs = [temporary_files.enter_context(file.spilled(store, postings))]
        while block is not None:
            del postings  # free the memory before the next are made
            release_memory()
            postings = make_postings(block)
            check_word_count(sum(int(run.text_starts[-1]) for run in (*runs, postings)))
            runs.append(temporary_files.enter_context(file.spilled(store, postings)))
            block = next(blocks, None)
        del postings
        with file.writer(store) as writer:
            merge_postings(runs, writer)


def _blocks(texts: Iterable[Text], characters: int) -> Iterator[Iterator[Text]]:
    """Yield the texts in blocks; each must be exhausted before the next is requested."""
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
    terms = sorted({term for block in blocks for term in block.all_terms()})
    runs = _runs(blocks, {term: term_id for term_id, term in enumerate(terms)})
    posting_starts = _starts(runs, "posting_starts", len(terms))
    position_starts = _starts(runs, "position_starts", len(terms))
    text_starts = [run.postings.text_starts[:-1] + run.first_position for run in runs]
    end = runs[-1].first_position + blocks[-1].text_starts[-1:]
    whole: dict[str, NDArray[Any]] = {
        "term_bytes": np.frombuffer(b"".join(terms), np.uint8),
        "term_byte_starts": np.cumsum([0, *map(len, terms)], dtype=np.int64),
        "posting_starts": posting_starts.astype(np.int32),
        "position_starts": position_starts.astype(np.int32),
        "text_starts": np.concatenate([*text_starts, end]),
    }
    of_texts: dict[str, NDArray[Any]] = {}
    of_words: dict[str, NDArray[Any]] = {}
    for name in [field.name for field in fields(Postings)]:  # in the order of `write`
        arrays = [getattr(block, name) for block in blocks]
        if name in whole:
            file.add(name, whole[name])
        elif name in ("doc_ids", "term_frequencies"):
            of_texts[name] = file.map(name, arrays[0].dtype, (int(posting_starts[-1]),))
        elif name in ("positions", "offsets"):
            of_words[name] = file.map(name, arrays[0].dtype, (int(position_starts[-1]),))
        else:
            file.add(name, np.concatenate(arrays))
    for group in _groups(position_starts):
        _merge(runs, group, "posting_starts", posting_starts, of_texts)
        _merge(runs, group, "position_starts", position_starts, of_words)


@dataclass(frozen=True, slots=True)
class _Run:
    """The postings of one block of texts, and their place among the postings of all."""

    postings: Postings
    term_ids: Rows
    first_text: int
    first_position: int

    def numbers(self, field: str, begin: int, end: int) -> NDArray[Any]:
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


def _starts(runs: Sequence[_Run], name: str, terms: int) -> Rows:
    """Return where each term starts in the merged arrays and the last ends, shape (terms + 1,)."""
    counts = np.zeros(terms, np.int64)
    for run in runs:
        counts[run.term_ids] += np.diff(getattr(run.postings, name))
    return np.concatenate(([0], np.cumsum(counts)))


def _groups(starts: Rows) -> Iterator[range]:
    """Yield ranges of terms with at most `MERGED_AT_ONCE` numbers; a term with more is alone."""
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
    starts: Rows,
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Copy the numbers of some terms into `arrays`, each term from its start, in order of runs."""
    following = starts[terms.start : terms.stop].copy()
    for run in runs:
        first_own, end_own = run.term_ids.searchsorted((terms.start, terms.stop)).tolist()
        own_terms = run.term_ids[first_own:end_own] - terms.start
        own_starts = getattr(run.postings, starts_name)[first_own : end_own + 1].astype(np.int64)
        begin, end, counts = int(own_starts[0]), int(own_starts[-1]), np.diff(own_starts)
        if len(terms) == 1:  # nothing to reorder, however many numbers there are
            shift = int(following[0]) - begin
            for first in range(begin, end, MERGED_AT_ONCE):
                last = min(first + MERGED_AT_ONCE, end)
                for name, array in arrays.items():
                    array[first + shift : last + shift] = run.numbers(name, first, last)
        else:
            places = np.repeat(following[own_terms] - own_starts[:-1], counts)
            places += np.arange(begin, end)
            for name, array in arrays.items():
                array[places] = run.numbers(name, begin, end)
        following[own_terms] += counts
