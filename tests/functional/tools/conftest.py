from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.tools.calling import Workplace

SECRET = "zanzibar"
"""Stands in redacted facts and nowhere else."""

PAGE = f"""---
aliases: [Vee]
---
# Vera Sand

Vera keeps the lighthouse ledger.

## Recent Facts
- [2026-01-01] Lighthouse keeper since the spring
- [2026-01-02] Lighthouse key lies in {SECRET} (status: redacted)
  - the spare one too, in {SECRET}
- [2026-01-03] Lighthouse lamp was changed

## Notes
- The {SECRET} affair #redacted

The lighthouse plan names {SECRET} #redacted

| lighthouse | {SECRET} #redacted |
"""
WHOLLY = (
    f"---\nstatus: redacted\nrole: Lighthouse of {SECRET}\naliases: [{SECRET} Six]\n---\n"
    f"# Hidden Project\n\nProse on the lighthouse of {SECRET}\n\n"
    f"## Facts\n- Lighthouse plan of {SECRET}\n"
)


@pytest.fixture(scope="session")
def lighthouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base with redacted facts, indexed. Shared: read it only."""
    root = tmp_path_factory.mktemp("lighthouse")
    for name, text in {"people/vera-sand.md": PAGE, "projects/hidden.md": WHOLLY}.items():
        file = root / "memory" / name
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
    with KnowledgeBase(root) as kb:
        kb.index()
    return root


@pytest.fixture(scope="session")
def tools_demo(demo_kb_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo once more: kb_get notes what was opened, and the other one is for reading only."""
    return shutil.copytree(demo_kb_path, tmp_path_factory.mktemp("tools") / "larkwater")


@pytest.fixture(scope="module")
def demo(tools_demo: Path) -> Iterator[Workplace]:
    """The tools on the demo; no writes."""
    workplace = Workplace(lambda: KnowledgeBase(tools_demo))
    yield workplace
    workplace.close()
