"""Globs over root-relative paths: brace expansion, literal prefix, and a fast matcher. Pure.

`*` and `?` match inside a folder, `**` across folders, and `**/` also matches nothing. `[1-3]` and
`[!a]` match one character of a name, `{a,b}` either alternative. Unclosed brackets and braces are
literal, and so are characters in brackets: `[[]`, `[*]`. A backslash has no special meaning.
"""

from __future__ import annotations

import re
from functools import lru_cache

from kbx_tui.errors import ConfigError

MAX_ALTERNATIVES = 1000
"""Paths that one pattern may expand to: braces multiply."""
MAX_EXPANDED = 200_000
"""Characters of these paths together: compiling them takes some microseconds each."""

_SKIPPED = {"": "", "across": ".*", "folders": "(?:.*/)?"}
_SKIPPED_AT_LEAST = {"": "", "across": ".*?", "folders": "(?:.*?/)??"}
"""What may precede a run, by the kind of the token there: greedy, or as little as possible."""
_SET = r"\[!?+\]?+[^\]/]*\]"
"""A set of characters; a bracket in first place is one of them."""
_TOKEN = re.compile(
    r"(?P<folders>(?:(?<=/)|\A)\*{2,}/)|(?P<across>\*{2,})|(?P<star>\*)|(?P<one>\?)"
    rf"|(?P<set>{_SET})|(?P<plain>[^*?\[]+|\[)"
)
_STARS = re.compile(r"\*{2,}/?")
_SET_OR_BRACE = re.compile(rf"{_SET}|[{{}},]")


def is_glob(text: str) -> bool:
    """Return whether `text` has a wildcard; braces do not count."""
    return any(token.lastgroup != "plain" for token in _TOKEN.finditer(text))


def literal_prefix(glob: str) -> str:
    """Return the literal text that every match of an alternative starts with."""
    wildcard = next((token for token in _TOKEN.finditer(glob) if token.lastgroup != "plain"), None)
    return glob if wildcard is None else glob[: wildcard.start()]


def matches_everything(glob: str) -> bool:
    """Return whether an alternative matches every path."""
    return _STARS.fullmatch(glob) is not None


def alternatives(text: str) -> tuple[str, ...]:
    """Return the distinct globs that `text` expands to by its braces.

    Braces without a comma are literal, as in a shell. Raises ConfigError when there are more than
    1,000, or when they are too long together.
    """
    role_at = _brace_roles(text)
    if sum(role == "{" for role in role_at.values()) >= MAX_ALTERNATIVES:  # each adds at least one
        raise _too_many(text)
    outer: list[tuple[list[str], list[str]]] = []  # per open brace: its surroundings' state
    finished: list[str] = []  # complete alternatives of the innermost open brace
    current = [""]  # expansions of the alternative being read
    end = 0
    for position in sorted(role_at):
        current = [prefix + text[end:position] for prefix in current]
        end = position + 1
        if role_at[position] == "{":
            outer.append((finished, current))
            finished, current = [], [""]
            continue
        finished += current
        if role_at[position] == ",":
            current = [""]
        else:
            options, (finished, before) = finished, outer.pop()
            if len(before) * len(options) > MAX_ALTERNATIVES:
                raise _too_many(text)
            current = [prefix + option for prefix in before for option in options]
        if len(finished) > MAX_ALTERNATIVES:
            raise _too_many(text)
    expanded = dict.fromkeys(prefix + text[end:] for prefix in current)
    if sum(map(len, expanded)) > MAX_EXPANDED:
        raise ConfigError(f"path {_shown(text)!r} expands to too much text; write fewer braces")
    return tuple(expanded)


@lru_cache(maxsize=64)
def matcher(globs: tuple[str, ...]) -> re.Pattern[str]:
    """Return a regular expression whose `fullmatch` tests a path against the alternatives.

    A glob with a final slash matches everything below the folders it names. Matching takes at most
    quadratic time in the length of a path, whatever the number of stars, because what follows a
    star is matched at its first place without backtracking.
    """
    return re.compile("|".join(map(_expression, globs)) or "(?!)", re.DOTALL)


def _brace_roles(text: str) -> dict[int, str]:
    """Return the braces of each closed pair that has commas, and these commas, by position."""
    role_at: dict[int, str] = {}
    opened: list[tuple[int, list[int]]] = []
    for token in _SET_OR_BRACE.finditer(text):
        position, character = token.start(), token.group()
        if character == "{":
            opened.append((position, []))
        elif character == "," and opened:
            opened[-1][1].append(position)
        elif character == "}" and opened:
            start, commas = opened.pop()
            if commas:
                role_at |= {start: "{", position: "}"} | dict.fromkeys(commas, ",")
    return role_at


def _expression(glob: str) -> str:
    """Return the regular expression of one alternative.

    The glob is cut into runs where folders may be crossed, and a run into pieces at its stars. All
    runs but the last, and all pieces of a run but the last, are matched atomically at their first
    place: whatever can follow a later place can follow the first one.
    """
    runs: list[tuple[str, list[str]]] = [("", [""])]
    for token in _TOKEN.finditer(glob):
        kind, text, pieces = str(token.lastgroup), token.group(), runs[-1][1]
        if kind in ("folders", "across"):
            runs.append((kind, [""]))
        elif kind == "star":
            pieces.append("")
        elif kind == "one":
            pieces[-1] += "[^/]"
        else:
            pieces[-1] += _character_class(text[1:-1]) if kind == "set" else re.escape(text)
    if glob.endswith("/"):
        runs.append(("across", ["."]))  # anything below, but not nothing
    *early, (last_kind, pieces) = runs
    atomic = [f"(?>{_SKIPPED_AT_LEAST[kind]}{_at_first_place(run)})" for kind, run in early]
    *before, last = pieces
    end = f"{_at_first_place(before)}[^/]*{last}" if before else last
    return "".join(atomic) + _SKIPPED[last_kind] + end


def _at_first_place(pieces: list[str]) -> str:
    """Return an expression for pieces with stars between them, each at its first place."""
    first, *rest = pieces
    return first + "".join(f"(?>[^/]*?{piece})" for piece in rest)


def _character_class(content: str) -> str:
    """Return the expression for one character of a set, never a slash."""
    negated = content.startswith("!")
    allowed = "".join(
        f"{re.escape(first)}-{re.escape(last or first)}"
        for first, last in re.findall(r"(.)(?:-(.))?", content[negated:], re.DOTALL)
        if first <= (last or first)  # a reversed range is empty
    )
    if negated:
        return f"[^/{allowed}]"
    return f"(?!/)[{allowed}]" if allowed else "(?!)"


def _too_many(text: str) -> ConfigError:
    return ConfigError(
        f"path {_shown(text)!r} expands to more than {MAX_ALTERNATIVES:,} paths; write fewer braces"
    )


def _shown(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
