"""Paths with wildcards as regular expressions that match in quadratic time at most. Pure.

Backtracking takes exponential time for many stars. So a pattern is cut into runs where folders may
be crossed, and a run into pieces at its stars. All runs but the last, and all pieces of a run but
the last, are matched atomically at their first place: whatever can follow a later place can follow
the first one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

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
