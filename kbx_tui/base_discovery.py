"""Finds the base to open, or creates one; refuses empty folders, home folders and whole disks."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.errors import KbxError, NotFound
from kbx_tui.knowledge.vault import walk

ADVICE = "change to a folder of markdown, name one with --kb, or run `kbx demo` to explore a sample"


def find_base(folder: Path | None, *, may_be_empty: bool = False) -> Path:
    """Return the root of the base at `folder`, or of the nearest one in this folder or above.

    With `may_be_empty`, a base that `folder` names, or that kbx.toml or memory/ marks, may lack
    markdown. Raises NotFound if there is no base or it has no markdown, ConfigError for invalid
    settings, and ConfigError or IndexFault if its index must not be where it is configured.
    """
    from kbx_tui.index.excluded_files import excluded_files
    from kbx_tui.index.index_folder import index_uri
    from kbx_tui.knowledge.vault import find_root, list_files
    from kbx_tui.settings_file import load_settings

    root = find_root(explicit=folder)
    is_marked = (root / "kbx.toml").is_file() or (root / "memory").is_dir()
    if folder is None and not is_marked and root in (Path.home(), Path(root.anchor)):
        raise NotFound(f"{root} is not a knowledge base: {ADVICE}")  # indexing it would take hours
    settings = load_settings(root)
    index_uri(root, settings)
    index = settings.index
    if may_be_empty and (folder is not None or is_marked):
        return root
    if (
        index.uri
        or (root / ".kbx" / "index").is_dir()
        or list_files(root, excluded_files(root, index), limit=1)
    ):
        return root
    raise NotFound(f"no markdown in {root}: {ADVICE}")


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
