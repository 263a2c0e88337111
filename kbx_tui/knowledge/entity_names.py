"""Names of entities: resolving references, other spellings, and uses as ordinary words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, Self

from kbx_tui.knowledge.fields import is_folder_page, page_name, short_path
from kbx_tui.knowledge.folding import fold, name_key, plural, singular, strip_accents
from kbx_tui.knowledge.records import Attendee, Document, Entity, NameUse

_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|(?<!\S)@\S+|\s\|.*")
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
        yield "stem", name_key(page_name(entity.path))
        parts = fold(short_path(entity.path)).split("/")
        for first in range(len(parts) - 1):
            yield "path", "/".join(parts[first:])
        if is_folder_page(entity.path):  # a link may name the folder alone
            for first in range(len(parts) - 2):
                yield "path", "/".join(parts[first:-1])


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
        """Return the entities that a wikilink or frontmatter reference refers to.

        Path, name, alias and file name are tried in turn; `go/no-go` may be a path or a name.
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


def without_honorifics(words: Sequence[str], least: int) -> Sequence[str]:
    """Return a name without the honorifics before it, but `least` of its words."""
    skipped = 0
    while len(words) - skipped > least and fold(words[skipped]).rstrip(".") in HONORIFICS:
        skipped += 1
    return words[skipped:]


def _attendee_keys(name: str) -> Iterator[str]:
    yield name_key(name)
    bare = _ASIDE.sub(" ", name)
    yield " ".join(without_honorifics(name_key(bare).split(), 2))
    family_name, comma, given_name = bare.partition(",")
    if comma:
        yield name_key(f"{given_name} {family_name}")
    for match in _HANDLE.finditer(name):
        yield name_key(match[1] or match[2])


_CONJUNCTIONS = ("&", "and")


