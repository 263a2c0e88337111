"""Reads files to import, and the documents in them, whatever their format.

Sources are single files, folders and zip archives, within fixed limits. An archive is read in
memory and never unpacked to disk. One that has paths outside its folder or links, or that expands
beyond the limits, is refused as a whole: no program exports such archives.
"""

from __future__ import annotations

import io
import lzma
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path, PurePosixPath

from kbx_tui.errors import ConfigError, NotFound
from kbx_tui.importing.calendars import read_calendar
from kbx_tui.importing.contacts import read_contacts
from kbx_tui.importing.conversations import read_conversations
from kbx_tui.importing.imported_document import (
    FORMATS,
    Format,
    Imported,
    ImportProblem,
    SourceFile,
    name_left_out,
)
from kbx_tui.importing.note_exports import is_logseq, is_notion, read_logseq, read_notion
from kbx_tui.importing.okf import is_okf, read_okf
from kbx_tui.importing.printed_documents import LIBRARIES, read_printed
from kbx_tui.knowledge.folding import normalized
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.state_file import read_regular_file

_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    ValueError,
    NotImplementedError,
)
"""What reading an archive raises, besides OSError."""

_ReadTree = Callable[[Sequence[SourceFile]], Imported]

FILE_LIMIT = 256 * 1024 * 1024
TOTAL_LIMIT = 1024 * 1024 * 1024
COUNT_LIMIT = 100_000
RATIO_LIMIT = 200
"""Most bytes that one compressed byte may expand to; text reaches about 20."""
RATIO_FREE = 10 * 1024 * 1024
"""Expanded bytes below which the ratio is not checked."""

READ_SUFFIXES = frozenset(
    {".vtt", ".srt", ".txt", ".json", ".md", ".markdown", ".csv", ".ics", ".vcf", ".edn"}
)


def read_source(source: Path) -> tuple[tuple[SourceFile, ...], tuple[ImportProblem, ...]]:
    """Return the files of a source, sorted by path, and problems. Raises NotFound, ConfigError.

    PDF and Word files in a folder are not read yet: they may be left out, and large.
    """
    if not os.path.lexists(source):
        raise NotFound(f"{source} does not exist; give a file or folder to import")
    problems: list[ImportProblem] = []
    left_out: list[str] = []
    try:
        if source.is_dir():
            files = _read_folder(source, problems, left_out)
        elif source.suffix.lower() == ".zip":
            data = read_regular_file(source, limit=TOTAL_LIMIT)
            files = read_archive(str(source), data, left_out)
        else:
            files = [_read_file(source, source.name)]
    except OSError as error:
        raise ConfigError(f"{source} cannot be read: {error.strerror or error}") from error
    problems += name_left_out(source.name, left_out).problems
    return tuple(sorted(files, key=lambda file: file.path)), tuple(problems)


