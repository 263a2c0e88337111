"""Facts and open items written into a page: added, worded anew, struck out, taken out. Pure.

Each edit is one splice. The page is read again afterwards: the one fact must be as asked and all
others as before, else the edit is refused, so that no odd page can be spoiled by a wrong guess.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kbx_tui.editing.lossless_text import Splice, WrittenText, written
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.facts.fact_line import MARKERS, notes_in, read_fact_line, split_head
from kbx_tui.knowledge.facts.fact_sections import FactSection, fact_sections, placed_facts
from kbx_tui.knowledge.parsing.dates import iso_date
from kbx_tui.knowledge.parsing.markdown import ListItem, outline
from kbx_tui.knowledge.parsing.reading import parse_document
from kbx_tui.knowledge.records import Document, Fact, FactKind

HEADINGS: dict[FactKind, str] = {"fact": "Recent Facts", "open_item": "Open Items"}

_BREAKS = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class AddFact:
    """A new line at the end of Recent Facts, or on top of Open Items."""

    entity_id: str
    kind: FactKind
    text: str
    date: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Meant:
    """Which of several facts with the same text an edit is for: ids alone may move on."""

    date: str
    sources: tuple[str, ...]


def meant(fact: Fact) -> Meant:
    """Return what tells a fact from others with its text."""
    return Meant(fact.date, fact.sources)


@dataclass(frozen=True, slots=True)
class ChangeFact:
    """Another text for a fact; its date, check box and notes stay."""

    entity_id: str
    fact_id: int
    text: str
    date: str = ""
    """Empty: as it is."""
    meant: Meant | None = None
    """None: whichever has the id."""


@dataclass(frozen=True, slots=True)
class StrikeFact:
    """A fact that no longer holds: `~~struck~~`, which is read as superseded."""

    entity_id: str
    fact_id: int
    meant: Meant | None = None


@dataclass(frozen=True, slots=True)
class DropFact:
    """A line taken out, with the notes nested below it."""

    entity_id: str
    fact_id: int
    meant: Meant | None = None


FactEdit = AddFact | ChangeFact | StrikeFact | DropFact

_Said = tuple[str, str, str, str, bool]
"""Kind, text, date, status, done: what an edit must leave as it is for all other facts."""


@dataclass(frozen=True, slots=True)
class _Page:
    path: str
    text: WrittenText
    document: Document
    placed: tuple[tuple[Fact, ListItem], ...]

    @property
    def first(self) -> int:
        """0-based line of the file on which the body begins."""
        return self.document.body_line - 1

    def fact(self, fact_id: int, wanted: Meant | None) -> tuple[Fact, ListItem]:
        for fact, item in self.placed:
            if fact.fact_id == fact_id:
                if wanted not in (None, meant(fact)):
                    raise WriteFault(
                        f"{self.path} holds {fact.text!r} with another date or source than was "
                        "meant; it was changed meanwhile, look again"
                    )
                return fact, item
        raise WriteFault(
            f"{self.path} holds no fact {fact_id} any more, or by now another one with its text; "
            "`kbx memory list` shows their ids"
        )


def one_line(text: str) -> str:
    """Return text as it may stand on one line of a file."""
    return _BREAKS.sub(" ", text).strip()


def edit_facts(path: str, data: bytes, edit: FactEdit) -> bytes:
    """Return the page with one edit. Raises WriteFault for what cannot be written safely."""
    page = _page(path, data, edit.entity_id)
    before = Counter(_said(fact) for fact, _ in page.placed)
    wanted = before.copy()
    if isinstance(edit, AddFact):
        line = fact_line(edit)
        entry = read_fact_line(line.removeprefix("- "))
        splices = _additions(page, edit.kind, line)
        new = (edit.kind, entry.text, entry.date, "", False)
        told = f"a line cannot be added to {path} without changing how the page reads"
    else:
        fact, item = page.fact(edit.fact_id, edit.meant)
        wanted[_said(fact)] -= 1
        told = (
            f"line {fact.line} of {path} cannot be edited without changing how other lines read; "
            "open it in an editor"
        )
        if isinstance(edit, DropFact):
            splices, new = _removals(page, item), None
        elif isinstance(edit, StrikeFact):
            if fact.status == "superseded":
                raise WriteFault(f"line {fact.line} of {path} is superseded already")
            splices = _strikes(page, item)
            new = (fact.kind, fact.text, fact.date, "superseded", fact.done)
        else:
            text = _sound(edit.text)
            splices = _rewordings(page, fact, item, text, _date(edit.date))
            date = edit.date or fact.date
            new = (fact.kind, read_fact_line(text).text, date, fact.status, fact.done)
    for splice in splices:
        after = page.text.replace(splice)
        found = Counter(_said(fact) for fact, _ in _page(path, after, edit.entity_id).placed)
        if _is_as_asked(found, +wanted, new):
            return after
    raise WriteFault(told)


def texts_as_written(path: str, data: bytes) -> dict[tuple[int, str], str]:
    """Return the texts of facts and open items as they stand in a page, by line and text.

    Without bullet, box, date and notes; several lines as one. Raises WriteFault as `edit_facts`.
    """
    page = _page(path, data, "")
    found = {}
    for fact, item in page.placed:
        start = page.first + item.line
        offset, _ = _rest(page, start)
        until = page.text.ends[page.first + max(item.text_end, item.line + 1) - 1]
        whole = " ".join(page.text.text[offset:until].split())
        found[fact.line, fact.text] = _without_notes(whole, fact.text)
    return found


def _without_notes(whole: str, reads: str) -> str:
    """Return what is said before the notes of a line, with what stands behind them if need be."""
    notes = notes_in(whole)
    at = whole.find(notes[0]) if notes else -1
    said = whole[:at].rstrip() if at > 0 else whole
    if read_fact_line(said).text == reads:
        return said
    for note in notes:
        whole = whole.replace(note, " ", 1)
    return " ".join(whole.split())


def fact_line(edit: AddFact) -> str:
    """Return the line to add, bullet included. Raises WriteFault when it would read otherwise."""
    text, source = _sound(edit.text), source_note(edit.kind, edit.source)
    date = _date(edit.date)
    box = "[ ] " if edit.kind == "open_item" else ""
    line = f"- {box}{f'[{date}] ' if date else ''}{text}{f' {source}' if source else ''}"
    read = read_fact_line(line[2:])
    if read.text != read_fact_line(text).text or read.status or (date and read.date != date):
        raise WriteFault(f"{line!r} would be read as {read.text!r}; say it in other words")
    if source and not read.sources:
        told = f"the source {edit.source!r} cannot be read back; leave out its brackets"
        raise WriteFault(told)
    return line


def source_note(kind: FactKind, source: str) -> str:
    """Return a source as it is noted on a line, `(source: x)`; empty for none."""
    source = one_line(source)
    return f"({'from' if kind == 'open_item' else 'source'}: {source})" if source else ""


def _sound(text: str) -> str:
    text = one_line(text)
    if not read_fact_line(text).text:
        raise WriteFault("the text says nothing; give at least a word")
    return text


def _date(date: str) -> str:
    if date and iso_date(date) != date:
        raise WriteFault(f"{date!r} is no date; give it as 2026-03-10")
    return date


def _page(path: str, data: bytes, entity_id: str) -> _Page:
    document = parse_document(path, data)
    return _Page(path, written(data), document, placed_facts(document, entity_id))


def _said(fact: Fact) -> _Said:
    return (fact.kind, fact.text, fact.date, fact.status, fact.done)


def _is_as_asked(found: Counter[_Said], others: Counter[_Said], new: _Said | None) -> bool:
    """Tell whether all others are as before; a new fact takes its status from the page."""
    if others - found:
        return False
    added = list((found - others).elements())
    if new is None or len(added) != 1:
        return new is None and not added
    kind, text, date, status, done = added[0]
    return (kind, text, date, done) == (*new[:3], new[4]) and new[3] in ("", status)


def _additions(page: _Page, kind: FactKind, line: str) -> Iterator[Splice]:
    """Yield places for a new line, the usual one first."""
    sections = [one for one in fact_sections(page.document.body) if one.kind == kind]
    sections.sort(key=lambda one: one.title != HEADINGS[kind].casefold())  # the one kbx reads
    text, first = page.text, page.first
    for section in sections[:1]:
        items = _top_items(page, section)
        if items and kind == "open_item":
            yield text.insert_line(first + items[0].line, line)
        elif items:
            end = _trimmed(page, items[-1].line, items[-1].end)
            yield text.insert_line(end, line)
            yield text.insert_line(end, f"\n{line}")
        yield text.insert_line(first + section.first, line)
        yield text.insert_line(first + section.first, f"\n{line}\n")
        end = _trimmed(page, section.first, section.end)
        yield text.insert_line(end, f"\n{line}")
        return
    yield _new_section(page, f"## {HEADINGS[kind]}\n{line}")


def _new_section(page: _Page, lines: str) -> Splice:
    """Put it at the end of the file, as kbx does."""
    text = page.text
    end = text.line_end
    gap = "" if not text.text else end if text.starts[-1] == text.ends[-1] else end + end
    if len(text.starts) > 1 and text.starts[-1] == text.ends[-1] and not text.line(-2).strip():
        gap = ""
    at = len(text.text)
    return Splice(at, at, gap + lines.replace("\n", end) + end)


def _top_items(page: _Page, section: FactSection) -> Sequence[ListItem]:
    """Return the outermost items above the first heading within the section."""
    inner = (one.line for one in outline(page.document.body).headings)
    until = next((line for line in inner if section.first <= line < section.end), section.end)
    return [item for item in section.items if item.depth == 0 and item.line < until]


def _trimmed(page: _Page, start: int, end: int) -> int:
    """Return the line of the file after the last one of these body lines that is not blank."""
    last = page.first + end
    while last > page.first + start and not page.text.line(last - 1).strip():
        last -= 1
    return last


def _removals(page: _Page, item: ListItem) -> Iterator[Splice]:
    start, end = page.first + item.line, _trimmed(page, item.line, item.end)
    yield page.text.remove_lines(start, end)


def _strikes(page: _Page, item: ListItem) -> Iterator[Splice]:
    start = page.first + item.line
    last = page.first + item.text_end - 1
    offset, rest = _rest(page, start)
    if last == start:
        notes = notes_in(rest)
        at = rest.find(notes[0]) if notes else -1
        said = rest[:at].rstrip() if at > 0 else rest.rstrip()
        yield Splice(offset, offset + len(said), f"~~{said}~~")
    end = page.text.starts[last] + len(page.text.line(last).rstrip())
    yield Splice(end, end, " #superseded")


def _rewordings(page: _Page, fact: Fact, item: ListItem, text: str, date: str) -> Iterator[Splice]:
    start, end = page.first + item.line, page.first + max(item.text_end, item.line + 1)
    line, (offset, rest) = page.text.line(start), _rest(page, start)
    head = line[: offset - page.text.starts[start]]
    if date:
        _, dated, _ = split_head(MARKERS.sub("", line))
        head = head.removesuffix(dated) + f"[{date}] "
    until = page.text.ends[end - 1]
    begin = page.text.starts[start]
    if end == start + 1 and rest.count(fact.text) == 1:
        yield Splice(begin, until, head + rest.replace(fact.text, text) + _blank_end(line))
    whole = page.text.text[offset:until]
    body = f"~~{text}~~" if fact.status == "superseded" and "~~" in whole else text
    yield Splice(begin, until, " ".join((head + body, *notes_in(one_line(whole)))))


def _rest(page: _Page, number: int) -> tuple[int, str]:
    """Return where what a list item says begins, after bullet, box and date, and what it says."""
    line = page.text.line(number)
    marker = MARKERS.match(line)
    bare = line[marker.end() :] if marker else line
    box, date, rest = split_head(bare)
    return page.text.starts[number] + len(line) - len(bare) + len(box) + len(date), rest


def _blank_end(line: str) -> str:
    return line[len(line.rstrip()) :]
