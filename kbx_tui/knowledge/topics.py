"""Topics that are entities where kbx.toml says so: tags, hubs, maps of content, notes of a folder,
and what properties link to. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from kbx_tui.formatting import format_count
from kbx_tui.knowledge.fields import TAG, stem_of
from kbx_tui.knowledge.folding import fold, name_key, slug
from kbx_tui.knowledge.languages import plural, singular
from kbx_tui.knowledge.markdown import property_link_targets, split_target
from kbx_tui.knowledge.obsidian_vault import FileLookup
from kbx_tui.knowledge.records import REDACTED, Entity
from kbx_tui.knowledge.vault import MEMORY

PROPOSED_TAG, PROPOSED_HUB = 3, 5
"""Notes with a tag, and notes that link to one, from which these are proposed as entities."""

PEOPLE_PROPERTIES = frozenset(
    ["author", "authors", "attendees", "attendee", "participants", "people", "person", "with"]
)

TOPIC_FOLDERS = {
    "contacts": "person", "persons": "person", "books": "book", "clients": "client",
    "companies": "company", "customers": "customer", "places": "place", "topics": "topic",
}  # fmt: skip

_SHOWN = {"person": "people", "map": "maps of content"}
_ORDER = ("person", TAG, "hub", "map")

EXAMPLES_KEPT = 12

_MAPS = frozenset({"moc", "map of content", "maps of content"})


@dataclass(frozen=True, slots=True)
class TopicRules:
    tags: int = 0
    hubs: int = 0
    maps: bool = False
    folders: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()

    @property
    def are_any(self) -> bool:
        return bool(self.tags or self.hubs or self.maps or self.folders or self.properties)


@dataclass(frozen=True, slots=True)
class NoteOutline:
    path: str
    title: str
    kind: str
    aliases: Sequence[str]
    tags: Sequence[str]
    links: Sequence[str]
    frontmatter: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EntityProposal:
    notes: int
    counts: Mapping[str, int]
    settings: Mapping[str, Any]
    examples: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)
    """By what they are, names of the most frequent ones and how many notes have or link to each."""

    @property
    def sentence(self) -> str:
        one = {plural: kind for kind, plural in _SHOWN.items()} | {
            "maps of content": "map of content"
        }
        found = (
            f"{count} {one.get(what, singular(what)) if count == 1 else what}"
            for what, count in self.counts.items()
        )
        return ", ".join([format_count(self.notes, "note"), *found])

    def lines(self, shown: int) -> list[str]:
        return [
            f"{what}: {_listed(names[:shown], self.counts[what])}"
            for what, names in self.examples.items()
        ]


class Topics:
    def __init__(self, notes: Sequence[NoteOutline]) -> None:
        self._notes = notes
        self._files = FileLookup(note.path for note in notes)
        self._note_at = {note.path: note for note in notes}
        self._named = {name_key(note.title): note.path for note in reversed(notes)}

    def entities(self, rules: TopicRules, known: Sequence[Entity]) -> list[Entity]:
        """Return the entities by `rules`, without those that `known` has, sorted by id.

        A note is one entity, by the first rule that holds: a property links to it, it is in a
        folder, a map, a hub. Ids are `type:slug`; of several alike the first by path has it.
        """
        pages, ids = {entity.path for entity in known}, {entity.id for entity in known}
        made = (
            Entity(f"{kind}:{slug(name.replace('/', '-'))}", name, kind, path, tuple(aliases))
            for name, kind, path, aliases in self._named_topics(rules)
            if slug(name) and (path == "" or path not in pages)
        )
        new: dict[str, Entity] = {}
        for entity in made:
            if entity.id not in ids:
                new.setdefault(entity.id, entity)
        return sorted(new.values(), key=lambda entity: entity.id)

    def proposal(self) -> EntityProposal | None:
        properties = [name for name in sorted(PEOPLE_PROPERTIES) if self._linked_by(name)]
        in_folders = {note.path.rpartition("/")[0] for note in self._notes}
        folders = sorted(
            folder for folder in in_folders if folder.rpartition("/")[2].casefold() in TOPIC_FOLDERS
        )
        rules = TopicRules(PROPOSED_TAG, PROPOSED_HUB, True, tuple(folders), tuple(properties))
        found = self.entities(rules, ())
        if not found:
            return None
        kinds = Counter(entity.type for entity in found)
        in_order = sorted(kinds, key=lambda kind: (kind not in _ORDER, *map(kind.__ne__, _ORDER)))
        settings = {
            "tags": PROPOSED_TAG if kinds[TAG] else 0,
            "hubs": PROPOSED_HUB if kinds["hub"] else 0,
            "maps": bool(kinds["map"]),
            "folders": folders,
            "properties": properties,
        }
        words = {kind: _SHOWN.get(kind, plural(kind)) for kind in in_order}
        return EntityProposal(
            notes=len(self._notes),
            counts={words[kind]: kinds[kind] for kind in in_order},
            settings={key: value for key, value in settings.items() if value},
            examples={words[kind]: self._most_frequent(found, kind) for kind in in_order},
        )

    def _most_frequent(self, entities: Sequence[Entity], kind: str) -> list[tuple[str, int]]:
        counted = [
            (f"#{entity.name}", self._tagged[entity.name])
            if kind == TAG
            else (entity.name, self._backlinks[entity.path] if entity.path else 0)
            for entity in entities
            if entity.type == kind
        ]
        return sorted(counted, key=lambda each: (-each[1], each[0]))[:EXAMPLES_KEPT]

    def _named_topics(self, rules: TopicRules) -> Iterator[tuple[str, str, str, Sequence[str]]]:
        kinds: dict[str, str] = {}
        for name in rules.properties:
            kind = "person" if fold(name) in PEOPLE_PROPERTIES else singular(fold(name))
            for target, path in self._linked_by(name).items():
                if path:
                    kinds.setdefault(path, kind)
                else:
                    yield target, kind, "", ()
        for folder in rules.folders:
            place = folder.strip("/").casefold().removeprefix(f"{MEMORY}/")
            last = place.rpartition("/")[2]
            for note in self._notes:
                if note.path.casefold().removeprefix(f"{MEMORY}/").startswith(f"{place}/"):
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
            tags = {
                part
                for tag in note.tags
                for part in tag_and_above(tag)
                if tag_and_above(tag)[-1].casefold() != REDACTED  # a mark, not a topic
            }
            counts.update({written.setdefault(tag.casefold(), tag) for tag in sorted(tags)})
        return counts

    def _linked_by(self, name: str) -> dict[str, str]:
        targets: dict[str, str] = {}
        for note in self._notes:
            for key, value in note.frontmatter.items():
                if fold(key) == fold(name):
                    for link in property_link_targets(value):
                        page = split_target(link)[0]
                        if page:
                            targets.setdefault(stem_of(f"{page}.md"), self._find(page, note.path))
        return targets

    def _find(self, page: str, source: str) -> str:
        return self._files.find(page, source) or self._named.get(name_key(page), "")


def _listed(names: Sequence[tuple[str, int]], total: int) -> str:
    shown = [f"{name} {count}" if count else name for name, count in names]
    more = total - len(shown)
    return ", ".join([*shown, f"and {more:,} more"] if more > 0 else shown)


def tag_and_above(tag: str) -> list[str]:
    parts = tag.strip("/").split("/")
    return ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]


def _is_map(note: NoteOutline) -> bool:
    names: Collection[str] = {name_key(name) for name in (*note.tags, note.kind)}
    title = name_key(note.title)
    return not _MAPS.isdisjoint(names) or any(
        title.startswith(f"{name} ") or title.endswith(f" {name}") for name in _MAPS
    )
