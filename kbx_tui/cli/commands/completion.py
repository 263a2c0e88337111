"""`kbx completion`: the shell script that completes commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from kbx_tui.cli.base_command import Command


@click.command(name="completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print a shell completion script.

    \b
    Examples:
      kbx completion bash >> ~/.bashrc
      kbx completion zsh >> ~/.zshrc
      kbx completion fish > ~/.config/fish/completions/kbx.fish
    """
    program = context.find_root()
    name = program.info_name or "kbx"
    variable = f"_{name}_COMPLETE".replace("-", "_").upper()
    completion_class = get_completion_class(shell)
    assert completion_class is not None  # click has one for each of the choices above
    click.echo(completion_class(program.command, {}, name, variable).source())
