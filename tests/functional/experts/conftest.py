"""A base whose claims, dates and sources are all known."""

from pathlib import Path

import pytest

from tests.functional.vaults import index_vault

PAGES = {
    "people/ada.md": """# Ada Roe

## Recent Facts
- [2026-03-01] Plans the kiln rebuild (source: memory/notes/kiln.md; memory/notes/phones.md)
- [2026-02-01] Fired the kiln for the first time
- [2026-01-01] ~~Owns the kiln budget~~
- [2026-01-02] Sold a kiln in secret (status: redacted)
- [2026-01-03] Kept the old kiln log (status: archived)

## Open Items
- [ ] order kiln bricks
""",
    "people/bo.md": """---
team: '[[Workshop]]'
---
# Bo Lind

## Recent Facts
- [2025-03-01] Repaired the kiln (confirmed: 2026-03-11)
- [2025-12-01] Paints tiles with [[Cy Vale]] (confidence: 0.5)
""",
    "people/cy.md": "# Cy Vale\n\n## Recent Facts\n- Maintains the glaze lab\n",
    "projects/tiles.md": (
        "---\nteam: '[[Workshop]]'\nlead: '[[Ada Roe]]'\ndate: '2026-03-11'\n---\n# Tiles\n\n"
        "## Facts\n- Needs the kiln on Mondays\n"
    ),
    "people/ai.md": "# AI\n\n## Recent Facts\n- Answers the phone\n",
    "teams/workshop.md": "# Workshop\n",
    "notes/kiln.md": (
        "---\ntitle: Kiln rebuild\nauthors: [Bo Lind]\ndate: '2026-03-02'\n---\n# Kiln rebuild\n\n"
        "The kiln is rebuilt in spring; bricks and burners are ordered.\n"
    ),
    "notes/phones.md": "# Phones\n\nNothing rings here.\n",
}


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The indexed base, shared by all tests, which must not change it."""
    root = tmp_path_factory.mktemp("workshop")
    index_vault(root, {f"memory/{name}": text for name, text in PAGES.items()})
    return root
