"""Beginning a knowledge base: the folders people expect, and one page that says what goes where."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.errors import KbxError
from kbx_tui.knowledge.vault import walk

FOLDERS = ("people", "projects", "teams", "meetings", "notes")

WELCOME = """# What goes where

This knowledge base is a folder of markdown. Write with any editor; what you save is found at once.

- `memory/people/` holds a page for each person: `alice-chen.md` with the heading `# Alice Chen`.
- `memory/projects/` and `memory/teams/` hold pages of projects and teams.
- `memory/meetings/` holds notes of meetings, best with the date in the name.
- `memory/notes/` holds everything else.

On a person's page, list what you know under `## Recent Facts`, one line each, the date in
brackets: `- [2026-03-10] Prefers async Slack`. Open work goes under `## Open Items` as `- [ ]`.
"""


def start_base(folder: Path) -> Path:
    """Make a knowledge base in `folder` and return its root; what is there already is left alone.

    Raises KbxError when it cannot be written or is one already.
    """
    root = folder.absolute()
    memory = root / "memory"
    try:
        if root.exists() and (memory.exists() or walk(root).files):
            raise KbxError(f"{root} holds markdown already; choose that folder instead")
        for name in FOLDERS:
            (memory / name).mkdir(parents=True)
        (memory / "notes" / "what-goes-where.md").write_text(WELCOME, encoding="utf-8")
    except OSError as error:
        raise KbxError(f"{root} cannot be written: {error.strerror or error}") from error
    return root
