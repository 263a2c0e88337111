"""Patterns of paths: of files to leave out, in the syntax of .gitignore, and of any with wildcards.

A regular expression of a pattern matches in quadratic time at most. Backtracking takes exponential
time for many stars. So a pattern is cut into runs where folders may be crossed, and a run into
pieces at its stars. All runs but the last, and all pieces of a run but the last, are matched
atomically at their first place: whatever can follow a later place can follow the first one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from kbx_tui.errors import ConfigError
from kbx_tui.state_file import read_regular_file

Token = tuple[Literal["folders", "across", "star", "piece"], str]
"""A part of a pattern, of these kinds: any folders with a slash at the end, or none; anything;
anything within a folder; and a piece, whose regular expression has a fixed length."""

_SKIPPED = {"": "", "across": ".*", "folders": "(?:.*/)?"}
_SKIPPED_AT_LEAST = {"": "", "across": ".*?", "folders": "(?:.*?/)??"}
"""What may precede a run, by the kind of the token there: greedy, or as little as possible."""


def expression(tokens: Iterable[Token]) -> str:
    """Return the regular expression of a pattern, for a match of whole paths and `re.DOTALL`."""
    runs: list[tuple[str, list[str]]] = [("", [""])]
    for kind, piece in tokens:
        pieces = runs[-1][1]
        if kind in ("folders", "across"):
            runs.append((kind, [""]))
        elif kind == "star":
            pieces.append("")
        else:
            pieces[-1] += piece
    *early, (last_kind, pieces) = runs
    atomic = [f"(?>{_SKIPPED_AT_LEAST[kind]}{_at_first_place(run)})" for kind, run in early]
    *before, last = pieces
    end = f"{_at_first_place(before)}[^/]*{last}" if before else last
    return "".join(atomic) + _SKIPPED[last_kind] + end


def _at_first_place(pieces: list[str]) -> str:
    first, *rest = pieces
    return first + "".join(f"(?>[^/]*?{piece})" for piece in rest)


def character_class(characters: Iterable[tuple[str, str]], *, negated: bool) -> str:
    """Return the expression of a character in one of these ranges, or in none; never a slash."""
    allowed = "".join(
        f"{re.escape(first)}-{re.escape(last)}"
        for first, last in characters
        if first <= last  # a reversed range is empty
    )
    if negated:
        return f"[^/{allowed}]"
    return f"(?!/)[{allowed}]" if allowed else "(?!)"


GITIGNORE = ".gitignore"
GITIGNORE_LIMIT = 1 << 20
"""A .gitignore is read up to this many bytes."""
MOST_RULES = 5_000
"""Patterns of a base: each file is compared with all of them, whenever the base is walked."""
MANY_CHARACTERS = 200
"""For each of so many characters, a pattern counts as one rule more."""
MOST_CHARACTERS = 4_096
"""Longest pattern, as of a path on Linux: making an expression of a longer one takes minutes."""

_CLASSES = {
    "alnum": [("0", "9"), ("A", "Z"), ("a", "z")],
    "alpha": [("A", "Z"), ("a", "z")],
    "blank": [(" ", " "), ("\t", "\t")],
    "cntrl": [("\0", "\x1f"), ("\x7f", "\x7f")],
    "digit": [("0", "9")],
    "graph": [("!", "~")],
    "lower": [("a", "z")],
    "print": [(" ", "~")],
    "punct": [("!", "/"), (":", "@"), ("[", "`"), ("{", "~")],
    "space": [("\t", "\r"), (" ", " ")],
    "upper": [("A", "Z")],
    "xdigit": [("0", "9"), ("A", "F"), ("a", "f")],
}
"""Ranges of the classes in brackets, `[[:alpha:]]`."""
_CLASS = re.compile(r"\[:([a-z]+):\]")


@dataclass(frozen=True, slots=True)
class _Rule:
    matches: re.Pattern[str]
    ignores: bool


class IgnoreRules:
    """Ignore patterns collected while walking down a tree.

    The ``exclude`` patterns win over any ``.gitignore``; of those, the deepest that matches.
    """

    def __init__(self, exclude: Sequence[str] = ()) -> None:
        try:
            self._exclude = [rule for line in exclude if (rule := _rule(line))]
        except ValueError as error:
            raise ConfigError(f"[index] exclude has an invalid pattern: {error}") from error
        if len(exclude) > MOST_RULES:
            raise ConfigError(f"[index] exclude has more than {MOST_RULES:,} patterns")
        self._left = MOST_RULES
        self.are_cut = False
        """Whether patterns were left out, as there were more than `MOST_RULES`."""
        self._specs: list[tuple[str, list[_Rule]]] = []

    def read_folder(self, folder: Path, prefix: str, *, keep: str = "") -> bool:
        """Add the rules in the ``.gitignore`` of a folder, and return whether it has one.

        ``prefix`` is its path relative to the root, ending with a slash. A file that would ignore
        the path ``keep`` is skipped: many users keep their notes out of git. Links are not
        followed, as git does not follow them either.
        """
        try:
            file = folder / GITIGNORE
            data = read_regular_file(file, limit=GITIGNORE_LIMIT)
            lines = data.decode("utf-8", "replace").splitlines()
        except OSError:
            return False
        rules, left, is_cut = list[_Rule](), self._left, False
        for rule, size in _valid_rules(lines):
            left -= 1 + size // MANY_CHARACTERS
            if is_cut := left < 0:
                break
            rules.append(rule)
        everything_in = f"{keep}/"  # which `memory/**` matches, and `memory/*` does not
        if not (keep and (_decision(rules, keep) or _decision(rules, everything_in))):
            self._left = max(left, 0)
            self._specs.append((prefix, rules))
            self.are_cut |= is_cut
        return True

    def ignores_file(self, path: str) -> bool:
        """Return whether the rules leave out a file, or a folder (`path/`) with all in it.

        The folders that it is in are asked about first.
        """
        if _decision(self._exclude, path):
            return True
        for prefix, rules in reversed(self._specs):
            if path.startswith(prefix):
                is_ignored = _decision(rules, path[len(prefix) :])
                if is_ignored is not None:
                    return is_ignored
        return False


def _decision(rules: Sequence[_Rule], path: str) -> bool | None:
    """Return what the last rule that matches says; None where none does."""
    for rule in reversed(rules):
        if rule.matches.fullmatch(path):
            return rule.ignores
    return None


def _valid_rules(lines: Sequence[str]) -> Iterator[tuple[_Rule, int]]:
    for line in lines:
        try:
            if rule := _rule(line):
                yield rule, len(line)
        except ValueError:
            continue


@lru_cache(maxsize=1 << 16)
def _rule(line: str) -> _Rule | None:
    """Return the rule of a line; None for a comment and what never matches. Raises ValueError."""
    if len(line) > MOST_CHARACTERS:
        raise ValueError(f"it has more than {MOST_CHARACTERS:,} characters")
    text = line if line.endswith("\\ ") else line.rstrip()
    if not text or text.startswith("#") or text == "/":
        return None
    ignores = not text.startswith("!")
    tokens = _tokens(text.removeprefix("!"))
    return None if tokens is None else _Rule(re.compile(expression(tokens), re.DOTALL), ignores)


def _tokens(pattern: str) -> list[Token] | None:
    """Return the parts of a pattern; None for one that never matches. Raises ValueError."""
    for_folders = pattern.endswith("/")
    names = pattern.removesuffix("/").split("/")
    if not any(names):
        raise ValueError(f"{pattern!r} names no file")
    if len(names) == 1:  # in any folder
        names.insert(0, "**")
    elif not names[0]:
        del names[0]
    if "" in names:
        return None
    tokens: list[Token] = []
    for number, name in enumerate(names):
        is_last = number == len(names) - 1
        if name == "**":
            tokens.append(("across", "") if is_last else ("folders", ""))
            continue
        translated = _name_tokens(name)
        if translated is None:
            return None
        tokens += [*translated, ("piece", "/")]
    if names[-1] == "**":  # what is below, but not nothing
        return [*tokens, ("piece", "[^/]/" if for_folders else ".")]
    return [*tokens[:-1], ("piece", "/" if for_folders else "/?")]


def _name_tokens(name: str) -> list[Token] | None:
    """Return the parts of a name; None for an unclosed bracket. Raises ValueError."""
    if name == "*":
        return [("piece", "[^/]"), ("star", "")]
    tokens: list[Token] = []
    place = 0
    while place < len(name):
        character = name[place]
        place += 1
        if character == "*":
            tokens.append(("star", ""))
        elif character == "?":
            tokens.append(("piece", "[^/]"))
        elif character == "[":
            found = _bracket(name, place)
            if found is None:
                return None
            piece, place = found
            tokens.append(("piece", piece))
        else:
            if character == "\\":
                if place == len(name):
                    raise ValueError(f"{name!r} ends with a backslash")
                character = name[place]
                place += 1
            tokens.append(("piece", re.escape(character)))
    return tokens


def _bracket(name: str, place: int) -> tuple[str, int] | None:
    """Return the expression of a bracket that is open at a place, and where it is closed."""
    negated = name[place : place + 1] in ("!", "^")
    place += negated
    ranges: list[tuple[str, str]] = []
    is_first = True
    while place < len(name) and (is_first or name[place] != "]"):
        is_first = False
        if named := _CLASS.match(name, place):
            ranges += _CLASSES.get(named[1], [])
            place = named.end()
            continue
        first, place = _character(name, place)
        ranges.append((first, first))  # even if the range is reversed, as for git
        if name[place : place + 1] == "-" and name[place + 1 : place + 2] not in ("", "]"):
            last, place = _character(name, place + 1)
            ranges.append((first, last))
    if place >= len(name):
        return None
    return character_class(ranges, negated=negated), place + 1


def _character(name: str, place: int) -> tuple[str, int]:
    escaped = name[place] == "\\" and place + 1 < len(name)
    return name[place + escaped], place + escaped + 1
