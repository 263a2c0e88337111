"""What a search may return besides a path: kinds, dates, tags, entities. Pure.

Filters of different sorts all hold; of several values of one sort, any will do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from kbx_tui.errors import ConfigError
from kbx_tui.knowledge.folding import fold, slug

_DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")


@dataclass(frozen=True, slots=True)
class Filters:
    """Empty ones let everything in."""

    doc_types: tuple[str, ...] = ()
    """Kinds: `meeting`, `note`, `person`. Letter case does not matter."""
    since: str = ""
    """`2026`, `2026-03` or `2026-03-17`: the first that is let in; what has no date is not."""
    until: str = ""
    """The last that is let in: with `2026-03`, all of March."""
    tags: tuple[str, ...] = ()
    """Letter case and a leading `#` do not matter."""
    entities: tuple[str, ...] = ()
    """Ids: only documents linked to one of them."""

    @classmethod
    def of(
        cls,
        *,
        doc_types: Sequence[str] = (),
        since: str | None = None,
        until: str | None = None,
        tags: Sequence[str] = (),
        entities: Sequence[str] = (),
    ) -> Self:
        """Return the filters as given. Raises ConfigError for what is no date."""
        return cls(
            doc_types=tuple(slug(one) or one for one in doc_types),  # as kinds are written
            since=_date("from", since),
            until=_date("to", until),
            tags=tuple(tag_key(tag) for tag in tags),
            entities=tuple(entities),
        )

    @property
    def is_all(self) -> bool:
        """True when nothing is left out."""
        return self == Filters()

    def lets_in_date(self, date: str) -> bool:
        """Tell whether a document of this date, `YYYY-MM-DD` or empty, is let in."""
        if not date:
            return not (self.since or self.until)
        return date >= self.since and date[: len(self.until)] <= self.until

    def lets_in_tags(self, tags: Sequence[str]) -> bool:
        """Tell whether a document with these tags is let in."""
        return not self.tags or any(tag_key(tag) in self.tags for tag in tags)


def tag_key(tag: str) -> str:
    """Return the form in which two spellings of one tag are equal."""
    return fold(tag.strip().removeprefix("#"))


def _date(name: str, value: str | None) -> str:
    text = (value or "").strip()
    if text and not _DATE.fullmatch(text):
        raise ConfigError(
            f"{name} must be a date such as 2026-03-17, 2026-03 or 2026, got {text!r}"
        )
    return text
