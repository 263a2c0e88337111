"""Documents that a query gives in full, and titles that hold all of its words."""

from collections.abc import Sequence

import numpy as np
import pytest

from kbx_tui.index.snapshot import EntityPages
from kbx_tui.index.stored_records import DocumentSegment, EntityColumn
from kbx_tui.knowledge.folding import ENGLISH
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.query.name_index import KnownItems
from kbx_tui.search.retrieval.document_pass import titles_holding
from tests.unit.index.columns.documents import documents_of
from tests.unit.search.snapshots import links_of

PAGES = (
    ("meetings/plan.md", "meeting:plan", "Plan: a  Dvořák evening", "2026-03-17"),
    ("notes/c.md", "note:c", "C++", ""),
    ("notes/empty.md", "note:empty", "", ""),
    ("notes/leak.md", "note:leak", "INC-17: the leak", "2026-03-17"),
)
PROJECT = EntityColumn.of([Entity("project:c", "C", "project", "notes/c.md")])
NO_PAGES = EntityPages(links_of(PROJECT), PROJECT)
ITEMS = KnownItems([DocumentSegment.of(documents_of(*PAGES))], NO_PAGES)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("/notes/leak.md", [(3, "path")]),
        ("Note:Leak", [(3, "id")]),
        ("inc-17: THE leak", [(3, "title")]),
        ("INC-17", [(3, "title")]),
        ("plan: a dvorak evening", [(0, "title")]),
        ("Plan -- a dvorak evening!", [(0, "title")]),
        ("Plan", [(0, "path")]),  # not a title: it has no number
        ("an evening", []),
        ("C", [(1, "path")]),
        ("C++", [(1, "title")]),
        ("2026-03-17", [(0, "date"), (3, "date")]),
        ("2026-03", []),
        ("", []),
        (" / ", []),
    ],
)
def test_document_is_found_by_full_path_id_title_or_date(
    text: str, items: list[tuple[int, str]]
) -> None:
    assert ITEMS.find(text) == items


@pytest.mark.parametrize(
    ("path", "queries"),
    [
        ("adr/ADR-0031.md", ("ADR-0031", "adr-0031", "ADR 0031")),
        ("adr/ADR-0031-use-queues.md", ("ADR-0031", "adr 31", "ADR31", "adr-0031 use queues")),
        ("doc/adrs/0031-use-queues.md", ("0031", "ADR-31", "adr 0031", "0031-use-queues")),
        ("papers/Lindqvist2019-sea.md", ("Lindqvist2019-sea", "lindqvist2019 sea")),
        ("zk/202506041030.md", ("202506041030",)),
        ("メモ/だぢづ.md", ("だぢづ",)),
        ("teams/harbour/index.md", ("harbour",)),
        ("teams/harbour/README.md", ("Harbour",)),
    ],
)
def test_a_document_is_found_by_the_name_of_its_file(path: str, queries: Sequence[str]) -> None:
    items = KnownItems(
        [DocumentSegment.of(documents_of((path, "note:1", "Something else", "")))], NO_PAGES
    )
    assert [items.find(query) for query in queries] == [[(0, "path")]] * len(queries)
    assert items.find(path.rpartition("/")[0].upper()) == items.find("readme") == []


def test_the_page_of_an_entity_has_the_id_of_the_entity_alone() -> None:
    pages = EntityPages(links_of(PROJECT, {1: 0}), PROJECT)
    items = KnownItems([DocumentSegment.of(documents_of(*PAGES))], pages)
    assert items.find("project:C") == [(1, "id")]
    assert items.find("note:c") == []
    assert items.find("note:leak") == [(3, "id")]


def test_documents_of_all_segments_are_found_in_the_order_of_their_rows() -> None:
    older, newer = documents_of(PAGES[0], PAGES[1], PAGES[3]), documents_of(PAGES[2], PAGES[3])
    items = KnownItems(
        [
            DocumentSegment(older, np.array([0, 1, -1])),
            DocumentSegment(newer, np.array([2, 3])),
        ],
        NO_PAGES,
    )
    assert items.find("2026-03-17") == [(0, "date"), (3, "date")]
    assert items.find("note:empty") == [(2, "id")]


TITLES = [
    "Zettelkasten method", "Case studies of Dvořák", "Plan", "", "Plan of the case\nwork", "会議",
    "Pricing review",
]  # fmt: skip


@pytest.mark.parametrize(
    ("terms", "held"),
    [
        (["zettelkasten"], [(0, 1 / 2)]),
        (["method", "zettelkasten"], [(0, 1.0)]),
        (["case", "studi"], [(1, 2 / 3)]),
        (["dvorak"], [(1, 1 / 3)]),
        (["plan"], [(2, 1.0), (4, 1 / 3)]),
        (["case", "plan"], [(4, 2 / 3)]),
        (["会"], [(5, 1 / 2)]),
        (["price"], [(6, 1 / 2)]),
        (["plan", "zettelkasten"], []),
        (["stud"], []),  # begins a word, but is not its stem
        (["missing"], []),
    ],
)
def test_titles_that_hold_all_terms_are_found(
    terms: list[str], held: list[tuple[int, float]]
) -> None:
    assert list(titles_holding(TITLES, range(len(TITLES)), terms, ENGLISH)) == held
