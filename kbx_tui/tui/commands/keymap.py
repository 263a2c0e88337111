"""Which keys a command has: those of the registry, or those of `[keys]` in kbx.toml. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from kbx_tui.errors import ConfigError
from kbx_tui.safe_text import visible
from kbx_tui.tui.commands.registry import ACTIVE_TOGETHER, Command, Scope, all_commands, command

NAMES: Mapping[str, str] = {
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
    "plus": "+",
}
"""Names of keys that people know otherwise. A keymap may use either."""

KEY = re.compile(r"[a-z0-9_]*([a-z]+\+)*([a-z0-9_]+|[A-Z]|\S)", re.ASCII)
"""How a key may be written; what it may not hold is anything a terminal would obey."""

_SPELLED = {known: name for name, known in NAMES.items() if len(known) == 1}


class Keymap:
    """The keys of all commands."""

    def __init__(self, changes: Mapping[str, str] | None = None) -> None:
        """Take the registry's keys but for `changes`: keys by id of the command.

        Raises ConfigError for an unknown id, an empty key, or a key that two commands would have
        in one place.
        """
        self.changes = {name: _spelled(name, keys) for name, keys in (changes or {}).items()}
        """The new keys, as Textual spells them."""
        self._require_known_ids()
        self._require_no_clash()

    def keys(self, one: Command) -> tuple[str, ...]:
        """Return the keys of a command, as Textual spells them."""
        return tuple(self.changes.get(one.id, one.keys).split(","))

    def shown(self, one: Command) -> str:
        """Return the keys of a command as people know them: `↓ j`."""
        return " ".join(map(shown_key, self.keys(one)))

    def in_bar(self, one: Command) -> str:
        """Return the first key of a command, and that of its pair: `[ ]`."""
        pair = [self.keys(command(one.pair))[0]] if one.pair else []
        return " ".join(map(shown_key, (self.keys(one)[0], *pair)))

    def _require_known_ids(self) -> None:
        known = [one.id for one in all_commands()]
        for name in self.changes:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]}?" if near else "`kbx keys` lists them"
                raise ConfigError(f"[keys] in kbx.toml: there is no command {name!r}; {hint}")

    def _require_no_clash(self) -> None:
        for name in self.changes:
            one = command(name)
            for key in set(self.keys(one)) - set(one.keys.split(",")):  # new ones
                for other in _heard_beside(one.scope):
                    if other is not one and key in self.keys(other):
                        raise ConfigError(
                            f"[keys] in kbx.toml: {shown_key(key)!r} would be {one.id} ({one.help})"
                            f" and {other.id} ({other.help}); give one of them another key"
                        )


def shown_key(key: str) -> str:
    """Return a key as people know it: `question_mark` is `?`, `shift+left` is `shift+←`."""
    *modifiers, name = key.split("+")
    return "+".join([*modifiers, NAMES.get(name, name)])


def _heard_beside(scope: Scope) -> Iterator[Command]:
    beside = {other for scopes in ACTIVE_TOGETHER if scope in scopes for other in scopes}
    return (one for one in all_commands() if one.scope in beside)


def _spelled(command_id: str, keys: str) -> str:
    """Return keys given by a person as Textual spells them. Raises ConfigError when empty."""
    given = [key.strip() or key for key in keys.split(",")] if keys != "," else ["comma"]
    for key in given:
        if not KEY.fullmatch(key) and not (len(key) == 1 and key.isprintable()):
            raise ConfigError(
                f"[keys] in kbx.toml: {command_id} = {visible(keys)!r} names no key;"
                " give one, as ctrl+t"
            )
    if not all(given):
        raise ConfigError(
            f"[keys] in kbx.toml: {command_id} = {keys!r} names no key; give one, as ctrl+t"
        )
    return ",".join("space" if key == " " else _long_name(key) for key in given)


def _long_name(key: str) -> str:
    *modifiers, name = key.split("+") if key != "+" else ["+"]
    return "+".join([*modifiers, _SPELLED.get(name, name)])
