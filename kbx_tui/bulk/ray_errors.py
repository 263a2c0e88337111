"""Errors of Ray in few words: they come with tracebacks and coloured lines of other processes."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"\x1b\[[0-9;]*m")


def brief(error: BaseException | str) -> str:
    """Return what an error, or its text, says, on one line of at most 160 characters.

    That is its last line where it holds the traceback of another process.
    """
    lines = [line for text in str(error).splitlines() if (line := _CONTROL.sub("", text).strip())]
    if not lines:
        return "no reason was given" if isinstance(error, str) else type(error).__name__
    is_traceback = any("Traceback" in line for line in lines)
    return lines[-1 if is_traceback else 0][:160].rstrip(". ")
