"""Links from documents to the entities they belong to."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from kbx_tui.knowledge.entities.disambiguation import Disambiguator, count_word
from kbx_tui.knowledge.entities.entity_resolver import EntityResolver
from kbx_tui.knowledge.entities.mentions import (
    Mention,
    MentionFinder,
    NormalizedText,
    text_variants,
    title_variants,
)
from kbx_tui.knowledge.entities.spellings import title_keys
from kbx_tui.knowledge.entities.topics import TAG, tag_and_above
from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.obsidian.file_lookup import FileLookup
from kbx_tui.knowledge.parsing.fields import tags_of
from kbx_tui.knowledge.parsing.link_syntax import split_target
from kbx_tui.knowledge.records import Document, Entity, Link, LinkKind

_STRONG: frozenset[LinkKind] = frozenset({"attendee", "own_page", "frontmatter", "title"})
"""Links of a member that also link the document to the team."""

Counts = Counter[tuple[int, LinkKind]]
"""Number of occurrences by index of the entity and kind of link."""


class Linker:
    """Links documents to the entities of a knowledge base.

    Explicit names (attendees, frontmatter, wikilinks, tags) are resolved; titles and bodies are
    searched for mentions. Ambiguous names and first names are resolved by the other entities in the
    document, see `Disambiguator`.
    """

    def __init__(
        self,
        entities: Sequence[Entity],
        *,
        suppressions: Mapping[str, Collection[str]] | None = None,
        files: FileLookup | None = None,
    ) -> None:
        """Prepare the search; ``suppressions`` are as returned by `load_suppressions`.

        ``files`` are those of an Obsidian vault, where a link means a file before it means a name.
        """
        self._entities = tuple(entities)
        self._resolver = EntityResolver(self._entities)
        self._files = files
        self._tags = {
            entity.name.casefold(): index
            for index, entity in enumerate(self._entities)
            if entity.type == TAG
        }
        self._text_finder = MentionFinder(text_variants(self._entities))
        self._title_finder = MentionFinder(title_variants(self._entities))
        self._disambiguator = Disambiguator(self._entities)
        self._pages = {
            entity.path: index for index, entity in enumerate(self._entities) if entity.path
        }
        self._teams = _teams_by_member(self._entities)
        self._suppressions = {
            path: frozenset(map(name_key, names)) for path, names in (suppressions or {}).items()
        }

    def links(self, document: Document) -> tuple[Link, ...]:
        """Return the links of one document, sorted by entity and kind.

        The page of an entity links to that entity once, as `own_page` only.
        """
        counts: Counts = Counter()
        owner = self._pages.get(document.path)
        if owner is not None:
            counts[owner, "own_page"] = 1
        self._count_explicit(document, counts)
        self._count_mentions(document, counts)
        suppressed = self._suppressions.get(document.path, frozenset())
        kept = self._without_suppressed(counts, owner, suppressed)
        self._count_members(kept, suppressed)
        return tuple(
            sorted(
                (
                    Link(self._entities[index].id, document.path, kind, count)
                    for (index, kind), count in kept.items()
                ),
                key=lambda link: (link.entity_id, link.kind),
            )
        )

    def _count_explicit(self, document: Document, counts: Counts) -> None:
        for attendee in document.attendees:
            for index in self._resolver.by_attendee(attendee):
                counts[index, "attendee"] = 1
        references = map(self._resolver.by_reference, document.references)
        tags = (self._tagged(tag, document) for tag in tags_of(document.frontmatter))
        for resolved in chain(references, tags):
            _count(counts, resolved, "frontmatter")
        for tag in document.tags:
            above = map(str.casefold, tag_and_above(tag))
            _count(
                counts, [self._tags[name] for name in above if name in self._tags], "frontmatter"
            )
        for target in document.links:
            page, _ = split_target(target)
            _count(counts, self._linked_to(page, document.path), "wikilink")

    def _tagged(self, tag: str, document: Document) -> Iterable[int]:
        """Return the entities that a tag in frontmatter means.

        In a meeting it may be a first name: kbx writes those of the attendees there.
        """
        meant = self._resolver.by_tag(tag)
        if meant or document.kind != "meeting":
            return meant
        return self._disambiguator.with_first_name(tag)

    def _linked_to(self, page: str, source: str) -> Sequence[int]:
        """Return the entities that a link to `page` in the document `source` means."""
        if self._files is not None:
            if path := self._files.find(page, source):
                return [self._pages[path]] if path in self._pages else ()
            return self._resolver.by_reference(page) if page and "/" not in page else ()
        if page.startswith(("./", "../", "/")):  # of a markdown link, which is a path
            path = posixpath.normpath(posixpath.join(posixpath.dirname(source), page)).lstrip("/")
            found = (self._pages.get(spelling) for spelling in (path, f"{path}.md"))
            return [index for index in found if index is not None]
        return self._resolver.by_reference(page) if page else ()

    def _count_mentions(self, document: Document, counts: Counts) -> None:
        body = NormalizedText(document.body)
        in_body = self._text_finder.find(body)
        in_title = self._text_finder.find(NormalizedText(document.title))
        for key in title_keys(document.title):
            in_title += self._title_finder.find(NormalizedText(key))
        mentions: list[tuple[LinkKind, Mention]] = [("mention", mention) for mention in in_body]
        mentions += [("title", mention) for mention in in_title]
        ambiguous = []
        for kind, mention in mentions:
            resolved = self._disambiguator.resolve(mention)
            if resolved is None:
                ambiguous.append((kind, mention))
            else:
                _count(counts, resolved, kind)
        present = {index for index, _ in counts}
        for kind, mention in ambiguous:
            _count(counts, self._disambiguator.resolve_in_context(mention, present), kind)
        present = {index for index, _ in counts}
        for index, first_name in self._disambiguator.unique_first_names(present):
            if count := count_word(body, first_name, in_body):
                counts[index, "mention"] += count

    def _without_suppressed(
        self, counts: Counts, owner: int | None, suppressed: Collection[str]
    ) -> Counts:
        return Counter(
            {
                (index, kind): count
                for (index, kind), count in counts.items()
                if (index == owner) == (kind == "own_page")
                and (index == owner or not self._is_among(suppressed, index))
            }
        )

    def _is_among(self, names: Collection[str], index: int) -> bool:
        entity = self._entities[index]
        return bool(names) and (name_key(entity.name) in names or name_key(entity.id) in names)

    def _count_members(self, counts: Counts, suppressed: Collection[str]) -> None:
        for member in {index for index, kind in counts if kind in _STRONG}:
            for team in self._teams.get(member, ()):
                if not self._is_among(suppressed, team):
                    counts[team, "member"] += 1


def _count(counts: Counts, indices: Iterable[int], kind: LinkKind) -> None:
    """Count one occurrence; a title counts at most once, as it is short."""
    for index in indices:
        counts[index, kind] = 1 if kind == "title" else counts[index, kind] + 1


def _teams_by_member(entities: Sequence[Entity]) -> dict[int, list[int]]:
    index_of = {entity.id: index for index, entity in enumerate(entities)}
    teams: dict[int, list[int]] = {}
    for index, entity in enumerate(entities):
        for member in index_of.keys() & entity.members:
            teams.setdefault(index_of[member], []).append(index)
    return teams
