from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase, OutOfRange
from kbx_tui.search.request import SearchRequest
from kbx_tui.tools.arguments import KbxSearch


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    (tmp_path / "note.md").write_text("# Note\n\nThe harbour.\n", encoding="utf-8")
    return KnowledgeBase(tmp_path)


def test_unknown_search_option_is_a_type_error_with_the_valid_names(kb: KnowledgeBase) -> None:
    with pytest.raises(TypeError, match=r"'limt'; valid: limit, path, .*, explain$"):
        kb.search("harbour", limt=3)
    with pytest.raises(TypeError, match="'colour'"):
        kb.retrieve(SearchRequest("harbour"), colour="red")
    assert not kb.is_indexed()


def test_search_takes_a_query_or_a_request(kb: KnowledgeBase) -> None:
    response = kb.search("harbour", fast=True)
    request = SearchRequest("harbour", fast=True)
    assert response.results == kb.search(request).results
    assert [result.path for result in response.results] == ["note.md"]


def test_options_replace_fields_of_a_request(kb: KnowledgeBase) -> None:
    request = SearchRequest("harbour", path="elsewhere", fast=True)
    assert not kb.search(request).results
    assert kb.search(request, path=None).results
    with pytest.raises(OutOfRange, match="limit"):
        kb.search(request, limit=0)


def test_tuning_keeps_the_configured_value_for_none(kb: KnowledgeBase) -> None:
    assert kb.tuning(alpha=None, max_entities=3).alpha == kb.settings.search.hierarchy_alpha
    assert kb.tuning(max_entities=3).max_entities == 3


def test_base_can_be_used_again_after_close(kb: KnowledgeBase) -> None:
    before = kb.search("harbour", fast=True).results
    kb.close()
    assert kb.search("harbour", fast=True).results == before


def test_arguments_of_the_search_tool_are_fields_of_a_request() -> None:
    assert set(KbxSearch.model_fields) <= {field.name for field in fields(SearchRequest)}
