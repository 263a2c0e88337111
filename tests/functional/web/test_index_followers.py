"""The processes that keep indices up to date are started again, unless they cannot run."""

import errno
import os
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from kbx_tui.user_files import logger
from kbx_tui.web import serving
from kbx_tui.web.serving import indices_followed
from tests.waiting import until


def starts(file: Path) -> int:
    return len(file.read_text()) if file.exists() else 0


async def fail_to_start(*command: str) -> NoReturn:
    raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))


@pytest.fixture
def ending(tmp_path: Path) -> list[str]:
    """A command that writes a character and ends."""
    return [sys.executable, "-S", "-c", f"open({str(tmp_path / 'starts')!r}, 'a').write('.')"]


async def test_a_process_that_ends_is_started_again(
    ending: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "LEAST_SECONDS", 0.0)
    async with indices_followed([ending]):
        await until(lambda: starts(tmp_path / "starts") >= 3)


async def test_a_process_that_cannot_be_started_again_is_logged(
    ending: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "LEAST_SECONDS", 0.0)
    logged: list[str] = []
    monkeypatch.setattr(logger(), "error", lambda text, *values: logged.append(text % values))
    async with indices_followed([ending]):
        monkeypatch.setattr(serving, "start_child", fail_to_start)
        await until(lambda: len(logged) >= 2)
    assert logged[1] == "it cannot be started: Cannot allocate memory"


async def test_a_process_that_ends_at_once_is_not_started_again(
    ending: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged: list[str] = []
    monkeypatch.setattr(logger(), "error", lambda text, *values: logged.append(text % values))
    async with indices_followed([ending]):
        await until(lambda: logged)
    assert logged[0].endswith("files that change are not indexed any more")
    assert starts(tmp_path / "starts") == 1
