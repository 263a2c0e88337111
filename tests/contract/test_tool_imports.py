"""Servers load no engine before the first call, and nothing else loads the servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.test_imports import loaded, run_command

ENGINE = {"fastembed", "lancedb", "numpy", "onnxruntime", "pyarrow", "textual", "tokenizers"}
SERVERS = {"mcp", "mcp_types", "starlette", "uvicorn", "google"}


def test_a_server_is_there_before_the_engine() -> None:
    modules = loaded("import kbx_tui.tools.servers.mcp_server")
    assert "mcp" in modules
    assert modules.isdisjoint(ENGINE)


def test_the_line_server_needs_no_sdk() -> None:
    assert loaded("import kbx_tui.tools.servers.jsonl_server").isdisjoint(ENGINE | SERVERS)


@pytest.mark.parametrize("options", [(), ("--fast",), ("--json",)], ids=str)
def test_a_search_loads_no_server(demo_kb_path: Path, options: tuple[str, ...]) -> None:
    line = run_command("search", "rollback", *options, "--kb", str(demo_kb_path))
    assert loaded(line).isdisjoint(SERVERS)


def test_our_contracts_are_not_loaded_by_a_search(demo_kb_path: Path) -> None:
    """LanceDB may bring pydantic along; our own models stay where they are."""
    code = f"""
{run_command("search", "rollback", "--json", "--kb", str(demo_kb_path))}
assert "kbx_tui.tools.contracts.arguments" not in sys.modules
assert "kbx_tui.tools.contracts.answers" not in sys.modules
assert "kbx_tui.embedding.gemini" not in sys.modules
"""
    loaded(code)


def test_help_of_the_servers_loads_neither() -> None:
    for command in ("mcp", "jsonl", "tool", "experts"):
        assert loaded(run_command(command, "--help")).isdisjoint(ENGINE | SERVERS | {"pydantic"})
