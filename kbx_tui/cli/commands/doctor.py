"""`kbx doctor` and `kbx --version`: what a report of a bug needs to say of an installation.

A report is made to be published. So it consists of what the program itself knows, numbers, and
choices from fixed lists; free text, such as messages of errors, is never copied into it.
"""

from __future__ import annotations

import builtins
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any

import click

import kbx_tui
from kbx_tui import __version__, errors
from kbx_tui.cli.base_command import Command, global_options, selected_root
from kbx_tui.formatting import format_count, format_percent, format_size
from kbx_tui.user_files import LOG_RECORD, log_path

PACKAGE = Path(kbx_tui.__file__).parent
TERMINAL_VARIABLES = ("TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "LANG", "LC_ALL")
PLAIN = re.compile(r"[\w.@+-]{1,40}", re.ASCII)
"""What the value of such a variable is made of; others are not repeated."""
NOTED_VARIABLES = (
    "TMUX", "STY", "ZELLIJ", "SSH_CONNECTION", "WSL_DISTRO_NAME", "NO_COLOR", "TEXTUAL_THEME",
    "TEXTUAL_ANIMATIONS", "VISUAL", "EDITOR", "KBX_ROOT", "KBX_STATE_DIR", "KBX_CACHE_DIR",
    "KBX_LOG_DIR", "KBX_EMBEDDING_KEY",
)  # fmt: skip
"""Variables of which a report says only that they are set."""
SHOWN_ERRORS = 10
READ_OF_LOG = 200_000
"""Bytes at the end of the log that are read."""
FRAME = re.compile(r'.*/kbx_tui/([\w/]+\.py)(?:", line |:)(\d+)')
"""A place in the package, as Python and as Textual write it in a traceback."""
RAISED = re.compile(r"^([A-Za-z]\w*(?:\.\w+)*)(?::|$)", re.MULTILINE)

Rows = list[tuple[str, str]]
"""Labels and values; an empty label continues the row above."""


@click.command(name="doctor", cls=Command)
def doctor_command() -> None:
    """Print what a report of a bug needs, ready to paste.

    Versions, system and terminal, sizes of knowledge base and index, settings that differ from
    their defaults, and where in the code recent errors came from. It names no file, title, query or
    person: of settings that are free text, only that they are set, and of errors, no message.

    \b
    Examples:
      kbx doctor
      kbx doctor --kb ~/notes
      kbx doctor | xclip             copy it, where xclip is installed
    """
    rows = [
        ("program", version_line()),
        *_system(),
        *_terminal(),
        *_base(),
        *_recent_errors(),
    ]
    click.echo("\n".join(f"{label:<10}{value}".rstrip() for label, value in rows))


def version_line() -> str:
    """Return version, bundled model and build: a digest of the code, wherever it is installed."""
    from kbx_tui.embedding import BUNDLED_MODEL

    digest = sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(file.relative_to(PACKAGE).as_posix().encode() + b"\0" + file.read_bytes())
    build = digest.hexdigest()[:12]
    return f"kbx-tui {__version__} · model {BUNDLED_MODEL} · build {build}"


def _system() -> Iterator[tuple[str, str]]:
    import platform  # as with importlib.metadata below, `kbx search` does without

    distribution = ""
    with suppress(OSError):
        distribution = f" ({platform.freedesktop_os_release().get('PRETTY_NAME', '')})"
    yield "system", f"{platform.system()}{distribution}, {platform.machine()}"
    count = format_count(os.cpu_count() or 0, "processor")
    yield "", f"{platform.python_implementation()} {platform.python_version()}, {count}"
    installed = {name: _version_of(name) for name in _requirements()}
    there = [f"{name} {number}" for name, number in installed.items() if number]
    for start in range(0, len(there), 6):
        yield "packages" * (start == 0), ", ".join(there[start : start + 6])
    if len(there) < len(installed):
        yield "", f"not installed: {', '.join(name for name in installed if not installed[name])}"


def _requirements() -> list[str]:
    """Return the names of the packages that this one asks for, those of extras last."""
    from importlib.metadata import requires

    asked = sorted(requires("kbx-tui") or (), key=lambda each: "extra ==" in each)
    return list(dict.fromkeys(re.split(r"[^\w.-]", each, maxsplit=1)[0] for each in asked))


def _version_of(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _terminal() -> Rows:
    size = shutil.get_terminal_size()
    given = {name: os.environ.get(name, "") for name in TERMINAL_VARIABLES}
    words = [
        f"{size.columns} x {size.lines}" if sys.stderr.isatty() else "none",
        *(f"{k}={v if PLAIN.fullmatch(v) else '(set)'}" for k, v in given.items() if v),
        sys.stdout.encoding,
    ]
    noted = [name for name in NOTED_VARIABLES if os.environ.get(name)]
    return [
        ("terminal", ", ".join(words)),
        *([("", f"set: {', '.join(noted)}")] if noted else []),
    ]


def _base() -> Iterator[tuple[str, str]]:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.embedding import BUNDLED_MODEL, is_remote

    try:
        root = selected_root()
        yield from _settings(root)
        trust = global_options().trust
        with KnowledgeBase(root, notice=lambda text: None, trust=trust) as kb:
            status = kb.status()
    except Exception as error:  # whatever is wrong, the rest of the report is wanted
        yield "base", f"cannot be read: {_type_name(type(error).__name__)}"
        return
    counts = {
        "document": status.documents,
        "chunk": status.chunks,
        "entity": status.entities,
        "fact": status.facts,
        "link": status.links,
    }
    yield "base", ", ".join(format_count(count, noun) for noun, count in counts.items())
    size, meaning = format_size(status.size_bytes), format_percent(status.vector_share)
    model = "the model of a server" if is_remote(status.model) else "another model"
    model = "the bundled model" if status.model == BUNDLED_MODEL else model
    words = [size, f"{meaning} embedded by {model}", f"generation {status.generation}"]
    words += ["published"] if status.published else []
    yield "index", ", ".join(words) if status.indexed else "none"
    faults = {
        "changed file": len(status.stale),
        "problem": sum(not problem.on_purpose for problem in status.problems),
        "fault": len(status.damage),
    }
    yield "", ", ".join(format_count(count, noun) for noun, count in faults.items())


def _settings(root: Path) -> Iterator[tuple[str, str]]:
    from kbx_tui.settings_file import KEYS, choices_of, describe_settings

    changed = [each for each in describe_settings(root) if each.source != "default"]
    keys = [each for each in changed if each.key.startswith(f"{KEYS}.")]
    lines = [
        f"{each.key} = {_shown(each.value, choices_of(each.key))}"
        for each in changed
        if each not in keys
    ]
    lines += [f"{format_count(len(keys), 'key')} changed"] if keys else []
    for row, line in enumerate(lines or ["all as by default"]):
        yield "settings" * (row == 0), line


def _shown(value: Any, choices: tuple[str, ...]) -> str:
    """Return a setting's value if it cannot be a name: a number, or one of a fixed list."""
    if isinstance(value, bool | int | float) or value in choices:
        return str(value)
    return f"({format_count(len(value), 'value')})" if isinstance(value, tuple) else "(set)"


def _recent_errors() -> Rows:
    """Return a row for each of the last records of the log: time, level, places in the code."""
    try:
        with log_path().open("rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - READ_OF_LOG, 0))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return [("errors", "none noted: there is no log")]
    modules = {file.stem for file in PACKAGE.rglob("*.py")}
    heads = [head for head in LOG_RECORD.finditer(text) if head["module"] in modules]
    lines = list[str]()
    for head, following in zip_longest(heads, heads[1:]):
        if head["level"] in ("WARNING", "ERROR", "CRITICAL"):
            record = text[head.end() : following.start() if following else None]
            place = f"{head['module']}:{head['line']}"
            lines.append(f"{head['time']} {head['level']} {place}{_raised(record)}")
    shown = lines[-SHOWN_ERRORS:] or ["none noted"]
    return [("errors" * (row == 0), line) for row, line in enumerate(shown)]


def _raised(record: str) -> str:
    """Return the type of the error whose traceback a record has, and where it was raised."""
    frames = [
        f"{file}:{line}"
        for file, line in FRAME.findall(record.replace("\\", "/"))
        if (PACKAGE / file).is_file()
    ]
    if not frames:
        return ""
    kinds = [_type_name(name) for name in RAISED.findall(record)]
    kind = next((name for name in reversed(kinds) if name != ANOTHER), ANOTHER)
    return f" {kind} at {' < '.join(reversed(frames[-3:]))}"


ANOTHER = "another error"


def _type_name(name: str) -> str:
    """Return the name of a type of error that Python or this package has; of others, no name."""
    last = name.rpartition(".")[2]
    found = getattr(errors, last, getattr(builtins, last, None))
    known = isinstance(found, type) and issubclass(found, Exception)
    return last if known else ANOTHER
