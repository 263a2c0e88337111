"""Headings of a body from the starts of its lines: a parser's answer in a tenth of its time. Pure.

A line beginning with ``#`` is a heading unless code or raw HTML holds it: no list or quote reaches
over it. So only fences, HTML and underlines are followed; where they leave a doubt there is no
answer, and the parser has to be asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kbx_tui.knowledge.parsing.inline import plain_text


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the document itself, not one inside a list or quote."""

    level: int
    text: str
    """Plain text, without markup."""
    line: int
    """0-based line of the body."""
    end: int
    """First line after the heading."""


_EVENT = re.compile(
    r"^(?:(?P<atx>#{1,6})(?=[ \t]|$)"
    r"|(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})"
    r"|(?P<indented> {1,3}(?:`{3,}|~{3,}))"
    r"|(?P<underline> {0,3}(?:=+|-+)[ \t]*$)"
    r"|(?P<comment> {0,3}<!--[^\n]*-->)"
    r"|(?P<opened><!--)"
    r"|(?P<raw> {0,3}<(?:!--|\?|![A-Z]|!\[CDATA\[|(?i:pre|script|style|textarea)(?![^\s>])))"
    r"|(?P<tag> {0,3}<(?!https?:|mailto:)[A-Za-z/])"
    r"|(?P<doubt> {1,3}\#{1,6}(?=[ \t]|$)))",
    re.MULTILINE,
)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_TOP_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_ATX = re.compile(r" {0,3}#{1,6}(?:[ \t]+(.*))?$")
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+[ \t]*$")


def atx_text(line: str) -> str:
    """Return the plain text of a heading line with ``#`` marks."""
    match = _ATX.match(line)
    return plain_text(_CLOSING_MARKS.sub("", match[1] or "").strip()) if match else ""


def scan_headings(body: str) -> tuple[Heading, ...] | None:
    """Return the headings of ``body``, or None when lines alone do not tell."""
    found: list[Heading] = []
    fence = ""
    loose = False
    tag_end = line = position = hidden = 0
    for event in _EVENT.finditer(body):
        kind = event.lastgroup
        if event.start() < hidden:
            continue
        if fence:
            if kind in ("fence", "indented") and _closes(body, event, fence):
                fence = ""
            continue
        if kind == "comment":
            continue
        if kind in ("raw", "doubt") or (loose and kind != "indented"):
            return None
        if tag_end and kind != "tag" and not _BLANK_LINE.search(body, tag_end - 1, event.start()):
            return None
        if kind == "opened":
            closing = body.find("-->", event.start())
            hidden = len(body) if closing < 0 else _line_end(body, closing)
        elif kind == "tag":
            tag_end = _line_end(body, event.end())
        elif kind == "indented":  # opens and closes a fence in a list, most of the time
            loose = not loose
        elif kind == "fence":
            fence = event["fence"]
        else:
            line += body.count("\n", position, event.start())
            position = event.start()
            if kind == "atx":
                text = atx_text(body[event.start() : _line_end(body, event.end())])
                found.append(Heading(len(event["atx"]), text, line, line + 1))
            else:
                above = _underlined(body, event.start())
                if above is None:
                    return None
                if above:
                    level = 1 if "=" in event["underline"] else 2
                    found.append(Heading(level, plain_text(above), line - 1, line + 1))
    return tuple(found)


def _line_end(body: str, position: int) -> int:
    end = body.find("\n", position)
    return len(body) if end < 0 else end


def _closes(body: str, event: re.Match[str], fence: str) -> bool:
    marks = event.group().strip()
    return marks.startswith(fence) and not body[event.end() : _line_end(body, event.end())].strip(
        " \t"
    )


def _underlined(body: str, underline: int) -> str | None:
    """Return the one-line paragraph above an underline, empty for none, None for something else."""
    if underline == 0:
        return ""
    start = body.rfind("\n", 0, underline - 1) + 1
    above = body[start : underline - 1]
    if not above.strip(" \t") or _TOP_HEADING.match(above):
        return ""
    before = body[body.rfind("\n", 0, max(start - 1, 0)) + 1 : max(start - 1, 0)]
    alone = start == 0 or not before.strip(" \t") or _TOP_HEADING.match(before)
    return above.strip() if above[0].isalpha() and alone else None
