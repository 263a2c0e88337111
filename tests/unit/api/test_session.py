from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui.api.session import Session
from kbx_tui.config import Settings


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
