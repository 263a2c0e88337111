"""A small fictional knowledge base: `kbx.toml` and `memory/` in this folder.

It is copied to the user's data folder, where it can be indexed and edited. Nothing is ever written
to the package itself, which may be read-only.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from kbx_tui.errors import ConfigError, KbxError
from kbx_tui.removal import DEMO_MARKER, DEMO_WORKPLACE, STATE_FOLDER, remove_demo_workplace
from kbx_tui.state_file import read_regular_file

SHIPPED = Path(__file__).parent
PARTS = ("drafts.md", "kbx.toml", "memory")
FOLDER_VARIABLE = "KBX_DEMO_DIR"
SHIPPED_JUDGMENTS = "judgments.jsonl"
JUDGMENTS = f"{STATE_FOLDER}/judgments.jsonl"
"""Path in a copy of the shipped judgments; the user's grades are appended to them."""


def demo_folder() -> Path:
    """Return the folder of the copy: `KBX_DEMO_DIR`, or one in the user's data folder."""
    if configured := os.environ.get(FOLDER_VARIABLE):
        return Path(configured).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("kbx-tui", appauthor=False) / "demo"


def install_demo(*, reset: bool = False, notice: Callable[[str], None] = lambda text: None) -> Path:
    """Return the folder of the demo's copy; create it if missing, replace it with `reset`.

    Only a folder with the demo's marker is replaced. Files and judgments that the user added are
    moved to a folder beside it, and `notice` is called with a sentence about them. Raises
    ConfigError if the folder contains something else, KbxError if it cannot be written.
    """
    folder = demo_folder()
    try:
        is_copy = (folder / DEMO_MARKER).is_file()
        if not is_copy and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ConfigError(
                f"{folder} contains something other than the demo: "
                f"set {FOLDER_VARIABLE} to a folder that does not exist yet"
            )
        if reset or not is_copy:
            _replace(folder, notice)
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


def _replace(folder: Path, notice: Callable[[str], None]) -> None:
    """Replace `folder` with a fresh copy in one step, so that no process sees half a demo."""
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    workplace = Path(tempfile.mkdtemp(prefix=DEMO_WORKPLACE, dir=folder.parent))
    fresh, old = workplace / "fresh", workplace / "old"
    try:
        fresh.mkdir()
        (fresh / DEMO_MARKER).write_text(
            "`kbx demo --reset` replaces this folder.\n", encoding="utf-8"
        )
        for path in shipped_files():
            target = fresh / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(SHIPPED / path, target)  # unlike copy, not the wheel's file mode
        (fresh / STATE_FOLDER).mkdir()
        shutil.copyfile(SHIPPED / SHIPPED_JUDGMENTS, fresh / JUDGMENTS)
        if folder.exists():
            folder.rename(old)
        try:
            fresh.rename(folder)
        except OSError:
            if not (folder / DEMO_MARKER).is_file():  # otherwise another process was faster
                if old.exists():
                    old.rename(folder)
                raise
        if added := _added_files(old):
            kept = _keep(old, added, folder)
            notice(f"kept {len(added)} files that are not part of the sample in {kept}")
    finally:
        remove_demo_workplace(workplace)


def _added_files(copy: Path) -> list[str]:
    """Return the paths of files in the demo's copy that were not shipped, links included."""
    known, added = {DEMO_MARKER, *shipped_files()}, []
    for top, folders, files in os.walk(copy):
        if Path(top) == copy and STATE_FOLDER in folders:
            folders.remove(STATE_FOLDER)
        links = [name for name in folders if Path(top, name).is_symlink()]
        added += [Path(top, name).relative_to(copy).as_posix() for name in (*files, *links)]
    if _has_own_judgments(copy):
        added.append(JUDGMENTS)
    return sorted(path for path in added if path not in known)


def _has_own_judgments(copy: Path) -> bool:
    """Return whether a copy has grades that were not shipped: these are the user's work."""
    file = copy / JUDGMENTS
    try:
        is_shipped = read_regular_file(file) == (SHIPPED / SHIPPED_JUDGMENTS).read_bytes()
    except FileNotFoundError:
        return False
    except OSError:  # not a file that the demo wrote
        return True
    return not is_shipped


def _keep(copy: Path, added: list[str], folder: Path) -> Path:
    """Move the added files of a copy into a new folder beside `folder`; return that folder."""
    kept = folder.with_name(f"{folder.name}-kept-{time.strftime('%Y%m%d-%H%M%S')}")
    for path in added:
        (kept / path).parent.mkdir(parents=True, exist_ok=True)
        (copy / path).rename(kept / path)
    return kept
