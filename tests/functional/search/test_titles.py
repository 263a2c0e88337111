"""A note that is known by its file name is found by it, as one with a heading would be."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from tests.functional.vaults import write_vault
from tests.functional.zettelkasten import NOTES, write_zettelkasten

LINKED = ["Evergreen notes", "Folgezettel", "Index cards", "Rye bread", "Raised beds"]
"""Notes that others link to by their name."""


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    base = KnowledgeBase(write_zettelkasten(tmp_path_factory.mktemp("vault")))
    base.index()
    return base


def titles(kb: KnowledgeBase, query: str, *, fast: bool = False) -> list[str]:
    return [result.title for result in kb.search(query, limit=5, fast=fast).results]


@pytest.mark.parametrize("fast", [False, True], ids=["with-meaning", "fast"])
@pytest.mark.parametrize(
    "query", ["zettelkasten", "Zettelkasten-Method", "method zettelkasten", "the zettelkasten"]
)
def test_a_note_comes_before_those_that_link_to_it(
    kb: KnowledgeBase, query: str, fast: bool
) -> None:
    assert len(NOTES) == 40
    assert titles(kb, query, fast=fast)[0] == "Zettelkasten method"


@pytest.mark.parametrize("fast", [False, True], ids=["with-meaning", "fast"])
def test_the_words_of_a_title_find_its_note_first(kb: KnowledgeBase, fast: bool) -> None:
    for title in LINKED:
        backwards = " ".join(reversed(title.lower().split()))
        assert titles(kb, backwards, fast=fast)[0] == title
        assert titles(kb, f"{title}?", fast=fast)[0] == title


def test_a_title_counts_the_same_as_heading_frontmatter_or_file_name(tmp_path: Path) -> None:
    text = "Fifty grams of rye flour and fifty of water, every day at the same hour."
    files = {
        "memory/notes/a.md": f"# Sourdough starter\n\n{text}\n",
        "memory/notes/b.md": f"---\ntitle: Sourdough starter\n---\n{text}\n",
        "memory/notes/Sourdough starter.md": f"{text}\n",
    }
    kb = KnowledgeBase(write_vault(tmp_path / "base", files))
    kb.index()
    results = kb.search("how is a sourdough starter fed?", explain=True).results
    assert len(results) == 3
    explanations = [result.explain or {} for result in results]
    for part in ("fts_score", "cosine"):
        assert len({round(explanation[part], 3) for explanation in explanations}) == 1, part


def test_words_of_a_file_name_and_of_properties_find_a_note(tmp_path: Path) -> None:
    files = {
        "memory/notes/vendor-shortlist.md": "# Ideas\n\nThree names to call.\n",
        "memory/notes/b.md": (
            "---\nsummary: lighthouse keepers\nstage: [dormant, 12]\nshop_id: keeper\n---\nText.\n"
        ),
    }
    with KnowledgeBase(write_vault(tmp_path / "base", files)) as kb:
        kb.index(fast=True)
        for query, title in [
            ("shortlisted vendors", "Ideas"),
            ("a lighthouse keeper", "b"),
            ("dormant", "b"),
        ]:
            assert titles(kb, query, fast=True) == [title]
