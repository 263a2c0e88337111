"""Obsidian vaults, read only: settings, resolution of links, attachments.

A base is a vault if it or its `memory/` has a folder `.obsidian`. A missing or unreadable settings
file counts as empty.
"""

from __future__ import annotations

import os
import posixpath
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kbx_tui.knowledge.dates import DailyNotes
from kbx_tui.knowledge.folding import normalized
from kbx_tui.knowledge.vault import MEMORY
from kbx_tui.state_file import decode_json, read_regular_file

FOLDER = ".obsidian"
TEMPLATES = ("templates.json", "plugins/templater-obsidian/data.json")
DAILY_NOTES = "daily-notes.json"
APP = "app.json"

_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class VaultSettings:
    folder: str
    template_folders: tuple[str, ...] = ()
    template_notes: tuple[str, ...] = ()
    attachment_folder: str = ""
    daily_notes: DailyNotes = field(default_factory=DailyNotes)


def obsidian_address(root: Path, path: str) -> str:
    folder = _vault_folder(root)
    prefix = f"{folder}/" if folder else ""
    if folder is None or not path.startswith(prefix):
        return ""
    name, file = (root / folder).resolve().name, path.removeprefix(prefix)
    return f"obsidian://open?vault={quote(name, safe='')}&file={quote(file, safe='')}"


def _vault_folder(root: Path) -> str | None:
    return next((folder for folder in ("", MEMORY) if (root / folder / FOLDER).is_dir()), None)


def read_vault_settings(root: Path) -> VaultSettings | None:
    folder = _vault_folder(root)
    if folder is None:
        return None
    settings = root / folder / FOLDER
    template_folders = [
        path
        for name in TEMPLATES
        for key in ("folder", "templates_folder")
        if (path := _path(folder, _load(settings / name).get(key)))
    ]
    daily = _load(settings / DAILY_NOTES)
    template = _path(folder, daily.get("template"))
    if template and not template.lower().endswith(".md"):
        template += ".md"
    moment_format = daily.get("format")
    return VaultSettings(
        folder=folder,
        template_folders=tuple(dict.fromkeys(template_folders)),
        template_notes=(template,) if template else (),
        attachment_folder=_path(folder, _load(settings / APP).get("attachmentFolderPath")),
        daily_notes=DailyNotes(
            moment_format if isinstance(moment_format, str) and moment_format else "YYYY-MM-DD",
            _path(folder, daily.get("folder")) or folder,
        ),
    )


def _load(file: Path) -> Mapping[str, Any]:
    try:
        return decode_json(read_regular_file(file, limit=_LIMIT, follow_links=True), dict[str, Any])
    except (OSError, ValueError):
        return {}


def _path(folder: str, value: object) -> str:
    if not isinstance(value, str):
        return ""
    names = normalized("NFC", value).split("/")
    parts = [name for name in names if name not in ("", ".")]
    return "/".join([folder, *parts] if folder else parts) if parts and ".." not in parts else ""


_DOTS = re.compile(r"(?:\.{1,2}/)+")
_NUMBER = re.compile(
    r"(?:\d{8,14}|(?P<root>\d{1,4}(?:[.,]\d{1,4})*)[a-z]"
    r"(?:[.,]?(?:\d{1,4}+(?!\d)|(?<=[\d.,])[a-z]))*+)(?=[ _-].*\.md\Z)"
)


