"""Two pages of one entity made one, and links that follow. Pure: bytes in, bytes out.

What the other page says below its title is put, line by line as it stands, at the end of the
section of the same heading of the page that is kept, or below all of it. The page is parsed again:
it must have the facts of both, and nothing of the kept one may read differently.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from kbx_tui.editing.lossless_text import Splice, decode_lossless
from kbx_tui.editing.page_edits import (
    SetFields,
    Value,
    apply_field_edits,
    field_value,
    shown_value,
)
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.fact_sections import read_facts
from kbx_tui.knowledge.fields import texts_of
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.markdown import WrittenLink, headings, links_of
from kbx_tui.knowledge.reading import parse_document
from kbx_tui.knowledge.records import Document

_OWN = frozenset({"id", "type", "name", "title", "alias", "aliases"})
"""Fields that say which page it is: names become aliases, the rest is that of the kept page."""
_ADDRESSES = frozenset({"email", "emails"})
_ADDRESS = re.compile(r"\]\([ \t]*(<[^<>\n#]+|[^\s()<>#?]+)")


def merge_pages(
    kept: Document, data: bytes, other: Document, names: tuple[str, ...]
) -> tuple[bytes, tuple[str, ...]]:
    """Return the kept page, `data`, with what the other one says, and sentences on fields left out.

    `names` are those of the other page, which become aliases.
    Raises WriteFault where a part would read differently.
    """
    is_moved = posixpath.dirname(kept.path) != posixpath.dirname(other.path)
    if is_moved and any(target.startswith(".") for target in other.links):
        raise WriteFault(
            f"{other.path} has links relative to its folder, which is another than that of "
            f"{kept.path}: move the page there first"
        )
    fields, left_out = _fields(kept, other, names)
    after = apply_field_edits(kept.path, data, SetFields(tuple(fields.items())))
    for title, lines in _sections(other):
        after = _with_section(kept.path, after, title, lines)
    page = parse_document(kept.path, after)
    is_as_meant = (
        (page.id, page.title) == (kept.id, kept.title)
        and Counter(_facts(page)) == Counter(_facts(kept)) + Counter(_facts(other))
        and Counter(page.links) == Counter(kept.links) + Counter(other.links)
        and {*kept.tags, *other.tags} == {*page.tags}
    )
    if not is_as_meant:
        raise WriteFault(
            f"{other.path} cannot be put into {kept.path} without changing how one of them reads; "
            "merge them in an editor"
        )
    return after, tuple(left_out)


def _facts(page: Document) -> Iterator[tuple[str, ...]]:
    for fact in read_facts(page, page.id):
        # A fact that states no source has its page as one.
        sources = "\n".join(source for source in fact.sources if source != page.path)
        yield fact.kind, fact.text, fact.date, fact.status, str(fact.done), sources


def _fields(
    kept: Document, other: Document, names: tuple[str, ...]
) -> tuple[dict[str, Value], list[str]]:
    mine, left_out = kept.frontmatter, list[str]()
    aliases = {fold(name): name for name in (*kept.aliases, *names)}
    aliases.pop(fold(kept.title), None)
    fields: dict[str, Value] = {"aliases": tuple(aliases.values())}
    for key, value in other.frontmatter.items():
        present, texts = field_value(mine, key), tuple(texts_of(value))
        if key.casefold() in _OWN or fold(shown_value(value)) == fold(shown_value(present)):
            continue
        is_text = isinstance(value, str) or _is_list_of_text(value)
        if is_text and not shown_value(present):
            fields[key] = value if isinstance(value, str) else texts
        elif is_text and (_is_list_of_text(present) or key.casefold() in _ADDRESSES):
            fields[key] = tuple(dict.fromkeys((*texts_of(present), *texts)))
        else:
            said = shown_value(value) or "a table"
            left_out.append(f"{key} {said!r} of {other.path} is left out")
    return fields, left_out


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _sections(page: Document) -> Iterator[tuple[str, list[str]]]:
    """Yield heading line (empty for what is above the first) and lines of each section."""
    lines = page.body.replace("\r\n", "\n").split("\n")
    tops = [heading for heading in headings(page.body) if heading.level <= 2]
    if tops and tops[0].level == 1 and not any(map(str.strip, lines[: tops[0].line])):
        lines, tops = ["" if n < tops[0].end else line for n, line in enumerate(lines)], tops[1:]
    starts = [0, *(heading.line for heading in tops)]
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(lines)
        body = tops[number - 1].end if number else start
        content = lines[body:end]
        while content and not content[0].strip():
            content.pop(0)
        while content and not content[-1].strip():
            content.pop()
        title = "\n".join(lines[start:body])
        if content or title:
            yield title, content


def _with_section(path: str, data: bytes, title: str, lines: list[str]) -> bytes:
    """Return a page with lines at the end of its section of this title, or a new one at its end."""
    page, text = parse_document(path, data), decode_lossless(data)
    tops = [heading for heading in headings(page.body) if heading.level <= 2]
    offset, last = page.body_line - 1, len(text.line_starts)
    written = [fold(text.line(offset + top.line).strip()) for top in tops]
    found = next(
        (top for top, each in zip(tops, written, strict=True) if each == fold(title.strip())), None
    )
    begin, end = offset, last
    if found is not None:
        begin = offset + found.end
        end = min((offset + top.line for top in tops if top.line > found.line), default=last)
    elif not title:
        begin += max((top.end for top in tops[:1] if top.level == 1), default=0)
        end = min((offset + top.line for top in tops if offset + top.line >= begin), default=last)
    else:
        lines = [title, *([""] if lines else []), *lines]
    while end > begin and not text.line(end - 1).strip():
        end -= 1
    follows = end > begin and _is_item(text.line(end - 1)) and bool(lines) and _is_item(lines[0])
    if not lines:
        return data
    gap = [] if follows else [""]
    return text.apply(text.insert_line(end, "\n".join([*gap, *lines])))


def _is_item(line: str) -> bool:
    return line.lstrip()[:2] in ("- ", "* ", "+ ")


def with_links_to(
    path: str, data: bytes, kept: str, name: Callable[[WrittenLink], str | None]
) -> bytes:
    """Return a page whose links lead to the page at `kept` where `name` gives one for a wikilink.

    Raises WriteFault for a link that is written in a way which cannot be changed.
    """
    page, text = parse_document(path, data), decode_lossless(data)
    start = text.line_starts[page.body_line - 1]
    body = text.text[start:]
    links = list(links_of(body))
    if [link.target for link in links] != [link.target for link in links_of(page.body)]:
        raise WriteFault(f"the links of {path} cannot be changed here; change them in an editor")
    for link in reversed(links):
        if (wanted := name(link)) is None:
            continue
        raw = body[link.start : link.end]
        found = re.search(re.escape(link.page), raw) if link.is_wikilink else _ADDRESS.search(raw)
        if found is None:
            line = page.body_line + body.count("\n", 0, link.start)
            raise WriteFault(
                f"the link {raw[:80]!r} in {path}:{line} has to be changed by hand first"
            )
        begin, end = found.span() if link.is_wikilink else found.span(1)
        if not link.is_wikilink:
            relative = posixpath.relpath(kept, posixpath.dirname(path) or ".")
            wanted = f"<{relative}" if raw[begin] == "<" else quote(relative)
        splice = Splice(start + link.start + begin, start + link.start + end, wanted)
        text = decode_lossless(text.apply(splice))
    return text.data
