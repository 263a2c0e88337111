"""Trusts bases of tests, as `kbx trust` does."""

import shutil
from pathlib import Path
from typing import Any

from kbx_tui.base_trust import grant, requests_of
from kbx_tui.index.ownership import allow, index_id
from kbx_tui.removal import PUBLIC_INDEX
from kbx_tui.settings_file import load_settings


def configure_trusted(root: Path, text: str) -> None:
    """Write the kbx.toml of a base and allow what it asks for."""
    (root / "kbx.toml").write_text(text, encoding="utf-8")
    grant(root, requests_of(root, load_settings(root)))


def copy_base(source: Path, target: Path, **options: Any) -> Path:
    """Copy a base as `shutil.copytree` does, and open its index there as the user's."""
    copy = Path(shutil.copytree(source, target, **options))
    index = copy / ".kbx" / "index"
    for folder in (index, index / PUBLIC_INDEX):
        if index_id(folder):
            allow(folder)
    return copy
