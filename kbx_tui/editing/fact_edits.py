"""Edits of facts and open items: add, reword, strike out, delete. Pure.

Each edit is one splice. The page is then parsed again: the edited fact must be as intended and all
others unchanged, else the edit is refused, so a wrong guess cannot damage an unusual page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from kbx_tui.editing.lossless_text import LosslessText, Splice, decode_lossless, one_line
from kbx_tui.errors import UnfitText, WriteFault
from kbx_tui.knowledge.dates import iso_date
from kbx_tui.knowledge.entities import facts_with_items
from kbx_tui.knowledge.facts import (
    MARKERS,
    FactSection,
    fact_sections,
    notes_in,
    read_fact_line,
    split_head,
)
from kbx_tui.knowledge.markdown import ListItem, outline
from kbx_tui.knowledge.reading import parse_document
from kbx_tui.knowledge.records import Document, Fact, FactKind, FactStatus


@dataclass(frozen=True, slots=True)
class AddFact:
    """A new line: a fact at the end of Recent Facts, an open item at the top of Open Items."""

    entity_id: str
    kind: FactKind
    text: str
    date: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class ChangeFact:
    fact: Fact
    text: str
    date: str = ""


@dataclass(frozen=True, slots=True)
class StrikeFact:
    """A fact to strike out, `~~struck~~ (superseded: 2026-03-17)`; it then reads as superseded."""

    fact: Fact
    day: str = ""
    """The day from which it no longer holds, at the earliest its own; empty if not known."""


@dataclass(frozen=True, slots=True)
class TickFact:
    """An open item that is done: `[ ]` becomes `[x]`, and an item without a box gets one."""

    fact: Fact


@dataclass(frozen=True, slots=True)
class DeleteFact:
    fact: Fact


FactEdit = AddFact | ChangeFact | StrikeFact | TickFact | DeleteFact


def owner_of(edit: FactEdit) -> str:
    return edit.entity_id if isinstance(edit, AddFact) else edit.fact.entity_id


class _FactValues(NamedTuple):
    """What an edit must leave unchanged in all other facts."""

    kind: FactKind
    text: str
    date: str
    status: FactStatus | None
    done: bool

    @classmethod
    def of(cls, fact: Fact) -> _FactValues:
        return cls(fact.kind, fact.text, fact.date, fact.status, fact.done)


def apply_fact_edit(path: str, data: bytes, edit: FactEdit) -> bytes:
    """Return the page after an edit. Raises WriteFault when it cannot be made safely."""
    if isinstance(edit, AddFact):
        return add_facts(path, data, [edit])
    entity_id = owner_of(edit)
    page = parse_fact_page(path, data, entity_id)
    fact, item = _find_fact(page, edit.fact)
    others = _values_in(page) - Counter([_FactValues.of(fact)])
    splices, expected = _change(page, fact, item, edit)
    for splice in splices:
        after = page.text.apply(splice)
        if _values_in(parse_fact_page(path, after, entity_id)) == others + Counter(expected):
            return after
    raise UnfitText(
        f"line {fact.line} of {path} cannot be edited without changing how other lines read; "
        "open it in an editor"
    )


def add_facts(path: str, data: bytes, edits: Sequence[AddFact]) -> bytes:
    """Return the page with lines of one entity and kind, each added after the one before it.

    The page is read once for all of them. Raises WriteFault when they cannot be added safely.
    """
    entity_id, kind = edits[0].entity_id, edits[0].kind
    page, lines = parse_fact_page(path, data, entity_id), list(map(fact_line, edits))
    others, expected = _values_in(page), Counter[_FactValues]()
    for line in lines:
        entry = read_fact_line(line.removeprefix("- "))
        expected[_FactValues(kind, entry.text, entry.date, None, False)] += 1
    in_order = lines if kind == "fact" else reversed(lines)  # a new open item is the first
    for splice in additions(page, kind, "\n".join(in_order)):
        after = page.text.apply(splice)
        values = _values_in(parse_fact_page(path, after, entity_id))
        added = Counter(each._replace(status=None) for each in (values - others).elements())
        if added == expected and not others - values:
            return after
    raise UnfitText(f"a line cannot be added to {path} without changing how the page reads")


def fact_line(edit: AddFact) -> str:
    """Raises WriteFault if the line would be read differently."""
    text, source = _require_text(edit.text), source_note(edit.kind, edit.source)
    date = _require_date(edit.date)
    box = "[ ] " if edit.kind == "open_item" else ""
    line = f"- {box}{f'[{date}] ' if date else ''}{text}{f' {source}' if source else ''}"
    entry = read_fact_line(line[2:])
    if entry.text != read_fact_line(text).text or entry.status or (date and entry.date != date):
        raise _misread(text)
    if source and not entry.sources:
        raise UnfitText(f"the source {edit.source!r} cannot be read back; remove its brackets")
    return line


def source_note(kind: FactKind, source: str) -> str:
    source = one_line(source)
    return f"({'from' if kind == 'open_item' else 'source'}: {source})" if source else ""


def _find_fact(page: FactPage, wanted: Fact) -> tuple[Fact, ListItem]:
    path = page.document.path
    for fact, item in page.facts:
        if fact.fact_id == wanted.fact_id:
            if (fact.date, fact.sources) != (wanted.date, wanted.sources):
                raise WriteFault(
                    f"in {path}, {fact.text!r} now has another date or source; check it again"
                )
            return fact, item
    raise WriteFault(
        f"{path} no longer holds fact {wanted.fact_id}, or now holds another one with its text; "
        "`kbx memory list` shows the ids"
    )


def _change(
    page: FactPage,
    fact: Fact,
    item: ListItem,
    edit: ChangeFact | StrikeFact | TickFact | DeleteFact,
) -> tuple[Iterator[Splice], Sequence[_FactValues]]:
    values = _FactValues.of(fact)
    if isinstance(edit, DeleteFact):
        return removals(page, item), ()
    if isinstance(edit, StrikeFact):
        if fact.status == "superseded":
            raise UnfitText(f"line {fact.line} of {page.document.path} is already superseded")
        day = edit.day and max(edit.day, fact.date)
        return strikes(page, item, day), [values._replace(status="superseded")]
    if isinstance(edit, TickFact):
        if fact.kind != "open_item" or fact.done:
            raise UnfitText(f"line {fact.line} of {page.document.path} is not an open item")
        return ticks(page, item), [values._replace(done=True)]
    text, date = _require_text(edit.text), _require_date(edit.date)
    entry = read_fact_line(text)
    if entry.status or entry.date:
        raise _misread(text)
    reworded = values._replace(text=entry.text, date=date or fact.date)
    return rewordings(page, fact, item, text, date), [reworded]


def _values_in(page: FactPage) -> Counter[_FactValues]:
    return Counter(_FactValues.of(fact) for fact, _ in page.facts)


def _require_text(text: str) -> str:
    text = one_line(text)
    if not read_fact_line(text).text:
        raise UnfitText("the text is empty; it needs at least one word")
    bare = MARKERS.sub("", text)
    if (bare != text and not text[0].isdigit()) or split_head(bare)[0]:
        raise _misread(text)
    return text


def _misread(text: str) -> UnfitText:
    return UnfitText(
        f"{text!r} would be read differently as a line of the page: leave out dates, bullets, "
        "boxes and marks before and after it"
    )


def _require_date(date: str) -> str:
    if date and iso_date(date) != date:
        raise UnfitText(f"{date!r} is not a date; write it as 2026-03-10")
    return date


HEADINGS: dict[FactKind, str] = {"fact": "Recent Facts", "open_item": "Open Items"}


@lru_cache(maxsize=2)
def parse_fact_page(path: str, data: bytes, entity_id: str) -> FactPage:
    """Cached, as the page after an edit is the page before the next one."""
    document = parse_document(path, data)
    return FactPage(decode_lossless(data), document, facts_with_items(document, entity_id))


@dataclass(frozen=True, slots=True)
class FactPage:
    text: LosslessText
    document: Document
    facts: tuple[tuple[Fact, ListItem], ...]

    @property
    def body_start(self) -> int:
        return self.document.body_line - 1

    def lines_of(self, item: ListItem) -> tuple[int, int]:
        first = self.body_start + item.line
        return first, self.body_start + max(item.text_end, item.line + 1)

    def content(self, number: int) -> tuple[int, str]:
        line = self.text.line(number)
        marker = MARKERS.match(line)
        bare = line[marker.end() :] if marker else line
        box, date, rest = split_head(bare)
        offset = len(line) - len(bare) + len(box) + len(date)
        return self.text.line_starts[number] + offset, rest

    def last_filled_line(self, start: int, end: int) -> int:
        last = self.body_start + end
        while last > self.body_start + start and not self.text.line(last - 1).strip():
            last -= 1
        return last


def additions(page: FactPage, kind: FactKind, line: str) -> Iterator[Splice]:
    """Yield splices that add a line, the most natural first: a fact last, an open item first.

    The caller takes the first splice after which the page reads as intended.
    """
    sections = [section for section in fact_sections(page.document.body) if section.kind == kind]
    sections.sort(key=lambda section: section.title != HEADINGS[kind].casefold())  # kbx reads it
    if not sections:
        yield _new_section(page.text, f"## {HEADINGS[kind]}\n{line}")
        return
    section, text, start = sections[0], page.text, page.body_start
    items = _top_items(page, section)
    if items and kind == "open_item":
        yield text.insert_line(start + items[0].line, line)
    elif items:
        end = page.last_filled_line(items[-1].line, items[-1].end)
        yield text.insert_line(end, line)
        yield text.insert_line(end, f"\n{line}")
    yield text.insert_line(start + section.first, line)
    yield text.insert_line(start + section.first, f"\n{line}\n")
    end = page.last_filled_line(section.first, section.end)
    yield text.insert_line(end, f"\n{line}")


def removals(page: FactPage, item: ListItem) -> Iterator[Splice]:
    end = page.last_filled_line(item.line, item.end)
    yield page.text.remove_lines(page.body_start + item.line, end)


def strikes(page: FactPage, item: ListItem, day: str) -> Iterator[Splice]:
    """Yield splices that mark an item as superseded: by a tag and, on one line, by `~~`."""
    note = f" (superseded: {day})" if day else ""
    first, last = page.body_start + item.line, page.body_start + item.text_end - 1
    offset, rest = page.content(first)
    if last == first:
        statement = _before_notes(rest)
        yield Splice(offset, offset + len(statement), f"~~{statement}~~{note}")
    end = page.text.line_starts[last] + len(page.text.line(last).rstrip())
    yield Splice(end, end, f" #superseded{note}")


def ticks(page: FactPage, item: ListItem) -> Iterator[Splice]:
    first = page.body_start + item.line
    line, start = page.text.line(first), page.text.line_starts[first]
    marker = MARKERS.match(line)
    offset = marker.end() if marker else 0
    box, _, _ = split_head(line[offset:])
    yield Splice(start + offset, start + offset + len(box), "[x] ")


def rewordings(
    page: FactPage, fact: Fact, item: ListItem, text: str, date: str
) -> Iterator[Splice]:
    first, end = page.lines_of(item)
    line, (offset, rest) = page.text.line(first), page.content(first)
    line_start, text_end = page.text.line_starts[first], page.text.line_ends[end - 1]
    head = line[: offset - line_start]
    if date:
        _, old_date, _ = split_head(MARKERS.sub("", line))
        head = head.removesuffix(old_date) + f"[{date}] "
    if end == first + 1 and rest.count(fact.text) == 1:
        trailing_blanks = line[len(line.rstrip()) :]
        reworded = head + rest.replace(fact.text, text) + trailing_blanks
        yield Splice(line_start, text_end, reworded)
    old = page.text.text[offset:text_end]
    statement = f"~~{text}~~" if fact.status == "superseded" and "~~" in old else text
    notes = notes_in(one_line(old))
    yield Splice(line_start, text_end, " ".join((head + statement, *notes)))


def verbatim_fact_texts(path: str, data: bytes) -> dict[tuple[int, str], str]:
    """Return the texts of facts and open items with their markup, by 1-based line and plain text.

    Bullet, check box, date and notes are left out and several lines are joined by spaces. Raises
    WriteFault when the page cannot be decoded losslessly.
    """
    page = parse_fact_page(path, data, "")
    texts = {}
    for fact, item in page.facts:
        first, end = page.lines_of(item)
        offset, _ = page.content(first)
        content = " ".join(page.text.text[offset : page.text.line_ends[end - 1]].split())
        texts[fact.line, fact.text] = _without_notes(content, fact.text)
    return texts


def _without_notes(content: str, plain: str) -> str:
    statement = _before_notes(content)
    if read_fact_line(statement).text == plain:
        return statement
    for note in notes_in(content):
        content = content.replace(note, " ", 1)
    return " ".join(content.split())


def _before_notes(text: str) -> str:
    notes = notes_in(text)
    start = text.find(notes[0]) if notes else 0
    return text[: start if start > 0 else None].rstrip()


def _new_section(text: LosslessText, lines: str) -> Splice:
    end = text.line_end
    is_terminated = text.line_starts[-1] == text.line_ends[-1]
    gap = "" if not text.text else end if is_terminated else end + end
    if is_terminated and len(text.line_starts) > 1 and not text.line(-2).strip():
        gap = ""
    offset = len(text.text)
    return Splice(offset, offset, gap + lines.replace("\n", end) + end)


def _top_items(page: FactPage, section: FactSection) -> Sequence[ListItem]:
    headings = (heading.line for heading in outline(page.document.body).headings)
    end = next((line for line in headings if section.first <= line < section.end), section.end)
    return [item for item in section.items if item.depth == 0 and item.line < end]
