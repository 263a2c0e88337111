"""Servers start before the engine is loaded, and nothing else loads the servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.test_imports import loaded_modules, loaded_packages, run_command

ENGINE = {"fastembed", "lancedb", "numpy", "onnxruntime", "pyarrow", "textual", "tokenizers"}
SERVERS = {"mcp", "mcp_types", "starlette", "uvicorn", "google"}
LATE = {"kbx_tui.api", "kbx_tui.tools.handlers", "kbx_tui.tools.redaction_filter"}


def test_the_mcp_server_starts_without_the_engine() -> None:
    modules = loaded_modules("import kbx_tui.tools.mcp_server")
    assert "mcp" in modules
    assert modules.isdisjoint(ENGINE | LATE)


def test_the_jsonl_server_needs_neither_engine_nor_sdk() -> None:
    modules = loaded_modules("import kbx_tui.tools.jsonl_server")
    assert modules.isdisjoint(ENGINE | SERVERS | LATE)


@pytest.mark.parametrize("options", [(), ("--fast",), ("--json",)], ids=str)
def test_a_search_loads_no_server(demo_kb_path: Path, options: tuple[str, ...]) -> None:
    line = run_command("search", "rollback", *options, "--kb", str(demo_kb_path))
    assert loaded_packages(line).isdisjoint(SERVERS)


def test_a_search_loads_no_contracts_of_tools(demo_kb_path: Path) -> None:
    """LanceDB may load pydantic; our own models are not needed."""
    line = run_command("search", "rollback", "--json", "--kb", str(demo_kb_path))
    unwanted = {"arguments", "answers"}
    modules = loaded_modules(line)
    assert modules.isdisjoint({f"kbx_tui.tools.contracts.{name}" for name in unwanted})
    assert "kbx_tui.embedding.gemini" not in modules


@pytest.mark.parametrize("command", ["mcp", "jsonl", "tool", "experts"])
def test_help_of_server_commands_loads_no_server(command: str) -> None:
    packages = loaded_packages(run_command(command, "--help"))
    assert packages.isdisjoint(ENGINE | SERVERS | {"pydantic"})


def test_the_first_search_of_a_server_that_was_warm_loads_nothing(demo_kb_path: Path) -> None:
    code = f"""
from functools import partial
from kbx_tui import KnowledgeBase
from kbx_tui.tools.engine_worker import EngineWorker
worker = EngineWorker(partial(KnowledgeBase, {str(demo_kb_path)!r}), warms=True)
worker.begin()
for _ in range(2):  # the second step of loading begins when the first has ended
    worker.run(lambda kb: kb.is_indexed()).result()
before = set(sys.modules)
assert worker.answer("kb.search", {{"query": "rollback plan"}}).failure is None
late = sorted(set(sys.modules) - before)
assert not late, late
worker.close()
"""
    assert loaded_modules(code) >= LATE
