"""A misheard name corrected in the text of a page. Pure: bytes in, bytes out.

Headings, text, labels of links and values of frontmatter are corrected where the wrong form stands
as whole words, also across the end of a line in a paragraph. Code, comments, addresses, targets of
links, tags and aliases stay as they are. The page is parsed again: apart from the name, it must
read as before.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any
from unicodedata import normalize

from kbx_tui.editing.lossless_text import Splice, decode_lossless
from kbx_tui.errors import ConfigError, WriteFault
from kbx_tui.knowledge.fields import ALIAS_KEYS
from kbx_tui.knowledge.markdown import CODE_SPAN, blank_inline_fields, blank_unread, headings
from kbx_tui.knowledge.reading import Conventions, parse_document
from kbx_tui.knowledge.records import Document
from kbx_tui.knowledge.redaction import may_hold_mark, paragraphs

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
    """A wrong form of a name, and the right one."""

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
