"""What pass 2 searches with: the query without people and teams named outright.

Their documents are known from links already, and their names, where they stand only in
frontmatter, would drown the topic. Project names stay: they are what is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kbx_tui.search.words import has_topic, words_of

STRIPPED_TYPES = frozenset({"person", "team"})

_POSSESSIVE = re.compile(r"^['’]s?\b")
_BLANKS = re.compile(r"\s+")


def strip_names(query: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return `query` without the given spans, or unchanged when no topic word would be left."""
    stripped = _without(query, spans)
    return stripped if _has_topic(stripped) else query


def asks_for_names_only(query: str, spans: Iterable[tuple[int, int]]) -> bool:
    """Tell whether a query holds the names at the given spans and no topic: `what did Ada say?`"""
    return not _has_topic(_without(query, spans))


def _has_topic(text: str) -> bool:
    return has_topic(word.folded for word in words_of(text))


def _without(query: str, spans: Iterable[tuple[int, int]]) -> str:
    rest, end = [], 0
    for start, stop in sorted(spans):
        if start < end:
            continue
        rest.append(query[end:start])
        possessive = _POSSESSIVE.match(query[stop:])
        end = stop + (possessive.end() if possessive else 0)
    rest.append(query[end:])
    return _BLANKS.sub(" ", " ".join(rest)).strip()
