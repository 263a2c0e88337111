"""Ids of documents and entities, made unique over a whole knowledge base. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from kbx_tui.knowledge.parsing.kinds import short_path
from kbx_tui.knowledge.records import Document


def unique_ids(documents: Sequence[Document]) -> dict[str, str]:
    """Return the id of every document by its path, no id twice.

    Documents whose own ids collide are all called ``kind:`` and the shortest end of their path that
    tells them apart, so that none of them depends on which file was read first.
    """
    counts = Counter(document.id for document in documents)
    taken = {given for given, count in counts.items() if count == 1}
    ids = {document.path: document.id for document in documents}
    colliding: dict[str, list[Document]] = {}
    for document in documents:
        if counts[document.id] > 1:
            colliding.setdefault(document.id, []).append(document)
    for group in sorted(colliding):
        ids.update(_by_path(colliding[group], taken))
    return ids


def _by_path(documents: Iterable[Document], taken: set[str]) -> dict[str, str]:
    parts = {document: short_path(document.path).split("/") for document in documents}
    for length in range(1, max(map(len, parts.values())) + 1):
        ids = {
            document.path: f"{document.kind}:{'/'.join(folders[-length:])}"
            for document, folders in parts.items()
        }
        if len(set(ids.values())) == len(ids) and taken.isdisjoint(ids.values()):
            break
    else:
        ids = {document.path: f"{document.kind}:{document.path}" for document in parts}
        while not taken.isdisjoint(ids.values()):  # someone gave just this id in frontmatter
            ids = {path: f"{found}~" for path, found in ids.items()}
    taken.update(ids.values())
    return ids
