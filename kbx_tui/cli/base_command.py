"""Click classes with the options of every command, and the run of a command line.

Every failure is one line on stderr and an exit code.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from kbx_tui.cli.output import say
from kbx_tui.errors import KbxError

WHOLE_SENTENCE = 1_000
"""Longer than any summary line, so that click never truncates one."""


@dataclass
class GlobalOptions:
    """Values of `--kb`, `--trust` and `--debug`, given before or after the command's name."""

    kb: list[Path] = field(default_factory=list)
    """As often as it is given."""
    trust: bool = False
    debug: bool = False


class OutputClosed(Exception):
    """The reader of stdout has closed it; not a failure."""


def global_options() -> GlobalOptions:
    return click.get_current_context().ensure_object(GlobalOptions)


def _store_global(
    ctx: click.Context, param: click.Parameter, value: tuple[Path, ...] | bool | None
) -> None:
    if isinstance(value, tuple):
        ctx.ensure_object(GlobalOptions).kb += value
    elif value:
        setattr(ctx.ensure_object(GlobalOptions), str(param.name), value)


_GLOBAL_PARAMETERS = (
    click.Option(
        ["--kb"],
        type=click.Path(path_type=Path),
        multiple=True,
        metavar="PATH",
        expose_value=False,
        callback=_store_global,
        help="Knowledge base; default: KBX_ROOT, else the nearest one from here upwards. "
        "The app and `kbx search` take several.",
    ),
    click.Option(
        ["--trust"],
        is_flag=True,
        expose_value=False,
        callback=_store_global,
        help="Allow what kbx.toml asks for, this time; see `kbx trust`.",
    ),
    click.Option(
        ["--debug"],
        is_flag=True,
        expose_value=False,
        callback=_store_global,
        help="Print a traceback when an error occurs.",
    ),
)


class DecodedText(click.types.StringParamType):
    """Text with U+FFFD for undecodable bytes, which are lone surrogates in `sys.argv`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class Command(click.Command):
    """A command that also accepts the global options, and whose text arguments are decoded."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for parameter in self.params:
            if parameter.type is click.STRING:
                parameter.type = DecodedText()
        self.params += _GLOBAL_PARAMETERS

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; for an unknown option, suggest those that end like it."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            last = error.option_name.rpartition("-")[2]
            names = (name for parameter in self.params for name in parameter.opts)
            ending = [name for name in names if last and name.endswith(f"-{last}")]
            if not ending:
                raise
            message = f"No such option {error.option_name!r}. Did you mean {' or '.join(ending)}?"
            raise click.NoSuchOption(error.option_name, message, ctx=error.ctx) from error

    def get_short_help_str(self, limit: int = WHOLE_SENTENCE) -> str:
        return super().get_short_help_str(WHOLE_SENTENCE)


class Group(Command, click.Group):
    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order they were added, the most used first."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the named command; leave broken pipes and ctrl+c to `runner.run`."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError as error:
            raise OutputClosed from error
        except KeyboardInterrupt as error:  # click would print an empty line first
            raise click.Abort from error
        return result


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