def read_archive(
    name: str, data: bytes, left_out: list[str], *, nested: bool = False
) -> list[SourceFile]:
    """Return the readable files of a zip archive and of nested archives. Raises ConfigError.

    The paths of all others are added to `left_out`.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            _check_entries(name, entries)
            files: list[SourceFile] = []
            total = 0
            for entry in entries:
                path = PurePosixPath(entry.filename)
                suffix, added = path.suffix.lower(), list[SourceFile]()
                if suffix == ".zip" and not nested:  # Notion nests parts of large exports
                    inner = archive.read(entry)
                    added = read_archive(entry.filename, inner, left_out, nested=True)
                elif suffix in READ_SUFFIXES and not _is_hidden(entry.filename):
                    plain_path = _plain_path(path.as_posix())
                    added = [SourceFile(plain_path, archive.read(entry), _date_of(entry))]
                elif not _is_hidden(entry.filename):
                    left_out.append(entry.filename)
                files += added
                total += sum(len(file.data) for file in added)
                if total > TOTAL_LIMIT:
                    raise _refused(name, "its files are too large together")
                if len(files) > COUNT_LIMIT:
                    raise _refused(name, f"it holds more than {COUNT_LIMIT:,} files")
    except _UNREADABLE as error:
        raise ConfigError(f"{name} is not a readable zip archive: {error}") from error
    return files


def _date_of(entry: zipfile.ZipInfo) -> str:
    """Return the ISO date of an entry; empty if the packing program stored none."""
    try:
        return date(*entry.date_time[:3]).isoformat()
    except ValueError:
        return ""


def _day_of(seconds: float) -> str:
    try:
        return date.fromtimestamp(seconds).isoformat()
    except (ValueError, OverflowError, OSError):  # beyond the year 9999
        return ""


def _check_entries(name: str, entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > COUNT_LIMIT:
        raise _refused(name, f"it holds more than {COUNT_LIMIT:,} files")
    if sum(entry.file_size for entry in entries) > TOTAL_LIMIT:
        raise _refused(name, f"it expands to more than {TOTAL_LIMIT // 1024**2:,} MB")
    for entry in entries:
        path = PurePosixPath(entry.filename)
        is_outside = path.is_absolute() or ".." in path.parts or "\\" in entry.orig_filename
        if is_outside or (path.parts and path.parts[0].endswith(":")):
            raise _refused(name, f"{entry.filename!r} would lie outside it")
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise _refused(name, f"{entry.filename!r} is a link")
        if entry.flag_bits & 1:
            raise ConfigError(f"{name} is encrypted; unpack it and import the folder")
        if entry.file_size > max(RATIO_FREE, RATIO_LIMIT * entry.compress_size):
            raise _refused(name, f"{entry.filename!r} expands to {entry.file_size:,} bytes")


def _refused(name: str, reason: str) -> ConfigError:
    return ConfigError(f"{name} is refused: {reason}; nothing was imported")


def _read_folder(
    folder: Path, problems: list[ImportProblem], left_out: list[str]
) -> list[SourceFile]:
    files: list[SourceFile] = []
    total = 0
    for path in _walk(folder):
        name = path.relative_to(folder).as_posix()
        suffix = path.suffix.lower()
        if suffix not in READ_SUFFIXES | LIBRARIES.keys():
            left_out.append(name)
            continue
        try:
            if suffix in LIBRARIES:
                file = SourceFile(_plain_path(name), b"", place=path)
            else:
                file = _read_file(path, name)
        except OSError as error:
            reason = f"it cannot be read: {error.strerror or error}"
            problems.append(ImportProblem(_plain_path(name), reason))
            continue
        total += len(file.data)
        if len(files) >= COUNT_LIMIT or total > TOTAL_LIMIT:
            raise ConfigError(
                f"{folder} holds more than {COUNT_LIMIT:,} files or "
                f"{TOTAL_LIMIT // 1024**2:,} MB; import its folders one by one"
            )
        files.append(file)
    return files


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder that are not hidden. Links are not followed."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                yield path


def _read_file(file: Path, path: str) -> SourceFile:
    data = read_regular_file(file, limit=FILE_LIMIT, follow_links=True)
    return SourceFile(_plain_path(path), data, _day_of(file.stat().st_mtime))


def _plain_path(path: str) -> str:
    """Return a path in NFC, as in a base; archives made on macOS have another form."""
    return normalized("NFC", replace_surrogates(path))


def _is_hidden(path: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(path).parts)


_TREES: dict[Format, tuple[Callable[[Sequence[SourceFile]], bool], _ReadTree]] = {
    "logseq": (is_logseq, read_logseq),
    "notion": (is_notion, read_notion),
    "okf": (is_okf, read_okf),
}
"""How formats of whole folders are recognised and read, most reliably recognised first."""


def read_documents(files: Sequence[SourceFile], form: Format | None = None) -> Imported:
    """Return the documents in files, read in the given format or in each file's own.

    An unreadable file is a problem; all others are read. Raises ConfigError if there are no files,
    or none has a known format.
    """
    if not files:
        raise ConfigError(f"there is no file to import; known formats: {', '.join(FORMATS)}")
    form = form or next((name for name, (matches, _) in _TREES.items() if matches(files)), None)
    if form in _TREES:
        return _TREES[form][1](files)
    imported, unread, left_out = Imported(), list[ImportProblem](), list[str]()
    for file in files:
        if file.place and form not in (None, file.suffix[1:]):
            left_out.append(file.path)
            continue
        try:
            found = _read_documents(file, form)
        except ValueError as error:
            found = Imported(problems=(ImportProblem(file.path, str(error)),))
        if not found.documents and not found.problems:
            unread.append(ImportProblem(file.path, "it holds nothing of a known format"))
        imported += found
    imported += name_left_out("the folder", left_out)
    if not imported.documents and not imported.problems:
        raise ConfigError(
            f"{files[0].path} holds nothing of a known format ({', '.join(FORMATS)}); "
            "--format names the format of a file whose name or content does not tell"
        )
    return imported + Imported(problems=tuple(unread))


def _read_documents(file: SourceFile, form: Format | None) -> Imported:
    if form == "ics" or (form is None and file.suffix == ".ics"):
        return read_calendar(file)
    if form == "vcard" or (form is None and file.suffix == ".vcf"):
        return read_contacts(file)
    if file.suffix in LIBRARIES and form in (None, file.suffix[1:]):
        return read_printed(_loaded(file))
    return read_conversations(file, form)


def _loaded(file: SourceFile) -> SourceFile:
    if file.place is None:
        return file
    try:
        data = read_regular_file(file.place, limit=FILE_LIMIT, follow_links=True)
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror or error}") from error
    return replace(file, data=data, place=None)
