"""The files left out of the index: `[index] exclude` and the templates of a vault."""

from __future__ import annotations

import re
from pathlib import Path

from kbx_tui.config import IndexSettings
from kbx_tui.knowledge.obsidian_vault import VaultSettings, read_vault_settings
from kbx_tui.knowledge.records import Problem

_SPECIAL = re.compile(r"[\\*?\[\]!# ]")
_SETTING = "`[index] templates = true`"


def excluded_files(root: Path, settings: IndexSettings) -> tuple[str, ...]:
    """Return the patterns of files to leave out, in the syntax of .gitignore."""
    vault = None if settings.templates else read_vault_settings(root)
    return (*settings.exclude, *(map(_pattern, _templates(vault)) if vault else ()))


def template_problems(root: Path, settings: IndexSettings) -> list[Problem]:
    vault = None if settings.templates else read_vault_settings(root)
    if vault is None:
        return []
    folder = f"holds templates; {_SETTING} indexes them"
    note = f"is a template; {_SETTING} indexes it"
    return [
        Problem(
            path, note if path in vault.template_notes else folder, skipped=True, on_purpose=True
        )
        for path in _templates(vault)
        if (root / path).exists()
    ]


def _templates(vault: VaultSettings) -> tuple[str, ...]:
    folders = vault.template_folders
    alone = (
        note
        for note in vault.template_notes
        if not note.startswith(tuple(f"{folder}/" for folder in folders))
    )
    return (*folders, *alone)


def _pattern(path: str) -> str:
    return "/" + _SPECIAL.sub(r"\\\g<0>", path)
