"""Facts, open items and documents of entity cards, by what the cards show of them."""

from kbx_tui.knowledge.records import Fact, FactStatus
from kbx_tui.search.browse import EntityDocument


def a_fact(
    text: str, date: str = "", status: FactStatus = "active", sources: tuple[str, ...] = ()
) -> Fact:
    return Fact(1, "person:x", "fact", text, date, "x.md", 1, status, False, sources)


def an_item(text: str, date: str = "", done: bool = False) -> Fact:
    return Fact(2, "person:x", "open_item", text, date, "x.md", 2, "active", done, ())


def a_document(path: str, title: str, date: str, kind: str, reason: str) -> EntityDocument:
    return EntityDocument(path, title, date, kind, reason, 1.0)
