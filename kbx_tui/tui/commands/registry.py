"""Everything a key can ask for, once: bindings, key bar, help, palette and keymap are made of it.

Pure: imports nothing of Textual.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

Scope = Literal[
    "query",
    "path",
    "list",
    "results",
    "entities",
    "text",
    "preview",
    "card",
    "slider",
    "screen",
    "draft_line",
    "drafts",
    "known",
    "review",
    "topic",
    "expert_list",
    "experts",
    "mode",
    "welcome",
    "app",
    "overlay",
]
"""Where the keys of a command work."""

SCOPE_TITLES: dict[Scope, str] = {
    "query": "In the query line",
    "path": "In the path field",
    "results": "In the results",
    "entities": "In the entities",
    "list": "In every list",
    "preview": "In a document",
    "card": "On an entity card",
    "text": "In every text",
    "slider": "On a slider",
    "welcome": "On the first screen",
    "screen": "In explore, outside query and path",
    "draft_line": "In the line of a draft",
    "drafts": "In the drafts",
    "known": "In what is known",
    "review": "In dedup, outside the line",
    "topic": "In the line of a topic",
    "expert_list": "In the experts",
    "experts": "In experts, outside the line",
    "mode": "In every mode",
    "app": "Everywhere",
    "overlay": "In the help",
}
"""In the order of help and key table."""

ACTIVE_TOGETHER: tuple[tuple[Scope, ...], ...] = (
    ("query", "app"),
    ("path", "app"),
    ("results", "list", "screen", "mode", "app"),
    ("entities", "list", "screen", "mode", "app"),
    ("text", "screen", "mode", "app"),
    ("preview", "text", "screen", "mode", "app"),
    ("card", "list", "screen", "mode", "app"),
    ("slider", "screen", "mode", "app"),
    ("draft_line", "app"),
    ("drafts", "list", "review", "mode", "app"),
    ("known", "list", "review", "mode", "app"),
    ("text", "review", "mode", "app"),
    ("slider", "review", "mode", "app"),
    ("topic", "app"),
    ("expert_list", "list", "experts", "mode", "app"),
    ("slider", "experts", "mode", "app"),
    ("welcome", "list", "app"),
    ("overlay", "text", "app"),
)
"""The scopes that hear keys at one time, nearest first: that one gets a key which two have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Something a person can ask for."""

    id: str
    scope: Scope
    keys: str
    """As Textual spells them, separated by commas."""
    action: str
    label: str
    """One or two words, for the key bar."""
    help: str
    """A sentence without a full stop, for help and palette."""
    bar: bool = False
    """Whether the key bar has it."""
    pair: str = ""
    """Id of the command for the other direction: the key bar shows both keys as one."""
    palette: bool = False
    in_turn: bool = False
    """Whether it waits for the keys typed before it: what they typed is what it takes."""


@cache
def all_commands() -> tuple[Command, ...]:
    """Return the registry, in the order of the help."""
    from kbx_tui.tui.commands.command_table import COMMANDS

    return COMMANDS


def command(command_id: str) -> Command:
    """Return the command of that id. Raises KeyError."""
    return _by_id()[command_id]


def commands_in(*scopes: Scope) -> Iterator[Command]:
    """Yield the commands of `scopes`, in the order of the registry."""
    return (one for one in all_commands() if one.scope in scopes)


@cache
def _by_id() -> dict[str, Command]:
    return {one.id: one for one in all_commands()}
