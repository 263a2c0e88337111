"""Edits of pages in sequence, frontmatter fields, links, names, new pages. Pure: bytes in and out.

Each edit is one splice: only the lines of the field, the fact or the name change. The page is then
parsed again: the edit must read as intended and everything else unchanged, else it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any
from unicodedata import normalize

import yaml

from kbx_tui.editing.fact_edits import FactEdit, apply_fact_edit
from kbx_tui.editing.lossless_text import LosslessText, Splice, decode_lossless, one_line
from kbx_tui.errors import ConfigError, WriteFault
from kbx_tui.knowledge.entities import legacy_fields
from kbx_tui.knowledge.fields import ALIAS_KEYS, link_target, texts_of
from kbx_tui.knowledge.folding import slug
from kbx_tui.knowledge.markdown import (
    CODE_SPAN,
    blank_inline_fields,
    blank_unread,
    headings,
    inline_fields,
)
from kbx_tui.knowledge.reading import Conventions, parse_document
from kbx_tui.knowledge.records import Document
from kbx_tui.knowledge.redaction import may_hold_mark, paragraphs
from kbx_tui.knowledge.written_links import links_of
from kbx_tui.safe_text import replace_surrogates

Value = str | tuple[str, ...] | None

LINKED = frozenset({"team", "reports_to", "lead", "company"})
ORDER = (
    "id", "type", "name", "title", "aliases", "email", "role", "team", "reports_to", "company",
    "pcm_base", "pcm_phase", "status", "started", "lead", "pinned",
)  # fmt: skip
"""The order in which kbx writes fields; others follow."""

_PLAIN = re.compile(r"[^\W_][\w ./@+()&,-]*")
_KEY = re.compile(
    r"""^(?P<quote>["']?)(?P<key>[^\s#:"'](?:[^:"'\s]|[^\S\n]++(?!:))*+)(?P=quote)"""
    r"""[ \t]*:(?=[ \t]|$)"""
)
_SCALAR = re.compile(
    r"""^(?P<value>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'"""
    r"""|[^\s"'\[{|>&*!#](?:[^ \t\n]|[ \t]++(?!#|$))*+)(?:[ \t]+#.*|[ \t]*)$"""
)
_NO_CHANGE = Splice(0, 0, "")


@dataclass(frozen=True, slots=True)
class SetFields:
    fields: tuple[tuple[str, Value], ...]
    was: tuple[tuple[str, str], ...] = ()
    """Old values of some fields, as `shown_value` returns them; if one differs, none is set."""


def shown_value(value: Any) -> str:
    """Return a frontmatter value as plain text: lists joined by commas, links without brackets."""
    texts = texts_of(list(value) if isinstance(value, tuple) else value)
    return ", ".join(map(link_target, texts))


def field_value(fields: Mapping[str, Any], key: str) -> Any:
    by_folded_name = {name.casefold(): value for name, value in fields.items()}
    return by_folded_name.get(key.casefold())


def apply_field_edits(path: str, data: bytes, edit: SetFields) -> bytes:
    frontmatter = parse_document(path, data).frontmatter
    for key, was in edit.was:
        current = shown_value(field_value(frontmatter, key))
        if current != was:
            raise WriteFault(f"{path}: {key} is now {current!r}, no longer {was!r}")
    for key, value in edit.fields:
        data = _set_field(path, data, field_name(key), value)
    return data


def field_name(key: str) -> str:
    key = one_line(key)
    if not re.fullmatch(r"[\w][\w .-]*", key):
        raise WriteFault(f"{key!r} is not a valid field name: use letters, digits, - and _")
    return key


def field_lines(key: str, value: Value) -> str:
    if isinstance(value, tuple):
        return "\n".join((f"{key}:", *(f"- {scalar(text)}" for text in value)))
    return f"{key}: {scalar(_linked(key, value or ''))}"


def scalar(text: str) -> str:
    """Return a text as a YAML scalar, quoted unless every parser reads it back unchanged."""
    text = replace_surrogates(one_line(text))
    with suppress(yaml.YAMLError, ValueError):  # ValueError: 2026-02-30, 0x_
        if _PLAIN.fullmatch(text) and yaml.safe_load(f"key: {text}") == {"key": text}:
            return text
    return "'" + text.replace("'", "''") + "'"


def _set_field(path: str, data: bytes, key: str, value: Value) -> bytes:
    before, text = parse_document(path, data), decode_lossless(data)
    for splice in _splices(text, before, key, value):
        after = text.apply(splice)
        if _is_expected(before, parse_document(path, after), key, value):
            return after
    raise WriteFault(
        f"{key} of {path} cannot be set without changing how the rest reads; open it in an editor"
    )


