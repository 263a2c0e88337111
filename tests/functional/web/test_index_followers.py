"""The processes that keep indices up to date are started again, unless they cannot run."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from kbx_tui.web import index_followers
from kbx_tui.web.index_followers import indices_followed


def starts(file: Path) -> int:
    return len(file.read_text()) if file.exists() else 0


@pytest.fixture
def ending(tmp_path: Path) -> list[str]:
    """A command that writes a character and ends."""
    return [sys.executable, "-S", "-c", f"open({str(tmp_path / 'starts')!r}, 'a').write('.')"]


async def test_a_process_that_ends_is_started_again(
    ending: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_followers, "LEAST_SECONDS", 0.0)
    async with indices_followed([ending]):
        while starts(tmp_path / "starts") < 3:
            await asyncio.sleep(0.01)


async def test_a_process_that_ends_at_once_is_not_started_again(
    ending: list[str], tmp_path: Path
) -> None:
    async with indices_followed([ending]):
        while not starts(tmp_path / "starts"):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
    assert starts(tmp_path / "starts") == 1
