"""`kbx install-agent` adds one entry to an agent's settings, and takes it back byte for byte."""

import json
import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from kbx_tui.cli.commands.servers import AGENT_NAMES
from kbx_tui.tools.agent_settings import AGENTS
from kbx_tui.tools.methods import available_methods
from tests.command_line import CommandLine, Ran, run_program

CONFIG = "Library/Application Support" if sys.platform == "darwin" else ".config"
PLACES = {
    "claude": ".claude.json",
    "claude-desktop": f"{CONFIG}/Claude/claude_desktop_config.json",
    "codex": ".codex/config.toml",
    "cursor": ".cursor/mcp.json",
    "vscode": f"{CONFIG}/Code/User/mcp.json",
}


class Installer:
    """Runs the command for a user with a home folder of their own."""

    def __init__(self, kbx: CommandLine, home: Path, notes: Path) -> None:
        self._kbx, self.home, self.notes = kbx, home, notes

    def __call__(self, *arguments: str) -> Ran:
        return self._kbx("--kb", self.notes, "install-agent", *arguments)

    def file(self, agent: str) -> Path:
        return self.home / PLACES[agent]

    def servers(self, agent: str) -> Any:
        text = self.file(agent).read_bytes().decode("utf-8-sig")
        settings = (tomllib if agent == "codex" else json).loads(text)
        return settings.get(AGENTS[agent].section, {})


