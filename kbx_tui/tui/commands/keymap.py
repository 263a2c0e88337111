"""Which commands are available, with which keys, and which scopes are active together. Pure.

Bindings, key bar, help and palette get the commands from here; `[keys]` in kbx.toml and running in
a browser change their keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from kbx_tui.errors import ConfigError
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.command_table import COMMANDS, Command, Scope


@dataclass(frozen=True, slots=True)
class Offer:
    refused: Mapping[str, str] = field(default_factory=dict)
    """Reasons for refusing commands, by command id; key bar, palette and help do not show them."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Keys that replace those of the command table, by command id."""
    reason: str = ""
    """Why they do, in a sentence for the help."""


EVERYTHING = Offer()

NO_EDITOR = "a browser opens no editor: copy the path and edit the file where it is"
NO_FILES = "a browser reads no file of the server: paste the lines instead"
NO_OTHER_BASE = "this visit is for the knowledge bases given at its start"

NOT_IN_A_BROWSER: Mapping[str, str] = {
    **dict.fromkeys(("edit", "claim.edit", "known.edit", "files.mend", "index.edit"), NO_EDITOR),
    "drafts.load": NO_FILES,
    **dict.fromkeys(("base.switch", "base.forget", "base.recall"), NO_OTHER_BASE),
    "app.suspend": "a browser has no shell to go back to",
    "app.leave": "close the page to leave",
}
"""Why commands that act on the machine running the app are refused in a browser, by id."""

READ_ONLY = "this visit is read-only: the owner allows changes with `kbx web --allow-writes`"

WRITES = (
    *("grade.0", "grade.1", "grade.2", "grade.3", "grade.unsure", "judge.blind"),
    *("settings.save", "save.write", "query.save", "recall.drop", "links.make"),
    *("blind.first", "blind.second", "blind.neither", "blind.later", "blind.undo"),
    *("draft_line.take", "drafts.rewrite", "drafts.apply", "drafts.scan", "drafts.kept"),
    *("review.undo", "draft.create", "draft.merge", "draft.supersede", "draft.skip"),
    *("draft.assign", "draft.kind", "draft.page", "draft.drop", "pair.same", "pair.different"),
    *("name.correct", "card.merge", "snapshot.take", "snapshot.drop", "files.mute"),
    *("index.refresh", "together.refresh", "index.run", "index.pause", "index.stop", "index.watch"),
)
"""Ids of commands that change a base, its index or its files, which a read-only engine refuses."""

BROWSER_KEYS: Mapping[str, str] = {
    "app.jump": "alt+l,ctrl+l",
    "mode.explore": "5,f1",
    "mode.dedup": "6,f2",
    "mode.experts": "7,f3",
    "mode.tune": "8,f4",
    "mode.index": "9,f5",
    "mode.together": "4,f6",
    "app.palette": "f8,ctrl+p",
    "query.history": "alt+up,ctrl+up,ctrl+r",
    "history.open": "alt+up,ctrl+up,ctrl+r",
    "path.folders": "alt+down,ctrl+down,ctrl+t",
    "why_not.read": "alt+down,ctrl+down,ctrl+o",
    "query.clear": "alt+delete,ctrl+u",
    "path.clear": "alt+delete,ctrl+u",
}
"""Keys for commands whose usual keys a browser does not pass on, or a keyboard lacks (F keys).

The usual keys come last: they work if the browser passes them on. Digits work outside fields. Some
terminals in a browser send alt+up as ctrl+up.
"""


BROWSER_REASON = (
    "The modes are on 5 to 9, because a browser keeps F1, F3 and F5 to itself, and 0 to 3 grade."
)


def offer_in_browser(*, allow_writes: bool, has_several_bases: bool) -> Offer:
    refused = dict(NOT_IN_A_BROWSER)
    if not has_several_bases:
        refused["mode.together"] = NO_OTHER_BASE
    if not allow_writes:
        refused |= dict.fromkeys(WRITES, READ_ONLY)
    return Offer(refused, BROWSER_KEYS, BROWSER_REASON)


DISPLAY_NAMES: Mapping[str, str] = {
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "escape": "esc",
    "slash": "/",
    "question_mark": "?",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "minus": "-",
    "equals_sign": "=",
    "full_stop": ".",
    "plus": "+",
    "exclamation_mark": "!",
    "asterisk": "*",
    "greater_than_sign": ">",
}
"""Usual names of keys that Textual spells differently; `[keys]` accepts both."""

