"""What the lines of a markdown file are, one by one: light enough for a file of any size. Pure.

Nothing is parsed into a tree, so a line of a file stays a line. Only links lose their markup:
their label is shown, and where it stands is told. Everything else is shown as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from kbx_tui.tui.drawing.lines import Look
from kbx_tui.tui.explore.view import Place, TextLink

Kind = Literal["front", "code", "title", "heading", "rule", "table", "text"]
"""`title` is a heading of level 1 or 2, `rule` a line that separates, `code` also its fences."""

STYLED = 10_000
"""Characters of a line in which markup is looked for, links apart."""
LINKED = 100_000
"""Characters of a line in which links are looked for: one search must not hold up the app."""


class Mark(NamedTuple):
    """A stretch of a line that looks different from the rest of it."""

    start: int
    end: int
    look: Look


class Shape(NamedTuple):
    """How a line is drawn."""

    look: Look
    marks: tuple[Mark, ...]
    lead: str
    """What stands before the rows on which the line goes on."""


_FENCE = re.compile(r" *(?:[-*+] +|\d{1,9}[.)] +)?(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?: +|$)")
_RULE = re.compile(r" {0,3}([-*_])(?: *\1){2,} *$|\|[-:| ]+\| *$")
_LEAD = re.compile(
    r"(?P<quote>(?: {0,3}>)*) *"
    r"(?:(?P<bullet>[-*+•]|\d{1,9}[.)]) +"
    r"(?:(?P<box>\[[ xX]\])(?= ) +)?(?P<date>\[\d{4}-\d\d-\d\d\])?)?"
)
_CODE_SPAN = r"(?P<ticks>`(?<!``)(?<!\\`)`{0,7})(?!`)(?:[^`]{1,1000}+)(?P=ticks)(?!`)"
_LINK = re.compile(
    _CODE_SPAN + r"|!?\[(?<!\\\[)(?:"
    r"\[(?P<target>[^\[\]|]{1,300})(?:\|(?P<alias>[^\[\]]{0,300}))?\]\]"
    r"|(?P<label>[^\[\]]{0,500}+)\]\("
    r"(?P<address><[^<>]{1,1000}+>|(?:[^()\s]|\([^()\s]{0,200}+\)){1,1000}+)"
    r"(?:\s+\"[^\"]{0,200}+\")?\))"
    r"|https?://(?P<url>[^\s<>\"`|\\\]]+)"
)
_EMPHASIS = re.compile(
    _CODE_SPAN + r"|\*\*(?<![*\\]\*\*)(?=[^\s*])[^*]{1,500}+(?<=\S)\*\*(?!\*)"
    r"|\*(?<![\w*\\]\*)(?=[^\s*])[^*]{1,500}+(?<=\S)\*(?![\w*])"
    r"|__(?<![\w\\]__)(?=[^\s_])[^_]{1,500}+(?<=\S)__(?!\w)"
    r"|_(?<![\w\\]_)(?=[^\s_])[^_]{1,500}+(?<=\S)_(?!\w)"
    r"|~~(?<![~\\]~~)(?=[^\s~])[^~]{1,500}+(?<=\S)~~(?!~)"
)
_LOOKS: dict[str, Look] = {"`": "code", "**": "strong", "__": "strong", "~~": "dim"}
_URL_TAIL = ".,;:!?'*_~"
_TO_BLANK = re.compile("[^>]")


def kinds(lines: Sequence[str]) -> list[Kind]:
    """Return what each line is."""
    found: list[Kind] = ["front"] * _front_length(lines)
    fence = ""
    for line in lines[len(found) :] if found else lines:
        if fence:
            found.append("code")
            if line.strip(" ").startswith(fence) and not line.strip(f" {fence[0]}"):
                fence = ""
        elif not (head := line.lstrip(" ")[:1]):
            found.append("text")
        elif (head in "`~-*+" or head.isdigit()) and (opened := _FENCE.match(line)):
            found.append("code")
            fence = opened[1]
        elif head == "#" and (heading := _HEADING.match(line)):
            found.append("title" if len(heading[1]) <= 2 else "heading")
        elif head in "-*_|" and len(line) <= STYLED and _RULE.match(line):
            found.append("rule")
        else:
            found.append("table" if head == "|" else "text")
    return found


def find_links(lines: Sequence[str]) -> tuple[tuple[str, ...], tuple[TextLink, ...]]:
    """Return `lines` as they are shown, links as their labels, and where the links are.

    Wikilinks, markdown links and web addresses count, but not in code; a label that is empty is
    the target. Line n stays line n. Only the first `LINKED` characters of a line are looked at.
    """
    shown: list[str] = []
    links: list[TextLink] = []
    for number, (line, kind) in enumerate(zip(lines, kinds(lines), strict=True), 1):
        if kind != "code" and ("](" in line or "[[" in line or "://" in line):
            line = _without_markup(line, number, links)
        shown.append(line)
    return tuple(shown), tuple(links)


@lru_cache(maxsize=512)
def shape(text: str, kind: Kind) -> Shape:
    """Return how a line that is `kind` looks; `text` is as shown, without the markup of links.

    Only its first `STYLED` characters are looked at. The last shapes are remembered.
    """
    lead = lead_of(text, kind)
    if kind == "text":
        return _text_shape(text, lead)
    if kind == "table":
        return Shape("text", layered(_pipes(text), _emphasis(text, 0)), lead)
    if kind in ("title", "heading"):
        look: Look = "heading" if kind == "title" else "strong"
        return Shape(look, (Mark(0, len(lead), "rule"),), lead)
    return Shape("rule" if kind == "rule" else "dim", (), lead)


def lead_of(text: str, kind: Kind) -> str:
    """Return what stands before the rows on which a line goes on when it is too long for one."""
    if kind == "text":
        lead = _lead(text)
        words = lead.start("date") if lead["date"] else lead.end()
        return _TO_BLANK.sub(" ", text[:words])
    if kind == "table":
        return "  "
    inner = text.lstrip(" #") if kind in ("title", "heading") else text.lstrip(" ")
    return " " * (len(text) - len(inner))


def layered(below: Sequence[Mark], above: Sequence[Mark]) -> tuple[Mark, ...]:
    """Return both, `below` only where `above` is not; each is in order and does not overlap."""
    if not below or not above:
        return tuple(below or above)
    found: list[Mark] = []
    following = iter(above)
    over = next(following, None)
    for start, end, look in below:
        while over is not None and over.start < end:
            if start < over.start:
                found.append(Mark(start, over.start, look))
            start = max(start, over.end)
            if over.end > end:
                break
            found.append(over)
            over = next(following, None)
        if start < end:
            found.append(Mark(start, end, look))
    while over is not None:
        found.append(over)
        over = next(following, None)
    return tuple(found)


def _front_length(lines: Sequence[str]) -> int:
    if not lines or lines[0].rstrip(" ") != "---":
        return 0
    for number in range(1, len(lines)):
        if lines[number].rstrip(" ") in ("---", "..."):
            return number + 1
    return 0


def _without_markup(line: str, number: int, links: list[TextLink]) -> str:
    parts: list[str] = []
    at = length = 0
    for match in _LINK.finditer(line, 0, LINKED):
        start, end = match.span()
        label, target = _label_and_target(match)
        if not target:
            continue
        if match["url"] is not None:
            end = start + len(label)
        before = line[at:start]
        parts += [before, label]
        length += len(before)
        links.append(TextLink(Place(number, length, length + len(label)), target))
        length += len(label)
        at = end
    return "".join(parts) + line[at:]


def _label_and_target(match: re.Match[str]) -> tuple[str, str]:
    """Return both as strings, empty when it is code and no link."""
    if (target := match["target"]) is not None:
        target = target.rstrip("\\ ").strip()
        alias = match["alias"] or ""
        return alias if alias.strip() else match["target"], target
    if (address := match["address"]) is not None:
        target = address.strip("<>")
        return match["label"] if match["label"].strip() else target, target
    if match["url"] is not None:
        url = match[0].rstrip(_URL_TAIL)
        closing = len(url) - len(url.rstrip(")"))  # those that none opens are of the sentence
        surplus = min(closing, max(url.count(")") - url.count("("), 0))
        url = url[: len(url) - surplus].rstrip(_URL_TAIL)
        return url, url
    return "", ""


def _lead(text: str) -> re.Match[str]:
    lead = _LEAD.match(text, 0, STYLED)
    assert lead is not None  # all of it is optional
    return lead


def _text_shape(text: str, leading: str) -> Shape:
    lead = _lead(text)
    marks: list[Mark] = []
    look: Look = "text"
    if lead["quote"]:
        marks.append(Mark(0, lead.end("quote"), "rule"))
    if lead["bullet"]:
        marks.append(Mark(*lead.span("bullet"), "dim"))
    if lead["box"]:
        done = lead["box"] != "[ ]"
        marks.append(Mark(*lead.span("box"), "dim" if done else "accent"))
        look = "dim" if done else "text"
    if lead["date"]:
        marks.append(Mark(*lead.span("date"), "dim"))
    words = lead.end("bullet") if lead["bullet"] else lead.end("quote")
    return Shape(look, layered(marks, _emphasis(text, words)), leading)


def _emphasis(text: str, start: int) -> list[Mark]:
    marks: list[Mark] = []
    if not ("*" in text or "`" in text or "_" in text or "~~" in text):
        return marks
    for match in _EMPHASIS.finditer(text, start, STYLED):
        first, end = match.span()
        if match["ticks"]:
            size, look = len(match["ticks"]), _LOOKS["`"]
        else:
            size = 2 if match[0][:2] in _LOOKS else 1
            look = _LOOKS.get(match[0][:2], "emphasis")
        marks += [
            Mark(first, first + size, "rule"),
            Mark(first + size, end - size, look),
            Mark(end - size, end, "rule"),
        ]
    return marks


def _pipes(text: str) -> list[Mark]:
    return [
        Mark(at, at + 1, "rule") for at, character in enumerate(text[:STYLED]) if character == "|"
    ]
