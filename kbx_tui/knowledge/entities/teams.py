"""Teams and who is in them, gathered from pages, `team:` values and company.md. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kbx_tui.knowledge.folding import name_key, slug
from kbx_tui.knowledge.parsing.fields import (
    may_be_one_name,
    names_of,
    split_names,
    texts_of,
    unlink,
)
from kbx_tui.knowledge.parsing.legacy import legacy_fields, listed_teams
from kbx_tui.knowledge.records import Document, Entity


class Teams:
    """Groups people belong to: the pages there are, and a team for every other name given."""

    def __init__(self, entities: Iterable[Entity]) -> None:
        self._groups: dict[str, str] = {}
        self._people: dict[str, str] = {}
        self._without_page: dict[str, Entity] = {}
        self._members: dict[str, set[str]] = {}
        for entity in sorted(entities, key=lambda entity: (entity.type != "team", entity.id)):
            known = self._people if entity.type == "person" else self._groups
            for name in (entity.name, *entity.aliases):
                known.setdefault(name_key(name), entity.id)

    def read(self, document: Document, *, member: str = "") -> None:
        """Take in what one document says; ``member`` is the id of the person whose page it is."""
        for name, code in listed_teams(document):
            self._team(name, code)
        fields = {key.casefold(): value for key, value in document.frontmatter.items()}
        teams = [fields.get("team"), fields.get("teams")]
        if member:
            teams.append(legacy_fields(document.body).get("team"))
        for value in teams:
            for name in self._names(value):
                team = self._team(name)
                if team and member:
                    self._members.setdefault(team, set()).add(member)
        group = self._groups.get(name_key(document.title)) if "members" in fields else None
        if group is not None:
            people = (self._people.get(name_key(name)) for name in names_of(fields["members"]))
            self._members.setdefault(group, set()).update(filter(None, people))

    def completed(self, entities: Iterable[Entity]) -> Iterator[Entity]:
        """Yield the entities with their members, then the teams without a page.

        A project may be given as someone's team, but has no members: what its people do elsewhere
        is not its business.
        """
        for entity in (*entities, *self._without_page.values()):
            members = self._members.get(entity.id) if entity.type != "project" else None
            yield replace(entity, members=tuple(sorted(members))) if members else entity

    def _names(self, value: object) -> Sequence[str]:
        """A text with commas is several teams, unless one is called so or it reads like one."""
        if not isinstance(value, str):
            return tuple(map(unlink, texts_of(value)))
        whole, parts = unlink(value), [unlink(part) for part in split_names(value)]
        if self._known(whole):
            return [whole]
        one_name = may_be_one_name(parts) and not any(map(self._known, parts))
        return [whole] if one_name else parts

    def _known(self, name: str) -> str | None:
        key = name_key(name)
        return (
            self._groups.get(key)
            or self._groups.get(key.removesuffix(" team"))
            or self._groups.get(key.removeprefix("team "))
        )

    def _team(self, name: str, code: str = "") -> str | None:
        known = self._known(name)
        if known is None:
            if not slug(name):
                return None
            known = f"team:{slug(name)}"
            self._groups[name_key(name)] = known
            self._without_page.setdefault(known, Entity(id=known, name=name, type="team", path=""))
        team = self._without_page.get(known)
        if code and team is not None and not team.aliases:
            self._without_page[known] = replace(team, aliases=(code,))
        return known
