"""A base from elsewhere does nothing outside itself before the user has allowed it."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase, NotTrusted
from kbx_tui.config import IndexSettings, Settings
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tui.base_session import Bases
from tests.command_line import CommandLine, run_program
from tests.functional.vaults import write_vault

PAGE = "memory/people/alice-chen.md"
GEMINI = "gemini at https://generativelanguage.googleapis.com/v1"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A base that may come from elsewhere."""
    return write_vault(tmp_path / "clone", {PAGE: "# Alice Chen\n\n## Facts\n- Likes tea\n"})


def configure(base: Path, text: str) -> None:
    (base / "kbx.toml").write_text(text, encoding="utf-8")


def snapshot_of(folder: Path) -> dict[str, bytes]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


UNTRUSTED = {
    "a folder": '[index]\nuri = "../outside"\n',
    "a store": '[index]\nuri = "s3://bucket/notes"\n',
    "gemini": '[embedding]\nmodel = "gemini"\n',
    "a server": '[embedding]\nmodel = "ollama/x"\naddress = "http://localhost:1/v1"\n',
    "a download": '[embedding]\nmodel = "BAAI/bge-small-en-v1.5"\n',
    "a model in the base": '[embedding]\nmodel = "./model"\n',
}


@pytest.mark.parametrize("settings", UNTRUSTED.values(), ids=UNTRUSTED)
@pytest.mark.parametrize("command", [("index", "--full"), ("search", "tea"), ("status",)], ids=str)
def test_every_command_stops_with_one_sentence(
    kbx: CommandLine, base: Path, settings: str, command: tuple[str, ...]
) -> None:
    configure(base, settings)
    before = snapshot_of(base.parent)
    ran = kbx("--kb", base, *command)
    assert (ran.code, ran.out) == (8, "")
    assert ran.err.count("\n") == 1
    assert f"run `kbx trust {base}`" in ran.err
    assert snapshot_of(base.parent) == before


def test_an_index_elsewhere_is_used_once_it_is_allowed(kbx: CommandLine, base: Path) -> None:
    configure(base, '[index]\nuri = "../outside"\n')
    assert kbx("--kb", base, "index", "--fast", "--trust").code == 0  # this time only
    assert kbx("--kb", base, "search", "tea", "--fast").code == 8
    shown = kbx("trust", base)
    assert shown.code == 0
    assert '[index] uri = "../outside"' in shown.out
    assert str(base.parent / "outside") in shown.out
    assert kbx("--kb", base, "search", "tea", "--fast").code == 0
    assert (base.parent / "outside" / "documents.lance").is_dir()


def test_a_later_change_of_the_setting_asks_again(kbx: CommandLine, base: Path) -> None:
    configure(base, '[index]\nuri = "../outside"\n')
    kbx("trust", base)
    configure(base, '[index]\nuri = "../outside"\n[search]\nfeedback = 0.1\n')
    assert kbx("--kb", base, "index", "--fast").code == 0
    configure(base, '[index]\nuri = "../another"\n')
    assert kbx("--kb", base, "index", "--fast").code == 8
    assert not (base.parent / "another").exists()


def test_trust_is_listed_and_removed(kbx: CommandLine, base: Path) -> None:
    configure(base, '[embedding]\nmodel = "gemini"\n')
    kbx("trust", base)
    assert f"embedding.model = {GEMINI}" in kbx("trust", "--list").out
    assert kbx("trust", base, "--remove").code == 0
    assert kbx("trust", "--list", "--json").json == []
    assert kbx("trust", base, "--remove").code == 4


def test_a_base_that_asks_for_nothing_is_not_stored(kbx: CommandLine, base: Path) -> None:
    assert "asks for nothing" in kbx("trust", base).out
    assert kbx("trust", "--list", "--json").json == []


def test_a_base_whose_path_is_not_text_cannot_be_allowed(kbx: CommandLine, tmp_path: Path) -> None:
    base = tmp_path / os.fsdecode(b"caf\xe9")
    try:
        write_vault(base, {PAGE: "# Alice Chen\n"})
    except OSError:
        pytest.skip("this file system has names in UTF-8 only")
    configure(base, "[writes]\nauto_commit = true\n")
    ran = kbx("trust", base)
    assert (ran.code, ran.out) == (1, "")
    assert "cannot be written: a path or setting is not valid text" in ran.err


def test_a_base_made_here_is_trusted(kbx: CommandLine, tmp_path: Path) -> None:
    base = Bases().new(str(tmp_path / "mine"))
    configure(base, '[index]\nuri = "../outside"\n')
    assert kbx("--kb", base, "index", "--fast").code == 0
    assert "made here" in kbx("trust", "--list").out


