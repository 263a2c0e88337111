"""Two pages of one entity made one, and links that follow. Pure: bytes in, bytes out.

What the other page says below its title is put, line by line as it stands, at the end of the
section of the same heading of the page that is kept, or below all of it. The page is parsed again:
it must have the facts, links, headings, list items and code of both, and its entity the names and
fields.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any
from urllib.parse import quote

from kbx_tui.editing.lossless_text import Splice, decode_lossless
from kbx_tui.editing.page_edits import (
    SetFields,
    Value,
    apply_field_edits,
    field_value,
    shown_value,
    with_field,
    written_fields,
)
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.entities import ROLE_KEYS, legacy_fields, page_entity, read_facts
from kbx_tui.knowledge.fields import ALIAS_KEYS, texts_of
from kbx_tui.knowledge.folding import fold, name_key
from kbx_tui.knowledge.markdown import blank_code, blank_unread, headings, inline_fields, outline
from kbx_tui.knowledge.reading import parse_document
from kbx_tui.knowledge.records import Document, Entity
from kbx_tui.knowledge.written_links import WrittenLink, links_of

_NAMES = ALIAS_KEYS | {"name"}
_ROLES = frozenset({*ROLE_KEYS, "title"})
_OF_ITS_PAGE = frozenset({"id", "type"})
MOST_READ = 20_000_000
"""Characters that a merge reads: the page, again for each section and field that is added."""
_JOINED = frozenset({"email", "emails", "tag", "tags"})
_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#.*$")
_DEFINED = re.compile(r"^[ >]{0,12}\[([^\[\]\n]{1,200})\]:", re.MULTILINE)
_IN_BRACKETS = re.compile(r"\[([^\[\]\n]{1,200})\]")
_BLOCK_ID = re.compile(r"(?:^|[ \t])(\^[\w-]{1,200})[ \t]*$", re.MULTILINE)
_CLOSINGS = ("", "-->", "*/}", "%%", "$$", "}", "}}", "%}", "%>")
_LINE_END = re.compile("\n")
_NOT_IN_ADDRESS = re.compile(r"[^\w./~-]")


def merge_pages(
    one: Entity, before: bytes, two: Entity, gone: bytes
) -> tuple[bytes, tuple[str, ...]]:
    """Return the page of `one` with what that of `two` says, and sentences on what is left out.

    Raises WriteFault where a part would read differently.
    """
    kept, other = parse_document(one.path, before), parse_document(two.path, gone)
    for problem in (*kept.problems, *other.problems):
        raise WriteFault(f"{problem.path} {problem.reason}: mend that first")
    is_moved = posixpath.dirname(kept.path) != posixpath.dirname(other.path)
    if is_moved and any(target.startswith(".") for target in other.links):
        raise WriteFault(
            f"{other.path} has links relative to its folder, which is another than that of "
            f"{kept.path}: move the page there first"
        )
    if shared := sorted({*_shared_labels(kept.body, other.body)}):
        raise WriteFault(
            f"{kept.path} and {other.path} both use the label {shared[0]!r}: rename it in one of "
            "them first"
        )
    sections = list(_sections(other))
    if (len(sections) + len(other.frontmatter)) * (len(before) + len(gone)) > MOST_READ:
        raise WriteFault(
            f"{other.path} has too many sections or fields to put into {kept.path}: merge them in "
            "an editor"
        )
    names = two.name, other.title, *two.aliases, *other.aliases
    after, left_out = _with_fields(kept, before, other, gone, names)
    for title, lines in sections:
        after = _with_section(kept.path, after, title, lines)
    if not _reads_as_both(
        parse_document(kept.path, after), kept, other, (one.name, *one.aliases, *names)
    ):
        raise WriteFault(
            f"{other.path} cannot be put into {kept.path} without changing how one of them reads; "
            "merge them in an editor"
        )
    return after, tuple(left_out)


def _reads_as_both(page: Document, kept: Document, other: Document, names: tuple[str, ...]) -> bool:
    entity, was, added = (page_entity(each, "") for each in (page, kept, other))
    known = {*map(name_key, (entity.name, *entity.aliases)), name_key(names[0])}
    return (
        (page.id, page.title) == (kept.id, kept.title)
        and Counter(_facts(page)) == Counter(_facts(kept)) + Counter(_facts(other))
        and Counter(page.links) == Counter(kept.links) + Counter(other.links)
        and _headings(page) - {kept.title}
        == (_headings(kept) | _headings(other)) - {kept.title, other.title}
        and _blocks(page) == _blocks(kept) + _blocks(other)
        and {*kept.tags, *other.tags} == {*page.tags}
        and {*was.emails, *added.emails} == {*entity.emails}
        and entity.role == (was.role or added.role)
        and entity.team == (was.team or added.team)
        and known.issuperset(map(name_key, names))
    )


def _headings(page: Document) -> set[str]:
    return {heading.text for heading in headings(page.body)}


def _blocks(page: Document) -> Counter[tuple[int, str]]:
    """Return the list items of a page with their depth, and its code."""
    read, lines = outline(page.body), page.body.split("\n")
    items = [(item.depth, lines[item.line].strip()) for item in read.items]
    return Counter([*items, *((-1, "\n".join(lines[a:b]).strip()) for a, b in read.code)])


def _shared_labels(kept: str, other: str) -> Iterator[str]:
    """Yield labels of notes, addresses and blocks that one body has and the other one uses."""
    bodies = blank_code(kept), blank_code(other)
    defined, used, blocks = (
        [{fold(each) for each in pattern.findall(body)} for body in bodies]
        for pattern in (_DEFINED, _IN_BRACKETS, _BLOCK_ID)
    )
    yield from (defined[0] & used[1]) | (defined[1] & used[0]) | (blocks[0] & blocks[1])


def _facts(page: Document) -> Iterator[tuple[str, ...]]:
    for fact in read_facts(page, page.id):
        # A fact that states no source has its page as one.
        sources = "\n".join(source for source in fact.sources if source != page.path)
        yield fact.kind, fact.text, fact.date, fact.status, str(fact.done), sources


def _with_fields(
    kept: Document, data: bytes, other: Document, gone: bytes, names: tuple[str, ...]
) -> tuple[bytes, list[str]]:
    mine = {**inline_fields(kept.body), **legacy_fields(kept.body), **kept.frontmatter}
    aliases = {fold(name): name for name in (*kept.aliases, *names)}
    aliases.pop(fold(kept.title), None)
    joined: dict[str, Value] = {"aliases": tuple(aliases.values())} if aliases else {}
    role, as_written, left_out = page_entity(kept, "").role, written_fields(other, gone), []
    for key, value in other.frontmatter.items():
        folded, shown = key.casefold(), shown_value(value)
        is_name = folded == "title" and name_key(shown) in map(name_key, names)
        if folded in _NAMES or is_name or value in (None, "", []):
            continue
        present = field_value(mine, key) or mine.get(folded.replace("_", " "))
        if folded in _ROLES:
            present = role or present
        if value == present or (shown and fold(shown) == fold(shown_value(present))):
            continue
        if present in (None, "", []) and folded not in _OF_ITS_PAGE:
            added = with_field(kept.path, data, key, value, as_written.get(key, ""))
            if added is not None:
                data = added
                continue
        elif present and (folded in _JOINED or isinstance(present, list)):
            texts = [_texts(each) for each in (present, value)]
            if all(texts):
                joined[key] = tuple(dict.fromkeys(chain.from_iterable(texts)))
                continue
        left_out.append(f"{key} {shown or 'a table'!r} of {other.path} is left out")
    data = apply_field_edits(kept.path, data, SetFields(tuple(joined.items())))
    written = set(_comments(decode_lossless(data).text.splitlines()))
    comments = _comments(decode_lossless(gone).text.splitlines()[: other.body_line - 1])
    said = (
        f"the comment {each!r} of {other.path} is left out"
        for each in comments
        if each not in written
    )
    return data, [*left_out, *said]


def _comments(lines: Iterable[str]) -> Iterator[str]:
    return (found[0] for line in lines if (found := _COMMENT.search(line)))


def _texts(value: Any) -> list[str]:
    """Return the texts that a list has with those of this value; none where that is unclear."""
    each = value if isinstance(value, list) else [value]
    is_clear = all(isinstance(text, str) for text in each)
    return list(texts_of(each)) if is_clear and (each is value or "," not in value) else []


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
    above = "\n".join(map(text.line, range(offset, end)))
    if _is_open(above) or _is_open("\n".join(lines)):
        raise WriteFault(
            f"code, a comment or the like is open at the end of {title or 'the top'!r}, where two "
            f"parts are joined for {path}: close it first"
        )
    gap = [] if follows else [""]
    return text.apply(text.insert_line(end, "\n".join([*gap, *lines])))


def _is_item(line: str) -> bool:
    return line.lstrip()[:2] in ("- ", "* ", "+ ")


def _is_open(text: str) -> bool:
    """Return whether what follows a text could be part of its code, comment or the like."""
    return any("\0" not in blank_unread(f"{text}\n\n\0{closing}") for closing in _CLOSINGS)


def with_links_to(
    path: str, data: bytes, kept: str, name: Callable[[WrittenLink], str | None]
) -> bytes:
    """Return a page whose links lead to the page at `kept` where `name` gives one for a wikilink.

    Raises WriteFault for a link that would then not be read as intended.
    """
    page, text = parse_document(path, data), decode_lossless(data)
    relative = posixpath.relpath(kept, posixpath.dirname(path) or ".")
    changed, expected = dict[int, Splice](), list[str]()
    line_ends = [found.start() for found in _LINE_END.finditer(page.body)]
    for link in links_of(page.body):
        wanted = name(link)
        if wanted is None:
            expected.append(link.target)
            continue
        begin, end = link.address
        address = page.body[begin:end].partition("|")[0]
        written = address.partition("#")[0]
        if link.is_wikilink:
            written = written.rstrip().removesuffix("\\")
        else:
            begin += written.startswith("<")
            written = written.removeprefix("<").removesuffix(">").partition("?")[0]
            wanted = _NOT_IN_ADDRESS.sub(lambda found: quote(found[0]), relative)
        line = bisect_left(line_ends, begin)
        start = text.line_starts[page.body_line - 1 + line]
        start += begin - (line_ends[line - 1] + 1 if line else 0)
        changed[start] = Splice(start, start + len(written), wanted)
        leads = relative if relative.startswith("../") else f"./{relative}"
        expected.append(link._replace(page=wanted if link.is_wikilink else leads).target)
    data = text.apply(*(splice for _, splice in sorted(changed.items())))
    after = parse_document(path, data)
    if list(after.links) != expected or after.frontmatter != page.frontmatter:
        raise WriteFault(
            f"links in {path} cannot be changed without changing how it reads: change those to "
            "the other page in an editor first"
        )
    return data
