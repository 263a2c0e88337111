"""Entities of a base: those with pages, teams named in pages and company.md, and the topics that
kbx.toml selects: tags, hubs, maps of content, notes of a folder, and notes that properties link to.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from kbx_tui.formatting import format_count
from kbx_tui.knowledge.fields import (
    ALIAS_KEYS,
    EMAIL,
    TAG,
    is_entity_kind,
    link_target,
    may_be_one_name,
    names_of,
    split_names,
    stem_of,
    text_of,
    texts_of,
    unique_ids,
)
from kbx_tui.knowledge.folding import fold, name_key, slug
from kbx_tui.knowledge.languages import plural, singular
from kbx_tui.knowledge.markdown import (
    inline_fields,
    outline,
    property_link_targets,
    split_target,
    strip_markup,
)
from kbx_tui.knowledge.obsidian_vault import FileLookup
from kbx_tui.knowledge.records import REDACTED, Document, Entity
from kbx_tui.knowledge.vault import MEMORY

_ROLE_KEYS = ("role", "job_title", "position")
_PARENTHESES = re.compile(r"\s*\([^()]*\)\s*")


def build_entities(
    documents: Sequence[Document], entity_types: frozenset[str] | None = None
) -> tuple[Entity, ...]:
    """Return the entities in the documents, sorted by id.

    These are the pages of entity types, with ids made unique by `unique_ids`, and the teams without
    a page that a ``team:`` value or company.md names. ``entity_types`` is as in `parse_document`.
    """
    documents = sorted(documents, key=lambda document: document.path)
    ids = unique_ids(documents)
    pages = [document for document in documents if is_entity_kind(document.kind, entity_types)]
    entities = [page_entity(page, ids[page.path]) for page in pages]
    teams = Teams(entities)
    for document in documents:
        teams.read(document, person_id=ids[document.path] if document.kind == "person" else "")
    return tuple(sorted(teams.with_members(entities), key=lambda entity: entity.id))


def page_entity(page: Document, entity_id: str) -> Entity:
    legacy = {**inline_fields(page.body), **legacy_fields(page.body)}
    fields = {key.casefold(): value for key, value in page.frontmatter.items()}
    team = fields.get("team") or fields.get("teams") or legacy.get("team")
    return Entity(
        id=entity_id,
        name=page.title,
        type=page.kind,
        path=page.path,
        aliases=_aliases(page, [*fields.items(), *legacy.items()]),
        role=_role(page, fields) or text_of(legacy.get("role")),
        team=", ".join(map(link_target, texts_of(team))),
        emails=_emails([fields.get("email"), fields.get("emails"), legacy.get("email")]),
    )


def _aliases(page: Document, fields: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    aliases: dict[str, str] = {}
    for alias in _other_names(page, fields):
        key = name_key(alias)
        if key and key != name_key(page.title):
            aliases.setdefault(key, alias)
    return tuple(
        sorted(aliases.values(), key=lambda alias: (-len(name_key(alias).split()), -len(alias)))
    )


def _other_names(page: Document, fields: Iterable[tuple[str, object]]) -> Iterator[str]:
    for key, value in fields:
        if key in ALIAS_KEYS:
            yield from names_of(value)
        elif key == "name" or (key == "title" and page.kind != "person"):
            yield text_of(value)
    if "(" in page.title:
        yield _PARENTHESES.sub(" ", page.title).strip()


def _role(page: Document, fields: Mapping[str, object]) -> str:
    for key in _ROLE_KEYS:
        if role := text_of(fields.get(key)):
            return role
    title = text_of(fields.get("title")) if page.kind == "person" else ""
    return "" if name_key(title) == name_key(page.title) else title


def _emails(values: Iterable[object]) -> tuple[str, ...]:
    written = (email.strip("<> ").lower() for value in values for email in texts_of(value))
    return tuple(dict.fromkeys(email for email in written if EMAIL.match(email)))


class Teams:
    def __init__(self, entities: Iterable[Entity]) -> None:
        self._groups: dict[str, str] = {}
        self._people: dict[str, str] = {}
        self._without_page: dict[str, Entity] = {}
        self._members: dict[str, set[str]] = {}
        for entity in sorted(entities, key=lambda entity: (entity.type != "team", entity.id)):
            ids = self._people if entity.type == "person" else self._groups
            for name in (entity.name, *entity.aliases):
                ids.setdefault(name_key(name), entity.id)

    def read(self, document: Document, *, person_id: str = "") -> None:
        for name, code in listed_teams(document):
            self._find_or_add(name, code)
        fields = {key.casefold(): value for key, value in document.frontmatter.items()}
        teams = [fields.get("team"), fields.get("teams")]
        if person_id:
            teams.append(legacy_fields(document.body).get("team"))
        for value in teams:
            for name in self._names(value):
                team = self._find_or_add(name)
                if team and person_id:
                    self._members.setdefault(team, set()).add(person_id)
        group = self._groups.get(name_key(document.title)) if "members" in fields else None
        if group is not None:
            people = (self._people.get(name_key(name)) for name in names_of(fields["members"]))
            self._members.setdefault(group, set()).update(filter(None, people))

    def with_members(self, entities: Iterable[Entity]) -> Iterator[Entity]:
        """Yield the entities with their members; a project named as someone's team gets none."""
        for entity in (*entities, *self._without_page.values()):
            members = self._members.get(entity.id) if entity.type != "project" else None
            yield replace(entity, members=tuple(sorted(members))) if members else entity

    def _names(self, value: object) -> Sequence[str]:
        if not isinstance(value, str):
            return tuple(map(link_target, texts_of(value)))
        whole, parts = link_target(value), list(map(link_target, split_names(value)))
        if self._find(whole):
            return [whole]
        is_one_name = may_be_one_name(parts) and not any(map(self._find, parts))
        return [whole] if is_one_name else parts

    def _find(self, name: str) -> str | None:
        key = name_key(name)
        return (
            self._groups.get(key)
            or self._groups.get(key.removesuffix(" team"))
            or self._groups.get(key.removeprefix("team "))
        )

    def _find_or_add(self, name: str, code: str = "") -> str | None:
        team_id = self._find(name)
        if team_id is None:
            if not slug(name):
                return None
            team_id = f"team:{slug(name)}"
            self._groups[name_key(name)] = team_id
            new_team = Entity(id=team_id, name=name, type="team", path="")
            self._without_page.setdefault(team_id, new_team)
        team = self._without_page.get(team_id)
        if code and team is not None and not team.aliases:
            self._without_page[team_id] = replace(team, aliases=(code,))
        return team_id


