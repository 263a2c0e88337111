"""What a query asks of the one that it names, and of nobody else.

    asked with                            the answer
    ------------------------------------  ------------------------------------------------------
    Alice's role, Yusuf's time zone       its own page, if a property there says so
    who is Bob's manager                  the page that this property names, else its own
    who reports to Alice                  the pages on which it names her
    Alice's open items, tasks for Bob     its own page, if an item is open there
    members of Platform                   the pages of its members, else its own

A property is asked for by its key or another word for the same, in any number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kbx_tui.knowledge.fields import page_name, property_key
from kbx_tui.knowledge.folding import folded_words
from kbx_tui.knowledge.languages import ENGLISH, stem
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.open_index import IndexGeneration
from kbx_tui.search.query.query_terms import NamedQuery, without_spans
from kbx_tui.search.query.query_words import ASKING_WHAT, FOR_PEOPLE, VERB_FOLLOWS, has_topic
from kbx_tui.search.results.snippets import OPEN_ITEM

SAME = (
    ("role", "title", "job title", "job", "position"),
    ("email", "mail", "e-mail", "email address", "mail address"),
    ("team", "group", "squad", "department"),
    ("reports to", "manager", "line manager", "boss", "supervisor"),
    ("timezone", "time zone", "tz"),
    ("phone", "telephone", "phone number", "telephone number"),
    ("location", "office", "city", "based"),
    ("due", "due date", "deadline"),
    ("birthday", "born", "date of birth"),
    ("owner", "owns"),
    ("lead", "leader"),
)
"""Words for the same property."""
OPEN_ITEMS = "open items"
_NAME = re.compile(r"[^\W\d_a-z]\D*\Z")
"""Matches a value that may be a name, unlike a date or `true`."""
_NO_PROPERTY = frozenset({"own page", "similar name"})
"""Reasons for a known item that begin as the key of a property may."""

_Stems = frozenset[str]


def _stems(words: Iterable[str]) -> _Stems:
    return frozenset(stem(word, ENGLISH) for word in words)


_ITEMS = _stems(("item", "task", "todo", "to-do"))
_OF_ITEMS = _ITEMS | _stems(("action", "open", "outstanding", "pending", "left"))
_MEMBERS = _stems(("member", "people", "staff", "teammate", "colleague"))


def details_asked_for(named: NamedQuery, generation: IndexGeneration) -> Iterator[tuple[int, str]]:
    """Yield the rows of the pages that answer, each with what the query asks for: `their role`."""
    snapshot = generation.snapshot
    matches = [match for match in named.matches if match.named] or [
        match for match in named.matches if match.signal.kind == "name"
    ]  # that it has what is asked for shows that `platform` is its name
    if len({match.entity for match in matches}) != 1:
        return
    rest = without_spans(named.text, {(match.start, match.end) for match in matches})
    words = [word for word in folded_words(rest) if word not in ASKING_WHAT]
    topic = _stems(word for word in words if has_topic((word,)))
    entity = snapshot.entities[matches[0].entity]
    row = snapshot.row_of.get(entity.path, -1)
    if not topic:
        return
    whose = "their" if entity.type == "person" else "its"
    if topic <= _MEMBERS | {"team"} and topic & _MEMBERS:
        pages = (generation.entities.get(member) for member in entity.members)
        found = [snapshot.row_of.get(page.path, -1) for page in pages if page is not None]
        yield from ((page, f"member of {entity.name}") for page in found)
        if not found:
            yield row, "own page"
    elif row < 0:
        return
    elif topic <= _OF_ITEMS and topic & _ITEMS:
        ((body, _),) = generation.bodies.read([entity.path])
        if OPEN_ITEM.search(body):
            yield row, f"{whose} {OPEN_ITEMS}"
    else:
        asks_who = not FOR_PEOPLE.isdisjoint(words)
        before = folded_words(named.text[: matches[0].start])
        others = sorted(generation.properties.keys) if asks_who else ()
        for key in dict.fromkeys((*_keys_of(snapshot.properties[row]), *others)):
            if not (phrase := _phrase_for(key, topic, words)):
                continue
            what, is_relation = key.replace("_", " "), not has_topic(phrase[-1:])  # `reports to`
            is_right_before = _stems(before[-len(phrase) :]) == _stems(phrase)
            if "whose" in before or (is_relation and is_right_before):
                if asks_who:  # `who reports to Alice`, `whose manager is Alice`
                    people = _people_with(key, entity, generation)
                    yield from ((person, f"{what} {entity.name}") for person in people)
                continue
            is_subject = asks_who and not VERB_FOLLOWS.isdisjoint(before[-1:])
            if (is_subject and not is_relation) or before[-1:] in (("from",), ("to",)):
                continue  # `who does Alice manage`, `email from Alice`
            if values := _values(key, snapshot.properties[row]):
                people = _people_named(values, generation) if asks_who else []
                yield from ((person, f"{_noun(key)} of {entity.name}") for person in people)
                if not people and (not asks_who or all(map(_NAME.match, values))):
                    yield row, f"{whose} {what}"


def property_line(properties: Sequence[str], what: str) -> str:
    """Return the property by which a page answers, empty if it is found by another.

    `role: Engineer` for `their role`, `reports_to: Alice` for `reports to Alice`; none for `lead of
    Atlas`, which the page of Atlas states.
    """
    for key in _keys_of(properties):
        words = key.replace("_", " ")
        is_of_other = what.startswith(f"{words} of ") or what in _NO_PROPERTY
        if what in (f"its {words}", f"their {words}") or (
            what.startswith(f"{words} ") and not is_of_other
        ):
            # of a link there are two values, the name of its page and its words
            values = {property_key(each): each for each in _values(key, properties)}
            return f"{key}: {', '.join(values.values())}"
    return ""


def _phrase_for(key: str, topic: _Stems, words: Sequence[str]) -> Sequence[str]:
    """Return the words by which a query asks for a property and nothing else, none if it does not.

    `topic` holds the stems of those of `words` that may be a topic.
    """
    for phrase in _phrases(key):
        spelled = phrase.split()
        may_ask = len(topic) <= len(spelled) and _stems(spelled) <= _stems(words)
        if may_ask and topic == _stems(word for word in spelled if has_topic((word,))):
            return spelled
    return ()


def _noun(key: str) -> str:
    """Return the key of a property as a noun: `manager` for `reports_to`."""
    phrases = _phrases(key)
    return next((each for each in phrases if has_topic(each.split()[-1:])), phrases[0])


def _phrases(key: str) -> Sequence[str]:
    own = key.replace("_", " ")
    return (own, *next((each for each in SAME if own in each), ()))


def _people_named(values: Iterable[str], generation: IndexGeneration) -> Iterable[int]:
    named = (entity for value in values for entity in generation.entity_names.named(value))
    row_of = generation.snapshot.row_of
    return dict.fromkeys(row_of.get(each.path, -1) for each in named if each.type == "person")


def _people_with(key: str, entity: Entity, generation: IndexGeneration) -> Iterable[int]:
    """Return the rows of the people with a property that names an entity."""
    names = {property_key(each) for each in (entity.name, *entity.aliases, page_name(entity.path))}
    rows, texts = generation.properties.values(key)
    found = rows[texts.flags(lambda value: property_key(value) in names)].tolist()
    return [row for row in found if generation.snapshot.kinds[row] == "person"]


def _keys_of(properties: Sequence[str]) -> Iterable[str]:
    return dict.fromkeys(each.partition("=")[0] for each in properties)


def _values(key: str, properties: Sequence[str]) -> list[str]:
    return [each.removeprefix(f"{key}=") for each in properties if each.startswith(f"{key}=")]
