"""The offered commands and their keys: of the command table, or `[keys]` in kbx.toml. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from kbx_tui.errors import ConfigError
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.command import Command, Scope
from kbx_tui.tui.commands.command_table import COMMANDS
from kbx_tui.tui.commands.offer import EVERYTHING, Offer
from kbx_tui.tui.commands.registry import ACTIVE_TOGETHER, command_by_id, commands_in

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
"""The familiar names of keys that Textual spells differently; `[keys]` accepts both."""

KEY = re.compile(r"[a-z0-9_]*([a-z]+\+)*([a-z0-9_]+|[A-Z]|\S)", re.ASCII)
"""The accepted spellings of a key, without anything a terminal would interpret."""

_TEXTUAL_NAMES = {sign: name for name, sign in DISPLAY_NAMES.items() if len(sign) == 1}


class Keymap:
    """The keys of all commands, and which of these are offered."""

    def __init__(self, changes: Mapping[str, str] | None = None, offer: Offer = EVERYTHING) -> None:
        """Take the keys of the command table, replaced by `changes`: keys by command id.

        Where `changes` say nothing, those of `offer` hold.

        Raises ConfigError for an unknown id, an empty key, or a key that two commands active
        together would share.
        """
        self._offer = offer
        self.changes = {
            command_id: _textual_keys(command_id, keys)
            for command_id, keys in {**offer.keys, **(changes or {})}.items()
        }
        """The changed keys by command id, in Textual's spelling."""
        self._require_known_ids()
        self._require_no_clash()

    def commands_in(self, *scopes: Scope) -> Iterator[Command]:
        """Yield the offered commands of `scopes`, in the order of the command table."""
        return (command for command in commands_in(*scopes) if self.offers(command.id))

    def offers(self, command_id: str) -> bool:
        """Return whether the command with this id is offered."""
        return command_id not in self._offer.refused

    def refusal(self, command_id: str) -> str:
        """Return why the command with this id is not offered; empty for one that is."""
        return self._offer.refused.get(command_id, "")

    def keys(self, command: Command) -> tuple[str, ...]:
        """Return the keys of a command in Textual's spelling."""
        return tuple(self.changes.get(command.id, command.keys).split(","))

    def display_keys(self, command: Command) -> str:
        """Return the keys of a command by their familiar names: `↓ j`."""
        return " ".join(map(display_key, self.keys(command)))

    def key_bar_text(self, command: Command) -> str:
        """Return the first key of a command and of its pair: `[ ]`, or `0-3` for digits."""
        first_keys = [self.keys(command)[0]]
        if command.pair:
            first_keys.append(self.keys(command_by_id(command.pair))[0])
        are_digits = all(key.isdecimal() for key in first_keys)
        return ("-" if are_digits else " ").join(map(display_key, first_keys))

    def key_of(self, command_id: str) -> str:
        """Return the first key of the command with this id, for use in a sentence."""
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
            for key in set(self.keys(command)) - set(command.keys.split(",")):
                for other in commands_in(*scopes):
                    if other is not command and key in self.keys(other):
                        raise ConfigError(
                            f"[keys] in kbx.toml: {display_key(key)!r} would be both"
                            f" {command.id} ({command.help}) and {other.id} ({other.help});"
                            " give one of them another key"
                        )


def display_key(key: str) -> str:
    """Return the familiar name of a key: `?` for `question_mark`, `shift+←` for `shift+left`."""
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
    """Return `key` with the part after its modifiers looked up in `names`."""
    *modifiers, last = key.split("+") if key != "+" else ["+"]
    return "+".join([*modifiers, names.get(last, last)])