def with_field(path: str, data: bytes, key: str, value: Any, lines: str) -> bytes | None:
    """Return a page with a field that it lacks, of any kind, written as `lines` if these are known.

    None if the page would not read as intended, or be another.
    """
    before, text = parse_document(path, data), decode_lossless(data)
    if not lines:
        lines = field_lines(key, tuple(texts_of(value)) if isinstance(value, list) else str(value))
    if before.body_line == 1:
        splice = text.insert_line(0, f"---\n{lines}\n---")
    else:
        fields = list(_fields(text, before.body_line - 2))
        splice = text.insert_line(_line_for(fields, key), lines)
    after = text.apply(splice)
    page = parse_document(path, after)
    is_as_meant = (
        page.frontmatter == {**before.frontmatter, key: value}
        and (page.body, page.problems) == (before.body, before.problems)
        and (page.id, page.title, page.kind) == (before.id, before.title, before.kind)
    )
    return after if is_as_meant else None


def written_fields(page: Document, data: bytes) -> dict[str, str]:
    """Return the lines of each field in YAML frontmatter, joined by line feeds."""
    text = decode_lossless(data)
    if not text.text.startswith("---"):
        return {}
    return {
        key: "\n".join(map(text.line, lines)) for key, lines in _fields(text, page.body_line - 2)
    }


def _splices(text: LosslessText, page: Document, key: str, value: Value) -> Iterator[Splice]:
    if page.body_line == 1:  # no frontmatter
        if value is None:
            yield _NO_CHANGE
        elif legacy := _legacy_value(text, page, key):
            yield Splice(*legacy, shown_value(value))
        else:
            yield text.insert_line(0, f"---\n{field_lines(key, value)}\n---")
        return
    fields = list(_fields(text, page.body_line - 2))
    name, lines = next(
        (field for field in fields if field[0].casefold() == key.casefold()), ("", range(0))
    )
    if value is None:
        yield text.remove_lines(lines.start, lines.stop) if lines else _NO_CHANGE
    elif not lines:
        yield text.insert_line(_line_for(fields, key), field_lines(key, value))
    else:
        if isinstance(value, str) and len(lines) == 1:
            yield from _value_on_its_line(text, lines.start, name, value)
        new = field_lines(name, value).replace("\n", text.line_end)
        yield Splice(text.line_starts[lines.start], text.line_ends[lines.stop - 1], new)


def _value_on_its_line(text: LosslessText, number: int, name: str, value: str) -> Iterator[Splice]:
    line = text.line(number)
    offset = line.index(":") + 1
    offset += len(line[offset:]) - len(line[offset:].lstrip())
    if match := _SCALAR.match(line[offset:]):
        old = match["value"]
        start = text.line_starts[number] + offset
        new = _linked(name, value) if "[[" in old else value
        yield Splice(start, start + len(old), scalar(new))


def _fields(text: LosslessText, fence: int) -> Iterator[tuple[str, range]]:
    matches = ((number, _KEY.match(text.line(number))) for number in range(1, fence))
    keys = [(number, match["key"]) for number, match in matches if match]
    for (first, name), (end, _) in pairwise([*keys, (fence, "")]):
        while end > first + 1 and text.line(end - 1).lstrip()[:1] in ("", "#"):
            end -= 1
        yield name, range(first, end)


def _line_for(fields: list[tuple[str, range]], key: str) -> int:
    earlier = ORDER[: ORDER.index(key)] if key in ORDER else None
    ends = [lines.stop for name, lines in fields if earlier is None or name.casefold() in earlier]
    return max(ends, default=1)


def _legacy_value(text: LosslessText, page: Document, key: str) -> tuple[int, int] | None:
    label = key.replace("_", " ")
    if label not in legacy_fields(page.body):
        return None
    pattern = re.compile(rf"^\*\*{re.escape(label)}(?::\*\*|\*\*:)[ \t]*(\S.*?)[ \t]*$", re.I)
    for number, start in enumerate(text.line_starts):
        if match := pattern.match(text.line(number)):
            return start + match.start(1), start + match.end(1)
    return None


def _is_expected(before: Document, after: Document, key: str, value: Value) -> bool:
    if after.problems != before.problems and len(after.problems) >= max(len(before.problems), 1):
        return False
    others_before, others_after = (
        {name: old for name, old in page.frontmatter.items() if name.casefold() != key.casefold()}
        for page in (before, after)
    )
    if others_before != others_after:
        return False
    if before.body != after.body:  # allowed only where the value is in the body
        changed = legacy_fields(after.body).get(key.replace("_", " "))
        return before.body_line == 1 == after.body_line and changed == shown_value(value)
    return shown_value(field_value(after.frontmatter, key)) == shown_value(value)


