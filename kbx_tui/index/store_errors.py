"""Errors of LanceDB, Arrow and the file system, turned into errors of this package.

LanceDB's errors have text but no types. When its Rust code panics it raises an exception that is
no `Exception`, and so would end a thread or a process that catches all errors.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

from kbx_tui.errors import IndexDamaged, IndexFault

PANICS = ("PanicException", "RustPanic")
"""Names of the exceptions of a panic in Rust; their modules cannot be imported."""

DAMAGE = (errno.ENOENT, errno.EIO, errno.ENOTDIR, errno.EISDIR)
"""Error numbers of the system that mean that a file of the index is missing or unreadable."""

READ_ATTEMPTS = 4
"""How often a table is read while another process changes it, or deletes files it replaced."""

_RUST_SOURCE = re.compile(r",? ?/\S+\.rs:\d+(:\d+)?")
"""A position in LanceDB's source, which is left out of messages."""

_OS_ERROR = re.compile(r"os error (\d+)")


@contextmanager
def translate_errors(action: str, uri: str) -> Iterator[None]:
    """Turn errors of LanceDB and the file system into IndexFault, with a message of one sentence.

    IndexDamaged, if they mean that files of the index are missing or not what was written.
    `action` completes the sentence "cannot ...".
    """
    try:
        yield
    except IndexFault:
        raise
    except BaseException as error:
        if not is_store_error(error):
            raise
        raise _translated(action, uri, error) from error


def is_store_error(error: BaseException) -> bool:
    """Return whether LanceDB, Arrow or the file system raise such an error."""
    kind = type(error)
    return (
        isinstance(error, (RuntimeError, ValueError, OSError))
        or kind.__name__ in PANICS
        or kind.__module__.startswith(("pyarrow", "lance"))
    )


def is_missing_file(error: BaseException) -> bool:
    """Return whether a file was missing that a table should have.

    Another process may have compacted the table, and deleted what was being read.
    """
    return _number(error) == errno.ENOENT or "not found" in str(error).lower()


def _translated(action: str, uri: str, error: BaseException) -> IndexFault:
    text = str(error)
    if "No space left" in text or "os error 28" in text:
        return IndexFault(
            f"cannot {action}: no space left on the device of {uri}; free some and try again"
        )
    if "ermission denied" in text or "ead-only" in text:
        return IndexFault(
            f"cannot {action}: no permission for {uri}; check its permissions or set [index] uri"
        )
    first = _RUST_SOURCE.sub("", text.strip().partition("\n")[0])[:200] or type(error).__name__
    what = f"cannot {action} at {uri} ({first})"
    if _number(error) not in (None, *DAMAGE):
        return IndexFault(f"{what}; try again, and `kbx index --full` if that does not help")
    return IndexDamaged(f"{what}; `kbx index --full` rebuilds it")


def _number(error: BaseException) -> int | None:
    """Return the error number of the system, None for an error that is not from there."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    number = _OS_ERROR.search(str(error))
    return int(number[1]) if number else None
