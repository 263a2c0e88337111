"""A path filter applies equally to words and vectors, for unusual file names too."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui import ConfigError, KnowledgeBase
from tests.functional.vaults import write_vault
from tests.unit.index.paths.reference_globs import in_scope

NAMES = sorted(
    f"memory/{folder}{name}.md"
    for folder in ("", "people/", "people_ops/", "2026/01/", "2026/03/x/", "100%/", "it's/",
                   "a[1]/", "{a,b}/", "back\\slash/", 'quo"te/', "with blank/", "é/", "_/", "!a/")
    for name in ("a", "a[1]", "b_c", "100%")
)  # fmt: skip
PATTERNS = [
    "", "memory", "memory/people", "memory/people/", "memory/peopl", "memory/p_ople", "memory/%",
    "memory/100%/", "memory/it's", "memory/it's/*.md", "memory/a[1]", "memory/a[1]/a[1].md",
    "memory/a[[]1]/", "memory/{a,b}", "memory/[{]a,b}/*", "memory/back\\slash/", "memory/*\\*/",
    'memory/quo"te/', "memory/with blank/", "memory/é", "memory/_/", "memory/!a/", "memory/[!a]/",
    "memory/2026/0[1-3]/", "memory/2026/0[1-3]", "memory/2026/**/a.md", "**/b_c.md", "*/*.md",
    "memory/?????????*.md", "{memory/people/,memory/_/a.md}", "memory/**/100%.md", "memory/[", "{",
    "' OR 1=1 --", "memory/') OR starts_with(path, 'memory", "\x00", "memory/\n",
]  # fmt: skip


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    files = {path: f"# Page {number}\n\nA duck swims.\n" for number, path in enumerate(NAMES)}
    base = KnowledgeBase(write_vault(tmp_path_factory.mktemp("base"), files))
    base.index()
    return base


@pytest.mark.parametrize("pattern", PATTERNS, ids=repr)
def test_search_returns_exactly_the_documents_in_scope(kb: KnowledgeBase, pattern: str) -> None:
    expected = set(in_scope(pattern, NAMES))
    for options in ({"fast": True}, {"hierarchy": False}, {}):
        results = kb.search("swimming duck", path=pattern, limit=1000, **options).results
        assert {result.path for result in results} == expected
    evidence = kb.retrieve("swimming duck", path=pattern)
    assert set(evidence.paths) == expected
    assert (evidence.as_typed.raw_lexical > 0.0).all(), "words missed a document in scope"
    assert (evidence.as_typed.cosine > 0.1).all(), "vectors missed a document in scope"
    assert kb.documents.count_scope(pattern) == (len(expected), len(NAMES))


def test_scores_are_bit_identical_under_any_path(kb: KnowledgeBase) -> None:
    everywhere = kb.retrieve("swimming duck")
    unfiltered = dict(zip(everywhere.paths, everywhere.as_typed.cosine.tolist(), strict=True))
    for pattern in ("memory/people", "**/b_c.md", "memory/it's/*"):
        inside = kb.retrieve("swimming duck", path=pattern)
        assert dict(zip(inside.paths, inside.as_typed.cosine.tolist(), strict=True)).items() <= (
            unfiltered.items()
        )


@pytest.mark.parametrize("path", ["", "**", "memory/people/", "memory/**", "memory/2026/0[1-3]/"])
def test_scope_holds_the_path_and_is_complete(kb: KnowledgeBase, path: str) -> None:
    scope = kb.retrieve("duck", path=path).scope
    assert (scope.path, scope.in_scope, scope.complete) == (path, len(in_scope(path, NAMES)), True)


def test_document_type_limits_the_scope(kb: KnowledgeBase) -> None:
    assert kb.retrieve("duck", doc_types=["person"]).scope.in_scope == 4


@pytest.mark.parametrize("path", ["..", "memory/../../x", "/etc", "{memory,..}/x"])
def test_path_outside_the_base_is_rejected(kb: KnowledgeBase, path: str) -> None:
    with pytest.raises(ConfigError, match="give one below it"):
        kb.search("duck", path=path)


def test_paths_are_completed_from_the_index(kb: KnowledgeBase, tmp_path: Path) -> None:
    assert kb.documents.complete_path("memory/peo") == ("memory/people/", "memory/people_ops/")
    assert kb.documents.complete_path("memory/people/b") == ("memory/people/b_c.md",)
    assert len(kb.documents.complete_path("memory/", limit=5)) == 5
