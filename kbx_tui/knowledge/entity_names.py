"""Names of entities: what they refer to, other spellings, and which are ordinary words too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, Self

from kbx_tui.knowledge.fields import short_path, stem_of
from kbx_tui.knowledge.folding import fold, name_key
from kbx_tui.knowledge.languages import plural, singular
from kbx_tui.knowledge.records import Attendee, Entity

_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|(?<!\S)@\S+")
_HANDLE = re.compile(r"(?<!\S)@([\w.-]+)|\(@?([^()]+)\)")


KeyKind = Literal["name", "alias", "stem", "path", "email"]
FindByKey = Callable[[KeyKind, str], Sequence[int]]
_NAMED_BY: tuple[KeyKind, ...] = ("name", "alias", "stem")


def keys_of(entity: Entity) -> Iterator[tuple[KeyKind, str]]:
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


_CONJUNCTIONS = ("&", "and")


def other_spellings(name: str) -> list[str]:
    """Return other ways to write a name: in the singular or plural, with `and` for `&`.

    Only the last word changes, and a word joined to it by `and` or `&`. A name of a single word has
    no singular: Windows is not a window. Names of people have no such spellings.
    """
    spellings: list[str] = []
    for written in (name, name.replace(" & ", " and "), name.replace(" and ", " & ")):
        *before, last = written.split(" ")
        spellings += [written, " ".join((*before, plural(last)))]
        if before:
            spellings.append(" ".join((*before, singular(last))))
        if len(before) > 1 and before[-1] in _CONJUNCTIONS:
            *before, first, conjunction = before
            for form in (plural, singular):
                spellings.append(" ".join((*before, form(first), conjunction, form(last))))
    return [spelling for spelling in dict.fromkeys(spellings) if spelling != name]


def title_keys(title: str) -> tuple[str, ...]:
    key, with_and = name_key(title), name_key(title.replace("&", " and "))
    return (key,) if with_and == key else (key, with_and)


_SHORT_NAME = 3

HONORIFICS = frozenset(
    {
        "dame", "dr", "fr", "hon", "miss", "mr", "mrs", "ms", "mx", "prof", "professor",
        "rev", "rt", "sir", "sr", "the",
    }
)  # fmt: skip

PARTICLES = frozenset(
    {
        "da", "dal", "de", "del", "della", "der", "des", "di", "do", "dos", "du", "la", "las",
        "le", "los", "ter", "van", "von",
    }
)  # fmt: skip
"""Words that begin surnames (`van Dam`) and are none alone, although pages may cut one there."""


def is_ambiguous(key: str) -> bool:
    """Return whether a name, given as its `name_key`, is short or also an ordinary word."""
    return len(key) <= _SHORT_NAME or is_common_word(key)


def is_common_word(word: str) -> bool:
    """Return whether a folded word is listed in ``common_words.txt``.

    These are words of at least four letters that are frequent in at least four of six collections
    on different subjects, and words that teams are often named after. Chosen by the experiment
    "common words" in docs/quality.md.
    """
    return word in _common_words()


@cache
def _common_words() -> frozenset[str]:
    return frozenset(Path(__file__).with_name("common_words.txt").read_text("utf-8").split())


MIN_WORDS_LEFT = 2
"""A name is stripped only if at least this many words remain."""


def strip_subject(text: str, entity: Entity | None) -> str:
    """Return a text without the entity's name at its beginning, else unchanged.

    For a person, the first name is enough. A possessive (`Alice's team`) is another subject. Both
    sides of a comparison are stripped, the stored fact of its own entity's name: a name on one side
    hides a duplicate, on both sides it makes any two facts of a person look alike.
    """
    if entity is None:
        return text
    first_names = entity.name.split()[:1] if entity.type == "person" else []
    names = {entity.name, *entity.aliases, *first_names}
    start = text[: max(map(len, names)) + len("the  ")].casefold()
    # A name that is nowhere near the start cannot be its beginning; most facts end here.
    near = [name for name in names if name and name.casefold() in start]
    for name in sorted(near, key=len, reverse=True):
        prefix = _prefix(name).match(text)
        if prefix:  # only the longest name: `Bob Okafor rows` must not become `Okafor rows`
            rest = text[prefix.end() :]
            return rest if len(rest.split()) >= MIN_WORDS_LEFT else text
    return text


@lru_cache(maxsize=4096)
def _prefix(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?:the\s+)?{re.escape(name)}(?:\s+team)?\s*[:,–—-]?\s+", re.I)