KEY = re.compile(r"[a-z0-9_]*([a-z]+\+)*([a-z0-9_]+|[A-Z]|\S)", re.ASCII)
"""The accepted spellings of a key, which exclude anything a terminal would interpret."""

_TEXTUAL_NAMES = {sign: name for name, sign in DISPLAY_NAMES.items() if len(sign) == 1}


class Keymap:
    def __init__(self, changes: Mapping[str, str] | None = None, offer: Offer = EVERYTHING) -> None:
        """Take keys, by command id, from `changes`, else from `offer`, else from the command table.

        Raises ConfigError for an unknown id, an empty key, or a key that two commands active
        together would share.
        """
        self._offer = offer
        self.changes = {
            command_id: _textual_keys(command_id, keys)
            for command_id, keys in {**offer.keys, **(changes or {})}.items()
        }
        self._require_known_ids()
        self._require_no_clash()

    def commands_in(self, *scopes: Scope) -> Iterator[Command]:
        return (command for command in commands_in(*scopes) if self.offers(command.id))

    def offers(self, command_id: str) -> bool:
        return command_id not in self._offer.refused

    @property
    def reason(self) -> str:
        return self._offer.reason

    def refusal(self, command_id: str) -> str:
        return self._offer.refused.get(command_id, "")

    def keys(self, command: Command) -> tuple[str, ...]:
        """Return the keys that run it at once: none for a command of a menu, unless changed."""
        direct_keys = "" if command.scope in MENU_OF else command.keys
        return tuple(filter(None, self.changes.get(command.id, direct_keys).split(",")))

    def display_keys(self, command: Command) -> str:
        if keys := self.keys(command):
            return " ".join(map(display_key, keys))
        return f"{self.key_of(MENU_OF[command.scope])} {display_key(command.keys)}"

    def key_bar_text(self, command: Command) -> str:
        """Return the first keys of a command and of its pair, such as `[ ]`."""
        pair = [command_by_id(command.pair)] if command.pair else []
        keys = (self.keys(each)[:1] or (self.display_keys(each),) for each in (command, *pair))
        return " ".join(display_key(key) for (key,) in keys)

    def has_key(self, key: str, *scopes: Scope) -> bool:
        return any(key in self.keys(command) for command in self.commands_in(*scopes))

    def key_of(self, command_id: str) -> str:
        return self.key_bar_text(command_by_id(command_id))

    def _require_known_ids(self) -> None:
        known_ids = [command.id for command in COMMANDS]
        for command_id in self.changes:
            if command_id not in known_ids:
                matches = get_close_matches(command_id, known_ids, n=1)
                hint = f"did you mean {matches[0]}?" if matches else "`kbx keys` lists them"
                raise ConfigError(f"[keys] in kbx.toml: there is no command {command_id!r}; {hint}")

    def _require_no_clash(self) -> None:
        for command in map(command_by_id, self.changes):
            scopes = {
                scope for group in ACTIVE_TOGETHER if command.scope in group for scope in group
            }
            defaults = () if command.scope in MENU_OF else command.keys.split(",")
            for key in set(self.keys(command)) - set(defaults):
                for other in commands_in(*scopes):
                    if other is not command and key in self.keys(other):
                        raise ConfigError(
                            f"[keys] in kbx.toml: {display_key(key)!r} would be both"
                            f" {command.id} ({command.help}) and {other.id} ({other.help});"
                            " give one of them another key"
                        )


def display_key(key: str) -> str:
    """Return the usual name of a key: `?` for `question_mark`, `shift+←` for `shift+left`."""
    return _rename(key, DISPLAY_NAMES)


def _textual_keys(command_id: str, keys: str) -> str:
    """Return comma-separated keys in Textual's spelling. Raises ConfigError for an unknown key."""
    names = [name.strip() or name for name in keys.split(",")] if keys != "," else ["comma"]
    for name in names:
        if not (KEY.fullmatch(name) or (len(name) == 1 and name.isprintable())):
            raise ConfigError(
                f"[keys] in kbx.toml: {command_id} = {safe_line(keys)!r} names no key;"
                " use a name such as ctrl+t"
            )
    return ",".join("space" if name == " " else _rename(name, _TEXTUAL_NAMES) for name in names)


