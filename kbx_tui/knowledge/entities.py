"""Entities of a base: those with pages, teams named in pages and company.md, and their facts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kbx_tui.knowledge.facts import (
    DEFAULT_CONFIDENCE,
    Entry,
    FactLine,
    entries_in,
    fact_id,
    folded_fact,
    read_confidence,
    read_status,
)
from kbx_tui.knowledge.fields import (
    ALIAS_KEYS,
    EMAIL,
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
from kbx_tui.knowledge.folding import name_key, slug
from kbx_tui.knowledge.markdown import ListItem, inline_fields, outline, strip_markup
from kbx_tui.knowledge.records import Document, Entity, Fact

ROLE_KEYS = ("role", "job_title", "position")
_PARENTHESES = re.compile(r"(?<!\s)\s*\([^()]*\)\s*")


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
    for key in ROLE_KEYS:
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
    r"[-*+][ \t]+\*\*([^*\n]{1,200})\*\*[ \t]*+(?:\(([^()\n]{1,40})\)[ \t]*+)?(?:$|[—–:-])"
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


def read_facts(document: Document, entity_id: str) -> tuple[Fact, ...]:
    """Return the facts and open items on the page of an entity, in file order.

    These are the list items in sections named Recent Facts, Facts or Open Items, and those at the
    top of the page, before its first section: there a task is an open item, and an item that is
    only a link leads elsewhere. A nested item that only gives sources, status or confidence belongs
    to its parent; any other is a fact of its own.
    """
    return tuple(fact for fact, _ in facts_with_items(document, entity_id))


def facts_with_items(document: Document, entity_id: str) -> tuple[tuple[Fact, ListItem], ...]:
    entries = _entries_of_page(document)
    facts = []
    for entry, discriminators in zip(entries, _discriminators(entries), strict=True):
        line = entry.line
        fact = Fact(
            fact_id=fact_id(entity_id, line.text, *discriminators),
            entity_id=entity_id,
            kind=entry.kind,
            text=line.text,
            date=line.date,
            path=document.path,
            line=document.body_line + entry.item.line,
            status=line.status or "active",
            done=line.done and entry.kind == "open_item",
            sources=line.sources or (document.path,),
            confidence=DEFAULT_CONFIDENCE if line.confidence is None else line.confidence,
        )
        facts.append((fact, entry.item))
    return tuple(facts)


def first_new_fact(before: Sequence[Fact], after: Sequence[Fact]) -> Fact | None:
    """Return the first fact in ``after`` that is not in ``before``, None if there is none.

    Both are in file order. Status, checkbox and confidence are not compared.
    """
    contents = [_content(fact) for fact in before]
    for index, fact in enumerate(after):
        if index >= len(contents) or _content(fact) != contents[index]:
            return fact
    return None


def _content(fact: Fact) -> tuple[object, ...]:
    return fact.kind, fact.text, fact.date, fact.sources


def _discriminators(entries: Sequence[Entry]) -> Iterator[tuple[str, ...]]:
    """Yield the discriminators for the id of each fact: none if its text is unique on the page.

    Otherwise they are its kind, date and sources, and its number and the count of facts that share
    text and all of these. So an id never passes to another line: if one of two facts with the same
    text is deleted, the text of the other becomes unique; if one of three that differ in date or
    source is deleted, the others keep their ids.
    """
    keys = [
        (folded_fact(entry.line.text), entry.kind, entry.line.date, *entry.line.sources)
        for entry in entries
    ]
    texts = Counter(text for text, *_ in keys)
    totals, seen = Counter(keys), Counter[tuple[str, ...]]()
    for key in keys:
        text, *rest = key
        if texts[text] == 1:
            yield ()
        else:
            yield (*rest, f"{seen[key]} of {totals[key]}")
            seen[key] += 1


def _entries_of_page(document: Document) -> list[Entry]:
    # pages are parsed by now, so this is there; entities alone need no YAML and no redaction
    from kbx_tui.knowledge.redaction import is_page_redacted, redacted_lines

    page_status = read_status(text_of(document.frontmatter.get("status")))
    page_confidence = read_confidence(text_of(document.frontmatter.get("confidence")))
    page_redacted = is_page_redacted(document.title, document.frontmatter)
    redacted = None if page_redacted else redacted_lines(document.body)
    entries = entries_in(document.body, redacted)
    of_page = FactLine("", status=page_status, confidence=page_confidence)
    for entry in entries:
        if entry.notes or page_status or page_confidence is not None:
            entry.line = entry.line.with_notes([*entry.notes, of_page])
    return entries
