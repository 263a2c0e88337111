"""The links of a document: to it, from it, broken ones, and mentions of it without a link."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from urllib.parse import unquote

from kbx_tui.index.lexical.bodies import Body
from kbx_tui.index.table_reader import TableReader
from kbx_tui.knowledge.obsidian.file_lookup import FileLookup
from kbx_tui.knowledge.parsing.kinds import stem_of
from kbx_tui.knowledge.parsing.link_syntax import (
    WrittenLink,
    find_written_links,
    split_target,
    wikilink,
)
from kbx_tui.knowledge.parsing.markdown import links_of
from kbx_tui.search.browsing.destination import Destination
from kbx_tui.search.index_generation import IndexGeneration
from kbx_tui.search.links.likely_targets import LikelyTargets
from kbx_tui.search.links.link_graph import LinkGraph, Target, read_link_graph
from kbx_tui.search.links.link_records import (
    Backlink,
    BrokenLink,
    DocumentLinks,
    LinkedDocument,
    LinkOverview,
    OutgoingLink,
    UnlinkedMention,
)
from kbx_tui.search.links.mention_search import MentionSearch

MOST_MENTIONS = 200
"""Mentions listed of one document."""
LINE_LENGTH = 200
"""Characters of a line that are shown."""
REACH = 2_000
"""Characters of a line before and after a place that are read for that: the longest link fits in,
and a line of megabytes with a link in every phrase costs no more than others."""
MOST_LINKED = 10
"""Documents listed in an overview."""


class LinkIndex:
    """The links of one generation."""

    def __init__(
        self,
        generation: IndexGeneration,
        reader: TableReader,
        attachments: Callable[[], Collection[str]],
        before: LinkGraph | None = None,
    ) -> None:
        """`attachments` lists the files of the base that are not markdown, by path.

        `before` is the graph of an earlier generation, if it is known.
        """
        self.known_graph = before
        """The graph of this generation once it is read, until then that before."""
        self._generation, self._reader = generation, reader
        self._list_attachments = attachments
        self._snapshot = generation.snapshot

    @cached_property
    def graph(self) -> LinkGraph:
        """Which document links to which."""
        destinations, before = self._generation.destinations, self.known_graph
        self.known_graph = read_link_graph(self._snapshot, destinations, self._reader, before)
        return self.known_graph

    @cached_property
    def _likely(self) -> LikelyTargets:
        return LikelyTargets(self._snapshot)

    @cached_property
    def _attachments(self) -> FileLookup:
        return FileLookup(self._list_attachments())

    def of(self, path: str) -> DocumentLinks:
        """Return the links of the document at `path`, which is in the index. Raises IndexFault."""
        row = self._snapshot.row_of[path]
        return DocumentLinks(
            path=path,
            title=self._snapshot.titles[row],
            backlinks=tuple(self._backlinks(path)),
            mentions=tuple(self._mentions(path)),
            outgoing=tuple(self._outgoing(path)),
            broken=tuple(self._broken(path)),
        )

    def all_broken(self, paths: Collection[str] | None = None) -> tuple[BrokenLink, ...]:
        """Return the broken links in all documents, or those at `paths`, by path and line."""
        found = {path for path, _ in self.graph.broken() if paths is None or path in paths}
        broken = (link for path in found for link in self._broken(path))
        return tuple(sorted(broken, key=lambda link: (link.path, link.line)))

    def overview(self) -> LinkOverview:
        """Return what links where, counted."""
        snapshot, sources = self._snapshot, self.graph.sources
        return LinkOverview(
            links=sum(map(len, sources.values())),
            broken=sum(self._is_broken(target, path) for path, target in self.graph.broken()),
            unlinked=len(snapshot.paths) - len(sources),
            most_linked=self.most_linked(sources),
        )

    def most_linked(self, paths: Iterable[str]) -> tuple[LinkedDocument, ...]:
        """Return those of some documents that most others link to, at least 2, most first."""
        sources = self.graph.sources
        linked = sorted((-len(sources.get(path, ())), path) for path in paths)
        return tuple(
            LinkedDocument(path, self._title_and_date(path)[0], -count)
            for count, path in linked[:MOST_LINKED]
            if count < -1
        )

    def wikilink(self, name: str, path: str, source: str, *, in_table: bool = False) -> str:
        """Return the shortest wikilink that shows `name` in `source` and leads to `path`."""
        short = path.removesuffix(".md")
        for page in (name, stem_of(path), short):
            destination = self._generation.destinations.find(page, source)
            if destination is not None and destination.path == path and "|" not in page:
                break
        else:
            page = short
        return wikilink(page, name, in_table=in_table)

    def _backlinks(self, path: str) -> Iterator[Backlink]:
        sources = self._newest_first(self.graph.sources.get(path, ()))
        for source, (body, first_line) in zip(sources, self._bodies(sources), strict=True):
            leading = {
                target.written: target
                for target in self.graph.targets[source]
                if target.destination is not None and target.destination.path == path
            }
            title, date = self._title_and_date(source)
            seen = set[tuple[int, str]]()
            for link, line in _links_with_lines(body, first_line):
                if link.target in leading and (line, link.target) not in seen:
                    seen.add((line, link.target))
                    yield Backlink(
                        source, title, date, line, _line_at(body, link.start), link.target
                    )
            for target in leading.values():
                if target.in_property:
                    yield Backlink(source, title, date, 0, "", target.written)

    def _outgoing(self, path: str) -> Iterator[OutgoingLink]:
        seen = set()
        for target, line in self._targets(path):
            found = target.destination
            if found is None or found.path == path:
                continue
            if (found.path, found.entity_id) not in seen:
                seen.add((found.path, found.entity_id))
                name = self._name(found)
                yield OutgoingLink(target.written, found.path, found.entity_id, name, line)

    def _broken(self, path: str) -> Iterator[BrokenLink]:
        for target, line in self._targets(path):
            if self._is_broken(target, path):
                suggestions = self._likely.find(split_target(target.written)[0], path)
                yield BrokenLink(path, target.written, line, suggestions)

    def _is_broken(self, target: Target, path: str) -> bool:
        """Return whether a target leads to no document, and to no other file either."""
        if target.destination is not None:
            return False
        page = split_target(target.written)[0]
        is_file = "." in page.rpartition("/")[2] and not page.lower().endswith(".md")
        spellings = (page, unquote(page))  # of a name with `#`
        return not (is_file and any(self._attachments.find(each, path) for each in spellings))

    def _targets(self, path: str) -> Iterator[tuple[Target, int]]:
        """Yield the targets in a document with their lines, in order."""
        targets = self.graph.targets.get(path, ())
        ((body, first_line),) = self._bodies([path])
        lines: dict[str, int] = {}
        for link, line in _links_with_lines(body, first_line) if targets else ():
            lines.setdefault(link.target, line)
        for target in targets:
            yield target, 0 if target.in_property else lines.get(target.written, 0)

    def _mentions(self, path: str) -> Iterator[UnlinkedMention]:
        search = MentionSearch(self._names(path))
        linking = {path, *self.graph.sources.get(path, ())}
        named = (
            terms
            for language in self._generation.words.languages
            for terms in search.terms(language)
        )
        rows = set[int]().union(*map(self._rows_with, named))
        paths = self._newest_first([self._snapshot.paths[row] for row in rows])
        count = 0
        for source in paths:
            if source in linking:
                continue
            ((body, first_line),) = self._bodies([source])
            title, date = self._title_and_date(source)
            for found in search.find(body):
                start = body.rfind("\n", 0, found.start) + 1
                yield UnlinkedMention(
                    source, title, date, first_line + body.count("\n", 0, found.start),
                    _line_at(body, found.start), body[found.start : found.end],
                    found.start - start,
                )  # fmt: skip
                count += 1
                if count == MOST_MENTIONS:
                    return

    def _rows_with(self, terms: Sequence[str]) -> set[int]:
        """Return the rows of the documents that hold all terms; none without a term."""
        holding = [set(self._generation.words.rows_holding(term).tolist()) for term in terms]
        return set.intersection(*holding) if holding else set()

    def _names(self, path: str) -> list[str]:
        row = self._snapshot.row_of[path]
        entity = self._generation.entities.get(self._snapshot.ids[row])
        names = [self._snapshot.titles[row], stem_of(path), *self._snapshot.aliases[row]]
        if entity is not None and entity.path == path:
            names += [entity.name, *entity.aliases]
        return names

    def _name(self, found: Destination) -> str:
        if found.entity_id:
            return self._generation.entities[found.entity_id].name
        return self._snapshot.titles[self._snapshot.row_of[found.path]]

    def _title_and_date(self, path: str) -> tuple[str, str]:
        row = self._snapshot.row_of[path]
        return self._snapshot.titles[row], self._snapshot.dates[row]

    def _newest_first(self, paths: Sequence[str]) -> list[str]:
        by_path = sorted(paths)
        return sorted(by_path, key=lambda path: self._title_and_date(path)[1], reverse=True)

    def _bodies(self, paths: Sequence[str]) -> list[Body]:
        return self._generation.bodies.read(paths, self._reader)


def _links_with_lines(body: str, first_line: int) -> Iterator[tuple[WrittenLink, int]]:
    """Yield the links of a body in order with their lines, counted from one link to the next."""
    line, counted = first_line, 0
    for link in links_of(body):
        line += body.count("\n", counted, link.start)
        counted = link.start
        yield link, line


def _line_at(body: str, offset: int) -> str:
    """Return the line around an offset, cut if long, with links replaced by their labels."""
    first, last = max(offset - REACH, 0), offset + REACH
    start = body.rfind("\n", first, offset) + 1 or first
    end = body.find("\n", offset, last)
    line = body[start : end if end >= 0 else last]
    parts, done, place = list[str](), 0, offset - start
    for link in find_written_links(line):
        if link.start < offset - start:
            place -= max(min(link.end, offset - start) - link.start - len(link.label), 0)
        parts += [line[done : link.start], link.label]
        done = link.end
    return _cut("".join([*parts, line[done:]]), place)


def _cut(line: str, place: int) -> str:
    """Return at most `LINE_LENGTH` characters of a line around a place, from word to word."""
    if len(line.strip()) <= LINE_LENGTH:
        return line.strip()
    start = line.find(" ", max(place - LINE_LENGTH // 2, 0), place) + 1 if place > 100 else 0
    shown = line[start : start + LINE_LENGTH]
    if start + LINE_LENGTH < len(line):
        shown = shown[: shown.rfind(" ") + 1 or None]
    return shown.strip()
