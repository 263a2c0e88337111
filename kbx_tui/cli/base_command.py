"""Shared by all commands: global options, opening the selected base, reporting failures.

Every failure is one line on stderr and an exit code. The engine is loaded when a base is opened.
"""

from __future__ import annotations

import errno
import gc
import os
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli.output import say
from kbx_tui.errors import ConfigError, KbxError

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase


WHOLE_SENTENCE = 1_000


@dataclass
class GlobalOptions:
    """Values of `--kb`, `--trust` and `--debug`, given before or after the command's name."""

    kb: list[Path] = field(default_factory=list)
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


def _global_option(name: str, help_text: str, **more: Any) -> click.Option:
    return click.Option([name], help=help_text, expose_value=False, callback=_store_global, **more)


_GLOBAL_PARAMETERS = (
    _global_option(
        "--kb",
        "Knowledge base; default: KBX_ROOT, else the nearest one from here upwards. "
        "The app and `kbx search` take several.",
        type=click.Path(path_type=Path),
        multiple=True,
        metavar="PATH",
    ),
    _global_option(
        "--trust", "Allow what kbx.toml asks for, this time; see `kbx trust`.", is_flag=True
    ),
    _global_option("--debug", "Print a traceback when an error occurs.", is_flag=True),
)


class DecodedText(click.types.StringParamType):
    """Text with U+FFFD instead of the lone surrogates of undecodable bytes in `sys.argv`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class Command(click.Command):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for parameter in self.params:
            if parameter.type is click.STRING:
                parameter.type = DecodedText()
        self.params += _GLOBAL_PARAMETERS

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; suggest options for an unknown one, and say what is needed."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            last = error.option_name.rpartition("-")[2]
            names = (name for parameter in self.params for name in parameter.opts)
            ending = [name for name in names if last and name.endswith(f"-{last}")]
            takes_text = any(parameter.nargs == -1 for parameter in self.params)
            message = f"No such option {error.option_name!r}"
            if ending:
                message += f". Did you mean {' or '.join(ending)}?"
            elif takes_text and not error.option_name.startswith("--"):
                message += ": write -- before text in which a word begins with a dash"
            else:
                raise
            raise click.NoSuchOption(error.option_name, message, ctx=error.ctx) from error
        except click.MissingParameter as error:
            needed = " ".join(self.collect_usage_pieces(ctx)).replace("[OPTIONS] ", "")
            message = f"{error.format_message().rstrip('.')} of {ctx.command_path} {needed}"
            raise click.UsageError(message, ctx=error.ctx) from error
        except click.BadOptionUsage as error:
            error.ctx = ctx  # click's parser leaves out whose help has the option
            raise

    def get_short_help_str(self, limit: int = WHOLE_SENTENCE) -> str:
        return super().get_short_help_str(WHOLE_SENTENCE)


class Group(Command, click.Group):
    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order they were added, the most used first."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the named command; re-raise broken pipes and ctrl+c in a form that `run` handles."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError as error:
            raise OutputClosed from error
        except KeyboardInterrupt as error:  # otherwise click prints an empty line first
            raise click.Abort from error
        return result


EXIT_OK = 0
EXIT_FAILED = KbxError.exit_code
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
"""128 + SIGINT, the convention of shells."""
EXIT_OUTPUT_CLOSED = 141
"""128 + SIGPIPE: stdout was closed by its reader."""


class InternalError(Exception):
    """A bug; its message is ready to print."""


def run(group: Group, argv: Sequence[str] | None, program: str) -> int:
    options = GlobalOptions()
    for stream in (sys.stdout, sys.stderr):  # print `?` for characters that the encoding lacks
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
        message = _in_plain_words(error.format_message().rstrip("."))
        separator = "" if message.endswith(("?", "?)")) else ";"  # "Did you mean --path?"
        return EXIT_USAGE, f"{message}{separator} see `{command} --help`"
    if isinstance(error, click.ClickException):
        return error.exit_code, error.format_message()
    if _is_full_output(error):
        return EXIT_FAILED, "cannot write the output: no space left on device"
    reason = str(error) if isinstance(error, InternalError) else f"{type(error).__name__}: {error}"
    return EXIT_FAILED, f"internal error: {reason}; --debug shows the traceback"


_PLAIN_WORDS = (
    (r"is not a valid integer(?: range)?", "is not a whole number"),
    (r"is not a valid float(?: range)?", "is not a number"),
    (r"is not in the range x>=(\S+)", r"is less than \1"),
    (r"is not in the range (\S+)<=x<=(\S+)", r"is not between \1 and \2"),
)
"""Patterns of what click says of a number, and the same in words."""


def _in_plain_words(message: str) -> str:
    for said, plain in _PLAIN_WORDS:
        message = re.sub(said, plain, message)
    return message


def _is_full_output(error: Exception) -> bool:
    """Return whether the disk behind stdout is full; errors about other files name the file."""
    return isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None


def _redirect_stdout_to_null() -> None:
    """Keep the interpreter's final flush of stdout from raising."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def open_kb(root: Path | None = None) -> KnowledgeBase:
    """Open the base at `root`, or the selected one. Raises NotFound, ConfigError, NotTrusted."""
    from kbx_tui.api import KnowledgeBase

    return KnowledgeBase(root or selected_root(), notice=say, trust=global_options().trust)


def selected_root(*, may_be_empty: bool = False) -> Path:
    """Return the root of the selected base; `may_be_empty` accepts one without markdown."""
    from kbx_tui.base_discovery import find_base

    return find_base(selected_folder(), may_be_empty=may_be_empty)


def selected_folder() -> Path | None:
    """Return the folder given by `--kb` or KBX_ROOT, if any. Raises ConfigError for several."""
    from kbx_tui.settings_file import knowledge_base_from_environment

    given = selected_folders()
    if len(given) > 1:
        raise ConfigError(
            "--kb is given more than once, but only the app and `kbx search` take several"
            " knowledge bases; start a server for each"
        )
    return given[0] if given else knowledge_base_from_environment()


def selected_folders() -> list[Path]:
    return list(dict.fromkeys(global_options().kb))


def warn_if_outdated(kb: KnowledgeBase) -> None:
    from kbx_tui.api.session import outdated_notes

    for note in outdated_notes(kb.count_newer_files(), entities=kb.entities_outdated()):
        say(note)


ALLOCATIONS_BEFORE_COLLECTION = 1_000_000
"""More allocations than a search makes; indexing exceeds it, so its memory stays bounded.

Chosen by the experiment "garbage collection in one-shot commands" in docs/quality.md.
"""


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Collect no garbage during a search: it would scan every loaded object and free none."""
    thresholds = gc.get_threshold()
    gc.set_threshold(ALLOCATIONS_BEFORE_COLLECTION, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.freeze()  # otherwise all objects are scanned again at exit
