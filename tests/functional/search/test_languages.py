"""The same notes and queries in six languages, in one base and judged alike."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.evaluation.metrics import ndcg
from tests.functional.vaults import index_vault

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


def test_words_are_those_of_the_language_of_the_note_or_query(mixed: KnowledgeBase) -> None:
    (result,) = mixed.search("Kündigungsfristen von Mietverträgen", limit=1, fast=True).results
    marked = {result.snippet[start:end] for start, end in result.matches}
    assert result.path.endswith("german/notice-period.md")
    assert "Kündigungsfrist" in marked

    results = mixed.search("wer sind die und der", limit=10, fast=True).results
    assert all("/german/" not in result.path for result in results)


ALICE = "memory/people/alice-chen.md"


@pytest.mark.parametrize(
    ("query", "entity"),
    [
        ("achen rollbacks", "person:alice-chen"),
        ("Dvořák rollbacks", "person:marek-dvorak"),
        ("Okafor rehearsal", "person:bob-okafor"),
        ("Castellane complaints", "person:ruth-castellane"),
        ("Grace migration rehearsal", "person:grace-tully"),
    ],
)
def test_name_opens_the_second_pass_as_typed_and_in_small_letters(
    demo_kb_path: Path, query: str, entity: str
) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        for text in (query, query.lower()):
            meta = kb.search(text).meta
            assert meta.search_mode == "two_pass"
            assert entity in [found.id for found in meta.pass1_entities if found.score >= 0.5]


def test_topic_opens_no_second_pass_and_a_misspelt_name_its_page(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        for text in ("How Do Rollbacks Work", "how do rollbacks work"):
            assert kb.search(text).meta.search_mode == "flat"

    with KnowledgeBase(demo_kb_path) as kb:
        for text in ("Alcie Chen", "alcie chen"):
            first = kb.search(text).results[0]
            assert (first.path, first.score) == (ALICE, 1.0)


def test_project_that_no_document_is_linked_to_is_a_topic_beside_the_name_of_a_person(
    tmp_path: Path,
) -> None:
    files = {
        f"memory/{kind}/{name.lower().replace(' ', '-')}.md": f"---\nname: {name}\n---\n# {name}\n"
        for kind, name in [("people", "Ada Stone"), ("projects", "Random")]
    }
    for number, who in enumerate(("Ada Stone", "Ben Vale", "Eva Moss")):
        text = "A random number, and another random number." if number else "How random it is."
        files[f"memory/notes/{number}.md"] = f"# Draw {number}\n\n{text} By {who}.\n"
    with KnowledgeBase(index_vault(tmp_path / "base", files)) as kb:
        response = kb.search("Ada Stone's work on random", explain=True, doc_types=("note",))
        assert response.results[0].path == "memory/notes/0.md"
        assert [entity["name"] for entity in (response.results[0].explain or {})["entities"]] == [
            "Ada Stone"
        ]
        assert kb.search("random", limit=1).results[0].path == "memory/projects/random.md"
        meta = kb.search("status of Random").meta  # the name of nobody else is in the query
        assert [(entity.name, entity.score) for entity in meta.pass1_entities] == [("Random", 1.0)]


UMLAUTS = {
    "Reise.md": "# Reise\n\nHerr Größmann zeigte uns in Zürich zwei Öfen.\n\n"
    "Und die Brüllaffen der Bäuerin.\n",
    "people/jo.md": "---\nname: Jo Müller\n---\n# Jo Müller\n",
    "Treffen.md": "---\nattendees: [Eva Köhler]\n---\nBern\n",
    "B.md": "Bern: gust, pot, blu, tos, arial, michal.\n",
}


@pytest.mark.parametrize(
    ("query", "path"),
    [(word, "Reise.md") for word in ("Zuerich", "Zurich", "ZUERICH", "Groessmann", "Oefen")]
    + [
        ("Mueller", "people/jo.md"),
        ("Koehler", "Treffen.md"),
        ("Bruellaffe", "Reise.md"),
        ("Baeuerin", "Reise.md"),
    ],
)
def test_umlaut_is_found_by_its_two_letters(query: str, path: str, tmp_path: Path) -> None:
    with KnowledgeBase(index_vault(tmp_path / "base", UMLAUTS, fast=True)) as kb:
        assert [result.path for result in kb.search(query, fast=True).results] == [path]


@pytest.mark.parametrize("word", ["guest", "poet", "blue", "toes", "aerial", "Michael"])
def test_no_umlaut_is_found_by_two_letters_where_no_document_has_it(
    word: str, tmp_path: Path
) -> None:
    with KnowledgeBase(index_vault(tmp_path / "base", UMLAUTS, fast=True)) as kb:
        assert not kb.search(f"{word} room", fast=True).results
        assert not kb.search("Zuerich", path="people", fast=True).results