def test_python_asks_for_trust_too(base: Path) -> None:
    configure(base, '[index]\nuri = "../outside"\n')
    with pytest.raises(NotTrusted, match="is not trusted with"):
        KnowledgeBase(base)
    with KnowledgeBase(base, trust=True) as kb:
        assert kb.untrusted == ()
    with KnowledgeBase(base, settings=Settings(index=IndexSettings(uri="../own"))) as kb:
        assert kb.untrusted == ()  # settings of the program that runs


def test_an_interrupted_write_is_not_finished_through_a_link(base: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "journal").mkdir(parents=True)
    (base / ".kbx").symlink_to(outside)
    before = snapshot_of(outside)
    with pytest.raises(NotTrusted, match=r"a link from \.kbx to"):
        KnowledgeBase(base)
    assert snapshot_of(outside) == before


def test_nothing_is_appended_through_a_link(base: Path, tmp_path: Path) -> None:
    """A document may be called `$(command).md`, and the link lead to a start-up file of a shell."""
    target = tmp_path / "profile"
    target.write_text("# mine\n", encoding="utf-8")
    (base / ".kbx").mkdir()
    (base / ".kbx" / "usage.jsonl").symlink_to(target)
    with pytest.raises(NotTrusted, match=r"a link from \.kbx/usage\.jsonl"):
        KnowledgeBase(base).documents.opened(PAGE)
    assert target.read_text(encoding="utf-8") == "# mine\n"


def test_servers_refuse_with_the_same_sentence_until_trusted(kbx: CommandLine, base: Path) -> None:
    configure(base, '[index]\nuri = "../outside"\n')
    worker = EngineWorker(lambda: KnowledgeBase(base))
    refused = worker.answer("kb.search", {"query": "tea"})
    assert refused.failure is not None
    told = kbx("--kb", base, "status").err.removeprefix("kbx: ").partition("run `kbx trust")[0]
    assert refused.json["error"] == {
        **refused.json["error"],
        "type": "VALIDATION",
        "code": "permission_denied",
        "message": f"{told}ask the user",
        "retryable": False,
    }
    kbx("trust", base)
    assert worker.answer("kbx.search", {"query": "tea", "fast": True}).failure is None
    worker.close()


@pytest.mark.parametrize("option", ["", "--trust"])
def test_a_served_base_follows_the_option(base: Path, option: str) -> None:
    configure(base, '[index]\nuri = "../outside"\n')
    request = {"id": 1, "method": "kbx.search", "params": {"query": "tea", "fast": True}}
    arguments = [argument for argument in ("--kb", str(base), option, "jsonl") if argument]
    ran = run_program(*arguments, stdin=json.dumps(request))
    assert json.loads(ran.out)["ok"] is bool(option), ran.out


# Git.


@pytest.fixture
def repository(base: Path) -> Path:
    """A base that commits, and whose hook leaves a trace."""
    for arguments in (
        ["init", "--quiet"],
        ["config", "user.name", "Test"],
        ["config", "user.email", "test@example.com"],
    ):
        subprocess.run(["git", "-C", str(base), *arguments], check=True)
    hook = base / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\ntouch hook-ran\n", encoding="utf-8")
    hook.chmod(0o755)
    configure(base, "[writes]\nauto_commit = true\n")
    return base


def add(kbx: CommandLine, base: Path, *options: str) -> str:
    ran = kbx("--kb", base, "memory", "add", "Speaks Catalan", "--entity", "Alice Chen", *options)
    assert ran.code == 0, ran.err
    assert "Speaks Catalan" in (base / PAGE).read_text(encoding="utf-8")
    return ran.err


def test_a_write_is_saved_but_git_does_not_run_before_it_is_allowed(
    kbx: CommandLine, repository: Path
) -> None:
    said = add(kbx, repository)
    assert "saved, but not committed: the base is not trusted; `kbx trust` lets it run git" in said
    assert not (repository / "hook-ran").exists()
    assert kbx("--kb", repository, "search", "catalan", "--fast").code == 0


def test_once_allowed_git_runs_as_it_is_configured(kbx: CommandLine, repository: Path) -> None:
    assert "hooks" in kbx("trust", repository).out
    assert "not committed" not in add(kbx, repository)
    assert (repository / "hook-ran").exists()


def test_the_option_allows_git_this_time(kbx: CommandLine, repository: Path) -> None:
    assert "not committed" not in add(kbx, repository, "--trust")
    assert (repository / "hook-ran").exists()
    assert "not committed" in kbx("--kb", repository, "undo").err
