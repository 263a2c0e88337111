"""Conventions of a base: read from the settings of Obsidian or Dendron, and from its pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from kbx_tui.knowledge.dates import folder_of_version
from kbx_tui.knowledge.decoding import decode
from kbx_tui.knowledge.fields import value_of
from kbx_tui.knowledge.obsidian_vault import read_vault_settings
from kbx_tui.knowledge.reading import Conventions, read_frontmatter
from kbx_tui.knowledge.redaction import public_data
from kbx_tui.knowledge.titles import Titles, heading_of
from kbx_tui.knowledge.vault import MEMORY, read_page

DENDRON_SETTINGS = "dendron.yml"

SAMPLE = 200
"""Pages of a vault that are read to see what their titles are."""


def read_conventions(
    root: Path, files: Mapping[str, str | Path], entity_types: frozenset[str]
) -> Conventions:
    """Return the conventions of a base; `files` are its pages on disk, by path."""
    vault = read_vault_settings(root)
    return Conventions(
        titles="heading" if vault is None else _titles(files, entity_types),
        daily_notes=vault.daily_notes if vault else None,
        is_dendron=any((root / folder / DENDRON_SETTINGS).is_file() for folder in ("", MEMORY)),
        version_folders=_version_folders(files, entity_types),
    )


def _version_folders(
    files: Mapping[str, str | Path], entity_types: frozenset[str]
) -> tuple[str, ...]:
    folders = {
        folder
        for path in files
        if (folder := folder_of_version(path)) is not None
        and _public_data(path, files, entity_types) is not None
    }
    return tuple(sorted(folders))


def _public_data(
    path: str, files: Mapping[str, str | Path], entity_types: frozenset[str]
) -> bytes | None:
    """Return what is not redacted of a page, None for nothing.

    Nothing else counts, or the titles and dates that agents see would tell of it.
    """
    with suppress(OSError):
        return public_data(path, read_page(Path(files[path]), path), entity_types)
    return None


def _titles(files: Mapping[str, str | Path], entity_types: frozenset[str]) -> Titles:
    """Return what the titles of a vault's pages are: their opening headings, or their file names.

    Obsidian shows the names of files. Most pages of some vaults open with a title nonetheless, as
    those of programs that need one; a heading that several pages share is that of a section.
    """
    sample = islice(_openings(files, entity_types), SAMPLE)
    openings = Counter(heading for heading in sample if heading is not None)
    titled = sum(1 for heading, count in openings.items() if heading and count == 1)
    return "opening_heading" if 2 * titled > openings.total() else "file_name"


def _openings(
    files: Mapping[str, str | Path], entity_types: frozenset[str]
) -> Iterator[str | None]:
    """Yield the heading that each page opens with, empty without one, None if it states a title.

    They are in the order of the hashes of their paths, so that few edits change which come first.
    """
    chosen = sorted(files, key=lambda path: blake2b(path.encode(), digest_size=8).digest())
    for path in chosen:
        if (data := _public_data(path, files, entity_types)) is not None:
            front = read_frontmatter(decode(data)[0])
            stated = value_of(front.values, "title")
            yield None if stated else heading_of(front.body, "opening_heading", only_top=True)
