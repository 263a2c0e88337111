"""Resolution of explicit names to entities: attendees, references, wikilinks, tags."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kbx_tui.knowledge.entities.common_words import HONORIFICS, is_ambiguous
from kbx_tui.knowledge.folding import fold, name_key
from kbx_tui.knowledge.parsing.kinds import short_path, stem_of
from kbx_tui.knowledge.records import Attendee, Entity

_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|(?<!\S)@\S+")
_HANDLE = re.compile(r"(?<!\S)@([\w.-]+)|\(@?([^()]+)\)")


class EntityResolver:
    """Resolves names, aliases, page paths and mail addresses to indices of entities."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        self._names: dict[str, list[int]] = {}
        self._aliases: dict[str, list[int]] = {}
        self._stems: dict[str, list[int]] = {}
        self._paths: dict[str, list[int]] = {}
        self._emails: dict[str, list[int]] = {}
        for index, entity in enumerate(entities):
            _add(self._names, name_key(entity.name), index)
            for alias in entity.aliases:
                _add(self._aliases, name_key(alias), index)
            for email in entity.emails:
                _add(self._emails, email.lower(), index)
            if entity.path:
                _add(self._stems, name_key(stem_of(entity.path)), index)
                parts = fold(short_path(entity.path)).split("/")
                for first in range(len(parts) - 1):
                    _add(self._paths, "/".join(parts[first:]), index)

    def by_reference(self, target: str) -> Sequence[int]:
        """Return the entities that a wikilink or frontmatter reference means.

        Tried in turn are path, name, alias and file name; `go/no-go` may be a path or a name.
        """
        names = [target]
        if "/" in target or target.lower().endswith(".md"):
            path = fold(target.strip().strip("/")).removesuffix(".md").removeprefix("memory/")
            if path in self._paths:
                return self._paths[path]
            names.append(path.rpartition("/")[2])
        for key in dict.fromkeys(map(name_key, names)):
            for indices in (self._names, self._aliases, self._stems):
                if key in indices:
                    return indices[key]
        return ()

    def by_tag(self, tag: str) -> Sequence[int]:
        """Return the entities that a tag names; a short or common word is taken for a topic."""
        key = name_key(tag)
        return () if is_ambiguous(key) else self._by_name_or_alias(key)

    def by_attendee(self, attendee: Attendee) -> Sequence[int]:
        """Return the entities that an attendee is: by mail address, name, alias or handle."""
        if attendee.email and (indices := self._emails.get(attendee.email.lower())):
            return indices
        for key in _attendee_keys(attendee.name):
            if indices := self._by_name_or_alias(key):
                return indices
        return ()

    def _by_name_or_alias(self, key: str) -> list[int]:
        return self._names.get(key) or self._aliases.get(key) or []


def _attendee_keys(name: str) -> Iterator[str]:
    """Yield the keys to try: as written, without asides and titles, given name first, handles."""
    yield name_key(name)
    bare = _ASIDE.sub(" ", name)
    words = name_key(bare).split()
    while len(words) > 2 and words[0] in HONORIFICS:
        words = words[1:]
    yield " ".join(words)
    family_name, comma, given_name = bare.partition(",")
    if comma:
        yield name_key(f"{given_name} {family_name}")
    for match in _HANDLE.finditer(name):
        yield name_key(match[1] or match[2])


def _add(indices: dict[str, list[int]], key: str, index: int) -> None:
    if key:
        same_key = indices.setdefault(key, [])
        if index not in same_key:
            same_key.append(index)