def _linked(key: str, value: str) -> str:
    return f"[[{value}]]" if key in LINKED and value and "[[" not in value else value


@dataclass(frozen=True, slots=True)
class LinkName:
    line: int
    column: int
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
            and not page.body[: link.start].endswith("#")  # a tag as Logseq writes it
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


PageEdit = FactEdit | SetFields | LinkName

FOLDERS: Mapping[str, str] = {
    "person": "people", "project": "projects", "team": "teams", "company": "companies",
}  # fmt: skip


def apply_edits(path: str, data: bytes, edits: Sequence[PageEdit]) -> bytes:
    """Return a page with all edits applied. Raises WriteFault when one cannot be made safely."""
    for edit in edits:
        if isinstance(edit, SetFields):
            data = apply_field_edits(path, data, edit)
        elif isinstance(edit, LinkName):
            data = apply_link_edit(path, data, edit)
        else:
            data = apply_fact_edit(path, data, edit)
    return data


def page_path(kind: str, name: str, prefix: str) -> str:
    """Return the path of a page, under `prefix`. Raises WriteFault for a name without a letter."""
    if not slug(name):
        raise WriteFault(f"{name!r} cannot be the name of a page: it has no letter")
    return f"{prefix}{FOLDERS.get(kind, f'{kind}s')}/{slug(name)}.md"


def new_page(kind: str, name: str, fields: Mapping[str, Value]) -> bytes:
    """Return a new entity page as kbx writes it: frontmatter, if any, and a heading.

    Raises WriteFault for a name or field that would be read as something else.
    """
    values: dict[str, Value] = {} if kind in ("person", "project") else {"type": kind}
    values |= {field_name(key): value for key, value in fields.items() if value}
    names = [key.casefold() for key in values]
    if duplicate := next((key for key in names if names.count(key) > 1), ""):
        raise WriteFault(f"{duplicate} is given twice; give it once")
    keys = sorted(values, key=lambda key: ORDER.index(key) if key in ORDER else len(ORDER))
    lines = ["---", *(field_lines(key, values[key]) for key in keys), "---"] if keys else []
    data = ("\n".join([*lines, f"# {one_line(name)}"]) + "\n").encode()
    page = parse_document(page_path(kind, name, ""), data)
    for key, value in values.items():
        expected, actual = shown_value(value), shown_value(page.frontmatter.get(key))
        if actual != expected:
            raise WriteFault(f"{key} {expected!r} would be read as {actual!r}; rephrase it")
    if [heading.text for heading in headings(page.body)] != [one_line(name)]:
        raise WriteFault(f"{name!r} cannot be the heading of a page; remove special characters")
    return data


_NAME = re.compile(r"[^\W\d_](?:[\w .'’-]*[\w.])?")
_ADDRESS = (
    CODE_SPAN + r"|\w{1,20}://[^\s<>]+|(?<![\w.+-])[\w.+-]{1,100}@[\w.-]+"
    r"|(?<=\]\()[^()\n]*|^ {0,3}\[[^\[\]\n]{1,200}\]:.*"
)
_TARGET, _TARGET_AFTER_LABEL = r"\[\[[^\[\]\n|]*", r"\[\[[^\[\]\n|]*(?=\]\])|\|[^\[\]\n|]*(?=\]\])"
_KEPT = ALIAS_KEYS | {"id", "import_id", "file", "tag", "tags"}
"""Fields that stay: other names on purpose, and what identifies a page."""
_KEPT_FIELD = re.compile(
    rf"^(?:{'|'.join(map(re.escape, sorted(_KEPT)))})[ \t]*[:=].*(?:\n(?:[ \t]|- ).*)*",
    re.MULTILINE | re.IGNORECASE,
)
_NOT_LINE_END = re.compile(r"[^\n]")
_BETWEEN = re.compile(r"\s+")
_HEADING = re.compile(r"[\s>*+\d.)-]*#{1,6}\s")


