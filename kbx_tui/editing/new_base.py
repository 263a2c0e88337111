"""A new knowledge base: the usual folders and one page that says what goes where."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.errors import KbxError
from kbx_tui.knowledge.vault import walk

FOLDERS = ("people", "projects", "teams", "meetings", "notes")

WELCOME = """# What goes where

This knowledge base is a folder of markdown. Use any editor; what you save can be found at once.

- `memory/people/` holds a page for each person: `alice-chen.md` with the heading `# Alice Chen`.
- `memory/projects/` and `memory/teams/` hold pages of projects and teams.
- `memory/meetings/` holds meeting notes, ideally with the date in the file name.
- `memory/notes/` holds everything else.

On a person's page, list what you know under `## Recent Facts`, one line each, the date in
brackets: `- [2026-03-10] Prefers async Slack`. Open work goes under `## Open Items` as `- [ ]`.
"""


def create_base(folder: Path) -> Path:
    """Create a base in a folder without markdown and return its root. Raises KbxError."""
    root = folder.absolute()
    memory = root / "memory"
    try:
        if root.exists() and (memory.exists() or walk(root).files):
            raise KbxError(f"{root} already holds markdown; open that folder instead")
        for name in FOLDERS:
            (memory / name).mkdir(parents=True)
        (memory / "notes" / "what-goes-where.md").write_text(WELCOME, encoding="utf-8")
    except OSError as error:
        raise KbxError(f"{root} cannot be written: {error.strerror or error}") from error
    return root