def _rename(key: str, names: Mapping[str, str]) -> str:
    *modifiers, last = key.split("+") if key != "+" else ["+"]
    return "+".join([*modifiers, names.get(last, last)])


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
    "bases": "In the recent knowledge bases",
    "screen": "In explore, outside query and path",
    "judging": "Where results are judged",
    "saving": "At the last look before a write",
    "blind": "When two lists are compared blind",
    "why_not": "In why not",
    "recall": "In the queries asked before",
    "facets": "In the facets",
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
    "copy_menu": "To copy, save or share",
    "grade_menu": "To grade",
    "mark_menu": "To mark a result",
    "show_menu": "To show, hide and sort",
    "mode": "In every mode",
    "view_menu": "To view in every mode",
    "jump": "In every mode, also while typing",
    "app": "Everywhere",
    "overlay": "In the help",
}
"""Section titles, in the order of the help screen and of `docs/keys.md`."""

MENU_OF: Mapping[Scope, str] = {
    "copy_menu": "copy.menu",
    "grade_menu": "grade.menu",
    "mark_menu": "view.menu",
    "show_menu": "view.menu",
    "view_menu": "view.menu",
}
"""The commands that open menus, by the scopes of what these list."""

ANY_MODE: tuple[Scope, ...] = ("mode", "view_menu", "jump")
JUDGING: tuple[Scope, ...] = ("judging", "grade_menu")
EXPLORE: tuple[Scope, ...] = (
    *(*JUDGING, "screen", "copy_menu", "mark_menu", "show_menu"),
    *ANY_MODE,
)
COMPARE: tuple[Scope, ...] = (*JUDGING, "compare", "mark_menu", *ANY_MODE)
TUNE: tuple[Scope, ...] = ("tune", *JUDGING, *ANY_MODE)
"""The scopes of screens, outside what has the focus, with those of their menus."""

ACTIVE_TOGETHER: tuple[tuple[Scope, ...], ...] = (
    ("query", "jump", "app"),
    ("path", "jump", "app"),
    ("results", "list", *EXPLORE, "app"),
    ("entities", "list", *EXPLORE, "app"),
    ("text", *EXPLORE, "app"),
    ("preview", "text", *EXPLORE, "app"),
    ("card", "list", *EXPLORE, "app"),
    ("slider", *EXPLORE, "app"),
    ("why_not", "app"),
    ("recall", "app"),
    ("facets", "list", *EXPLORE, "app"),
    ("links", "list", "app"),
    ("side_by_side", "list", *COMPARE, "app"),
    ("text", *COMPARE, "app"),
    ("slider", *COMPARE, "app"),
    ("draft_line", "jump", "app"),
    ("drafts", "list", "review", *ANY_MODE, "app"),
    ("known", "list", "review", *ANY_MODE, "app"),
    ("text", "review", *ANY_MODE, "app"),
    ("slider", "review", *ANY_MODE, "app"),
    ("topic", "jump", "app"),
    ("expert_list", "list", "experts", *ANY_MODE, "app"),
    ("slider", "experts", *ANY_MODE, "app"),
    ("judged_queries", "list", *TUNE, "app"),
    ("slider", *TUNE, "app"),
    ("text", *TUNE, "app"),
    ("snapshots", "list", *TUNE, "app"),
    ("decision", "text", *TUNE, "app"),
    ("files", "list", "indexing", *ANY_MODE, "app"),
    ("folders", "list", "indexing", *ANY_MODE, "app"),
    ("folders", "list", "picker", "app"),
    ("together_line", "jump", "app"),
    ("together_results", "list", "together", *ANY_MODE, "app"),
    ("together_bases", "list", "together", *ANY_MODE, "app"),
    ("welcome", "list", "bases", "app"),
    ("welcome", "list", "app"),
    ("overlay", "text", "app"),
    ("saving", "text", "app"),
    ("blind", "text", "app"),
)
"""Scopes that receive keys at the same time; the first, innermost one with a key gets it."""

_BY_ID = {command.id: command for command in COMMANDS}


def command_by_id(command_id: str) -> Command:
    return _BY_ID[command_id]


def commands_in(*scopes: Scope) -> Iterator[Command]:
    return (command for command in COMMANDS if command.scope in scopes)
