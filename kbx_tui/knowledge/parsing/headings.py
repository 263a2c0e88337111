"""A fast scanner for headings that gives up where only a markdown parser can decide.

A line beginning with ``#`` ends any list or quote, so it is a heading unless in code or raw HTML.
The scanner therefore follows fences, HTML and underlines only. Kept for the speed of the experiment
"heading scanner" in docs/quality.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kbx_tui.knowledge.parsing.inline import strip_markup


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside lists and quotes."""

    level: int
    """1 to 6."""
    text: str
    """Without markup."""
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
    """Return the text of a heading line with ``#`` marks, without markup."""
    match = _ATX.match(line)
    return strip_markup(_CLOSING_MARKS.sub("", match[1] or "").strip()) if match else ""


def scan_headings(body: str) -> tuple[Heading, ...] | None:
    """Return the headings of ``body``, or None if finding them takes a full parse."""
    headings: list[Heading] = []
    fence = ""
    in_list_fence = False
    tag_end = line = position = comment_end = 0
    for event in _EVENT.finditer(body):
        kind = event.lastgroup
        if event.start() < comment_end:
            continue
        if fence:
            if kind in ("fence", "indented") and _closes_fence(body, event, fence):
                fence = ""
            continue
        if kind == "comment":
            continue
        if kind in ("raw", "doubt") or (in_list_fence and kind != "indented"):
            return None
        if tag_end and kind != "tag" and not _BLANK_LINE.search(body, tag_end - 1, event.start()):
            return None
        if kind == "opened":
            closing = body.find("-->", event.start())
            comment_end = len(body) if closing < 0 else _line_end(body, closing)
        elif kind == "tag":
            tag_end = _line_end(body, event.end())
        elif kind == "indented":  # usually a fence in a list
            in_list_fence = not in_list_fence
        elif kind == "fence":
            fence = event["fence"]
        else:
            line += body.count("\n", position, event.start())
            position = event.start()
            if kind == "atx":
                text = atx_text(body[event.start() : _line_end(body, event.end())])
                headings.append(Heading(len(event["atx"]), text, line, line + 1))
            else:
                above = _underlined_text(body, event.start())
                if above is None:
                    return None
                if above:
                    level = 1 if "=" in event["underline"] else 2
                    headings.append(Heading(level, strip_markup(above), line - 1, line + 1))
    return tuple(headings)


def _line_end(body: str, position: int) -> int:
    end = body.find("\n", position)
    return len(body) if end < 0 else end


def _closes_fence(body: str, event: re.Match[str], fence: str) -> bool:
    marks = event.group().strip()
    return marks.startswith(fence) and not body[event.end() : _line_end(body, event.end())].strip(
        " \t"
    )


def _underlined_text(body: str, underline: int) -> str | None:
    """Return the one-line paragraph above an underline, "" if there is none, None if unsure."""
    if underline == 0:
        return ""
    start = body.rfind("\n", 0, underline - 1) + 1
    above = body[start : underline - 1]
    if not above.strip(" \t") or _TOP_HEADING.match(above):
        return ""
    before = body[body.rfind("\n", 0, max(start - 1, 0)) + 1 : max(start - 1, 0)]
    alone = start == 0 or not before.strip(" \t") or _TOP_HEADING.match(before)
    return above.strip() if above[0].isalpha() and alone else None