class NameCorrection:
    """A wrong form of a name, and the right one.

    Headings, text, labels of links and values of frontmatter are corrected where the wrong form
    stands as whole words, also across the end of a line in a paragraph. Code, comments, addresses,
    targets of links, tags and aliases stay as they are.
    """

    def __init__(self, wrong: str, right: str, conventions: Conventions) -> None:
        """Raises ConfigError for a text that is not a name: a page might read differently."""
        self.wrong, self.right = (" ".join(name.split()) for name in (wrong, right))
        for name in (self.wrong, self.right):
            if not _NAME.fullmatch(name) or may_hold_mark(name):
                raise ConfigError(f"{name!r} is not a name: give words of letters, as in 'Ann Lee'")
        if self.wrong == self.right:
            raise ConfigError(f"both names are {self.wrong!r}")
        self._conventions = conventions
        target = _TARGET_AFTER_LABEL if conventions.is_dendron else _TARGET
        right_form = rf"(?<!\w){re.escape(self.right)}(?!\w)"  # which may hold the wrong one
        self._kept = re.compile(f"{_ADDRESS}|{target}|{right_form}", re.MULTILINE)
        words = self.wrong.split()
        forms = (
            r"(?:[ \t]+|[ \t]*\n[ \t]*)".join(re.escape(normalize(form, word)) for word in words)
            for form in ("NFC", "NFD")
        )
        self._pattern = re.compile(
            rf"(?<![\w#])(?<!\w-)(?:{'|'.join(dict.fromkeys(forms))})(?!\w)(?![-.]\w)"
        )

    def count(self, text: str) -> int:
        """Return how often the wrong form stands in a text as whole words."""
        return len(self._pattern.findall(text))

    def apply(self, path: str, data: bytes) -> bytes:
        """Return a page with the name corrected. Raises WriteFault where more would change."""
        page, text = self._parse(path, data), decode_lossless(data)
        start = text.start_of(page.body_line - 1)
        head, body = text.text[:start], text.text[start:]
        masked = _KEPT_FIELD.sub(_blanked, _with_line_feeds(head))
        after = self._corrected(head, masked) + self._corrected(
            body,
            blank_inline_fields(blank_unread(_with_line_feeds(body)), _KEPT),
            cache(lambda: _continuing_lines(page.body)),
        )
        if after == text.text:
            return data
        data = text.apply(Splice(0, len(text.text), after))
        read = self._parse(path, data)
        if not (
            read.frontmatter == self._value(page.frontmatter)
            and (read.links, read.property_links) == (page.links, page.property_links)
            and (read.aliases, read.tags) == (page.aliases, page.tags)
            and (read.id, read.kind, read.problems) == (page.id, page.kind, page.problems)
            and [each.level for each in headings(read.body)]
            == [each.level for each in headings(page.body)]
        ):
            raise WriteFault(f"{path} would read differently: correct the name there in an editor")
        return data

    def _parse(self, path: str, data: bytes) -> Document:
        return parse_document(path, data, conventions=self._conventions)

    def _corrected(
        self, text: str, masked: str, continuing: Callable[[], frozenset[int]] | None = None
    ) -> str:
        """Correct a text where `masked`, which is as long, has the wrong form.

        `continuing` returns the lines on which a name may be continued; without it, all are.
        """
        parts, done, line, counted = list[str](), 0, 1, 0
        for found in self._pattern.finditer(self._kept.sub(_blanked, masked)):
            begin, end = found.span()
            if continuing and "\n" in found[0]:
                line, counted = line + masked.count("\n", counted, begin), begin
                lines = range(line, line + found[0].count("\n"))
                if masked[end : end + 1] == ":" or not continuing().issuperset(lines):
                    continue
            between = _BETWEEN.search(text, begin, end)  # perhaps the end of a line
            right = self.right.replace(" ", between[0], 1) if between else self.right
            parts += [text[done:begin], right]
            done = end
        return "".join([*parts, text[done:]])

    def _value(self, value: Any) -> Any:
        """Return a value of frontmatter as it is to read after the correction."""
        if isinstance(value, str):
            return self._corrected(value, _with_line_feeds(value))
        if isinstance(value, list):
            return list(map(self._value, value))
        if isinstance(value, dict):
            return {
                key: each if key.casefold() in _KEPT else self._value(each)
                for key, each in value.items()
            }
        return value


def _continuing_lines(body: str) -> frozenset[int]:
    """Return the 0-based numbers of the lines that continue the text of the line before."""
    lines = body.split("\n")
    return frozenset(
        number
        for start, end in paragraphs(body)
        for number in range(start + 1, end)
        if not _HEADING.match(lines[number - 1])
        and not any(sign in line for line in lines[number - 1 : number + 1] for sign in ("|", "::"))
    )


def _with_line_feeds(text: str) -> str:
    """Return a text as long, whose lines end with line feeds."""
    return text.replace("\r\n", " \n").replace("\r", "\n")


def _blanked(found: re.Match[str]) -> str:
    return _NOT_LINE_END.sub(" ", found[0])
