"""Where facts and open items are in a page, and the splices that change them. Pure.

Each function yields candidate splices, the most natural first. The caller takes the first one
after which the page reads as intended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kbx_tui.editing.pages.lossless_text import LosslessText, Splice, decode_lossless, one_line
from kbx_tui.knowledge.facts.fact_line import MARKERS, notes_in, read_fact_line, split_head
from kbx_tui.knowledge.facts.fact_sections import FactSection, fact_sections, facts_with_items
from kbx_tui.knowledge.parsing.markdown import ListItem, outline
from kbx_tui.knowledge.parsing.reading import parse_document
from kbx_tui.knowledge.records import Document, Fact, FactKind

HEADINGS: dict[FactKind, str] = {"fact": "Recent Facts", "open_item": "Open Items"}


@dataclass(frozen=True, slots=True)
class FactPage:
    """A page, lossless and parsed, with the list item of each of its facts."""

    text: LosslessText
    document: Document
    facts: tuple[tuple[Fact, ListItem], ...]

    @classmethod
    def parse(cls, path: str, data: bytes, entity_id: str) -> FactPage:
        """Parse the page of an entity. Raises WriteFault when it cannot be decoded losslessly."""
        document = parse_document(path, data)
        return cls(decode_lossless(data), document, facts_with_items(document, entity_id))

    @property
    def body_start(self) -> int:
        """0-based line of the file on which the body begins."""
        return self.document.body_line - 1

    def lines_of(self, item: ListItem) -> tuple[int, int]:
        """Return first and end line in the file of an item's own text."""
        first = self.body_start + item.line
        return first, self.body_start + max(item.text_end, item.line + 1)

    def content(self, number: int) -> tuple[int, str]:
        """Return offset and text of a list item's line after bullet, check box and date."""
        line = self.text.line(number)
        marker = MARKERS.match(line)
        bare = line[marker.end() :] if marker else line
        box, date, rest = split_head(bare)
        offset = len(line) - len(bare) + len(box) + len(date)
        return self.text.line_starts[number] + offset, rest

    def last_filled_line(self, start: int, end: int) -> int:
        """Return the line of the file after the last non-blank one of these body lines."""
        last = self.body_start + end
        while last > self.body_start + start and not self.text.line(last - 1).strip():
            last -= 1
        return last


def additions(page: FactPage, kind: FactKind, line: str) -> Iterator[Splice]:
    """Yield splices that add a line: a fact last in its section, an open item first."""
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
    """Yield the splice that removes an item with its nested notes."""
    end = page.last_filled_line(item.line, item.end)
    yield page.text.remove_lines(page.body_start + item.line, end)


def strikes(page: FactPage, item: ListItem) -> Iterator[Splice]:
    """Yield splices that mark an item as superseded: `~~struck~~`, else a trailing tag."""
    first, last = page.body_start + item.line, page.body_start + item.text_end - 1
    offset, rest = page.content(first)
    if last == first:
        statement = _before_notes(rest)
        yield Splice(offset, offset + len(statement), f"~~{statement}~~")
    end = page.text.line_starts[last] + len(page.text.line(last).rstrip())
    yield Splice(end, end, " #superseded")


def rewordings(
    page: FactPage, fact: Fact, item: ListItem, text: str, date: str
) -> Iterator[Splice]:
    """Yield splices that replace the text of a fact, and its date unless that is empty."""
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
    page = FactPage.parse(path, data, "")
    texts = {}
    for fact, item in page.facts:
        first, end = page.lines_of(item)
        offset, _ = page.content(first)
        content = " ".join(page.text.text[offset : page.text.line_ends[end - 1]].split())
        texts[fact.line, fact.text] = _without_notes(content, fact.text)
    return texts


def _without_notes(content: str, plain: str) -> str:
    """Return the text before the notes, or all text without them if it continues after them."""
    statement = _before_notes(content)
    if read_fact_line(statement).text == plain:
        return statement
    for note in notes_in(content):
        content = content.replace(note, " ", 1)
    return " ".join(content.split())


def _before_notes(text: str) -> str:
    """Return a text up to its first note, or all of it when it begins with one."""
    notes = notes_in(text)
    start = text.find(notes[0]) if notes else 0
    return text[: start if start > 0 else None].rstrip()


def _new_section(text: LosslessText, lines: str) -> Splice:
    """Return a splice that adds a section at the end of the file, after one blank line."""
    end = text.line_end
    is_terminated = text.line_starts[-1] == text.line_ends[-1]
    gap = "" if not text.text else end if is_terminated else end + end
    if is_terminated and len(text.line_starts) > 1 and not text.line(-2).strip():
        gap = ""
    offset = len(text.text)
    return Splice(offset, offset, gap + lines.replace("\n", end) + end)


def _top_items(page: FactPage, section: FactSection) -> Sequence[ListItem]:
    """Return the outermost items of a section above its first subheading."""
    headings = (heading.line for heading in outline(page.document.body).headings)
    end = next((line for line in headings if section.first <= line < section.end), section.end)
    return [item for item in section.items if item.depth == 0 and item.line < end]
