"""Resolution of explicit names to entities: attendees, references, wikilinks, tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, Self

from kbx_tui.knowledge.entities.common_words import HONORIFICS, is_ambiguous
from kbx_tui.knowledge.folding import fold, name_key
from kbx_tui.knowledge.parsing.kinds import short_path, stem_of
from kbx_tui.knowledge.records import Attendee, Entity

_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|(?<!\S)@\S+")
_HANDLE = re.compile(r"(?<!\S)@([\w.-]+)|\(@?([^()]+)\)")


KeyKind = Literal["name", "alias", "stem", "path", "email"]
"""What of an entity a key is."""
FindByKey = Callable[[KeyKind, str], Sequence[int]]
_NAMED_BY: tuple[KeyKind, ...] = ("name", "alias", "stem")


def keys_of(entity: Entity) -> Iterator[tuple[KeyKind, str]]:
    """Yield the keys by which an entity is resolved, some of them empty."""
    yield "name", name_key(entity.name)
    for alias in entity.aliases:
        yield "alias", name_key(alias)
    for email in entity.emails:
        yield "email", email.lower()
    if entity.path:
        yield "stem", name_key(stem_of(entity.path))
        parts = fold(short_path(entity.path)).split("/")
        for first in range(len(parts) - 1):
            yield "path", "/".join(parts[first:])


class EntityResolver:
    """Resolves names, aliases, page paths and mail addresses to indices of entities."""

    def __init__(self, entities: Iterable[Entity]) -> None:
        found: dict[tuple[KeyKind, str], list[int]] = {}
        for index, entity in enumerate(entities):
            for kind, key in keys_of(entity):
                same_key = found.setdefault((kind, key), []) if key else [index]
                if not same_key or same_key[-1] != index:
                    same_key.append(index)
        self._find: FindByKey = lambda kind, key: found.get((kind, key), ())

    @classmethod
    def looking_up(cls, find: FindByKey) -> Self:
        """Return one of entities that `find` looks up by a key, in order."""
        resolver = cls(())
        resolver._find = find
        return resolver

    def by_reference(self, target: str) -> Sequence[int]:
        """Return the entities that a wikilink or frontmatter reference means.

        Tried in turn are path, name, alias and file name; `go/no-go` may be a path or a name.
        """
        names = [target]
        if "/" in target or target.lower().endswith(".md"):
            path = fold(target.strip().strip("/")).removesuffix(".md").removeprefix("memory/")
            if found := self._find("path", path):
                return found
            names.append(path.rpartition("/")[2])
        for key in dict.fromkeys(map(name_key, names)):
            for kind in _NAMED_BY:
                if found := self._find(kind, key):
                    return found
        return ()

    def by_tag(self, tag: str) -> Sequence[int]:
        """Return the entities that a tag names; a short or common word is taken for a topic."""
        key = name_key(tag)
        return () if is_ambiguous(key) else self._by_name_or_alias(key)

    def by_attendee(self, attendee: Attendee) -> Sequence[int]:
        """Return the entities that an attendee is: by mail address, name, alias or handle."""
        if attendee.email and (indices := self._find("email", attendee.email.lower())):
            return indices
        for key in _attendee_keys(attendee.name):
            if indices := self._by_name_or_alias(key):
                return indices
        return ()

    def _by_name_or_alias(self, key: str) -> Sequence[int]:
        return self._find("name", key) or self._find("alias", key)


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
