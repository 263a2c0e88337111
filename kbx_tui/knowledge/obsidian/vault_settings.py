"""Settings of an Obsidian vault that say what its files are: `.obsidian/*.json`. Read only.

A base is a vault if it has a folder `.obsidian`, or its `memory/` has. A file that is missing or
cannot be read counts as one without settings.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kbx_tui.knowledge.obsidian.moment_format import date_in_format
from kbx_tui.knowledge.vault import MEMORY
from kbx_tui.state_file import decode_json, read_regular_file

FOLDER = ".obsidian"
TEMPLATES = ("templates.json", "plugins/templater-obsidian/data.json")
"""Files that name the folder of templates: of Obsidian, and of the Templater plug-in."""
DAILY_NOTES = "daily-notes.json"
APP = "app.json"

_LIMIT = 1 << 20
"""Bytes; Templater keeps whole scripts in its file."""


@dataclass(frozen=True, slots=True)
class DailyNotes:
    """How the notes of days are named."""

    moment_format: str = "YYYY-MM-DD"
    folder: str = ""
    """Relative to the root, without a final slash; empty for the root."""

    def date_of(self, path: str) -> str:
        """Return the ISO date of a daily note at `path`, empty for any other note."""
        prefix = f"{self.folder}/" if self.folder else ""
        stem = path.rpartition(".")[0]
        if not stem.startswith(prefix):
            return ""
        return date_in_format(stem.removeprefix(prefix), self.moment_format)


@dataclass(frozen=True, slots=True)
class VaultSettings:
    """What the settings of a vault say; paths are relative to the root of the base."""

    folder: str
    """The folder of the vault: empty for the root, or `memory`."""
    template_folders: tuple[str, ...] = ()
    template_notes: tuple[str, ...] = ()
    attachment_folder: str = ""
    daily_notes: DailyNotes = DailyNotes()


def obsidian_address(root: Path, path: str) -> str:
    """Return the address at which Obsidian opens the document at `path`; empty outside a vault."""
    vault = read_vault_settings(root)
    prefix = f"{vault.folder}/" if vault and vault.folder else ""
    if vault is None or not path.startswith(prefix):
        return ""
    name, file = (root / vault.folder).resolve().name, path.removeprefix(prefix)
    return f"obsidian://open?vault={quote(name, safe='')}&file={quote(file, safe='')}"


def read_vault_settings(root: Path) -> VaultSettings | None:
    """Return the settings of the vault that a base is; None for one that is not a vault.

    Cheap enough for every document read: files that did not change are not read again.
    """
    for folder in ("", MEMORY):
        settings = root / folder / FOLDER
        if settings.is_dir():
            files = (*TEMPLATES, DAILY_NOTES, APP)
            return _read(settings, folder, tuple(_version(settings / name) for name in files))
    return None


@lru_cache(maxsize=4)
def _read(settings: Path, folder: str, versions: tuple[object, ...]) -> VaultSettings:
    """Return the settings in a folder; read again for other `versions` of its files."""
    template_folders = [
        path
        for name in TEMPLATES
        for key in ("folder", "templates_folder")
        if (path := _path(folder, _load(settings / name).get(key)))
    ]
    daily = _load(settings / DAILY_NOTES)
    template = _path(folder, daily.get("template"))
    if template and not template.lower().endswith(".md"):
        template += ".md"
    moment_format = daily.get("format")
    return VaultSettings(
        folder=folder,
        template_folders=tuple(dict.fromkeys(template_folders)),
        template_notes=(template,) if template else (),
        attachment_folder=_path(folder, _load(settings / APP).get("attachmentFolderPath")),
        daily_notes=DailyNotes(
            moment_format if isinstance(moment_format, str) and moment_format else "YYYY-MM-DD",
            _path(folder, daily.get("folder")) or folder,
        ),
    )


def _version(file: Path) -> tuple[int, ...]:
    """Return what differs between two versions of a file; empty if it cannot be read."""
    try:
        status = file.stat()
    except (OSError, ValueError):
        return ()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _load(file: Path) -> Mapping[str, Any]:
    try:
        return decode_json(read_regular_file(file, limit=_LIMIT, follow_links=True), dict[str, Any])
    except (OSError, ValueError):
        return {}


def _path(folder: str, value: object) -> str:
    """Return a path in the settings relative to the root; empty for none, or the vault itself."""
    if not isinstance(value, str):
        return ""
    parts = list(_parts(unicodedata.normalize("NFC", value)))
    return "/".join([folder, *parts] if folder else parts) if parts and ".." not in parts else ""


def _parts(path: str) -> Iterator[str]:
    return (part for part in path.split("/") if part not in ("", "."))
