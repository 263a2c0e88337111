"""Ids of documents and entities that are unique within a knowledge base."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from kbx_tui.knowledge.parsing.kinds import short_path
from kbx_tui.knowledge.records import Document


def unique_ids(documents: Sequence[Document]) -> dict[str, str]:
    """Return a unique id for every document, by path.

    Documents with the same id all get the id ``kind:`` and the shortest end of their path that
    distinguishes them, so that ids do not depend on the order of files.
    """
    by_id = defaultdict[str, list[Document]](list)
    for document in documents:
        by_id[document.id].append(document)
    taken = {document_id for document_id, same_id in by_id.items() if len(same_id) == 1}
    ids = {document.path: document.id for document in documents}
    for document_id in sorted(by_id.keys() - taken):
        ids |= _path_ids(by_id[document_id], taken)
    return ids


def _path_ids(documents: Iterable[Document], taken: set[str]) -> dict[str, str]:
    parts = {document: short_path(document.path).split("/") for document in documents}
    for length in range(1, max(map(len, parts.values())) + 1):
        ids = {
            page.path: f"{page.kind}:{'/'.join(folders[-length:])}"
            for page, folders in parts.items()
        }
        if len(set(ids.values())) == len(ids) and taken.isdisjoint(ids.values()):
            break
    else:
        ids = {document.path: f"{document.kind}:{document.path}" for document in parts}
        while not taken.isdisjoint(ids.values()):  # frontmatter has the same id
            ids = {path: f"{path_id}~" for path, path_id in ids.items()}
    taken.update(ids.values())
    return ids
