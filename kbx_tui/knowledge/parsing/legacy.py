"""Data that kbx writes outside frontmatter: ``**Role:** x`` lines, teams in company.md."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from kbx_tui.knowledge.parsing.inline import strip_markup
from kbx_tui.knowledge.parsing.kinds import stem_of
from kbx_tui.knowledge.parsing.markdown import outline
from kbx_tui.knowledge.records import Document

_FIELD = re.compile(r"^\*\*([^*:\n]{1,60})(?::\*\*|\*\*:)[ \t]*(\S[^\n]*)$", re.MULTILINE)
_TEAM_LINE = re.compile(
    r"[-*+][ \t]+\*\*([^*\n]{1,200})\*\*[ \t]*(?:\(([^()\n]{1,40})\))?[ \t]*(?:$|[—–:-])"
)
_TEAMS_HEADING = "teams (from linear)"


def legacy_fields(body: str) -> dict[str, str]:
    """Return the ``**Key:** value`` lines above the first ``##``, with keys in lower case."""
    if "**" not in body:
        return {}
    top = body[: match.start()] if (match := re.search(r"^##", body, re.MULTILINE)) else body
    return {match[1].strip().lower(): match[2].strip() for match in _FIELD.finditer(top)}


def listed_teams(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the name and code of each team listed in company.md; the code may be empty."""
    if document.kind != "context" or stem_of(document.path).casefold() != "company":
        return
    blocks = outline(document.body)
    lines = document.body.split("\n")
    item_lines = [item.line for item in blocks.items]
    for index, heading in enumerate(blocks.headings):
        if _TEAMS_HEADING not in heading.text.casefold():
            continue
        end = blocks.section_end(index)
        for item in blocks.items[bisect_left(item_lines, heading.end) :]:
            if item.line >= end:
                break
            if match := _TEAM_LINE.match(lines[item.line].strip()):
                yield strip_markup(match[1]).strip(), (match[2] or "").strip()
