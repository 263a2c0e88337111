from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.tools.servers.calling import Workplace

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
    f"# {SECRET.title()} Project\n\nProse on the lighthouse of {SECRET}, with [[Vera Sand]]\n\n"
    f"## Facts\n- Lighthouse plan of {SECRET}\n- Lighthouse oil of {SECRET} (status: active)\n"
)
"""A page that is withheld: title, name, path and id hold the secret as well."""
TITLED = (
    f"# Rota of {SECRET.title()} #redacted\n\nOf the lighthouse.\n\n"
    f"## Recent Facts\n- [2026-01-04] Lighthouse rota is kept in {SECRET}\n"
)
NOTE = f"---\nstatus: Redacted\ntitle: Lighthouse {SECRET}\n---\nLighthouse, by [[Vera Sand]].\n"
MEMBER = (
    f"---\nstatus: redacted\nteam: Keepers\n---\n# {SECRET.title()} Kane\n\nOf the lighthouse.\n"
)
NESTED = (
    f"# Lamp Works\n\nLighthouse lamps.\n\n## Past #redacted\n\n### Facts\n"
    f"- Lighthouse lamps came from {SECRET}\n"
)
OPENED = "# Vera Kane\n\nMends the lighthouse.\n"
PAGES = {
    "people/vera-sand.md": PAGE,
    "people/vera-kane.md": OPENED,
    f"people/{SECRET}-kane.md": MEMBER,
    f"people/{SECRET}-rota.md": TITLED,
    f"projects/{SECRET}.md": WHOLLY,
    "projects/lamp-works.md": NESTED,
    f"notes/{SECRET}.md": NOTE,
}
WITHHELD = [f"memory/{path}" for path in PAGES if SECRET in path]


@pytest.fixture(scope="session")
def lighthouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base with redacted facts, indexed. Shared: read it only."""
    root = tmp_path_factory.mktemp("lighthouse")
    for name, text in PAGES.items():
        file = root / "memory" / name
        file.parent.mkdir(parents=True, exist_ok=True)
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
