"""Locates the stylesheets: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

from pathlib import Path, PurePath

NAMES = (
    "looks",
    "frame",
    "explore",
    "reading",
    "dedup",
    "experts",
    "tune",
    "indexing",
    "why_not",
    "recall",
    "comparing",
    "blind",
    "help",
    "welcome",
    "together",
)
PACKAGE = Path(__file__).parent.parent


def styles_folder(package: Path = PACKAGE) -> Path:
    """Return the folder that holds the stylesheets."""
    packaged = package / "styles"
    return packaged if packaged.is_dir() else package.parent / "styles"


def stylesheets() -> list[str | PurePath]:
    """Return the stylesheets in the order they are loaded."""
    return [styles_folder() / f"{name}.tcss" for name in NAMES]
