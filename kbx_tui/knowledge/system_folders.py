"""Folders that belong to the system or to a package manager, and hardly hold notes. Pure."""

from __future__ import annotations

import tempfile
from pathlib import Path

SYSTEM_TREES = (
    *("/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/sbin", "/sys"),
    *("/usr/bin", "/usr/include", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/local/lib"),
    *("/usr/local/share", "/usr/sbin", "/usr/share", "/var/cache", "/var/log", "/nix/store"),
    *("/System", "/Library", "/Applications", "/private/etc", "/opt/homebrew"),
    *("C:/Windows", "C:/Program Files", "C:/Program Files (x86)", "C:/ProgramData"),
)
"""Folders of a system, with everything below them."""
SHARED_FOLDERS = (
    *("/dev", "/home", "/media", "/mnt", "/opt", "/run", "/srv", "/usr", "/usr/local"),
    *("/usr/src", "/var", "/var/lib", "/root", "/Users", "/Volumes", "/private", "/private/var"),
    "C:/Users",
)
"""Folders that hold those of many users or programs: one of these may be a base, not all of them.
"""
TEMPORARY_FOLDERS = ("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm")
PACKAGE_FOLDERS = frozenset(
    {
        *("node_modules", "bower_components", "site-packages", "dist-packages", "__pycache__"),
        *(".cache", ".cargo", ".conda", ".gradle", ".m2", ".npm", ".nuget", ".nvm", ".pyenv"),
        *(".rbenv", ".rustup", ".venv", "Caches", "Caskroom", "Cellar"),
    }
)
"""Names of folders in which a package manager or a cache keeps its files."""


def describe_system_folder(folder: Path) -> str:
    """Return what an absolute folder is if it hardly holds notes, `your home folder`; else empty.

    Only its name counts: nothing is read.
    """
    if folder == Path(folder.anchor):
        return "a whole disk"
    if folder == Path.home():
        return "your home folder"
    if folder in (*map(Path, TEMPORARY_FOLDERS), Path(tempfile.gettempdir())):
        return "a folder of temporary files"
    if PACKAGE_FOLDERS.intersection(folder.parts):
        return "a folder of a package manager or a cache"
    if folder in map(Path, SHARED_FOLDERS):
        return "a folder of the system"
    if any(folder.is_relative_to(tree) for tree in SYSTEM_TREES):
        return "a folder of the system"
    return ""
