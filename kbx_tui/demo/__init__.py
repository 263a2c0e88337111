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
from itertools import count
from pathlib import Path

from kbx_tui.errors import ConfigError, KbxError
from kbx_tui.removal import DEMO_MARKER, DEMO_WORKPLACE, STATE_FOLDER, remove_demo_workplace
from kbx_tui.state_file import USER_STATE, read_regular_file

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

    Only a folder with the demo's marker is replaced. One in which the user changed or added
    something is renamed instead, and `notice` is called with a sentence about it. Raises
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
    fresh = workplace / "fresh"
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
        is_changed = has_changes(folder)
        aside = _free_name(folder) if is_changed else workplace / "old"
        if folder.exists():
            folder.rename(aside)
        try:
            fresh.rename(folder)
        except OSError:
            if not (folder / DEMO_MARKER).is_file():  # otherwise another process was faster
                if aside.exists():
                    aside.rename(folder)
                raise
        if is_changed:
            notice(f"the sample with what you changed and added in it is now {aside}")
    finally:
        remove_demo_workplace(workplace)


def has_changes(copy: Path) -> bool:
    """Return whether the demo's copy has a file that was not shipped so, links included.

    In `.kbx` these are drafts, queries, judgments and similar, which cannot be made again.
    """
    shipped = {path: SHIPPED / path for path in shipped_files()}
    shipped[JUDGMENTS] = SHIPPED / SHIPPED_JUDGMENTS
    state = copy / STATE_FOLDER
    found = [file for pattern in (*USER_STATE, "*.unreadable") for file in state.glob(pattern)]
    for top, folders, files in os.walk(copy):
        if Path(top) == copy and STATE_FOLDER in folders:
            folders.remove(STATE_FOLDER)
        links = [name for name in folders if Path(top, name).is_symlink()]
        found += [Path(top, name) for name in (*files, *links)]
    paths = {file.relative_to(copy).as_posix() for file in found} - {DEMO_MARKER}
    return any(path not in shipped or _differ(copy / path, shipped[path]) for path in paths)


def _differ(file: Path, shipped: Path) -> bool:
    try:
        return read_regular_file(file) != shipped.read_bytes()
    except OSError:  # not a file that the demo wrote
        return True


def _free_name(folder: Path) -> Path:
    name = f"{folder.name}-kept-{time.strftime('%Y%m%d-%H%M%S')}"
    names = (folder.with_name(f"{name}-{number}" if number > 1 else name) for number in count(1))
    return next(path for path in names if not os.path.lexists(path))
