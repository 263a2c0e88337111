"""Only running shows that a late import is late: each case is a fresh interpreter.

The import contracts in pyproject.toml say which room may know which; this says what gets loaded.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import program_environment

HEAVY = ("fastembed", "lancedb", "numpy", "onnxruntime", "pyarrow", "rich", "textual")
RUN = """
import sys
{code}
print("\\nloaded", *sorted({{name.partition(".")[0] for name in sys.modules}}))
"""


def loaded(code: str, cwd: Path | None = None) -> set[str]:
    """Return the top packages a fresh interpreter holds after running `code`."""
    finished = subprocess.run(
        [sys.executable, "-c", RUN.format(code=code)],
        capture_output=True,
        encoding="utf-8",
        env=program_environment({}),
        cwd=cwd,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return set(finished.stdout.rpartition("\nloaded ")[2].split())


def run_command(*arguments: str) -> str:
    return f"from kbx_tui.cli.main import main; assert main({list(arguments)!r}) == 0"


def test_importing_the_package_loads_nothing() -> None:
    assert loaded("import kbx_tui").isdisjoint({*HEAVY, "click", "msgspec"})


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("--version",), ("search", "--help"), ("demo", "--help"), ("completion", "fish")],
    ids=" ".join,
)
def test_help_and_version_load_no_engine(arguments: tuple[str, ...]) -> None:
    assert loaded(run_command(*arguments)).isdisjoint(HEAVY)


def test_listing_the_settings_loads_no_engine(demo_kb_path: Path) -> None:
    modules = loaded(run_command("config", "--json", "--kb", str(demo_kb_path)))
    assert modules.isdisjoint(HEAVY)


def test_the_engine_knows_no_screen(demo_kb_path: Path) -> None:
    code = f"""
from kbx_tui import KnowledgeBase
with KnowledgeBase({str(demo_kb_path)!r}) as kb:
    assert kb.search("what has Grace been working on?", explain=True).results
    kb.status()
"""
    assert "textual" not in loaded(code)  # rich and click come with fastembed's own dependencies


def test_a_fast_search_loads_no_model(demo_kb_path: Path) -> None:
    modules = loaded(run_command("search", "rollback", "--fast", "--kb", str(demo_kb_path)))
    assert modules.isdisjoint({"fastembed", "onnxruntime", "tokenizers", "textual"})


def test_a_search_loads_no_screen(demo_kb_path: Path) -> None:
    modules = loaded(run_command("search", "rollback", "--json", "--kb", str(demo_kb_path)))
    assert "textual" not in modules


def test_the_first_paint_waits_for_no_engine() -> None:
    modules = loaded("import kbx_tui.tui.app")
    assert "textual" in modules
    assert modules.isdisjoint({"fastembed", "lancedb", "onnxruntime", "pyarrow"})
