"""Writing of words.bin: the postings of all texts, of which only a block is in memory at a time.

The postings of each block of texts are written to a temporary file, then merged term by term. The
arrays are those that `make_postings` returns for all texts at once, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.array_files.array_writer import ArrayPart, ArrayWriter
from kbx_tui.index.columns.released_memory import release_memory
from kbx_tui.index.derived_files import WORDS
from kbx_tui.index.lexical.postings import Postings, check_word_count, make_postings
from kbx_tui.index.store import Store

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
