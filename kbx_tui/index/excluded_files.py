"""What the user leaves out of the index: files, templates of a vault, and links to entities."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kbx_tui.config import IndexSettings
from kbx_tui.knowledge.decoding import decode
from kbx_tui.knowledge.fields import texts_of
from kbx_tui.knowledge.obsidian_vault import VaultSettings, read_vault_settings
from kbx_tui.knowledge.records import Problem
from kbx_tui.state_file import decode_json, read_regular_file

_SPECIAL = re.compile(r"[\\*?\[\]!# ]")
_SETTING = "`[index] templates = true`"


def excluded_files(root: Path, settings: IndexSettings) -> tuple[str, ...]:
    """Return the patterns of files to leave out, in the syntax of .gitignore."""
    vault = None if settings.templates else read_vault_settings(root)
    return (*settings.exclude, *(map(_pattern, _templates(vault)) if vault else ()))


def template_problems(root: Path, settings: IndexSettings) -> list[Problem]:
    """Return each folder of templates and template note that is left out on purpose."""
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
    """Return the folders of templates, and the template notes outside them."""
    folders = vault.template_folders
    alone = (
        note
        for note in vault.template_notes
        if not note.startswith(tuple(f"{folder}/" for folder in folders))
    )
    return (*folders, *alone)


def _pattern(path: str) -> str:
    return "/" + _SPECIAL.sub(r"\\\g<0>", path)


SUPPRESSION_FILES = ("memory/.kbx/entity-suppressions.json", ".kbx/entity-suppressions.json")


def load_suppressions(root: Path) -> dict[str, tuple[str, ...]]:
    """Return names or ids of entities, by the path of the document not to link to them.

    A missing or invalid file is left out; `suppression_problems` names it.
    """
    suppressed: dict[str, tuple[str, ...]] = {}
    for _, loaded in _read_files(root):
        if not isinstance(loaded, ValueError):
            for path, names in loaded.items():
                key = unicodedata.normalize("NFC", path)
                suppressed[key] = (*suppressed.get(key, ()), *texts_of(names))
    return suppressed


def suppression_problems(root: Path) -> list[Problem]:
    """Return a problem for each file of suppressions that cannot be read."""
    return [
        Problem(name, f"cannot be read: {loaded}", skipped=True)
        for name, loaded in _read_files(root)
        if isinstance(loaded, ValueError)
    ]


def _read_files(root: Path) -> Iterator[tuple[str, dict[str, Any] | ValueError]]:
    """Yield the name of each file that exists, and its content or why it is invalid."""
    for name in SUPPRESSION_FILES:
        try:
            data = read_regular_file(root / name, follow_links=True)
            yield name, decode_json(decode(data)[0], dict[str, Any])
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            yield name, ValueError(error.strerror or error)
        except ValueError as error:
            yield name, error
