"""Globs over root-relative paths: alternatives, a matcher, what stands before the wildcards. Pure.

`*` and `?` stay inside a folder, `**` crosses folders and `**/` also stands for nothing. `[1-3]`
and `[!a]` are one character of a name, `{a,b}` is either. What is not closed is literal, and so is
what stands in brackets: `[[]`, `[*]`. A backslash is a character like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kbx_tui.errors import ConfigError

MAX_ALTERNATIVES = 1000
"""So many paths may be written in one with `{a,b}`: braces multiply."""

_SKIPPED = {"": "", "across": ".*", "folders": "(?:.*/)?"}
_SKIPPED_AT_LEAST = {"": "", "across": ".*?", "folders": "(?:.*?/)??"}
"""What may stand before a run, by the kind of token there: as much, or as little as possible."""
_SET = r"\[!?+\]?+[^\]/]*\]"
"""A bracket that is the first in a set is one of its characters."""
_TOKEN = re.compile(
    r"(?P<folders>(?:(?<=/)|\A)\*{2,}/)|(?P<across>\*{2,})|(?P<star>\*)|(?P<one>\?)"
    rf"|(?P<set>{_SET})|(?P<plain>[^*?\[]+|\[)"
)
_STARS = re.compile(r"\*{2,}(/?)")
_SET_OR_BRACE = re.compile(rf"{_SET}|[{{}},]")


def is_glob(text: str) -> bool:
    """Tell whether anything in `text` stands for more than itself, braces aside."""
    return any(token.lastgroup != "plain" for token in _TOKEN.finditer(text))


def literal_start(glob: str) -> str:
    """Return what every match of an alternative begins with."""
    first = next((token for token in _TOKEN.finditer(glob) if token.lastgroup != "plain"), None)
    return glob if first is None else glob[: first.start()]


def is_exact_start(start: str, rest: str) -> bool:
    """Tell whether `start + rest` fits exactly the paths that begin with `start`."""
    stars = _STARS.fullmatch(rest)
    return bool(stars and (not stars[1] or not start or start.endswith("/")))


def alternatives(text: str) -> tuple[str, ...]:
    """Return the globs that `text` stands for once its braces are written out, each once.

    Braces without a comma are literal, as in a shell. Raises ConfigError when there are more than
    1,000.
    """
    role = _roles(text)
    if sum(sign == "{" for sign in role.values()) >= MAX_ALTERNATIVES:  # each adds one at least
        raise _too_many(text)
    waiting: list[tuple[list[str], list[str]]] = []
    finished: list[str] = []  # alternatives of the innermost open brace
    current = [""]  # ways to write the alternative that is being read
    end = 0
    for at in sorted(role):
        current = [written + text[end:at] for written in current]
        end = at + 1
        if role[at] == "{":
            waiting.append((finished, current))
            finished, current = [], [""]
            continue
        finished += current
        if role[at] == ",":
            current = [""]
        else:
            options, (finished, before) = finished, waiting.pop()
            if len(before) * len(options) > MAX_ALTERNATIVES:
                raise _too_many(text)
            current = [written + option for written in before for option in options]
        if len(finished) > MAX_ALTERNATIVES:
            raise _too_many(text)
    return tuple(dict.fromkeys(written + text[end:] for written in current))


def matcher(globs: tuple[str, ...]) -> re.Pattern[str]:
    """Return an expression whose `fullmatch` tells whether a path fits any of the alternatives.

    A glob with a final slash fits what lies below the folders it names. Time is at most quadratic
    in the length of a path, whatever the stars: what follows one is found at its first place and
    not looked for again.
    """
    return re.compile("|".join(map(_expression, globs)) or "(?!)", re.DOTALL)


def _roles(text: str) -> dict[int, str]:
    """Return by position the braces that are closed and have a comma, and their commas."""
    role: dict[int, str] = {}
    opened: list[tuple[int, list[int]]] = []
    for found in _SET_OR_BRACE.finditer(text):
        at, sign = found.start(), found.group()
        if sign == "{":
            opened.append((at, []))
        elif sign == "," and opened:
            opened[-1][1].append(at)
        elif sign == "}" and opened:
            start, commas = opened.pop()
            if commas:
                role |= {start: "{", at: "}"} | dict.fromkeys(commas, ",")
    return role


def _expression(glob: str) -> str:
    """Return the expression of one alternative.

    It is cut into runs where folders may be crossed, and a run into pieces where there is a star.
    All but the last run, and in a run all but the last piece, are matched where they first fit and
    nowhere else: whatever may follow a later place may follow this one.
    """
    runs: list[tuple[str, list[str]]] = [("", [""])]
    for kind, text in _tokens(glob):
        if kind in ("folders", "across"):
            runs.append((kind, [""]))
        elif kind == "star":
            runs[-1][1].append("")
        else:
            runs[-1][1][-1] += text
    if glob.endswith("/"):
        runs.append(("across", ["."]))  # anything below, but not nothing
    *early, (kind, pieces) = runs
    made = [f"(?>{_SKIPPED_AT_LEAST[kind]}{_first_fits(run)})" for kind, run in early]
    *before, last = pieces
    end = f"{_first_fits(before)}[^/]*{last}" if before else last
    return "".join(made) + _SKIPPED[kind] + end


def _first_fits(pieces: list[str]) -> str:
    first, *rest = pieces
    return first + "".join(f"(?>[^/]*?{piece})" for piece in rest)


def _tokens(glob: str) -> Iterator[tuple[str, str]]:
    """Yield kind and expression of each token."""
    for token in _TOKEN.finditer(glob):
        kind, text = str(token.lastgroup), token.group()
        if kind == "one":
            yield kind, "[^/]"
        elif kind == "set":
            yield kind, _one_of(text[1:-1])
        else:
            yield kind, re.escape(text)


def _one_of(inside: str) -> str:
    """Return the expression for one character of a set; never a slash."""
    negated = inside.startswith("!")
    inside, allowed, at = inside[negated:], "", 0
    while at < len(inside):
        first, last = inside[at], inside[at]
        if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
            last = inside[at + 2]
            at += 2
        at += 1
        if first <= last:  # a range the wrong way round holds nothing
            allowed += f"{re.escape(first)}-{re.escape(last)}"
    if negated:
        return f"[^/{allowed}]"
    return f"(?!/)[{allowed}]" if allowed else "(?!)"


def _too_many(text: str) -> ConfigError:
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    return ConfigError(
        f"path {shown!r} stands for more than {MAX_ALTERNATIVES:,} paths; write fewer braces"
    )
