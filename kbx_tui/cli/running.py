"""Runs a command: the options every command has, exit codes, and one line for every failure.

Data goes to stdout, everything said to a person to stderr.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from kbx_tui.errors import KbxError
from kbx_tui.safe_text import visible

EXIT_OK = 0
EXIT_FAILED = KbxError.exit_code
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
"""128 + SIGINT, as shells count."""
EXIT_OUTPUT_CLOSED = 141
"""128 + SIGPIPE: whoever read the output has stopped reading."""


@dataclass
class Session:
    """What `--kb` and `--debug` say, wherever on the line they stand."""

    kb: Path | None = None
    debug: bool = False


class InternalError(Exception):
    """A bug, already put into words."""


class OutputClosed(Exception):
    """Nobody reads the output any more; no failure."""


class Command(click.Command):
    """A command with `--kb` and `--debug`. The program has them too: either place works."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += shared_options()


class Group(click.Group):
    """The program itself."""

    command_class = Command

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += shared_options()

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order they were added: what is used most comes first."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was named; what click would answer itself is answered by `run`."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError as error:
            raise OutputClosed from error
        except KeyboardInterrupt as error:  # click would print an empty line first
            raise click.Abort from error
        return result


def shared_options() -> list[click.Parameter]:
    """Return fresh `--kb` and `--debug` options."""
    return [
        click.Option(
            ["--kb"],
            type=click.Path(path_type=Path),
            metavar="PATH",
            expose_value=False,
            callback=_remember_kb,
            help="The knowledge base; else KBX_ROOT, else the nearest one upward.",
        ),
        click.Option(
            ["--debug"],
            is_flag=True,
            expose_value=False,
            callback=_remember_debug,
            help="Show where an error comes from.",
        ),
    ]


def session() -> Session:
    """Return the session of the running command."""
    return click.get_current_context().ensure_object(Session)


def say(text: str) -> None:
    """Tell a person something on stderr, in one line."""
    click.echo(f"kbx: {visible(text)}", err=True)


def run(group: Group, argv: Sequence[str] | None, program: str) -> int:
    """Run the command line and return its exit code."""
    state = Session()
    for stream in (sys.stdout, sys.stderr):  # what its encoding lacks is shown as `?`
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        done = group.main(argv, prog_name=program, standalone_mode=False, obj=state)
    except OutputClosed:
        _point_stdout_nowhere()
        return EXIT_OUTPUT_CLOSED
    except click.Abort:
        say("interrupted")
        return EXIT_INTERRUPTED
    except Exception as error:
        if _output_is_full(error):
            _point_stdout_nowhere()
        if state.debug:
            traceback.print_exc()
        code, message = describe_failure(error)
        say(message)
        return code
    return done if isinstance(done, int) else EXIT_OK


def describe_failure(error: Exception) -> tuple[int, str]:
    """Return the exit code for `error` and what to tell about it."""
    if isinstance(error, KbxError):
        return error.exit_code, str(error)
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "kbx"
        message = error.format_message().rstrip(".")
        joint = "" if message.endswith(("?", "?)")) else ";"  # click asks: Did you mean ...?
        return EXIT_USAGE, f"{message}{joint} `{command} --help` shows what is possible"
    if isinstance(error, click.ClickException):
        return error.exit_code, error.format_message()
    if _output_is_full(error):
        return EXIT_FAILED, "the output cannot be written: no space left"
    words = str(error) if isinstance(error, InternalError) else f"{type(error).__name__}: {error}"
    return EXIT_FAILED, f"internal error: {words}; --debug shows where"


def _output_is_full(error: Exception) -> bool:
    """Writing to stdout names no file; everything else that fills a disk does."""
    return isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None


def _point_stdout_nowhere() -> None:
    """Keep the interpreter from complaining when it flushes once more on its way out."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _remember_kb(ctx: click.Context, param: click.Parameter, value: Path | None) -> None:
    if value is not None:
        ctx.ensure_object(Session).kb = value


def _remember_debug(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Session).debug = True
