"""Copies the demo to the user's data folder, where it may be indexed and edited.

The package itself is never written to: it may be read-only, and it is not the user's.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kbx_tui.errors import ConfigError, KbxError

SHIPPED = Path(__file__).parent
PARTS = ("drafts.md", "kbx.toml", "memory")
FOLDER_VARIABLE = "KBX_DEMO_DIR"
MARKER = ".kbx-demo"
"""Lies in every copy: only a folder that holds it is ever replaced."""


def demo_folder() -> Path:
    """Return where the copy lies: `KBX_DEMO_DIR`, else in the user's data folder."""
    if given := os.environ.get(FOLDER_VARIABLE):
        return Path(given).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("kbx-tui", appauthor=False) / "demo"


def install_demo(*, reset: bool = False) -> Path:
    """Return the copy of the demo, made if there is none; `reset` makes it anew.

    Raises ConfigError when the folder holds something else, KbxError when it cannot be written.
    """
    folder = demo_folder()
    try:
        if (folder / MARKER).is_file():
            if reset:
                _replace(folder)
        elif _has_content(folder):
            raise ConfigError(
                f"{folder} holds something else than the demo: "
                f"set {FOLDER_VARIABLE} to a folder that does not exist yet"
            )
        else:
            _replace(folder)
    except OSError as error:
        raise KbxError(
            f"the demo cannot be copied to {folder} ({error.strerror}): "
            f"set {FOLDER_VARIABLE} to a folder that can be written"
        ) from error
    return folder


def shipped_files() -> Iterator[str]:
    """Yield the paths of the demo's files, relative to its root."""
    for part in PARTS:
        top = SHIPPED / part
        for file in [top] if top.is_file() else sorted(top.rglob("*")):
            if file.is_file():
                yield file.relative_to(SHIPPED).as_posix()


def _has_content(folder: Path) -> bool:
    return folder.exists() and (not folder.is_dir() or any(folder.iterdir()))


def _replace(folder: Path) -> None:
    """Put a fresh copy in place of `folder` in one step: nobody sees half a demo."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".kbx-demo-", dir=folder.parent) as space:
        fresh = Path(space, "fresh")
        for path in shipped_files():
            target = fresh / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(SHIPPED / path, target)  # content only: a wheel's rights stay behind
        (fresh / MARKER).write_text("`kbx demo --reset` replaces this folder.\n", encoding="utf-8")
        if folder.exists():
            folder.rename(Path(space, "old"))
        try:
            fresh.rename(folder)
        except OSError:
            if not (folder / MARKER).is_file():  # else another process was faster: just as good
                raise
