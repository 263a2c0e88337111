"""The same notes and queries in six languages, in one base and judged alike."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.evaluation.metrics import ndcg

FOLDER = Path(__file__).with_name("languages")
ENGLISH = "english"
OTHERS = ("french", "german", "japanese", "russian", "spanish")
JUDGMENTS: list[dict[str, int]] = tomllib.loads((FOLDER / "judgments.toml").read_text("utf-8"))[
    "judgments"
]
"""Grades of notes by name, for each query."""


def translation(language: str) -> Mapping[str, Any]:
    """Return the `queries` and `notes` in one language."""
    return tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """Return a base of the notes in all languages, indexed for words."""
    base = tmp_path_factory.mktemp("languages")
    for language in (ENGLISH, *OTHERS):
        folder = base / "memory" / "notes" / language
        folder.mkdir(parents=True)
        for name, text in translation(language)["notes"].items():
            (folder / f"{name}.md").write_text(text, "utf-8")
    with KnowledgeBase(base) as kb:
        kb.index(fast=True)
        yield kb


def quality(kb: KnowledgeBase, language: str, *, path: str | None = None) -> float:
    """Return the mean nDCG@10 of the queries in a language; its notes are the judged ones."""
    scores = []
    for query, grades in zip(translation(language)["queries"], JUDGMENTS, strict=True):
        results = kb.search(query, limit=10, fast=True, path=path).results
        judged = {f"memory/notes/{language}/{name}.md": grade for name, grade in grades.items()}
        scores.append(ndcg([result.path for result in results], judged))
    return mean(scores)


@pytest.mark.parametrize("language", OTHERS)
def test_other_languages_are_searched_as_well_as_english(
    mixed: KnowledgeBase, language: str
) -> None:
    assert quality(mixed, language) >= quality(mixed, ENGLISH) - 0.05


def test_snippets_mark_other_forms_of_a_word_in_the_language_of_the_note(
    mixed: KnowledgeBase,
) -> None:
    (result,) = mixed.search("Kündigungsfristen von Mietverträgen", limit=1, fast=True).results
    marked = {result.snippet[start:end] for start, end in result.matches}
    assert result.path.endswith("german/notice-period.md")
    assert "Kündigungsfrist" in marked


def test_function_words_of_the_language_of_a_query_are_not_searched(mixed: KnowledgeBase) -> None:
    results = mixed.search("wer sind die und der", limit=10, fast=True).results
    assert all("/german/" not in result.path for result in results)
