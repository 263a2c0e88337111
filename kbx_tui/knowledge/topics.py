"""Topics that kbx.toml makes entities, and those proposed for a base: tags, hubs, maps of content,
notes of a folder, and who or what properties link to or name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any

from kbx_tui.formatting import format_count
from kbx_tui.knowledge.entity_names import EntityResolver, is_common_word
from kbx_tui.knowledge.fields import (
    EMAIL,
    FOREIGN_ATTENDEE_KEYS,
    TAG,
    attendees_of,
    folder_name,
    given_name_first,
    stem_of,
)
from kbx_tui.knowledge.folding import fold, name_key, plural, singular, slug
from kbx_tui.knowledge.obsidian_vault import FileLookup
from kbx_tui.knowledge.records import REDACTED, Attendee, Entity
from kbx_tui.knowledge.turns import is_capitalised
from kbx_tui.knowledge.vault import MEMORY
from kbx_tui.knowledge.written_links import property_link_targets, split_target

PROPOSED_TAG, PROPOSED_HUB, PROPOSED_NAME = 3, 5, 2
"""Number of notes that have a tag, that link to a note, and that name someone in a property, to
propose the tag, note or person as an entity."""

PEOPLE_PROPERTIES = frozenset(map(fold, FOREIGN_ATTENDEE_KEYS)) | {
    "assignee", "assignees", "attendee", "attendees", "author", "authors", "participants", "people",
    "person", "with",
}  # fmt: skip
_NOBODY = frozenset(
    {
        "all", "anonymous", "everybody", "everyone", "me", "myself", "n a", "none", "others",
        "self", "tba", "tbd", "team", "unassigned", "unknown", "various",
    }
)  # fmt: skip
_MOST_NAME_WORDS = 5

TOPIC_FOLDERS = {
    folder: kind
    for kind, folders in {
        "person": "contacts persons personen kontakte leute menschen personnes gens personas"
        " contactos pessoas contatos persone contatti personer люди контакты"
        " 人物 人 人脈 連絡先 联系人 characters npcs npc pnj nsc personajes personnages personaggi",
        "project": "projekte projets proyectos projetos progetti projekt проекты プロジェクト 项目",
        "book": "books bücher livres libros livros libri boeken böcker книги 本 书",
        "company": "companies firmen unternehmen entreprises empresas aziende компании 会社 公司",
        "client": "clients kunden clientes clienti клиенты 顧客 客户",
        "customer": "customers",
        "faction": "factions guilds fraktionen facciones fazioni",
        "place": "places locations orte lieux lugares luoghi места 場所 地点",
        "topic": "topics themen sujets temas argomenti темы",
    }.items()
    for folder in folders.split()
}
"""Kinds of the notes in folders with these names, in several languages."""

_SHOWN = {"person": "people", "map": "maps of content"}
_ORDER = ("person", TAG, "hub", "map")

EXAMPLES_KEPT = 12

_MAPS = frozenset({"moc", "map of content", "maps of content"})

_NO_TOPICS = frozenset(
    {
        REDACTED, "active", "archive", "archived", "doing", "done", "draft", "evergreen", "inbox",
        "in progress", "maybe", "next", "next action", "seedling", "someday", "status", "task",
        "tasks", "to do", "to read", "todo", "unread", "urgent", "waiting", "waiting for", "wip",
    }
)  # fmt: skip
"""Tags that say what becomes of a note or task, not what it is about."""


@dataclass(frozen=True, slots=True)
class TopicRules:
    tags: int = 0
    hubs: int = 0
    maps: bool = False
    folders: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    names: int = 0

    @property
    def are_any(self) -> bool:
        return self != TopicRules()


@dataclass(frozen=True, slots=True)
class NoteOutline:
    path: str
    title: str
    kind: str
    aliases: Sequence[str]
    tags: Sequence[str]
    links: Sequence[str]
    properties: Mapping[str, Any]
    """The properties of the frontmatter, and inline fields."""
    attendees: Sequence[Attendee] = ()
    """Who is named by properties, or by a line such as `Attendees: Ann Lee, Bo Chan`."""


@dataclass(frozen=True, slots=True)
class EntityProposal:
    """What the entities of a base are, and what more could be."""

    notes: int
    found: Mapping[str, int]
    """Entities that there are, by kind."""
    counts: Mapping[str, int]
    """What more could be entities, by kind; empty if nothing qualifies."""
    settings: Mapping[str, Any]
    examples: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)
    """By kind, the names of the most frequent, each with the number of notes that have, name or
    link to it."""

    @property
    def sentence(self) -> str:
        return ", ".join([format_count(self.notes, "note"), *_counted(self.counts)])

    @property
    def found_sentence(self) -> str:
        return ", ".join(_counted(self.found)) or "no entities"

    def lines(self, shown: int) -> list[str]:
        return [
            f"{what}: {_listed(names[:shown], self.counts[what])}"
            for what, names in self.examples.items()
        ]

    @property
    def explanation(self) -> list[str]:
        """Sentences that say by examples of the base what the words of the question mean."""
        name, notes = max(chain.from_iterable(self.examples.values()), key=itemgetter(1))
        notes_of_it = format_count(notes, "note") if notes else "notes"
        sentences = [
            f"An entity is what notes are about: a search for {name.removeprefix('#')} also finds"
            f" the {notes_of_it} that belong to it."
        ]
        if hubs := self.examples.get("hubs"):
            what = f"A hub is a note that at least {PROPOSED_HUB} others link to"
            sentences.append(f"{what}, such as {hubs[0][0]}.")
        if maps := self.examples.get("maps of content"):
            sentences.append(f"A map of content lists the notes of a topic, as {maps[0][0]} does.")
        return sentences


FEW_ENTITIES, FEW_OF_NOTES = 3, 50
"""Entities below which a base has few, and notes for one entity from which it has few as well."""


def are_few(entities: int, notes: int) -> bool:
    """Return whether entities are so few that they may be accidental: a note with `type: lab`."""
    return entities < FEW_ENTITIES or FEW_OF_NOTES * entities <= notes


class Topics:
    def __init__(self, notes: Sequence[NoteOutline]) -> None:
        self._notes = notes
        self._files = FileLookup(note.path for note in notes)
        self._note_at = {note.path: note for note in notes}
        self._named = {name_key(note.title): note.path for note in reversed(notes)}

    def entities(self, rules: TopicRules, known: Sequence[Entity]) -> list[Entity]:
        """Return the entities that `rules` select, without those in `known`, sorted by id.

        A note becomes at most one entity, by the first rule that holds: a property links to it, it
        is in a folder, it is a map, it is a hub. Ids are `type:slug`; of several notes with the
        same id, the first by path gets it.
        """
        pages, ids = {entity.path for entity in known}, {entity.id for entity in known}
        made = (
            Entity(f"{kind}:{slug(name.replace('/', '-'))}", name, kind, path, tuple(aliases))
            for name, kind, path, aliases in self._named_topics(rules, known)
            if slug(name) and (path == "" or path not in pages)
        )
        new: dict[str, Entity] = {}
        for entity in made:
            if entity.id not in ids:
                new.setdefault(entity.id, entity)
        return sorted(new.values(), key=lambda entity: entity.id)

    def proposal(self, known: Sequence[Entity], chosen: Collection[str] = ()) -> EntityProposal:
        """Return what more could be entities than those `known`.

        `chosen` are the settings of `[entities]` that the user has made: they stay as they are.
        """
        properties = [name for name in sorted(PEOPLE_PROPERTIES) if self._linked_by(name)]
        in_folders = {note.path.rpartition("/")[0] for note in self._notes}
        folders = sorted(folder for folder in in_folders if _last_folder(folder) in TOPIC_FOLDERS)
        rules = TopicRules(
            tags=0 if "tags" in chosen else PROPOSED_TAG,
            hubs=0 if "hubs" in chosen else PROPOSED_HUB,
            maps="maps" not in chosen,
            folders=() if "folders" in chosen else tuple(folders),
            properties=() if "properties" in chosen else tuple(properties),
            names=0 if "names" in chosen else PROPOSED_NAME,
        )
        found = self.entities(rules, known)
        kinds = _kinds(found)
        settings = {
            "tags": rules.tags if TAG in kinds else 0,
            "hubs": rules.hubs if "hub" in kinds else 0,
            "maps": rules.maps and "map" in kinds,
            "folders": list(rules.folders),
            "properties": list(rules.properties),
            "names": rules.names if any(self._people(rules.names, known)) else 0,
        }
        return EntityProposal(
            notes=len(self._notes),
            found={_words(kind): count for kind, count in _kinds(known).items()},
            counts={_words(kind): count for kind, count in kinds.items()},
            settings={key: value for key, value in settings.items() if value and found},
            examples={_words(kind): self._most_frequent(found, kind) for kind in kinds},
        )

    def _most_frequent(self, entities: Sequence[Entity], kind: str) -> list[tuple[str, int]]:
        counted = [
            (f"#{entity.name}" if kind == TAG else entity.name, self._notes_of(entity))
            for entity in entities
            if entity.type == kind
        ]
        return sorted(counted, key=lambda each: (-each[1], each[0]))[:EXAMPLES_KEPT]

    def _notes_of(self, entity: Entity) -> int:
        if entity.type == TAG:
            return self._tagged[entity.name]
        linking = self._backlinks[entity.path] if entity.path else 0
        naming = (
            self._named_people.get(name_key(entity.name), ()) if entity.type == "person" else ()
        )
        return max(linking, sum(dict(naming).values()))

    def _named_topics(
        self, rules: TopicRules, known: Sequence[Entity]
    ) -> Iterator[tuple[str, str, str, Sequence[str]]]:
        kinds: dict[str, str] = {}
        for name in dict.fromkeys(map(fold, rules.properties)):
            kind = "person" if name in PEOPLE_PROPERTIES else singular(name)
            for target, path in self._linked_by(name).items():
                if path:
                    kinds.setdefault(path, kind)
                else:
                    yield target, kind, "", ()
        for name in self._people(rules.names, known):
            if path := self._find(name, ""):
                kinds.setdefault(path, "person")
            else:
                yield name, "person", "", ()
        places = {
            f"{folder.strip('/').casefold().removeprefix(f'{MEMORY}/')}/": order
            for order, folder in reversed([*enumerate(rules.folders)])
        }
        for note in self._notes if places else ():
            *above, _ = note.path.casefold().removeprefix(f"{MEMORY}/").split("/")
            within = [
                place for place in accumulate(f"{each}/" for each in above) if place in places
            ]
            if within:
                last = _last_folder(min(within, key=places.__getitem__).rstrip("/"))
                kinds.setdefault(note.path, TOPIC_FOLDERS.get(last, singular(last)))
        for note in self._notes:
            if rules.maps and _is_map(note):
                kinds.setdefault(note.path, "map")
            if rules.hubs and self._backlinks[note.path] >= rules.hubs:
                kinds.setdefault(note.path, "hub")
        for path, kind in sorted(kinds.items()):
            yield self._note_at[path].title, kind, path, self._note_at[path].aliases
        if rules.tags:
            for tag, count in sorted(self._tagged.items()):
                if count >= rules.tags:
                    yield tag, TAG, "", ()

    @cached_property
    def _backlinks(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for note in self._notes:
            targets = {self._find(split_target(link)[0], note.path) for link in note.links}
            counts.update(targets - {"", note.path})
        return counts

    @cached_property
    def _tagged(self) -> Counter[str]:
        written: dict[str, str] = {}
        counts: Counter[str] = Counter()
        for note in self._notes:
            tags = {part for tag in note.tags for part in tag_and_above(tag)}
            counts.update({written.setdefault(tag.casefold(), tag) for tag in sorted(tags)})
        tops = {tag: tag_and_above(tag)[-1] for tag in counts}
        return Counter(
            {tag: counts[tag] for tag in counts if name_key(tops[tag]) not in _NO_TOPICS}
        )

    def _people(self, least: int, known: Sequence[Entity]) -> Iterator[str]:
        """Yield the people named in `least` notes or more, without those `known`; 0 yields none.

        A single word is left out if it is part of a longer name: it means that person.
        """
        resolver = EntityResolver(known)
        people = {
            key: max(spellings, key=lambda name: (spellings[name], name))
            for key, spellings in self._named_people.items()
            if least and spellings.total() >= least
        }
        longer = [name_key(entity.name) for entity in known if entity.type == "person"]
        parts = {part for key in (*people, *longer) if " " in key for part in key.split()}
        for key, name in people.items():
            if key not in parts and not resolver.by_attendee(Attendee(name)):
                yield name

    @cached_property
    def _named_people(self) -> dict[str, Counter[str]]:
        """The names in plain text of properties about people, each spelling by its notes."""
        found: dict[str, Counter[str]] = {}
        for note in self._notes:
            named: dict[str, str] = {}
            for attendee in _plainly_named(note):
                name = given_name_first(attendee.name)
                if _may_be_person(name):
                    named.setdefault(name_key(name), name)
            for key, name in named.items():
                found.setdefault(key, Counter())[name] += 1
        return found

    def _linked_by(self, name: str) -> dict[str, str]:
        targets: dict[str, str] = {}
        for value, path in self._values.get(fold(name), ()):
            for link in property_link_targets(value):
                page = split_target(link)[0]
                if page:
                    targets.setdefault(stem_of(f"{page}.md"), self._find(page, path))
        return targets

    @cached_property
    def _values(self) -> dict[str, list[tuple[object, str]]]:
        """The values of properties by folded name, each with the path of its note."""
        values: dict[str, list[tuple[object, str]]] = {}
        for note in self._notes:
            for key, value in note.properties.items():
                values.setdefault(fold(key), []).append((value, note.path))
        return values

    def _find(self, page: str, source: str) -> str:
        return self._files.find(page, source) or self._named.get(name_key(page), "")


def _last_folder(path: str) -> str:
    return folder_name(path.rpartition("/")[2])


def _plainly_named(note: NoteOutline) -> Iterator[Attendee]:
    for key, value in note.properties.items():
        if fold(key) in PEOPLE_PROPERTIES:
            yield from _named_in_text(value)
    of_properties = attendees_of(note.properties)
    of_line = (attendee for attendee in note.attendees if attendee not in of_properties)
    yield from (attendee for attendee in of_line if _is_full_name(attendee.name))


def _is_full_name(name: str) -> bool:
    """Return whether a name of a line is surely one: `Ann Lee`, not `Sales` or `Whole Team`."""
    first, *others = name.split()
    return bool(others) and is_capitalised(name) and not is_common_word(fold(first))


def _named_in_text(value: object) -> Sequence[Attendee]:
    if isinstance(value, list):
        value = [each for each in value if not any(property_link_targets(each))]
    return () if any(property_link_targets(value)) else attendees_of({"attendees": value})


def _kinds(entities: Iterable[Entity]) -> dict[str, int]:
    """Return the number of entities of each kind, in the order in which they are shown."""
    counts = Counter(entity.type for entity in entities)
    in_order = sorted(counts, key=lambda kind: (kind not in _ORDER, *map(kind.__ne__, _ORDER)))
    return {kind: counts[kind] for kind in in_order}


def _words(kind: str) -> str:
    return _SHOWN.get(kind, plural(kind))


def _counted(counts: Mapping[str, int]) -> Iterator[str]:
    one = {shown: kind for kind, shown in _SHOWN.items()} | {"maps of content": "map of content"}
    for what, count in counts.items():
        yield f"{count} {one.get(what, singular(what)) if count == 1 else what}"


def _may_be_person(name: str) -> bool:
    key = name_key(name)
    is_word = bool(key) and key not in _NOBODY and not any(map(str.isdigit, key))
    return is_word and len(key.split()) <= _MOST_NAME_WORDS and not EMAIL.match(name)


def _listed(names: Sequence[tuple[str, int]], total: int) -> str:
    shown = [f"{name} {count}" if count else name for name, count in names]
    more = total - len(shown)
    return ", ".join([*shown, f"and {more:,} more"] if more > 0 else shown)


def tag_and_above(tag: str) -> list[str]:
    """Return a tag, and those above it, of which at most ten count."""
    parts = tag.strip("/").split("/")
    ends = (len(parts), *range(min(len(parts) - 1, 10), 0, -1))
    return ["/".join(parts[:end]) for end in ends]


def _is_map(note: NoteOutline) -> bool:
    names: Collection[str] = {name_key(name) for name in (*note.tags, note.kind)}
    title = name_key(note.title)
    return not _MAPS.isdisjoint(names) or any(
        title.startswith(f"{name} ") or title.endswith(f" {name}") for name in _MAPS
    )
