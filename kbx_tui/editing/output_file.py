"""Writing a file that the user named: over another only on demand, and never one of a base."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISREG

from kbx_tui.editing.state_files import write_atomically, write_new
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.vault import CONFIG_NAME
from kbx_tui.removal import STATE_FOLDER


def require_free(target: Path, *, overwrite: bool) -> None:
    """Raise WriteFault if `write_output` would refuse; for a check before the work."""
    try:
        _require_outside_bases(target)
        kind = target.stat().st_mode
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise WriteFault(
                f"{target} was not written: there is no folder {target.parent}"
            ) from None
        return
    except OSError as error:
        raise not_written(target, error) from error
    if not S_ISREG(kind):
        raise WriteFault(f"{target} is not a file; name a file to write")
    if not overwrite:
        raise _exists(target)


def write_output(target: Path, data: bytes, *, overwrite: bool) -> None:
    """Write a file in one step; without `overwrite`, only a new one. Raises WriteFault."""
    require_free(target, overwrite=overwrite)
    try:
        if overwrite:
            write_atomically(target, data)
        else:
            write_new(target, data)
    except FileExistsError as error:
        raise _exists(target) from error
    except OSError as error:
        raise not_written(target, error) from error


def not_written(target: Path, error: OSError) -> WriteFault:
    return WriteFault(f"{target} was not written: {error.strerror or error}")


def _require_outside_bases(target: Path) -> None:
    """Raise WriteFault if a file of this name may be a page or another file of some base."""
    folder = os.path.realpath(target.parent)  # unlike `resolve`, never raises
    folders, name = Path(folder.lower()).parts, target.name.lower()
    if name.endswith(".md"):
        raise WriteFault(
            f"{target} was not written: a file named .md may be a page of a knowledge base; "
            "choose another ending"
        )
    if name == CONFIG_NAME or STATE_FOLDER in folders:
        raise WriteFault(
            f"{target} was not written: it belongs to a knowledge base; choose another place"
        )


def _exists(target: Path) -> WriteFault:
    return WriteFault(f"{target} exists and was left as it is; --force replaces it")