_FIELD = re.compile(r"^\*\*([^*:\n]{1,60})(?::\*\*|\*\*:)[ \t]*(\S[^\n]*)$", re.MULTILINE)
_TEAM_LINE = re.compile(
    r"[-*+][ \t]+\*\*([^*\n]{1,200})\*\*[ \t]*(?:\(([^()\n]{1,40})\))?[ \t]*(?:$|[—–:-])"
)
_TEAMS_HEADING = "teams (from linear)"


def legacy_fields(body: str) -> dict[str, str]:
    if "**" not in body:
        return {}
    top = body[: match.start()] if (match := re.search(r"^##", body, re.MULTILINE)) else body
    return {match[1].strip().lower(): match[2].strip() for match in _FIELD.finditer(top)}


def listed_teams(document: Document) -> Iterator[tuple[str, str]]:
    if document.kind != "context" or stem_of(document.path).casefold() != "company":
        return
    blocks = outline(document.body)
    lines = document.body.split("\n")
    item_lines = [item.line for item in blocks.items]
    for index, heading in enumerate(blocks.headings):
        if _TEAMS_HEADING not in heading.text.casefold():
            continue
        end = blocks.section_ends[index]
        for item in blocks.items[bisect_left(item_lines, heading.end) :]:
            if item.line >= end:
                break
            if match := _TEAM_LINE.match(lines[item.line].strip()):
                yield strip_markup(match[1]).strip(), (match[2] or "").strip()


PROPOSED_TAG, PROPOSED_HUB = 3, 5
"""Number of notes that have a tag, and that link to a note, to propose the tag or note as an
entity."""

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
    """By kind, the names of the most frequent, each with the number of notes that have or link to
    it."""

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
        """Return the entities that `rules` select, without those in `known`, sorted by id.

        A note becomes at most one entity, by the first rule that holds: a property links to it, it
        is in a folder, it is a map, it is a hub. Ids are `type:slug`; of several notes with the
        same id, the first by path gets it.
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
                if tag_and_above(tag)[-1].casefold() != REDACTED  # a redaction mark
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
