"""Teams and their members, collected from pages, `team:` values and company.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kbx_tui.knowledge.folding import name_key, slug
from kbx_tui.knowledge.parsing.fields import (
    link_target,
    may_be_one_name,
    names_of,
    split_names,
    texts_of,
)
from kbx_tui.knowledge.parsing.legacy import legacy_fields, listed_teams
from kbx_tui.knowledge.records import Document, Entity


class Teams:
    """Collects the members of groups, and the teams without a page of their own."""

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
        """Collect the teams and members in a document; ``person_id`` if it is a person's page."""
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
        """Yield the entities with their members, then the teams without a page.

        A project that is someone's team gets no members: other documents of its people do not
        belong to it.
        """
        for entity in (*entities, *self._without_page.values()):
            members = self._members.get(entity.id) if entity.type != "project" else None
            yield replace(entity, members=tuple(sorted(members))) if members else entity

    def _names(self, value: object) -> Sequence[str]:
        """Return the team names in a frontmatter value.

        A text with commas is several teams, unless it is or looks like the name of a single one.
        """
        if not isinstance(value, str):
            return tuple(map(link_target, texts_of(value)))
        whole, parts = (
            link_target(value),
            [link_target(part) for part in split_names(value)],
        )
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
