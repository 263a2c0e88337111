"""Runs the command line: exit codes, and one line on stderr for every failure."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress

import click

from kbx_tui.cli.base_command import GlobalOptions, Group, OutputClosed
from kbx_tui.cli.output import say
from kbx_tui.errors import KbxError

EXIT_OK = 0
EXIT_FAILED = KbxError.exit_code
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
"""128 + SIGINT, the convention of shells."""
EXIT_OUTPUT_CLOSED = 141
"""128 + SIGPIPE: the reader of stdout has closed it."""


class InternalError(Exception):
    """A bug, with a message that is ready to print."""


def run(group: Group, argv: Sequence[str] | None, program: str) -> int:
    """Run the command line and return its exit code."""
    options = GlobalOptions()
    for stream in (sys.stdout, sys.stderr):  # prints `?` for what the encoding lacks
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        result = group.main(argv, prog_name=program, standalone_mode=False, obj=options)
    except OutputClosed:
        _redirect_stdout_to_null()
        return EXIT_OUTPUT_CLOSED
    except click.Abort:
        say("interrupted")
        return EXIT_INTERRUPTED
    except Exception as error:
        if _is_full_output(error):
            _redirect_stdout_to_null()
        if options.debug:
            traceback.print_exc()
        code, message = describe_failure(error)
        say(message)
        return code
    return result if isinstance(result, int) else EXIT_OK


def describe_failure(error: Exception) -> tuple[int, str]:
    """Return the exit code and the message for `error`."""
    if isinstance(error, KbxError):
        return error.exit_code, str(error)
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "kbx"
        message = error.format_message().rstrip(".")
        separator = "" if message.endswith(("?", "?)")) else ";"  # "Did you mean --path?"
        return EXIT_USAGE, f"{message}{separator} see `{command} --help`"
    if isinstance(error, click.ClickException):
        return error.exit_code, error.format_message()
    if _is_full_output(error):
        return EXIT_FAILED, "cannot write the output: no space left on device"
    reason = str(error) if isinstance(error, InternalError) else f"{type(error).__name__}: {error}"
    return EXIT_FAILED, f"internal error: {reason}; --debug shows the traceback"


def _is_full_output(error: Exception) -> bool:
    """Return whether stdout is full; errors about files carry a file name."""
    return isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None


def _redirect_stdout_to_null() -> None:
    """Keep the interpreter's final flush of stdout from raising."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
