"""Titles of documents: from their frontmatter, a heading or the name of their file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from kbx_tui.knowledge.fields import page_name, text_of, value_of
from kbx_tui.knowledge.folding import slug
from kbx_tui.knowledge.markdown import Heading, headings, without_entities

Titles = Literal["heading", "opening_heading", "file_name"]
"""What the title of a page is that does not state one: a heading, the heading of level 1 with which
it opens, or the name of its file. Without such a heading it is the name of the file."""

_PLUGIN_KEYS = frozenset({"excalidraw-plugin", "kanban-plugin"})
"""Properties of drawings and boards, whose headings are those of the plug-in that writes them."""
_PLUGIN_SUFFIX = re.compile(r"\.(?:excalidraw|kanban|canvas)\Z", re.IGNORECASE)
_MARKUP = ("#", "<", "!", "[!", "---", "***", "___", "%%")
_LEADING_DATE = re.compile(r"\d{4}-\d{2}-\d{2}[-_ ]+(?=\S)")
_HTML_HEADING = re.compile(
    r"^ {0,3}(?:<[^\n]{1,200}>[ \t]*)?<h1(?:\s[^<>]{0,200})?>(.{0,1000}?)</h1>", re.I | re.M | re.S
)
_TITLE_OF_LOGSEQ = re.compile(r"\s*(?:- )?title::[ \t]+(\S[^\n]*)")
_HTML_TAG = re.compile(r"<[^<>]*>")


def title_of(
    path: str, frontmatter: Mapping[str, Any], body: str, *, entity: bool, titles: Titles
) -> str:
    """Return the title of the page at `path`; that of an `entity` is its name."""
    of_logseq = _TITLE_OF_LOGSEQ.match(body)
    stated = text_of(value_of(frontmatter, "title")) or (of_logseq[1].strip() if of_logseq else "")
    name = page_name(path)
    is_written_by_plugin = not _PLUGIN_KEYS.isdisjoint(frontmatter)
    if entity:
        if name == slug(name) and titles == "file_name":
            titles = "opening_heading"  # no person is called `ann-lee`
        return (
            heading_of(body, titles, only_top=True)
            or text_of(frontmatter.get("name"))
            or stated
            or _readable(name if name != name.lower() else name.title())
        )
    if stated:
        return stated
    if is_written_by_plugin or titles != "heading":
        shown = "" if is_written_by_plugin else heading_of(body, titles, only_top=True)
        return shown or _PLUGIN_SUFFIX.sub("", name)
    return heading_of(body, titles) or _readable(name) or path


def heading_of(body: str, titles: Titles, *, only_top: bool = False) -> str:
    """Return the heading that is the title of a page with this body, empty without one.

    With `only_top`, it is of level 1.
    """
    with_text = [] if titles == "file_name" else _headings_with_text(body)
    if titles == "heading":
        top = next((heading.text for heading in with_text if heading.level == 1), "")
        if top or only_top:
            return top
    if not with_text or _has_text(body, with_text[0].line):
        return ""
    opening = with_text[0]
    if only_top and opening.level > 1:
        return ""
    is_section = opening.level > 1 and any(each.level <= opening.level for each in with_text[1:])
    return "" if is_section else opening.text


def _headings_with_text(body: str) -> list[Heading]:
    found = [heading for heading in headings(body) if heading.text]
    if "<h1" in body or "<H1" in body:
        for match in _HTML_HEADING.finditer(body):
            text = " ".join(without_entities(_HTML_TAG.sub("", match[1])).split())
            line = body.count("\n", 0, match.start())
            if text:
                found.append(Heading(1, text, line, line + 1))
        found.sort(key=lambda heading: heading.line)
    return found


def _has_text(body: str, lines: int) -> bool:
    above = body.split("\n", lines)[:lines]
    return any(line.strip() and not line.lstrip().startswith(_MARKUP) for line in above)


def _readable(name: str) -> str:
    if " " not in name and any(map(str.isalpha, name)):  # not a date or number
        name = _LEADING_DATE.sub("", name)
        name = re.sub(r"[-_]+", " ", name).strip() or name
    return name
