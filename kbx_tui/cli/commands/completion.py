"""`kbx completion`: the shell script that completes commands, options and their values."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from kbx_tui.cli.base_command import Command

PROGRAM_NAMES = ("kbx", "kbx-tui")


@click.command(name="completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print a shell completion script for both names of the program.

    It completes commands, options, types, tags, entities, paths and settings.

    \b
    Examples:
      kbx completion bash >> ~/.bashrc
      kbx completion zsh >> ~/.zshrc
      kbx completion fish > ~/.config/fish/conf.d/kbx.fish
    """
    completion_class = get_completion_class(shell)
    assert completion_class is not None  # there is one for each of the choices above
    program = context.find_root().command
    for name in PROGRAM_NAMES:
        variable = f"_{name}_COMPLETE".replace("-", "_").upper()
        click.echo(completion_class(program, {}, name, variable).source())
