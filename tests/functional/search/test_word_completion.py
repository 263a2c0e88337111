"""The last word of a query that is being typed is continued to a word of the base."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase


@pytest.fixture(scope="module")
def kb(demo_kb_path: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(demo_kb_path) as kb:
        yield kb


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("migr", "migration"),
        ("migrati", "migration"),  # longer than the stem
        ("what about the Migr", "what about the Migration"),
        ("type:meeting rollb", "type:meeting rollback"),
        ("ali", "alice"),
    ],
)
def test_a_beginning_is_continued_to_a_whole_word(
    kb: KnowledgeBase, typed: str, completed: str
) -> None:
    assert kb.documents.complete_query(typed) == completed


@pytest.mark.parametrize(
    "query",
    [
        "",
        "mi",
        "migration",
        "plan",  # a word, although planning begins like it
        "the",
        "Alice",
        "migr ",
        "zzz",
        '"migr',
        "in:migr",
        "migr2",
        "http://migr",
    ],
)
def test_what_is_whole_or_leads_nowhere_stays(kb: KnowledgeBase, query: str) -> None:
    assert kb.documents.complete_query(query) == query


def test_a_word_is_continued_in_the_language_of_the_documents(tmp_path: Path) -> None:
    notes = tmp_path / "memory" / "notes"
    notes.mkdir(parents=True)
    for day in range(3):
        text = "Wir haben die Lieferungen aus dem Lager und die Verträge noch nicht geprüft."
        (notes / f"lager-{day}.md").write_text(f"# Lager {day}\n\n{text}\n", encoding="utf-8")
    with KnowledgeBase(tmp_path) as kb:
        kb.index(fast=True)
        assert kb.documents.complete_query("liefer") == "lieferungen"
        assert kb.documents.complete_query("vertr") == "vertrage"


def test_search_itself_completes_nothing(kb: KnowledgeBase) -> None:
    assert kb.search("migr", fast=True).results != kb.search("migration", fast=True).results
