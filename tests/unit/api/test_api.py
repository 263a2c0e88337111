"""The entry point: options, requests, closing, and what one session shares."""

from dataclasses import fields
from pathlib import Path
from unittest import mock

import pytest

from kbx_tui import KnowledgeBase, OutOfRange
from kbx_tui.api.session import SMALL_BASE, Session
from kbx_tui.config import Settings
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


def test_search_takes_a_query_or_a_request_whose_fields_options_replace(kb: KnowledgeBase) -> None:
    response = kb.search("harbour", fast=True)
    request = SearchRequest("harbour", fast=True)
    assert response.results == kb.search(request).results
    assert [result.path for result in response.results] == ["note.md"]

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


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path, Settings())


def test_shared_resource_is_made_once_until_close(session: Session) -> None:
    first = session.shared(list, list)
    assert session.shared(list, list) is first
    session.close()
    assert session.shared(list, list) is not first


def test_unindexed_base_is_indexed_with_a_notice(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# Note\n", encoding="utf-8")
    notices: list[str] = []
    session = Session(tmp_path, Settings(), notices.append)
    session.ensure_indexed()
    session.ensure_indexed()
    assert notices == [f"{tmp_path} is not indexed yet; indexing its text first"]
    assert session.is_indexed()


@pytest.mark.parametrize(("notes", "finds_by_meaning"), [(5, True), (SMALL_BASE + 1, False)])
def test_first_search_of_a_small_base_finds_by_meaning(
    tmp_path: Path, notes: int, finds_by_meaning: bool
) -> None:
    for number in range(notes):
        (tmp_path / f"{number}.md").write_text(f"# Trip {number}\n\nA train to the coast.\n")
    (tmp_path / "0.md").write_text("# Boiler\n\nThe plumber replaced the pump; rooms are warm.\n")
    with KnowledgeBase(tmp_path) as kb:
        found = kb.search("house heating")
    assert [each.path for each in found.results] == ["0.md"] * finds_by_meaning
    assert found.meta.vector_share == float(finds_by_meaning)


def test_the_session_of_agents_follows_that_of_the_owner(session: Session) -> None:
    public = session.public()
    assert session.public() is public
    (session.root / "kbx.toml").write_text("[search]\nhierarchy_alpha = 0.9\n", "utf-8")
    public.reread_settings()
    assert public.settings is session.settings
    assert public.settings.search.hierarchy_alpha == 0.9
    session.published = public.published = mock.Mock()
    session.use_own_index()
    assert all(each.published is None for each in (session, public))