class FileLookup:
    """The files of one base by name.

    A link is tried in turn as a path from the folder of the note (`./x`, `../x`), as a path from
    the root of the base, and as the end of a path, first of files below the folder of the note; of
    several, the shortest path is taken. Letter case is ignored; a name without an extension means a
    note, and a number means the note whose name begins with it: `202603171015 Cold frames`, or
    `1a2 Cold frames` beside other notes whose numbers begin with 1, one with `1a`.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = {}
        for path in paths:
            self._by_name.setdefault(path.rpartition("/")[2].lower(), []).append(path)
        self._shortest = cache(self._find_shortest)
        self._sorted = cache(self._sort)

    def find(self, page: str, source: str) -> str | None:
        """Return the path of the file that `page`, in a link from `source`, refers to.

        `page` is the target of a link without its part, NFC; an empty one means `source`.
        """
        if not page:
            return source
        wanted = page.lower()
        name = wanted.rpartition("/")[2]
        named = self._by_name.get(name) if "." in name else None
        if named is None:
            wanted, named = f"{wanted}.md", self._by_name.get(f"{name}.md") or self._numbered(name)
        if not (name and named):
            return None
        if len(named) == 1 and "/" not in page:
            return named[0]  # a unique name is found from every folder
        folder = posixpath.dirname(source.lower())
        if dots := _DOTS.match(wanted):
            here = posixpath.normpath(posixpath.join(folder, wanted))
            if exact := self._by_path.get(here):
                return exact
            wanted = wanted[dots.end() :]
        top = wanted.lstrip("/")
        exact = self._by_path.get(top) or self._by_path.get(f"{MEMORY}/{top}")
        if exact or wanted.startswith("/"):
            return exact
        found = (folder and self._shortest(top, f"{folder}/")) or self._shortest(top, "")
        return found.get(page.rpartition("/")[2].removesuffix(".md")) or found.get("")

    def _find_shortest(self, top: str, below: str) -> Mapping[str, str]:
        """Return the first of the shortest paths that end so, and for each stem that of it."""
        ordered = self._sorted(top.rpartition("/")[2])
        first = bisect_left(ordered, (below,))
        end = bisect_left(ordered, (f"{below[:-1]}0",)) if below else None  # 0 is next to a slash
        ending = [path for low, path in ordered[first:end] if f"/{low}".endswith(f"/{top}")]
        least = min(map(len, ending), default=0)
        shortest = sorted((path for path in ending if len(path) == least), reverse=True)
        by_stem = {path.rpartition("/")[2].removesuffix(".md"): path for path in shortest}
        return by_stem | ({"": shortest[-1]} if shortest else {})

    def _sort(self, name: str) -> Sequence[tuple[str, str]]:
        return sorted((path.lower(), path) for path in self._by_name.get(name, ()))

    @cached_property
    def _by_path(self) -> Mapping[str, str]:
        """The first path of each in small letters."""
        paths = chain.from_iterable(self._by_name.values())
        return {path.lower(): path for path in reversed([*paths])}

    def _numbered(self, name: str) -> list[str]:
        return self._by_number.get(name, []) if name[:1].isdecimal() else []

    @cached_property
    def _by_number(self) -> Mapping[str, list[str]]:
        """The paths of the notes whose names begin with eight digits or more, or with digits and
        single letters in turn, by these.

        `3d printing` and `4x4 cars` are in no sequence of such numbers, which begins with `3a`.
        """
        found = defaultdict[str, list[str]](list)
        sequences = defaultdict[str, set[str]](set)
        for name, paths in self._by_name.items():
            if match := _NUMBER.match(name):
                found[match[0]] += paths
                if match["root"]:
                    sequences[match["root"]].add(match[0])
        for root, numbers in sequences.items():
            if len(numbers) < 2 or not any(each.startswith(f"{root}a") for each in numbers):
                for number in numbers:
                    del found[number]
        return found


def file_name_of(page: str) -> str:
    name = page.lower().rpartition("/")[2]
    return name if name.endswith(".md") else f"{name}.md"


MOST = 200_000


def list_attachments(root: Path) -> list[str]:
    """Return the paths of all files except markdown, relative to the root, NFC.

    Hidden folders are left out, except the attachment folder. Symbolic links are not followed.
    """
    vault = read_vault_settings(root)
    files = islice(_files(root, vault.attachment_folder if vault else ""), MOST)
    return [normalized("NFC", path) for path in files]


def _files(root: Path, kept: str) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        prefix = Path(folder).relative_to(root).as_posix()
        prefix = "" if prefix == "." else f"{prefix}/"
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") or f"{kept}/".startswith(f"{prefix}{name}/")
        ]
        folders[:] = [name for name in folders if name != "node_modules"]
        yield from (prefix + name for name in files if name[-3:].lower() != ".md")
