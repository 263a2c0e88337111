"""Classifies and styles the lines of a Markdown file one by one, in files of any size. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from kbx_tui.tui.drawing.lines import Look

Kind = Literal["front", "code", "title", "heading", "rule", "table", "text"]
"""`title` is a heading of level 1 or 2, `rule` a separator, `code` includes its fences."""

STYLED = 10_000
"""Leading characters of a line that are searched for markup other than links."""


class Mark(NamedTuple):
    """A range of a line with its own style."""

    start: int
    end: int
    look: Look


class LineStyle(NamedTuple):
    """The styles of a line."""

    look: Look
    marks: tuple[Mark, ...]
    prefix: str
    """Starts each row but the first on which the line is wrapped."""


_FENCE = re.compile(r" *(?:[-*+] +|\d{1,9}[.)] +)?(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?: +|$)")
_RULE = re.compile(r" {0,3}([-*_])(?: *\1){2,} *$|\|[-:| ]+\| *$")
_LEAD = re.compile(
    r"(?P<quote>(?: {0,3}>)*) *"
    r"(?:(?P<bullet>[-*+•]|\d{1,9}[.)]) +"
    r"(?:(?P<box>\[[ xX]\])(?= ) +)?(?P<date>\[\d{4}-\d\d-\d\d\])?)?"
)
_TO_BLANK = re.compile("[^>]")


def line_kinds(lines: Sequence[str]) -> list[Kind]:
    """Return the kind of each line."""
    kinds: list[Kind] = ["front"] * _front_length(lines)
    fence = ""
    for line in lines[len(kinds) :] if kinds else lines:
        if fence:
            kinds.append("code")
            if line.strip(" ").startswith(fence) and not line.strip(f" {fence[0]}"):
                fence = ""
        elif not (head := line.lstrip(" ")[:1]):
            kinds.append("text")
        elif (head in "`~-*+" or head.isdigit()) and (opened := _FENCE.match(line)):
            kinds.append("code")
            fence = opened[1]
        elif head == "#" and (heading := _HEADING.match(line)):
            kinds.append("title" if len(heading[1]) <= 2 else "heading")
        elif head in "-*_|" and len(line) <= STYLED and _RULE.match(line):
            kinds.append("rule")
        else:
            kinds.append("table" if head == "|" else "text")
    return kinds


@lru_cache(maxsize=512)
def line_style(text: str, kind: Kind) -> LineStyle:
    """Return the styles of a line of this kind, without inline markup.

    Styles only the first `STYLED` characters. The most recent results are cached.
    """
    prefix = wrap_prefix(text, kind)
    if kind == "text":
        return _text_style(text, prefix)
    if kind == "table":
        return LineStyle("text", tuple(_pipes(text)), prefix)
    if kind in ("title", "heading"):
        look: Look = "heading" if kind == "title" else "strong"
        return LineStyle(look, (Mark(0, len(prefix), "rule"),), prefix)
    return LineStyle("rule" if kind == "rule" else "dim", (), prefix)


def wrap_prefix(text: str, kind: Kind) -> str:
    """Return the text that starts each further row of a wrapped line: its indent and quotes."""
    if kind == "text":
        lead = _lead(text)
        end = lead.start("date") if lead["date"] else lead.end()
        return _TO_BLANK.sub(" ", text[:end])
    if kind == "table":
        return "  "
    inner = text.lstrip(" #") if kind in ("title", "heading") else text.lstrip(" ")
    return " " * (len(text) - len(inner))


def overlay(below: Sequence[Mark], above: Sequence[Mark]) -> tuple[Mark, ...]:
    """Return the marks of both, `above` hiding `below`; each is sorted and without overlaps."""
    if not below or not above:
        return tuple(below or above)
    marks: list[Mark] = []
    following = iter(above)
    over = next(following, None)
    for start, end, look in below:
        while over is not None and over.start < end:
            if start < over.start:
                marks.append(Mark(start, over.start, look))
            start = max(start, over.end)
            if over.end > end:
                break
            marks.append(over)
            over = next(following, None)
        if start < end:
            marks.append(Mark(start, end, look))
    while over is not None:
        marks.append(over)
        over = next(following, None)
    return tuple(marks)


def _front_length(lines: Sequence[str]) -> int:
    if not lines or lines[0].rstrip(" ") != "---":
        return 0
    for number in range(1, len(lines)):
        if lines[number].rstrip(" ") in ("---", "..."):
            return number + 1
    return 0


def _lead(text: str) -> re.Match[str]:
    lead = _LEAD.match(text, 0, STYLED)
    assert lead is not None  # all of it is optional
    return lead


def _text_style(text: str, prefix: str) -> LineStyle:
    lead = _lead(text)
    done = lead["box"] not in (None, "[ ]")
    box: Look = "dim" if done else "accent"
    looks: dict[str, Look] = {"quote": "rule", "bullet": "dim", "box": box, "date": "dim"}
    marks = [Mark(*lead.span(group), look) for group, look in looks.items() if lead[group]]
    return LineStyle("dim" if done else "text", tuple(marks), prefix)


def _pipes(text: str) -> list[Mark]:
    return [Mark(*pipe.span(), "rule") for pipe in re.finditer(r"\|", text[:STYLED])]
