"""The files of the page, read once: requests name them, and never a path on this machine."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

TYPES = {
    "css": "text/css",
    "html": "text/html",
    "js": "text/javascript",
    "mjs": "text/javascript",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}
"""Kinds of files that are served, by suffix."""
COMPRESSED = frozenset(("css", "js", "mjs"))


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file that the server can send."""

    body: bytes
    compressed: bytes | None
    """The same with gzip, for what becomes smaller."""
    content_type: str
    etag: str


def read_page_files() -> dict[str, PageFile]:
    """Return the files of the page by name."""
    folder = files("kbx_tui.web").joinpath("page")
    return {
        file.name: _read(file)
        for part in (folder, folder.joinpath("vendor"))
        for file in part.iterdir()
        if _suffix(file) in TYPES
    }


def _read(file: Traversable) -> PageFile:
    body = file.read_bytes()
    compressed = gzip.compress(body, mtime=0) if _suffix(file) in COMPRESSED else None
    return PageFile(body, compressed, TYPES[_suffix(file)], hashlib.sha256(body).hexdigest()[:32])


def _suffix(file: Traversable) -> str:
    return file.name.rpartition(".")[2]
