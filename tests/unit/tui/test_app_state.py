"""The state of the app survives a restart, and damaged files are harmless."""

import os
from pathlib import Path

import pytest

from kbx_tui.search.query_history import LIMIT, PastQuery
from kbx_tui.tui.app_state import RECENT_BASES, AppState, user_file


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "kb" / ".kbx").mkdir(parents=True)
    return tmp_path / "kb"


def test_theme_and_recent_bases_are_restored(base: Path) -> None:
    state = AppState()
    state.remember_theme("nord")
    state.open_base(base)
    assert AppState().user.theme == "nord"
    assert AppState().user.bases == [str(base)]


def test_recent_bases_are_unique_and_newest_first(tmp_path: Path) -> None:
    state = AppState()
    for name in ("a", "b", "a"):
        state.open_base(tmp_path / name)
    assert state.user.bases == [str(tmp_path / "a"), str(tmp_path / "b")]
    for number in range(30):
        state.open_base(tmp_path / str(number))
    assert len(state.user.bases) == RECENT_BASES


def test_two_apps_keep_what_the_other_has_changed(tmp_path: Path) -> None:
    one, other = AppState(), AppState()
    one.open_base(tmp_path / "a")
    other.open_base(tmp_path / "b")
    one.remember_theme("nord")
    other.note_tour()
    assert other.forget_base(str(tmp_path / "a")) == 1
    one.recall_base(str(tmp_path / "a"), 1)
    user = AppState().user
    assert user.bases == [str(tmp_path / "b"), str(tmp_path / "a")]
    assert (user.theme, user.tour_seen) == ("nord", True)


def test_queries_and_hidden_panes_are_restored_per_base(base: Path) -> None:
    state = AppState()
    state.open_base(base)
    state.base.hidden = ["why"]
    for number in range(LIMIT + 5):
        state.remember_query(PastQuery(f"query {number}"))
    state.remember_query(PastQuery("query 7"))
    state.remember_query(PastQuery("query 7", found=3, settings={"alpha": 0.7}))
    state.remember_query(None)
    state.save_base()
    restored = AppState()
    restored.open_base(base)
    assert restored.base.hidden == ["why"]
    assert restored.queries[0] == "query 7"
    assert (restored.past[0].found, restored.past[0].settings) == (3, {"alpha": 0.7})
    assert len(restored.queries) == LIMIT


def test_no_folder_is_created_in_a_base_without_one(tmp_path: Path) -> None:
    state = AppState()
    state.open_base(tmp_path)
    state.save_base()
    assert not (tmp_path / ".kbx").exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"theme": 7}', b"\xff\xfe", b'{"x": 1}'])
def test_a_damaged_file_counts_as_empty(content: bytes) -> None:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_bytes(content)
    assert AppState().user.bases == []
    assert AppState().user.theme == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_state_folder_is_ignored(tmp_path: Path) -> None:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().parent.chmod(0o500)
    AppState().remember_theme("nord")


def test_a_file_in_place_of_the_state_folder_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KBX_STATE_DIR", str(tmp_path / "state"))
    user_file().parent.write_text("in the way")
    AppState().remember_theme("nord")
    assert AppState().user.theme == ""


def test_state_that_is_not_kept_reads_and_writes_no_file(base: Path) -> None:
    owner = AppState()
    owner.remember_theme("nord")
    owner.open_base(base)
    owner.remember_query(PastQuery("of the owner"))
    owner.base.hidden = ["why"]
    owner.save_base()
    files = {file: file.read_bytes() for file in base.parent.rglob("*") if file.is_file()}
    state = AppState(is_kept=False, theme="textual-light")
    assert state.user.theme == "textual-light"
    state.open_base(base)
    assert (state.past, state.base.hidden, state.user.bases) == ([], [], [str(base)])
    state.remember_query(PastQuery("of a visitor"))
    state.remember_theme("dracula")
    state.note_tour()
    state.note_entities_asked()
    assert state.queries == ["of a visitor"]
    assert files == {file: file.read_bytes() for file in base.parent.rglob("*") if file.is_file()}
    assert AppState().user.theme == "nord"
