"""The completion scripts of click for bash, zsh and fish, for any value that a shell can quote."""

from __future__ import annotations

import shlex

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ZshComplete,
    add_completion_class,
)


class Bash(BashComplete):
    """Quotes values with spaces, and lets a folder be continued."""

    def source(self) -> str:
        keeps_backslashes = super().source().replace("read type value", "read -r type value")
        return keeps_backslashes.replace(
            "\n    return 0",
            "\n    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == */ ]]; then"
            "\n        compopt -o nospace"
            "\n    fi\n\n    return 0",
        )

    def format_completion(self, item: CompletionItem) -> str:
        value = str(item.value)
        quoted = value if shlex.quote(value) == value else _escaped(value)
        return f"{item.type},{quoted}"


class Zsh(ZshComplete):
    """Lets a folder be continued."""

    def source(self) -> str:
        return (
            super()
            .source()
            .replace(
                'completions+=("$key")',
                'if [[ "$key" == */ ]]; then folders+=("$key"); else completions+=("$key"); fi',
            )
            .replace(
                "    local -a completions\n", "    local -a completions\n    local -a folders\n"
            )
            .replace(
                '    if [ -n "$completions" ]; then',
                '    if [ -n "$folders" ]; then\n'
                "        compadd -U -S '' -V unsorted -a folders\n"
                "    fi\n\n"
                '    if [ -n "$completions" ]; then',
            )
        )


class Fish(FishComplete):
    """Keeps commas in values."""

    def source(self) -> str:
        return super().source().replace('string split ","', 'string split --max 1 ","')


def register() -> None:
    """Make click use these classes."""
    for kind in (Bash, Zsh, Fish):
        add_completion_class(kind)


def _escaped(value: str) -> str:
    """Return a value as bash reads it in a command, as `Alice\\ Chen`."""
    return "".join(
        character if character.isalnum() or character in "-_./:,@%+=" else f"\\{character}"
        for character in value
    )
