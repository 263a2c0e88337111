"""Copies the demo to the user's data folder, where it can be indexed and edited.

Nothing is ever written to the package itself, which may be read-only.
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
"""A file in every copy. Only a folder that contains it is ever replaced."""


def demo_folder() -> Path:
    """Return the folder of the copy: `KBX_DEMO_DIR`, or one in the user's data folder."""
    if configured := os.environ.get(FOLDER_VARIABLE):
        return Path(configured).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("kbx-tui", appauthor=False) / "demo"


def install_demo(*, reset: bool = False) -> Path:
    """Return the folder of the demo's copy; create it if missing, replace it with `reset`.

    Raises ConfigError if the folder contains something else, KbxError if it cannot be written.
    """
    folder = demo_folder()
    try:
        is_copy = (folder / MARKER).is_file()
        if not is_copy and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ConfigError(
                f"{folder} contains something other than the demo: "
                f"set {FOLDER_VARIABLE} to a folder that does not exist yet"
            )
        if reset or not is_copy:
            _replace(folder)
    except OSError as error:
        raise KbxError(
            f"the demo cannot be copied to {folder} ({error.strerror}): "
            f"set {FOLDER_VARIABLE} to a writable folder"
        ) from error
    return folder


def shipped_files() -> Iterator[str]:
    """Yield the paths of the demo's files, relative to its root."""
    for part in PARTS:
        top = SHIPPED / part
        for file in [top] if top.is_file() else sorted(top.rglob("*")):
            if file.is_file():
                yield file.relative_to(SHIPPED).as_posix()


def _replace(folder: Path) -> None:
    """Replace `folder` by a fresh copy in one step, so that no process sees half a demo."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".kbx-demo-", dir=folder.parent) as temporary:
        fresh = Path(temporary, "fresh")
        for path in shipped_files():
            target = fresh / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(SHIPPED / path, target)  # without the file mode of the wheel
        (fresh / MARKER).write_text("`kbx demo --reset` replaces this folder.\n", encoding="utf-8")
        if folder.exists():
            folder.rename(Path(temporary, "old"))
        try:
            fresh.rename(folder)
        except OSError:
            if not (folder / MARKER).is_file():  # otherwise another process was first
                raise
