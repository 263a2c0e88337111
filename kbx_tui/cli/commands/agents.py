"""`kbx install-agent`: the entry for `kbx mcp` in the settings of an agent."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from kbx_tui.cli.base_command import Command, selected_root
from kbx_tui.cli.options import PROGRAM_NAMES, flag, json_option, option
from kbx_tui.cli.output import print_result, say, wants_json
from kbx_tui.errors import ConfigError, NotFound
from kbx_tui.safe_text import replace_surrogates

AGENT_NAMES = ("claude", "claude-desktop", "codex", "cursor", "vscode")


@click.command(name="install-agent", cls=Command)
@click.argument("agent", type=click.Choice(AGENT_NAMES))
@flag("--write", "Add the entry to the agent's settings file.")
@flag("--undo", "Remove what --write added.")
@flag("--skill", "Print what the agent should know about the tools, for its instructions.")
@flag("--allow-writes", "Offer the tools that add and change facts, which you then review.")
@option("--name NAME", "Name of the server, one for each knowledge base.", default="kbx")
@json_option
def install_agent_command(
    agent: str, write: bool, undo: bool, skill: bool, allow_writes: bool, name: str
) -> None:
    """Connect an agent to the knowledge base.

    Prints the entry for its settings file, and says which file that is. --write adds the entry;
    everything else in the file stays as it is. The agent then starts `kbx mcp` by itself.

    \b
    Examples:
      kbx install-agent claude
      kbx --kb ~/notes install-agent codex --write
      kbx --kb ~/work install-agent cursor --name work --allow-writes --write
      kbx install-agent claude --skill >> ~/.claude/CLAUDE.md
      kbx install-agent codex --undo
    """
    if write + undo + skill > 1:
        raise click.UsageError("--write, --undo and --skill exclude each other")
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        raise ConfigError(f"--name {name!r} is not valid: use letters, digits, - and _")
    from kbx_tui.tools import agent_settings

    known = agent_settings.AGENTS[agent]
    data: dict[str, Any] = {"agent": agent, "name": name}
    if skill:
        text = agent_settings.skill_text(name, allow_writes=allow_writes)
        print_result({**data, "skill": text}, text.splitlines())
        if not wants_json():
            say("append this to the agent's instructions, such as CLAUDE.md or AGENTS.md")
        return
    file, entry = agent_settings.settings_file(known), None
    if not undo:
        root = selected_root(may_be_empty=True).absolute()
        if replace_surrogates(str(root)) != str(root):
            raise ConfigError(f"{root} is not valid UTF-8, as settings must be; rename the folder")
        if "${" in str(root):
            raise ConfigError(f"{root} holds ${{, after which agents read a variable; rename it")
        entry = agent_settings.server_entry(known, own_command(), root, allow_writes=allow_writes)
    written = (write or undo) and agent_settings.change_entry(known, name, entry)
    if undo and not written:
        raise NotFound(f"{file} has no server called {name}")
    shown = [f"removed {name} from {file}" if undo else f"written · {file}"] if written else []
    if entry and not write:
        shown = agent_settings.entry_text(known, name, entry).splitlines()
    print_result({**data, "file": str(file), "entry": entry, "written": written}, shown)
    if wants_json() or undo:
        return
    if not write:
        say(f"this belongs in {file}; --write adds it there")
    elif written:
        say(f"start {known.title} again to use it; --undo removes it")
    else:
        say(f"{file} says this already")


def own_command() -> list[str]:
    """Return the command that starts this program; agents may have another PATH than the shell."""
    program = sys.argv[0]
    found = shutil.which(program) if Path(program).stem in PROGRAM_NAMES else None
    if found:
        return [os.path.abspath(found)]  # noqa: PTH100
    return [sys.executable, "-P", "-m", "kbx_tui"]  # -P: not what lies where the agent is started
