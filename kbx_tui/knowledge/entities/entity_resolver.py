"""Which entity a name given on purpose means: an attendee, a reference, a wikilink, a tag. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kbx_tui.knowledge.entities.common_words import COMMON_WORDS, HONORIFICS
from kbx_tui.knowledge.folding import fold, name_key
from kbx_tui.knowledge.parsing.kinds import short_path, stem_of
from kbx_tui.knowledge.records import Attendee, Entity

_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|(?<!\S)@\S+")
_HANDLE = re.compile(r"(?<!\S)@([\w.-]+)|\(@?([^()]+)\)")
_SHORT = 3


class Lookup:
    """Names, aliases, pages and mail addresses of entities. Answers are positions in their list."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        self._names: dict[str, list[int]] = {}
        self._aliases: dict[str, list[int]] = {}
        self._stems: dict[str, list[int]] = {}
        self._paths: dict[str, list[int]] = {}
        self._emails: dict[str, list[int]] = {}
        for position, entity in enumerate(entities):
            _put(self._names, name_key(entity.name), position)
            for alias in entity.aliases:
                _put(self._aliases, name_key(alias), position)
            for email in entity.emails:
                _put(self._emails, email.lower(), position)
            if entity.path:
                _put(self._stems, name_key(stem_of(entity.path)), position)
                parts = fold(short_path(entity.path)).split("/")
                for first in range(len(parts) - 1):
                    _put(self._paths, "/".join(parts[first:]), position)

    def named(self, name: str) -> Sequence[int]:
        """Return who is called exactly so: by name, else by alias, else by the name of the page."""
        key = name_key(name)
        for known in (self._names, self._aliases, self._stems):
            if key in known:
                return known[key]
        return ()

    def target(self, target: str) -> Sequence[int]:
        """Return whom a wikilink or frontmatter reference means; it may also be a path."""
        if "/" in target or target.lower().endswith(".md"):
            path = fold(target.strip().strip("/")).removesuffix(".md").removeprefix("memory/")
            if path in self._paths:
                return self._paths[path]
            target = path.rpartition("/")[2]
        return self.named(target)

    def tag(self, tag: str) -> Sequence[int]:
        """Return whom a tag means; short and common words are subjects, not names."""
        key = name_key(tag)
        if len(key) <= _SHORT or key in COMMON_WORDS:
            return ()
        return self._names.get(key) or self._aliases.get(key) or ()

    def attendee(self, attendee: Attendee) -> Sequence[int]:
        """Return who took part: by mail address, else by name as written, tidied, or by handle."""
        if attendee.email and (found := self._emails.get(attendee.email.lower())):
            return found
        for spelling in _spellings(attendee.name):
            if found := self._names.get(spelling) or self._aliases.get(spelling):
                return found
        return ()


def _spellings(name: str) -> Iterator[str]:
    yield name_key(name)
    bare = _ASIDE.sub(" ", name)
    words = name_key(bare).split()
    while len(words) > 2 and words[0] in HONORIFICS:
        words = words[1:]
    yield " ".join(words)
    family, comma, given = bare.partition(",")
    if comma:
        yield name_key(f"{given} {family}")
    for match in _HANDLE.finditer(name):
        yield name_key(match[1] or match[2])


def _put(known: dict[str, list[int]], key: str, position: int) -> None:
    if key:
        positions = known.setdefault(key, [])
        if position not in positions:
            positions.append(position)
