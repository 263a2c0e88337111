"""The arrays of facts.bin: facts and open items, which pass 1 searches by their words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.text_column import TextArena, TextColumn
from kbx_tui.index.entities.entity_column import EntityColumn
from kbx_tui.index.lexical.postings import Postings, make_postings
from kbx_tui.index.store import Store
from kbx_tui.knowledge.languages import ENGLISH, LANGUAGES

Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Starts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StoredFacts:
    """Facts ordered by id, in arrays of one dimension. Read-only.

    What Postings has too is as there, with facts as texts.
    """

    state: NDArray[np.bytes_]
    """State of the tables that they were read from (`table_state`), shape (1,)."""
    entities: Ints
    """The entity of each fact, -1 for one that is gone."""
    texts: Bytes
    starts: Starts
    active: NDArray[np.uint8]
    """1 for those that can be found; others only count in statistics."""
    language_order: NDArray[np.uint8]
    """Numbers in `LANGUAGES` of those that facts are in, that of most facts first."""
    lengths: Ints
    term_bytes: Bytes
    term_byte_starts: Starts
    posting_starts: Ints
    doc_ids: Ints
    term_frequencies: Ints

    def __len__(self) -> int:
        return len(self.entities)

    def text_column(self) -> TextColumn:
        """Return the texts of the facts."""
        return TextColumn([TextArena(self.texts, self.starts)])

    def languages(self) -> list[str]:
        """Return the languages that facts are in, that of most facts first."""
        return [LANGUAGES[number] for number in self.language_order.tolist()]

    def postings(self) -> Postings:
        """Return the postings of the facts, without positions."""
        nowhere = np.empty(0, np.int32)
        return Postings(
            versions=np.empty(0, "S32"),
            languages=np.empty(0, np.uint8),
            lengths=self.lengths,
            text_starts=np.empty(0, np.int64),
            term_bytes=self.term_bytes,
            term_byte_starts=self.term_byte_starts,
            posting_starts=self.posting_starts,
            doc_ids=self.doc_ids,
            term_frequencies=self.term_frequencies,
            position_starts=nowhere,
            positions=nowhere,
        )


def make_facts(
    store: Store,
    entities: EntityColumn,
    languages_of: Callable[[Iterable[str]], Mapping[str, str]],
    state: NDArray[np.bytes_],
) -> StoredFacts:
    """Read the facts of entities. `languages_of` returns the languages of pages, by their path.

    Raises IndexFault.
    """
    columns = ["fact_id", "entity_id", "text", "status", "path"]
    table = store.rows("facts", columns).sort_by("fact_id")
    texts: list[str] = table["text"].to_pylist()
    paths: list[str] = table["path"].to_pylist()
    owners = [entities.row_of.get(owner, -1) for owner in table["entity_id"].to_pylist()]
    languages = languages_of(set(paths))
    postings = make_postings(
        zip(paths, texts, strict=True), lambda path, _: languages.get(path, ENGLISH)
    )
    numbers, counts = np.unique(postings.languages, return_counts=True)
    arena = TextArena.of(texts)
    return StoredFacts(
        state=state,
        entities=np.array(owners, np.int32),
        texts=arena.data,
        starts=arena.starts,
        active=np.array([each == "active" for each in table["status"].to_pylist()], np.uint8),
        language_order=numbers[np.argsort(-counts, kind="stable")],
        lengths=postings.lengths,
        term_bytes=postings.term_bytes,
        term_byte_starts=postings.term_byte_starts,
        posting_starts=postings.posting_starts,
        doc_ids=postings.doc_ids,
        term_frequencies=postings.term_frequencies,
    )
