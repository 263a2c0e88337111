"""Stored documents for tests, made of a few columns."""

from collections.abc import Sequence

from kbx_tui.index.stored_records import StoredDocuments, make_documents


def documents_of(*pages: tuple[str, str, str, str]) -> StoredDocuments:
    """Return documents given by path, id, title and date, ordered by path."""
    others = {"kind": "note", "tags": ["a"], "attendees": "[]", "aliases": [], "speakers": []}
    return make_documents(
        {
            "path": path,
            "id": document_id,
            "title": title,
            "date": date,
            "version": f"{number:032x}",
            **others,
        }
        for number, (path, document_id, title, date) in enumerate(pages)
    )


def titled(titles: Sequence[str]) -> StoredDocuments:
    """Return documents with these titles."""
    return documents_of(
        *((f"notes/{number:04}.md", "", title, "") for number, title in enumerate(titles))
    )
