"""Makes a name in running text a link: a small splice, verified by parsing the page again."""

from __future__ import annotations

from dataclasses import dataclass

from kbx_tui.editing.pages.lossless_text import Splice, decode_lossless
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.parsing.inline_fields import inline_fields
from kbx_tui.knowledge.parsing.markdown import links_of
from kbx_tui.knowledge.parsing.reading import parse_document


@dataclass(frozen=True, slots=True)
class LinkName:
    """Replaces a name by a wikilink that shows it."""

    line: int
    """1-based line of the file."""
    column: int
    """0-based character of the line."""
    name: str
    wikilink: str
    """`[[Plan]]`, `[[notes/plan|Plan]]`."""


def apply_link_edit(path: str, data: bytes, edit: LinkName) -> bytes:
    """Return a page with the link.

    Raises WriteFault if the name is not there, or the page would read differently apart from it.
    """
    text, before = decode_lossless(data), parse_document(path, data)
    if edit.line > len(text.line_starts) or edit.line < before.body_line:
        raise _gone(path, edit)
    start = text.line_starts[edit.line - 1] + edit.column
    end = start + len(edit.name)
    if text.text[start:end] != edit.name or end > text.line_ends[edit.line - 1]:
        raise _gone(path, edit)
    after = text.apply(Splice(start, end, edit.wikilink))
    page = parse_document(path, after)
    old, new = list(links_of(before.body)), list(links_of(page.body))
    added = [link for link in new if page.body[link.start : link.end] == edit.wikilink]
    is_as_meant = (
        (page.frontmatter, page.tags) == (before.frontmatter, before.tags)
        and inline_fields(page.body).keys() == inline_fields(before.body).keys()
        and page.body_line == before.body_line
        and len(new) == len(old) + 1
        and any(
            page.body[: link.start] + edit.name + page.body[link.end :] == before.body
            for link in added
        )
    )
    if not is_as_meant:
        raise WriteFault(
            f"{edit.name!r} in {path}:{edit.line} cannot be made a link: it is part of code, of "
            "another link, of a tag or property, or of markup; open the file in an editor"
        )
    return after


def _gone(path: str, edit: LinkName) -> WriteFault:
    return WriteFault(
        f"{edit.name!r} is no longer at that place in {path}:{edit.line}; `kbx index` updates "
        "what is known of the file"
    )
