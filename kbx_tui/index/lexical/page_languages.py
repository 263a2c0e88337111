"""The languages of some documents, as found when their words were indexed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kbx_tui.index.columns.versions import rows_of_versions
from kbx_tui.index.derived_files import WORDS
from kbx_tui.index.lexical.document_texts import texts_of
from kbx_tui.index.lexical.terms import language_of, words_in
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.store import Store
from kbx_tui.knowledge.languages import LANGUAGES

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
