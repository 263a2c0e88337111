"""`kbx completion`: the script that lets a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from kbx_tui.cli.running import Command


@click.command(name="completion", cls=Command, short_help="Print a shell's completion script.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    \b
    Examples:
      kbx completion bash >> ~/.bashrc
      kbx completion zsh >> ~/.zshrc
      kbx completion fish > ~/.config/fish/completions/kbx.fish
    """
    program = context.find_root()
    name = program.info_name or "kbx"
    variable = f"_{name}_COMPLETE".replace("-", "_").upper()
    kind = get_completion_class(shell)
    assert kind is not None  # the choices above are the ones click has
    click.echo(kind(program.command, {}, name, variable).source())
