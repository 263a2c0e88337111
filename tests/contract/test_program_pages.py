"""docs/python.md, docs/mcp.md and docs/jsonl.md are correct."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from kbx_tui.tools.answers import ErrorCode, ErrorType
from kbx_tui.tools.methods import METHODS
from tests.command_line import CHECKOUT, CommandLine

DOCS = CHECKOUT / "docs"
PYTHON = re.findall(
    r"```python\n(.*?)```", (DOCS / "python.md").read_text(encoding="utf-8"), flags=re.DOTALL
)
MCP = (DOCS / "mcp.md").read_text(encoding="utf-8")
JSONL = (DOCS / "jsonl.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_python_examples_run(
    demo_copy: Path, capsys: pytest.CaptureFixture[str], code: str
) -> None:
    exec(code.replace('"~/notes"', repr(str(demo_copy))), {})
    assert capsys.readouterr().out.strip()


def test_client_configurations_are_valid(kbx: CommandLine) -> None:
    blocks = re.findall(r"```(json|toml)\n(.*?)```", MCP, flags=re.DOTALL)
    assert len(blocks) >= 5
    for language, text in blocks:
        config = json.loads(text) if language == "json" else tomllib.loads(text)
        ((_, servers),) = config.items()
        for server in servers.values():
            if "args" in server:
                assert server["command"] == "kbx"
                assert kbx(*server["args"], "--help").code == 0


def test_every_tool_and_method_is_documented() -> None:
    for method in METHODS.values():
        assert f"| `{method.tool}` |" in MCP
        assert f"`{method.name}`" in JSONL
        if method.command:
            assert f"`kbx {' '.join(method.command)}` |" in MCP


def test_every_type_and_code_of_failure_is_documented() -> None:
    for kind in ErrorType.__args__:  # type: ignore[attr-defined]
        assert f"| `{kind}` |" in MCP
    for code in ErrorCode.__args__:  # type: ignore[attr-defined]
        assert f"| `{code}` |" in JSONL


def test_example_lines_are_valid_json() -> None:
    lines = re.findall(r"^    (\{.*\})$", JSONL + MCP, flags=re.MULTILINE)
    assert len(lines) >= 6
    for line in lines:
        json.loads(re.sub(r"(, )?\.\.\.", "", line))
