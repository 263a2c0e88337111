"""The commands by scope and id, and which scopes are active together.

Bindings, key bar, help, palette and keymap all read this registry. Pure: no Textual import.
"""

from __future__ import annotations

from collections.abc import Iterator

from kbx_tui.tui.commands.command import Command, Scope
from kbx_tui.tui.commands.command_table import COMMANDS

SCOPE_TITLES: dict[Scope, str] = {
    "query": "In the query line",
    "path": "In the path field",
    "results": "In the results",
    "entities": "In the entities",
    "list": "In any list",
    "preview": "In a document",
    "card": "On an entity card",
    "text": "In any text",
    "slider": "On a slider",
    "welcome": "On the welcome screen",
    "question": "On the question about entities",
    "bases": "In the recent knowledge bases",
    "screen": "In explore, outside query and path",
    "judging": "Where results are judged",
    "saving": "When settings are saved",
    "blind": "When two lists are compared blind",
    "why_not": "In why not",
    "recall": "In the queries asked before",
    "facets": "In the facets",
    "facet_box": "In the box of facets",
    "links": "In the links",
    "side_by_side": "In two results side by side",
    "compare": "In compare",
    "draft_line": "In the draft line",
    "drafts": "In the drafts",
    "known": "In the known facts",
    "review": "In drafts, outside the draft line",
    "topic": "In the topic line",
    "expert_list": "In the experts",
    "experts": "In experts, outside the topic line",
    "judged_queries": "In the judged queries",
    "snapshots": "In the snapshots",
    "decision": "On an offer, or a change of kbx.toml",
    "tune": "In tune",
    "files": "In the files that need attention",
    "folders": "In the folders",
    "picker": "In the folders to search in",
    "indexing": "In index",
    "together_line": "In the query line of several bases",
    "together_results": "In the results of several bases",
    "together_bases": "In the bases searched together",
    "together": "In several bases, outside the query line",
    "mode": "In every mode",
    "app": "Everywhere",
    "overlay": "In the help",
}
"""Section titles, in the order of the help screen and of `docs/keys.md`."""

ACTIVE_TOGETHER: tuple[tuple[Scope, ...], ...] = (
    ("query", "app"),
    ("path", "app"),
    ("results", "list", "judging", "screen", "mode", "app"),
    ("entities", "list", "judging", "screen", "mode", "app"),
    ("text", "judging", "screen", "mode", "app"),
    ("preview", "text", "judging", "screen", "mode", "app"),
    ("card", "list", "judging", "screen", "mode", "app"),
    ("slider", "judging", "screen", "mode", "app"),
    ("why_not", "app"),
    ("recall", "app"),
    ("facets", "list", "facet_box", "app"),
    ("facets", "list", "judging", "screen", "mode", "app"),
    ("links", "list", "app"),
    ("side_by_side", "list", "judging", "compare", "mode", "app"),
    ("text", "judging", "compare", "mode", "app"),
    ("slider", "judging", "compare", "mode", "app"),
    ("draft_line", "app"),
    ("drafts", "list", "review", "mode", "app"),
    ("known", "list", "review", "mode", "app"),
    ("text", "review", "mode", "app"),
    ("slider", "review", "mode", "app"),
    ("topic", "app"),
    ("expert_list", "list", "experts", "mode", "app"),
    ("slider", "experts", "mode", "app"),
    ("judged_queries", "list", "tune", "judging", "mode", "app"),
    ("slider", "tune", "judging", "mode", "app"),
    ("text", "tune", "judging", "mode", "app"),
    ("snapshots", "list", "tune", "judging", "mode", "app"),
    ("decision", "text", "tune", "judging", "mode", "app"),
    ("files", "list", "indexing", "mode", "app"),
    ("folders", "list", "indexing", "mode", "app"),
    ("folders", "list", "picker", "app"),
    ("together_line", "app"),
    ("together_results", "list", "together", "mode", "app"),
    ("together_bases", "list", "together", "mode", "app"),
    ("welcome", "list", "bases", "app"),
    ("welcome", "list", "question", "app"),
    ("overlay", "text", "app"),
    ("saving", "text", "app"),
    ("blind", "text", "app"),
)
"""Scopes that receive keys at the same time, innermost first; the innermost one wins a key."""

_BY_ID = {command.id: command for command in COMMANDS}


def command_by_id(command_id: str) -> Command:
    """Return the command with this id. Raises KeyError."""
    return _BY_ID[command_id]


def commands_in(*scopes: Scope) -> Iterator[Command]:
    """Yield the commands of `scopes`, in the order of the command table."""
    return (command for command in COMMANDS if command.scope in scopes)
