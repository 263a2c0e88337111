"""A folder of the server in the user's state folder, which only the user may open."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kbx_tui.errors import ConfigError
from kbx_tui.user_folders import user_state_folder


@dataclass(frozen=True, slots=True)
class PrivateFolder:
    """The open folder. What is reached through it cannot be put elsewhere by a link."""

    path: Path
    descriptor: int

    def names(self) -> list[str]:
        """Return the names of the files in it, in order. Raises OSError."""
        with os.scandir(self.descriptor) as entries:
            return sorted(entry.name for entry in entries)

    def address(self, name: str) -> str:
        """Return a path of a file in it for the address of a socket, which is short.

        Addresses have at most about 100 bytes. Where the system cannot name an open folder, the
        path of the folder is used, however long it is.
        """
        folder = f"/proc/self/fd/{self.descriptor}" if sys.platform == "linux" else self.path
        return f"{folder}/{name}"


@contextmanager
def private_folder() -> Iterator[PrivateFolder]:
    """Open the folder, made if need be. Raises ConfigError if that fails, or if it is a link."""
    path = user_state_folder() / "web"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise _unusable(path, error.strerror) from error
    try:
        if os.fstat(descriptor).st_uid != os.getuid():
            raise _unusable(path, "it belongs to another user")
        if stat.S_IMODE(os.fstat(descriptor).st_mode) != 0o700:
            os.fchmod(descriptor, 0o700)  # a socket can be opened by others until its mode is set
        yield PrivateFolder(path, descriptor)
    finally:
        os.close(descriptor)


def _unusable(path: Path, reason: str | None) -> ConfigError:
    return ConfigError(
        f"the folder {path} of `kbx web` cannot be used: {reason}; move it away, or set "
        "KBX_STATE_DIR to another folder"
    )