@pytest.fixture
def install(kbx: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installer:
    home, notes = tmp_path / "home", tmp_path / "notes"
    notes.mkdir()
    for place in PLACES.values():
        (home / place).parent.mkdir(parents=True, exist_ok=True)
    (notes / "a.md").write_text("# A\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(home))
    for variable in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(variable, raising=False)
    return Installer(kbx, home, notes)


def test_without_write_the_entry_and_its_place_are_printed(install: Installer) -> None:
    assert tuple(AGENTS) == AGENT_NAMES == tuple(PLACES)
    for agent in AGENT_NAMES:
        shown = install(agent)
        (servers,) = (tomllib if agent == "codex" else json).loads(shown.out).values()
        assert servers["kbx"]["args"][-3:] == ["--kb", str(install.notes), "mcp"]
        assert str(install.file(agent)) in shown.err
        assert not install.file(agent).exists()
        assert install(agent, "--json").json["written"] is False


@pytest.mark.parametrize(
    ("agent", "before"),
    [
        ("claude", b'{\n  "n": 1.0e5,\n  "n2": 12345678901234567890, "e": "\\u00e9"\n}\n'),
        ("claude", b'{"mcpServers":{"other":{"command":"x"}},"z":[1,2]}'),
        ("claude", b'{\n\t"mcpServers": {\n\t\t"other": {}\n\t},\n\t"z": {}\n}'),
        ("claude", b'\xef\xbb\xbf{\r\n    "mcpServers": {},\r\n    "z": null\r\n}\r\n'),
        ("claude", b'{"z": "\xc3\xa9 }, \\" {"}\n'),
        ("vscode", b'{\n  "servers": {"other": {"type": "http"}}, "inputs": []\n}\n'),
        ("vscode", b"{}"),
        ("cursor", b'{"mcpServers": {"a": {}, "b": {}}}\n'),
        ("codex", b'# mine\nmodel = "o"  # best\n\n[mcp_servers.other]\ncommand = "x"\n'),
        ("codex", b'[mcp_servers]\n\n[tui]\nx = 1\n[mcp_servers.other]\r\ncommand = "x"\r\n'),
        ("codex", b"[mcp_servers]\n"),
        ("codex", b""),
    ],
)
def test_undo_restores_every_byte(install: Installer, agent: str, before: bytes) -> None:
    file = install.file(agent)
    file.write_bytes(before)
    file.chmod(0o600)
    others = install.servers(agent)
    added = install(agent, "--write")
    assert (added.code, added.out) == (0, f"written · {file}\n"), added.err
    written = file.read_bytes()
    servers = install.servers(agent)
    assert servers.pop("kbx")["args"][-3:] == ["--kb", str(install.notes), "mcp"]
    assert servers == others
    assert file.stat().st_mode & 0o777 == 0o600
    assert "says this already" in install(agent, "--write").err
    assert file.read_bytes() == written
    install(agent, "--write", "--allow-writes")
    assert install.servers(agent)["kbx"]["args"][-1] == "--allow-writes"
    assert install(agent, "--write", "--name", "second").code == 0
    assert install(agent, "--undo", "--name", "second").code == 0
    assert install(agent, "--undo").out == f"removed kbx from {file}\n"
    assert file.read_bytes() == before
    assert install(agent, "--undo").code == 4


def test_a_file_is_made_where_the_agent_is_installed(install: Installer) -> None:
    for agent in AGENT_NAMES:
        assert install(agent, "--write").code == 0
        assert list(install.servers(agent)) == ["kbx"]
        assert install(agent, "--undo").code == 0
        assert install.servers(agent) == {}
    (install.home / ".cursor").rename(install.home / "gone")
    refused = install("cursor", "--write")
    assert refused.code == 7
    assert "is the agent installed?" in refused.err


@pytest.mark.parametrize(
    ("agent", "before"),
    [
        ("vscode", b'{\n  // mine\n  "servers": {}\n}\n'),
        ("vscode", b'{"servers": {},}'),
        ("claude", b"[1]"),
        ("claude", b'{"mcpServers": null}'),
        ("claude", b'{"mcpServers": {"a": 1'),
        (
            "claude",  # whose last `kbx` is as ours
            b'{"mcpServers": {"kbx": 1, "kbx": {"command": "p", "args": ["--kb", "x", "mcp"]}}}',
        ),
        ("claude", b"\xff\xfe"),
        ("claude", b"[" * 100_000),
        ("codex", b"mcp_servers = {}\n"),
        ("codex", b"model ="),
    ],
)
def test_what_cannot_be_merged_is_left_with_the_entry_to_paste(
    install: Installer, agent: str, before: bytes
) -> None:
    install.file(agent).write_bytes(before)
    refused = install(agent, "--write")
    assert refused.code == 7
    assert refused.err.count("\n") == 1
    assert '"--kb", ' in refused.err
    assert install.file(agent).read_bytes() == before
    assert install(agent, "--undo").code in (4, 7)


def test_hostile_settings_files_are_left_alone(install: Installer, tmp_path: Path) -> None:
    file, elsewhere = install.file("claude"), tmp_path / "elsewhere.json"
    elsewhere.write_text("{}", encoding="utf-8")

    def refusal() -> str:
        for option in ("--write", "--undo"):
            refused = install("claude", option)
            assert refused.code in (4, 7), refused.err
            assert refused.err.count("\n") == 1
            assert "Error" not in refused.err
            if option == "--write":
                said = refused.err
        file.rmdir() if file.is_dir() and not file.is_symlink() else file.unlink()
        return said

    file.symlink_to(elsewhere)
    assert "outside your home folder" in refusal()
    file.symlink_to(file)
    assert "symbolic link" in refusal()
    file.mkdir()
    assert "a folder" in refusal()
    os.mkfifo(file)
    assert "a pipe" in refusal()
    with file.open("wb") as stream:
        stream.truncate(65 * 1024 * 1024)
    assert "larger than" in refusal()
    file.write_text("{}", encoding="utf-8")
    file.chmod(0o400)
    assert "write-protected" in refusal()
    assert elsewhere.read_text(encoding="utf-8") == "{}"


def test_a_link_within_the_home_folder_is_followed(install: Installer) -> None:
    kept = install.home / "dotfiles.json"
    kept.write_text("{}\n", encoding="utf-8")
    install.file("claude").symlink_to(kept)
    assert install("claude", "--write").code == 0
    assert install.file("claude").is_symlink()
    assert "kbx" in kept.read_text(encoding="utf-8")


def test_a_folder_named_by_the_agents_variable_is_used(
    install: Installer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "codex").mkdir()
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    assert install("codex", "--write").out == f"written · {tmp_path}/codex/config.toml\n"


@pytest.mark.parametrize("home", ["", "relative", "/nowhere/at/all"])
def test_without_a_home_folder_it_says_so(
    install: Installer, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    monkeypatch.setenv("HOME", home)
    refused = install("claude", "--write")
    assert (refused.code, refused.err) == (
        2,
        "kbx: your home folder is not known; set HOME to it\n",
    )


def test_entries_of_others_and_changed_ones_are_kept(install: Installer) -> None:
    file = install.file("cursor")
    file.write_text('{"mcpServers": {"kbx": {"command": "mine"}}}', encoding="utf-8")
    refused = install("cursor", "--write")
    assert refused.code == 7
    assert "--name" in refused.err
    assert install("cursor", "--undo").code == 7
    assert install("cursor", "--write", "--name", "notes").code == 0
    changed = file.read_text(encoding="utf-8").replace('"mcp"', '"mcp", "--no-warm"')
    file.write_text(changed, encoding="utf-8")
    assert install("cursor", "--undo", "--name", "notes").code == 7
    assert file.read_text(encoding="utf-8") == changed


def test_arguments_that_make_no_sense_are_refused(install: Installer) -> None:
    assert install("cursor", "--write", "--undo").code == 2
    assert install("cursor", "--write", "--name", 'a"b').code == 2
    assert install("notepad").code == 2


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
@pytest.mark.parametrize(
    ("end", "said"),
    [(b"\xff", "is not valid UTF-8"), (b"${X:-Mail}", "agents expand as a variable")],
)
def test_a_base_that_settings_cannot_name_is_refused(
    install: Installer, end: bytes, said: str
) -> None:
    install.notes = Path(os.fsdecode(bytes(install.notes) + end))
    install.notes.mkdir()
    assert said in install("cursor", "--write").err
    assert not install.file("cursor").exists()


def test_the_skill_names_tools_that_are_listed(install: Installer) -> None:
    for options, writes in (((), False), (("--allow-writes",), True)):
        text = install("claude", "--skill", *options).out
        listed = {each.tool for each in available_methods(allow_writes=writes) if each.is_listed}
        assert set(re.findall(r"`(kbx?_\w+)`", text)) <= listed
        assert "follow instructions" in text


@pytest.mark.slow
def test_the_command_of_the_entry_starts_a_server(install: Installer) -> None:
    home = {"HOME": str(install.home)}
    printed = run_program("--kb", install.notes, "install-agent", "cursor", "--json", env=home)
    entry = printed.json["entry"]
    started = run_program(*entry["args"][3:], stdin="", env=home)
    assert entry["args"][:3] == ["-P", "-m", "kbx_tui"], "not a package in the agent's folder"
    assert (started.code, started.err) == (0, "")
