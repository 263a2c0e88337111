"""Edits of facts and open items: add, reword, strike out, delete. Pure.

Each edit is one splice. The page is then parsed again: the edited fact must be as intended and all
others unchanged, else the edit is refused, so a wrong guess cannot damage an unusual page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kbx_tui.editing.pages.fact_splices import FactPage, additions, removals, rewordings, strikes
from kbx_tui.editing.pages.lossless_text import Splice, one_line
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.facts.fact_line import read_fact_line
from kbx_tui.knowledge.parsing.dates import iso_date
from kbx_tui.knowledge.parsing.markdown import ListItem
from kbx_tui.knowledge.records import Fact, FactKind, FactStatus


@dataclass(frozen=True, slots=True)
class AddFact:
    """A new line: a fact at the end of Recent Facts, an open item at the top of Open Items."""

    entity_id: str
    kind: FactKind
    text: str
    date: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class FactIdentity:
    """The fields that distinguish facts with the same text; an id may come to mean another one."""

    date: str
    sources: tuple[str, ...]


def fact_identity(fact: Fact) -> FactIdentity:
    """Return the identity of a fact."""
    return FactIdentity(fact.date, fact.sources)


@dataclass(frozen=True, slots=True)
class ChangeFact:
    """A new text for a fact; its check box and notes stay."""

    entity_id: str
    fact_id: int
    text: str
    date: str = ""
    """New date; empty keeps the old one."""
    identity: FactIdentity | None = None
    """None: whichever fact has the id."""


@dataclass(frozen=True, slots=True)
class StrikeFact:
    """A fact to strike out, `~~struck~~`; it then reads as superseded."""

    entity_id: str
    fact_id: int
    identity: FactIdentity | None = None


@dataclass(frozen=True, slots=True)
class DeleteFact:
    """A fact to delete, with the notes nested below its line."""

    entity_id: str
    fact_id: int
    identity: FactIdentity | None = None


FactEdit = AddFact | ChangeFact | StrikeFact | DeleteFact


class _FactValues(NamedTuple):
    """What an edit must leave unchanged in all other facts."""

    kind: FactKind
    text: str
    date: str
    status: FactStatus | None
    """None accepts any status."""
    done: bool

    @classmethod
    def of(cls, fact: Fact) -> _FactValues:
        return cls(fact.kind, fact.text, fact.date, fact.status, fact.done)


def apply_fact_edit(path: str, data: bytes, edit: FactEdit) -> bytes:
    """Return the page after an edit. Raises WriteFault when it cannot be made safely."""
    page = FactPage.parse(path, data, edit.entity_id)
    others = _values_in(page)
    expected: _FactValues | None
    if isinstance(edit, AddFact):
        line = fact_line(edit)
        entry = read_fact_line(line.removeprefix("- "))
        expected = _FactValues(edit.kind, entry.text, entry.date, None, False)
        splices = additions(page, edit.kind, line)
        refusal = f"a line cannot be added to {path} without changing how the page reads"
    else:
        fact, item = _find_fact(page, edit)
        others -= Counter([_FactValues.of(fact)])
        splices, expected = _change(page, fact, item, edit)
        refusal = (
            f"line {fact.line} of {path} cannot be edited without changing how other lines read; "
            "open it in an editor"
        )
    for splice in splices:
        after = page.text.apply(splice)
        if _is_expected(_values_in(FactPage.parse(path, after, edit.entity_id)), others, expected):
            return after
    raise WriteFault(refusal)


def fact_line(edit: AddFact) -> str:
    """Return the line to add, bullet included. Raises WriteFault if it would read differently."""
    text, source = _require_text(edit.text), source_note(edit.kind, edit.source)
    date = _require_date(edit.date)
    box = "[ ] " if edit.kind == "open_item" else ""
    line = f"- {box}{f'[{date}] ' if date else ''}{text}{f' {source}' if source else ''}"
    entry = read_fact_line(line[2:])
    if entry.text != read_fact_line(text).text or entry.status or (date and entry.date != date):
        raise WriteFault(
            f"{text!r} would be read differently as a line of the page: leave out dates, boxes and "
            "marks before and after the text"
        )
    if source and not entry.sources:
        raise WriteFault(f"the source {edit.source!r} cannot be read back; remove its brackets")
    return line


def source_note(kind: FactKind, source: str) -> str:
    """Return the note for a source, `(source: x)`; empty for no source."""
    source = one_line(source)
    return f"({'from' if kind == 'open_item' else 'source'}: {source})" if source else ""


def _find_fact(page: FactPage, edit: ChangeFact | StrikeFact | DeleteFact) -> tuple[Fact, ListItem]:
    path = page.document.path
    for fact, item in page.facts:
        if fact.fact_id == edit.fact_id:
            if edit.identity not in (None, fact_identity(fact)):
                raise WriteFault(
                    f"in {path}, {fact.text!r} now has another date or source; check it again"
                )
            return fact, item
    raise WriteFault(
        f"{path} no longer holds fact {edit.fact_id}, or now holds another one with its text; "
        "`kbx memory list` shows the ids"
    )


def _change(
    page: FactPage, fact: Fact, item: ListItem, edit: ChangeFact | StrikeFact | DeleteFact
) -> tuple[Iterator[Splice], _FactValues | None]:
    """Return candidate splices and the fact expected afterwards, None for a deleted one."""
    values = _FactValues.of(fact)
    if isinstance(edit, DeleteFact):
        return removals(page, item), None
    if isinstance(edit, StrikeFact):
        if fact.status == "superseded":
            raise WriteFault(f"line {fact.line} of {page.document.path} is already superseded")
        return strikes(page, item), values._replace(status="superseded")
    text, date = _require_text(edit.text), _require_date(edit.date)
    reworded = values._replace(text=read_fact_line(text).text, date=date or fact.date)
    return rewordings(page, fact, item, text, date), reworded


def _values_in(page: FactPage) -> Counter[_FactValues]:
    return Counter(_FactValues.of(fact) for fact, _ in page.facts)


def _is_expected(
    actual: Counter[_FactValues], others: Counter[_FactValues], expected: _FactValues | None
) -> bool:
    """Return whether a page holds the other facts unchanged and, besides, the expected one."""
    added = list((actual - others).elements())
    if others - actual or len(added) != (expected is not None):
        return False
    if expected is None:
        return True
    return added[0] == expected._replace(status=expected.status or added[0].status)


def _require_text(text: str) -> str:
    text = one_line(text)
    if not read_fact_line(text).text:
        raise WriteFault("the text is empty; it needs at least one word")
    return text


def _require_date(date: str) -> str:
    if date and iso_date(date) != date:
        raise WriteFault(f"{date!r} is not a date; write it as 2026-03-10")
    return date
