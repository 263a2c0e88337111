from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.tools.engine_worker import EngineWorker
from tests.functional.vaults import index_vault
from tests.trusting import copy_base

SECRET = "zanzibar"
"""Occurs in redacted text and nowhere else."""

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
REDACTED_PROJECT = (
    f"---\nstatus: redacted\nrole: Lighthouse of {SECRET}\naliases: [{SECRET} Six]\n---\n"
    f"# {SECRET.title()} Project\n\nProse on the lighthouse of {SECRET}, with [[Vera Sand]]\n\n"
    f"## Facts\n- Lighthouse plan of {SECRET}\n- Lighthouse oil of {SECRET} (status: active)\n"
)
"""A hidden page: its title, name, path and id contain the secret too."""
REDACTED_TITLE = (
    f"# Rota of {SECRET.title()} #redacted\n\nOf the lighthouse.\n\n"
    f"## Recent Facts\n- [2026-01-04] Lighthouse rota is kept in {SECRET}\n"
)
REDACTED_NOTE = (
    f"---\nstatus: Redacted\ntitle: Lighthouse {SECRET}\n---\nLighthouse, by [[Vera Sand]].\n"
)
REDACTED_PERSON = (
    f"---\nstatus: redacted\nteam: Keepers\n---\n# {SECRET.title()} Kane\n\nOf the lighthouse.\n"
)
REDACTED_SECTION = (
    f"# Lamp Works\n\nLighthouse lamps.\n\n## Past #redacted\n\n### Facts\n"
    f"- Lighthouse lamps came from {SECRET}\n"
)
VISIBLE = "# Vera Kane\n\nMends the lighthouse for the Keepers.\n"
PAGES = {
    "people/vera-sand.md": PAGE,
    "people/vera-kane.md": VISIBLE,
    f"people/{SECRET}-kane.md": REDACTED_PERSON,
    f"people/{SECRET}-rota.md": REDACTED_TITLE,
    f"projects/{SECRET}.md": REDACTED_PROJECT,
    "projects/lamp-works.md": REDACTED_SECTION,
    f"notes/{SECRET}.md": REDACTED_NOTE,
}
HIDDEN = [f"memory/{path}" for path in PAGES if SECRET in path]


@pytest.fixture(scope="session")
def lighthouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An indexed base with redacted facts and pages. Shared: do not write to it."""
    root = tmp_path_factory.mktemp("lighthouse")
    index_vault(root, {f"memory/{name}": text for name, text in PAGES.items()})
    return root


@pytest.fixture(scope="session")
def tools_demo(demo_kb_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the demo, since kb_get records openings."""
    return copy_base(demo_kb_path, tmp_path_factory.mktemp("tools") / "larkwater")


@pytest.fixture(scope="module")
def demo(tools_demo: Path) -> Iterator[EngineWorker]:
    """Read-only tools on the demo."""
    worker = EngineWorker(lambda: KnowledgeBase(tools_demo))
    yield worker
    worker.close()