def other_spellings(name: str) -> list[str]:
    """Return other ways to write a name: in the singular or plural, with `and` for `&`.

    Only the last word changes, and a word joined to it by `and` or `&`. A one-word name gets no
    singular: Windows is not a window.
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


def is_ambiguous(key: str) -> bool:
    return len(key) <= _SHORT_NAME or is_common_word(key)


def is_common_word(word: str) -> bool:
    """Return whether a folded word is listed in ``common_words.txt``.

    The list has frequent words of several collections, and words that teams are often named after.
    Chosen by the experiment "common words" in docs/quality.md.
    """
    return word in _common_words()


@cache
def _common_words() -> frozenset[str]:
    return frozenset(Path(__file__).with_name("common_words.txt").read_text("utf-8").split())


MIN_WORDS_LEFT = 2
MOST_SUBJECTS = 200
"""Names of an entity that a text may begin with: a page may have thousands of facts and names."""


def strip_subject(text: str, entity: Entity | None) -> str:
    """Return a text without the entity's name at its beginning, unchanged if it has none.

    For a person, the first name is enough. A possessive (`Alice's team`) is another subject. Both
    sides of a comparison are stripped, a stored fact of its own entity's name: a name on one side
    only hides duplicates, and on both sides it makes any two facts about a person look similar.
    """
    if entity is None:
        return text
    first_names = entity.name.split()[:1] if entity.type == "person" else []
    names = {entity.name, *entity.aliases[:MOST_SUBJECTS], *first_names}
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


SHORTEST = 2
READ_AT_MOST = 50_000
"""Characters of a document in which uses are counted; it has one vote per word, however long."""
CASED_SAMPLE = 10_000
"""Characters of a document read to decide whether it uses capitals normally (`is_cased`)."""

LONGEST_SENTENCE = 80

DETERMINERS = frozenset(
    {
        "a", "an", "any", "each", "every", "its", "no", "our", "such", "the", "their", "these",
        "this", "those",
    }
)  # fmt: skip
"""Words that hardly ever precede a person's name. `that` and `which` do: `the shoes that Nate
wore`."""

TITLES = HONORIFICS - {"the"}

MOST_WORDS = 20
"""Words of a name that count: each is kept with all others, and a title may have thousands."""

Use = Literal["name", "word"]

_WORD = re.compile(r"([^\W_]+)")
_BEGINNING = re.compile(r"[.!?][ \n]+([^\W\d_])")
_CODE = re.compile(r"(?:[A-Z]{1,2}-?)?\d")
_BREAKS = frozenset('.!?:;\n|>#*_[]()"“”•–—-')
_SENTENCE_END = re.compile(r"[.!?:](?:\s|$)|\n[ \t]*[\n>#|*+-]|\|")
_JOINED_BEFORE = re.compile(r"(?:^[-_./]|[@#/]|\[\[)$")
_JOINED_AFTER = re.compile(r"[-_./@]$")


@dataclass(slots=True)
class _NamePart:
    of_person: bool = False
    others: set[str] = field(default_factory=set)


def _name_parts(entities: Iterable[Entity]) -> dict[str, _NamePart]:
    """Return the words that alone may name an entity: one-word names, and all words of people's.

    Longer names of other entities are left out: `the Platform team`.
    """
    parts: dict[str, _NamePart] = {}
    for entity in entities:
        for name in (entity.name, *entity.aliases):
            words = [word for word in map(fold, _WORD.findall(name)) if word not in HONORIFICS]
            words = words[:MOST_WORDS]
            if entity.type == "person":
                for word in words:
                    part = parts.setdefault(word, _NamePart())
                    part.of_person = True
                    part.others.update({*words} - {word})
            elif len(words) == 1:
                parts.setdefault(words[0], _NamePart())
    return {word: part for word, part in parts.items() if len(word) >= SHORTEST}


class NameUseCounter:
    """Counts how a base uses the words that are also names: `Bill` the person, or a bill.

    Every word that alone may name an entity is looked up: names and aliases of one word, and each
    part of the names of people. An occurrence counts as the name

    - beside the rest of the name (`Bill Blair`), unless letter case is significant there and either
      is in lower case (`light client`, where someone is called Light Client);
    - after a title (`Mr Bill`), in any letter case;
    - capitalised within a sentence, alone.

    It counts as a word in lower case; a person's name also after a determiner (`this Bill`) and as
    part of a label (`Bill C-6`). Undecidable occurrences are left out: at the beginning of a
    sentence, heading or item, next to another capitalised word, all in capitals, as part of a
    compound, an address or a link, and in scripts without lower case. Lower case is not significant
    in a text or a sentence that begins with it, or in a sentence with the pronoun `i`.
    """

    def __init__(self, entities: Sequence[Entity]) -> None:
        self._parts = _name_parts(entities)

    def uses(self, document: Document) -> tuple[NameUse, ...]:
        names: Counter[str] = Counter()
        words: Counter[str] = Counter()
        for word, use in self._find(document.body[:READ_AT_MOST]):
            (names if use == "name" else words)[word] += 1
        return tuple(
            NameUse(document.path, word, names[word], words[word])
            for word in sorted(names.keys() | words.keys())
        )

    def _find(self, body: str) -> Iterator[tuple[str, Use]]:
        text = strip_accents(body)
        pieces = _WORD.split(text)  # alternating: gap, word ... gap
        known = {word for word in {*pieces[1::2]} if word.casefold() in self._parts}
        if not known:
            return
        cased = is_cased(text[:CASED_SAMPLE])
        for index in [index for index, piece in enumerate(pieces) if piece in known]:
            word = pieces[index].casefold()  # as `fold`: the accents are gone
            use = _use(pieces, index, self._parts[word], cased=cased)
            if use:
                yield word, use


def is_cased(text: str) -> bool:
    beginnings = _BEGINNING.findall(text)
    if beginnings:
        return 2 * sum(map(str.isupper, beginnings)) >= len(beginnings)
    return any(map(str.isupper, text))


def _use(pieces: Sequence[str], index: int, part: _NamePart, *, cased: bool) -> Use | None:
    written, gap, gap_after = pieces[index], pieces[index - 1], pieces[index + 1]
    previous = pieces[index - 2] if index > 1 else ""
    following = pieces[index + 2] if index + 2 < len(pieces) else ""
    if rest := _rest_beside(pieces, index, part):
        is_capitalised = written[0].isupper() and any(other[0].isupper() for other in rest)
        if is_capitalised or not (cased and _shows_case(pieces, index)):
            return "name"
        if written.islower():
            return None
    if _JOINED_BEFORE.search(gap) or (following and _JOINED_AFTER.match(gap_after)):
        return None
    is_before = _is_space(gap) or (gap[:1] == "." and _is_space(gap[1:]))
    before = previous.lower() if is_before else ""
    is_determined = part.of_person and _is_space(gap) and before in DETERMINERS  # not `A. Blair`
    if before in TITLES:
        return "name"
    if written.islower():
        is_word = is_determined or (cased and _shows_case(pieces, index))
        return "word" if is_word else None
    if not written[0].isupper() or (len(written) > 1 and written.isupper()):
        return None
    is_label = (
        part.of_person
        and _is_space(gap_after)
        and _CODE.match("".join(pieces[index + 2 : index + 5]))
    )
    if is_determined or is_label:
        return "word"
    if not (part.of_person or before not in DETERMINERS):  # `the Treasury`
        return None
    beside_capital = (before and previous[0].isupper()) or (
        _is_space(gap_after) and following[:1].isupper()
    )
    is_start = index == 1 or not _BREAKS.isdisjoint(gap)
    return None if beside_capital or is_start else "name"


def _rest_beside(pieces: Sequence[str], index: int, part: _NamePart) -> list[str]:
    previous = pieces[index - 2] if index > 1 else ""
    following = pieces[index + 2] if index + 2 < len(pieces) else ""
    gap = pieces[index - 1]
    is_initial = len(previous) == 1 and previous.isupper() and gap[0] == "."
    near = []
    if (is_initial and _is_space(gap[1:])) or (len(previous) > 1 and _is_space(gap)):
        near.append(previous)
    if len(following) > 1 and _is_space(pieces[index + 1]):
        near.append(following)
    return [other for other in near if other.casefold() in part.others]


def _shows_case(pieces: Sequence[str], index: int) -> bool:
    first, end = index, index
    while first > 1 and not _SENTENCE_END.search(pieces[first - 1]):
        first -= 2
        if index - first > 2 * LONGEST_SENTENCE:
            return False
    if pieces[first].islower():
        return False
    while end + 2 < len(pieces) and not _SENTENCE_END.search(pieces[end + 1]):
        end += 2
        if end - first > 2 * LONGEST_SENTENCE:
            return False
    return "i" not in pieces[first : end + 1 : 2]


def _is_space(gap: str) -> bool:
    return gap.isspace() and gap.count("\n") < 2
