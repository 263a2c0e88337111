"""Replaces the inline markup of Markdown lines by what it shows. Pure.

No tree is parsed, so that a line of the file stays a line. Links are replaced by their labels,
emphasis loses its markers; their places are recorded. Everything else is shown verbatim.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from kbx_tui.tui.drawing.lines import Look
from kbx_tui.tui.reading.markdown_lines import STYLED, Kind, Mark, line_kinds
from kbx_tui.tui.reading.preview import Place, TextLink

LINKED = 100_000
"""Leading characters of a line that are searched for links, so that no search blocks the app."""


class InlineText(NamedTuple):
    """The lines of a file without inline markup."""

    lines: tuple[str, ...]
    kinds: Sequence[Kind]
    """What each line is, markup included."""
    links: tuple[TextLink, ...]
    emphasis: Mapping[int, tuple[Mark, ...]]
    """By 1-based line: the parts that were emphasized, or code."""


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
_LOOKS: dict[str, Look] = {"**": "strong", "__": "strong", "~~": "struck"}
_MARKERS = re.compile(r"[*`_]|~~")
_URL_TAIL = ".,;:!?'*_~"


def render_inline(lines: Sequence[str]) -> InlineText:
    """Return `lines` with links replaced by their labels, and emphasis without its markers.

    Finds wikilinks, Markdown links and web addresses outside code; an empty label is replaced by
    the target. Line numbers stay the same. Searches only the first `LINKED` characters of a line
    for links, and the first `STYLED` for emphasis.
    """
    shown: list[str] = []
    links: list[TextLink] = []
    emphasis: dict[int, tuple[Mark, ...]] = {}
    kinds = line_kinds(lines)
    for number, (line, kind) in enumerate(zip(lines, kinds, strict=True), 1):
        if kind != "code":
            first = len(links)
            if "](" in line or "[[" in line or "://" in line:
                line = _replace_links(line, number, links)
            if kind not in ("front", "rule") and _MARKERS.search(line):
                line, marks = _hide_markers(line, first, links)
                if marks:
                    emphasis[number] = marks
        shown.append(line)
    return InlineText(tuple(shown), kinds, tuple(links), emphasis)


def _replace_links(line: str, number: int, links: list[TextLink]) -> str:
    """Return `line` with links replaced by their labels; appends them to `links`."""
    parts: list[str] = []
    offset = length = 0
    for match in _LINK.finditer(line, 0, LINKED):
        start, end = match.span()
        label, target = _label_and_target(match)
        if not target:
            continue
        if match["url"] is not None:
            end = start + len(label)
        before = line[offset:start]
        parts += [before, label]
        length += len(before)
        is_embed = match["target"] is not None and line[start] == "!"
        links.append(TextLink(Place(number, length, length + len(label)), target, is_embed))
        length += len(label)
        offset = end
    return "".join(parts) + line[offset:]


def _label_and_target(match: re.Match[str]) -> tuple[str, str]:
    """Return the label and target of a link; empty strings for code."""
    if (target := match["target"]) is not None:
        target = target.rstrip("\\ ").strip()
        alias = match["alias"] or ""
        return alias if alias.strip() else match["target"], target
    if (address := match["address"]) is not None:
        target = address.strip("<>")
        return match["label"] if match["label"].strip() else target, target
    if match["url"] is not None:
        url = match[0].rstrip(_URL_TAIL)
        closing = len(url) - len(url.rstrip(")"))  # unopened ones belong to the sentence
        surplus = min(closing, max(url.count(")") - url.count("("), 0))
        url = url[: len(url) - surplus].rstrip(_URL_TAIL)
        return url, url
    return "", ""


def _hide_markers(line: str, first: int, links: list[TextLink]) -> tuple[str, tuple[Mark, ...]]:
    """Return `line` without the markers of emphasis, and what they marked.

    `links` from number `first` on are those of the line; they are moved. The label of a link that
    is its target is left as it is: an address may hold any sign.
    """
    addresses = [
        (link.place.start, link.place.end)
        for link in links[first:]
        if line[link.place.start : link.place.end] == link.target
    ]
    removed: list[tuple[int, int]] = []
    marked: list[tuple[int, int, Look]] = []
    for match in _EMPHASIS.finditer(line, 0, STYLED):
        start, end = match.span()
        size, look = _marker(match)
        markers = ((start, start + size), (end - size, end))
        if any(a < last and begin < b for begin, last in markers for a, b in addresses):
            continue
        removed += markers
        marked.append((start + size, end - size, look))
    if not removed:
        return line, ()
    ends = [end for _, end in removed]
    gone = [0, *accumulate(end - start for start, end in removed)]

    def moved(position: int) -> int:
        return position - gone[bisect_right(ends, position)]

    for index in range(first, len(links)):
        place, target, is_embed = links[index].place, links[index].target, links[index].is_embed
        place = Place(place.line, moved(place.start), moved(place.end))
        links[index] = TextLink(place, target, is_embed)
    parts, offset = [], 0
    for start, end in removed:
        parts.append(line[offset:start])
        offset = end
    marks = tuple(Mark(moved(start), moved(end), look) for start, end, look in marked)
    return "".join(parts) + line[offset:], marks


def _marker(match: re.Match[str]) -> tuple[int, Look]:
    """Return the length of the markers of an emphasis, and its look."""
    if match["ticks"]:
        return len(match["ticks"]), "code"
    double = _LOOKS.get(match[0][:2])
    return (2, double) if double else (1, "emphasis")
