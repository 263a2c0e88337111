"""`kbx demo` and `kbx completion`."""

from pathlib import Path

import pytest

from kbx_tui.demo import install_demo
from tests.command_line import CommandLine, run_program
from tests.trusting import copy_base


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KBX_DEMO_DIR", str(tmp_path / "demo"))
    return tmp_path / "demo"


def test_smoke_option_searches_and_composes_the_app(folder: Path, demo_copy: Path) -> None:
    """That it embeds a new sample is tested with the installed wheel; here its index is copied."""
    install_demo()
    copy_base(demo_copy, folder, dirs_exist_ok=True)
    ran = run_program("demo", "--smoke", env={"KBX_DEMO_DIR": str(folder)})
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("ok: ")
    assert ran.out.count("\n") == 1
    assert "two_pass search found memory/" in ran.out


def test_reset_restores_the_sample_and_exits(kbx: CommandLine, folder: Path) -> None:
    assert kbx("demo", "--reset").err == f"kbx: restored the original sample in {folder}\n"
    page = folder / "memory" / "glossary.md"
    before = page.read_bytes()
    page.write_text("changed", encoding="utf-8")
    assert kbx("demo", "--reset").code == 0
    assert page.read_bytes() == before


def test_sample_is_installed_even_when_the_app_cannot_open(kbx: CommandLine, folder: Path) -> None:
    assert kbx("demo").code == 1  # no terminal here
    assert (folder / "kbx.toml").is_file()


def test_script_completes_commands_and_options() -> None:
    def completed(*words: str) -> list[str]:
        ran = run_program(
            env={
                "_KBX_COMPLETE": "bash_complete",
                "COMP_WORDS": " ".join(words),
                "COMP_CWORD": str(len(words) - 1),
            }
        )
        return [line.partition(",")[2] for line in ran.out.splitlines()]

    assert completed("kbx", "se") == ["search"]
    assert "--hierarchy-alpha" in completed("kbx", "search", "--hier")
    assert completed("kbx", "search", "--gate", "h") == ["hard"]
