"""Titles are found by all words of a query, whatever their order and form."""

from __future__ import annotations

import numpy as np
import pytest

from kbx_tui.index.stored_documents import DocumentSegment
from kbx_tui.search.query.named_documents import MOST_TITLES, TitleWords
from tests.unit.index.columns.documents import titled


def titles_of(titles: list[str]) -> TitleWords:
    return TitleWords([DocumentSegment.of(titled(titles))])


TITLES = titles_of(
    [
        "Zettelkasten method",
        "Case studies of Dvořák",
        "Plan",
        "",
        "Plan of the case\nwork",
        "会議",
        "Pricing review",
    ]
)


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
        ([], []),
    ],
)
def test_titles_that_hold_all_terms_are_found(
    terms: list[str], held: list[tuple[int, float]]
) -> None:
    for among in (None, np.arange(7)):
        rows, shares = TITLES.holding(terms, among=among)
        assert list(zip(rows.tolist(), shares.tolist(), strict=True)) == held


def test_a_word_of_very_many_titles_names_none() -> None:
    titles = titles_of([f"Meeting {number}" for number in range(MOST_TITLES + 1)])
    assert not len(titles.holding(["meet"])[0])
    assert titles.holding(["meet", "7"])[0].tolist() == [7]


def test_there_may_be_no_titles() -> None:
    assert not len(titles_of([]).holding(["plan"])[0])


def test_titles_of_changed_documents_replace_those_before() -> None:
    older, newer = titled(["Plan of old", "A plan", "Review"]), titled(["New plan"])
    titles = TitleWords(
        [
            DocumentSegment(older, np.array([-1, 1, 2])),
            DocumentSegment(newer, np.array([0])),
        ]
    )
    for among in (None, np.arange(3)):
        rows, shares = titles.holding(["plan"], among=among)
        assert rows.tolist() == [0, 1]
        assert shares.tolist() == [1 / 2, 1.0]
