"""The files of a base that are not markdown: pictures, recordings, documents."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from kbx_tui.knowledge.obsidian.vault_settings import read_vault_settings

MOST = 200_000
"""Files after which listing ends."""


def list_attachments(root: Path) -> list[str]:
    """Return the paths of all files but markdown, relative to the root, NFC.

    Hidden folders are left out, apart from the one in which the vault keeps attachments. Links of
    the file system are not followed.
    """
    vault = read_vault_settings(root)
    found: list[str] = []
    for path in _files(root, vault.attachment_folder if vault else ""):
        if len(found) == MOST:
            break
        found.append(unicodedata.normalize("NFC", path))
    return found


def _files(root: Path, kept: str) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        prefix = Path(folder).relative_to(root).as_posix()
        prefix = "" if prefix == "." else f"{prefix}/"
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") or f"{kept}/".startswith(f"{prefix}{name}/")
        ]
        folders[:] = [name for name in folders if name != "node_modules"]
        yield from (prefix + name for name in files if name[-3:].lower() != ".md")
