"""Which format a group of files has, and the documents in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kbx_tui.errors import ConfigError
from kbx_tui.importing.calendars_contacts import read_calendar, read_contacts
from kbx_tui.importing.chat_exports import is_chatgpt, is_claude, read_chatgpt, read_claude
from kbx_tui.importing.imported_document import (
    FORMATS,
    Format,
    Imported,
    ImportedDocument,
    ImportProblem,
    SourceFile,
)
from kbx_tui.importing.note_apps import is_logseq, is_notion, read_logseq, read_notion
from kbx_tui.importing.okf import is_okf, read_okf
from kbx_tui.importing.reading_help import json_of_file, text_of_file
from kbx_tui.importing.transcripts import (
    is_fathom_json,
    is_granola_json,
    is_granola_markdown,
    looks_like_fathom,
    looks_like_otter,
    read_fathom_json,
    read_fathom_text,
    read_granola_json,
    read_granola_markdown,
    read_otter,
    read_srt,
    read_vtt,
)

_TREES: tuple[tuple[Format, Callable[[Sequence[SourceFile]], bool]], ...] = (
    ("logseq", is_logseq),
    ("notion", is_notion),
    ("okf", is_okf),
)
"""Formats of whole folders, the most certain first."""
_SUFFIXES: dict[str, Format] = {".vtt": "vtt", ".srt": "srt", ".ics": "ics", ".vcf": "vcard"}


def read_documents(files: Sequence[SourceFile], form: Format | None = None) -> Imported:
    """Return what files hold, in the given format, or in the one that each of them has.

    A file that cannot be read is a problem, and all others count. Raises ConfigError when there is
    no file, or none of a format that is known.
    """
    if not files:
        raise ConfigError(f"there is no file to import; known formats: {', '.join(FORMATS)}")
    form = form or next((name for name, matches in _TREES if matches(files)), None)
    if form == "logseq":
        return Imported(tuple(read_logseq(files)))
    if form == "notion":
        return read_notion(files)
    if form == "okf":
        return read_okf(files)
    imported = Imported()
    for file in files:
        imported += _read_file(file, form)
    if not imported.documents and not imported.problems:
        raise ConfigError(
            f"{files[0].path} holds nothing of a known format ({', '.join(FORMATS)}); "
            "--format names the format of a file whose name or content does not tell"
        )
    return imported


def _read_file(file: SourceFile, form: Format | None) -> Imported:
    try:
        return _read(file, form or _SUFFIXES.get(file.suffix))
    except ValueError as error:
        return Imported(problems=(ImportProblem(file.path, str(error)),))


def _read(file: SourceFile, form: Format | None) -> Imported:
    if form == "vtt":
        return _all(read_vtt(file))
    if form == "srt":
        return _all(read_srt(file))
    if form == "ics":
        return read_calendar(file)
    if form == "vcard":
        return read_contacts(file)
    if file.suffix == ".json":
        return _read_json(file, form)
    is_page = file.suffix in (".md", ".markdown")
    if is_page and form in (None, "granola") and is_granola_markdown(file):
        return _all(read_granola_markdown(file))
    if is_page or file.suffix == ".txt" or form in ("otter", "fathom"):
        return _read_text(file, form)
    if form is not None and file.suffix != ".csv":
        raise ValueError(f"it is not in the format {form}")
    return Imported()


def _read_json(file: SourceFile, form: Format | None) -> Imported:
    data = json_of_file(file)
    if is_chatgpt(data):
        return _all(read_chatgpt(data))
    if is_claude(data):
        return _all(read_claude(data))
    if is_fathom_json(data):
        return _all(read_fathom_json(data))
    if is_granola_json(data):
        return _all(read_granola_json(file, data))
    if form is not None or file.name == "conversations.json":
        raise ValueError(f"it holds no conversations or meetings{f' of {form}' if form else ''}")
    return Imported()  # settings, users, feedback: beside the conversations of an export


def _read_text(file: SourceFile, form: Format | None) -> Imported:
    text = text_of_file(file)
    if form == "fathom" or (form is None and looks_like_fathom(text)):
        return _all(read_fathom_text(file))
    if form == "otter" or (form is None and looks_like_otter(text)):
        return _all(read_otter(file))
    if form is not None:
        raise ValueError(f"it is not in the format {form}")
    return Imported()


def _all(documents: list[ImportedDocument]) -> Imported:
    return Imported(tuple(documents))
