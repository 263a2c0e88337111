"""A page as it may be passed on: parsed from its text without the redacted parts."""

from __future__ import annotations

import re
from functools import cached_property, partial

from kbx_tui.knowledge.decoding import content_hash, decode
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.reading import USUAL, Conventions, parse_document
from kbx_tui.knowledge.records import Document
from kbx_tui.knowledge.redaction import (
    is_page_redacted,
    marked_lines,
    may_hold_mark,
    paragraphs,
    public_text,
    says_redacted_at_top,
)

_WORD = re.compile(r"\w+")


def public_data(
    path: str, data: bytes, entity_types: frozenset[str], conventions: Conventions = USUAL
) -> bytes | None:
    """Return the content of a file as agents may see it; None for a page hidden from them.

    It depends on nothing that is redacted: not on its words, nor on how long they are.
    """
    page = PublicPage(path, data, entity_types, conventions=conventions)
    if not page.is_marked:
        return data
    return None if page.is_hidden else page.texts[1].encode()


class PublicPage:
    """One version of a file and its unredacted parts, parsed lazily."""

    def __init__(
        self,
        path: str,
        data: bytes,
        entity_types: frozenset[str],
        file_hash: str = "",
        conventions: Conventions = USUAL,
    ) -> None:
        self.path = path
        self._parse = partial(
            parse_document, path, entity_types=entity_types, conventions=conventions
        )
        self.content_hash = file_hash or content_hash(data)
        self._text = decode(data)[0]
        self._data = data if may_hold_mark(self._text) else b""
        self._public = public_text(self._text)

    @cached_property
    def public_hash(self) -> str:
        """The content hash of the public text; empty for a hidden page."""
        if self.is_hidden:
            return ""
        return content_hash(self._public.encode()) if self.is_marked else self.content_hash

    @property
    def is_marked(self) -> bool:
        return self.is_hidden or self._public != self._text

    @cached_property
    def is_hidden(self) -> bool:
        if not self._data:
            return False
        page = self._parse(self._data)
        return (
            is_page_redacted(page.title, page.frontmatter)
            or says_redacted_at_top(self._text)
            or (page.title, page.id) != (self.document.title, self.document.id)
        )

    @cached_property
    def redacted_lines(self) -> frozenset[int]:
        if not self.is_marked:
            return frozenset()
        if self.is_hidden:
            return frozenset(range(1, self._text.count("\n") + 2))
        return frozenset(line + 1 for line in marked_lines(self._text))

    @cached_property
    def document(self) -> Document:
        return self._parse(self._public.encode())

    @property
    def body(self) -> str:
        return "" if self.is_hidden else self.document.body

    @property
    def texts(self) -> tuple[str, str]:
        return self._text, "" if self.is_hidden else self._public

    def says(self, text: str) -> bool:
        """Return whether the public text holds these words in this order.

        They may be contiguous, or have gaps within a line or paragraph, as in a fact without its
        date and sources. Letter case and accents are ignored.
        """
        if self.is_hidden:
            return False
        wanted = _words(text)
        if not wanted:
            return True
        return " ".join(wanted) in self._run or any(
            _is_subsequence(wanted, unit) for unit in self._units if wanted[0] in unit
        )

    def redacts(self, text: str) -> bool:
        return self.is_marked and not self.says(text)

    @cached_property
    def _run(self) -> str:
        return " ".join(_words(self._public))

    @cached_property
    def _units(self) -> tuple[tuple[str, ...], ...]:
        lines, body = self._public.split("\n"), self.document.body
        first = self.document.body_line - 1
        spans = [(first + start, first + end) for start, end in paragraphs(body)]
        return (
            *(tuple(_words(line)) for line in lines),
            *(tuple(_words(" ".join(lines[start:end]))) for start, end in spans if end > start + 1),
        )


def _words(text: str) -> list[str]:
    return _WORD.findall(fold(text))


def _is_subsequence(wanted: list[str], words: tuple[str, ...]) -> bool:
    rest = iter(words)
    return all(word in rest for word in wanted)
