"""Nothing leaves the machine, and nothing is written but where docs/privacy.md says.

Every way in is run as a program of its own, with a home folder of its own, under
`guard/sitecustomize.py`. Files of native libraries are found by comparing the home folder.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from kbx_tui.embedding import OPT_OUTS
from kbx_tui.index.ownership import IDS
from kbx_tui.user_files import user_state_folder
from tests.command_line import CHECKOUT, run_program
from tests.functional.vaults import index_vault
from tests.terminal.terminal import APP, terminal
from tests.trusting import copy_base

PAGES = {
    "memory/people/alice-chen.md": "# Alice Chen\n\n## Recent Facts\n- Prefers async Slack\n",
    "memory/projects/migration.md": "# Migration\n\nMoves the tickets to the new harbour system.\n",
    "memory/notes/rollback.md": "# Rollback plan\n\nAlice Chen goes back to the old pier.\n",
}
FOLDER_VARIABLES = ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")


@dataclass(frozen=True)
class Place:
    """A home with the ids of indexes only, a working folder and a base, for guarded programs."""

    base: Path
    home: Path
    work: Path
    log: Path

    def assert_private(self) -> None:
        """Fail for every call the guard saw, and every file outside our folders."""
        assert self.log.read_text(encoding="utf-8") == ""
        files = [file for file in self.home.rglob("*") if not file.is_dir()]
        assert [file for file in files if "kbx-tui" not in file.relative_to(self.home).parts] == []
        assert list(self.work.iterdir()) == []


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base whose every search needs the model."""
    return index_vault(tmp_path_factory.mktemp("private"), PAGES)


@pytest.fixture
def place(indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A place whose variables are in the environment, and none that this process set."""
    place = Place(tmp_path / "base", tmp_path / "home", tmp_path / "work", tmp_path / "log")
    temporary = tmp_path / "temporary"
    for folder in (place.home, place.work, temporary):
        folder.mkdir()
    place.log.touch()
    copy_base(indexed, place.base)
    own_indexes = user_state_folder() / IDS
    for name in (*OPT_OUTS, *FOLDER_VARIABLES, "KBX_STATE_DIR", "KBX_LOG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(place.home))
    shutil.copytree(own_indexes, user_state_folder() / IDS)  # so its index is opened without asking
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("PYTHONPATH", python_path())
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("KBX_GUARD_LOG", str(place.log))
    monkeypatch.setenv("KBX_GUARD_ALLOWED", os.pathsep.join(map(str, (place.base, temporary))))
    monkeypatch.chdir(place.work)
    return place


def python_path() -> str:
    return os.pathsep.join((str(Path(__file__).parent / "guard"), str(CHECKOUT)))


def run_kbx(place: Place, *arguments: str) -> str:
    ran = run_program("--kb", place.base, *arguments, env={"PYTHONPATH": python_path()})
    assert ran.code == 0, ran.err
    return ran.out


def run_python(code: str) -> int:
    return subprocess.run([sys.executable, "-c", code], check=False, stderr=-3).returncode


def test_the_command_line_is_private(place: Place) -> None:
    run_kbx(place, "index", "--full")
    assert "Rollback plan" in run_kbx(place, "search", "what does alice do about the pier?")
    assert "Slack" in run_kbx(place, "memory", "similar", "likes asynchronous Slack")
    run_kbx(place, "memory", "add", "Speaks Catalan", "--entity", "Alice Chen")
    run_kbx(place, "undo")
    run_kbx(place, "status")
    place.assert_private()


def test_the_app_is_private(place: Place) -> None:
    with terminal([*APP, "--kb", str(place.base)]) as app:
        app.wait_for("3 documents")
        app.type("what does alice do about the pier")
        app.wait_for("Rollback plan")
        app.press("escape", "q")
        assert app.wait_for_exit() == 0
    assert list(place.home.rglob("state.json"))  # so the home folder is the one the app uses
    place.assert_private()


async def test_the_mcp_server_is_private(place: Place) -> None:
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", "kbx_tui", "--kb", str(place.base), "mcp"],
        env=dict(os.environ),
    )
    async with Client(program) as client:
        found = await client.call_tool("kb_search", {"query": "what about the pier?"})
        assert found.structured_content["ok"] is True
    place.assert_private()


def test_the_jsonl_server_is_private(place: Place) -> None:
    request = {"id": 1, "method": "kb.search", "params": {"query": "what about the pier?"}}
    ran = subprocess.run(
        [*APP, "--kb", str(place.base), "jsonl"],
        input=json.dumps(request),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert json.loads(ran.stdout)["ok"] is True, ran.stderr
    place.assert_private()


def test_a_program_that_uses_the_package_is_private(place: Place) -> None:
    code = "from kbx_tui import KnowledgeBase; KnowledgeBase({!r}).search('the pier')"
    assert run_python(code.format(str(place.base))) == 0
    place.assert_private()


def test_variables_that_the_user_set_keep_their_values(place: Place) -> None:
    code = "import os; mine = {!r}; os.environ.update(mine); import kbx_tui.embedding.local\n"
    code += "assert mine.items() <= os.environ.items()"
    assert run_python(code.format(dict.fromkeys(OPT_OUTS, "mine"))) == 0


# The guard itself.


def test_the_guard_sees_connections_and_files_of_python(place: Place) -> None:
    assert run_python("import socket; socket.getaddrinfo('example.org', 443)") == 1
    assert run_python(f"open({str(place.home / 'id')!r}, 'w')") == 1
    reported = place.log.read_text(encoding="utf-8").splitlines()
    assert reported == ["socket.getaddrinfo example.org", f"open {place.home / 'id'}"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can filter system calls")
def test_the_guard_ends_a_native_library_that_connects(place: Place) -> None:
    code = (
        "import ctypes, socket; s = socket.socket()\n"
        "a = bytes([2, 0, 0, 9, 127, 0, 0, 1, *[0] * 8])"  # port 9 of this machine
    )
    connecting = f"{code}\nctypes.CDLL(None).connect(s.fileno(), a, 16)"
    sending = f"{code}\nctypes.CDLL(None).sendto(s.fileno(), a, 1, 0, a, 16)"
    assert [run_python(code), run_python(connecting), run_python(sending)] == [
        0,
        -signal.SIGSYS,
        -signal.SIGSYS,
    ]
