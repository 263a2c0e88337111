"""Links to and from a document, broken links, and mentions of it without a link."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain, islice
from urllib.parse import unquote

from rapidfuzz import fuzz, process

from kbx_tui.index.lexical.postings import CJK_CHARACTER, term_of, words_in
from kbx_tui.index.store import Store
from kbx_tui.index.stored_records import Body
from kbx_tui.knowledge.entity_names import is_ambiguous
from kbx_tui.knowledge.fields import stem_of
from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.markdown import CODE_SPAN, blank_code
from kbx_tui.knowledge.obsidian_vault import FileLookup
from kbx_tui.knowledge.written_links import (
    WrittenLink,
    find_written_links,
    links_of,
    split_target,
    wikilink,
)
from kbx_tui.search.link_graph import (
    Destination,
    LinkGraph,
    Target,
    leads_nowhere,
    parts_of,
    places_of,
    read_link_graph,
)
from kbx_tui.search.link_records import (
    Backlink,
    BrokenKind,
    BrokenLink,
    DocumentLinks,
    LinkedDocument,
    LinkOverview,
    OutgoingLink,
    UnlinkedMention,
)
from kbx_tui.search.open_index import IndexGeneration

MOST_MENTIONS = 200
LINE_LENGTH = 200
REACH = 2_000
"""Characters of a line read before and after a link or mention to show it: enough for the longest
link, and a bound on the cost of a very long line with many links."""
MOST_LINKED = 10
MOST_COMPARED = 100_000_000
"""Pairs of a broken link and a name that are compared, by all links together."""
MOST_NAMES = 200
"""Names of a document that are looked for in others: each letter is compared with all of them."""


class LinkIndex:
    def __init__(
        self,
        generation: IndexGeneration,
        store: Store,
        attachments: Callable[[], Collection[str]],
        exists: Callable[[str], bool],
        before: LinkGraph | None = None,
    ) -> None:
        """`attachments` returns the paths of the files of the base that are not markdown; `exists`
        returns whether there is a file or folder at a path of the base.

        `before` is the graph of an earlier generation, if known.
        """
        self.known_graph = before
        """The graph of this generation; until it is read, that of an earlier one, if any."""
        self._generation, self._store = generation, store
        self._list_attachments, self._exists = attachments, exists
        self._snapshot = generation.snapshot
        self.labels_first = bool((self._snapshot.conventions or {}).get("is_dendron"))
        self._tags = lru_cache(maxsize=1)(
            lambda path: frozenset(self._snapshot.tags[self._snapshot.row_of[path]])
        )
        self._found: dict[str, tuple[str, ...]] = {}
        self._room = MOST_COMPARED

    @cached_property
    def graph(self) -> LinkGraph:
        destinations, before = self._generation.destinations, self.known_graph
        self.known_graph = read_link_graph(self._snapshot, destinations, self._store, before)
        return self.known_graph

    @cached_property
    def _keys_and_paths(self) -> tuple[list[str], list[str]]:
        """Parallel lists: the name keys of all documents, and the path of each key's document."""
        snapshot = self._snapshot
        names = zip(snapshot.paths, snapshot.titles, snapshot.aliases, strict=True)
        pairs = [
            (key, path)
            for path, title, aliases in names
            for key in dict.fromkeys(map(name_key, (stem_of(path), title, *aliases)))
            if key
        ]
        return [key for key, _ in pairs], [path for _, path in pairs]

    @cached_property
    def _attachments(self) -> FileLookup:
        return FileLookup(self._list_attachments())

    @cached_property
    def _stems(self) -> Sequence[str]:
        return sorted(map(stem_of, self._snapshot.paths))

    @cached_property
    def _addresses(self) -> frozenset[str]:
        """The addresses that pages state for themselves on the site that is made of them."""
        stated = (text.partition("=") for texts in self._snapshot.properties for text in texts)
        return frozenset(value.strip("/") for key, _, value in stated if key in _ADDRESS_KEYS)

    def of(self, path: str) -> DocumentLinks:
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
        """Return the links of all documents, or of those at some paths, that lead to nothing.

        Missing headings and blocks of documents are among them.
        """
        found = {path for path, _ in self.graph.broken() if paths is None or path in paths}
        broken = [link for path in found for link in self._broken(path)]
        broken += self._without_part(paths)
        return tuple(sorted(broken, key=lambda link: (link.path, link.line)))

    def _without_part(self, paths: Collection[str] | None) -> Iterator[BrokenLink]:
        parts: dict[str, frozenset[str]] = {}
        for source in self.graph.targets:
            if paths is not None and source not in paths:
                continue
            missing = set()
            for target in self.graph.targets[source]:
                part, destination = split_target(target.written)[1], target.destination
                if not part or destination is None or not destination.path:
                    continue
                if destination.path not in parts:
                    ((body, _),) = self._bodies([destination.path])
                    parts[destination.path] = parts_of(body)
                if leads_nowhere(part, parts[destination.path]):
                    missing.add(target)
            for target, line in self._targets(source) if missing else ():
                if target in missing and target.destination is not None:
                    is_block = target.written.rpartition("#")[2].startswith("^")
                    kind: BrokenKind = "block" if is_block else "heading"
                    found = (target.destination.path,)
                    yield BrokenLink(source, target.written, line, found, kind)

    def overview(self) -> LinkOverview:
        sources = self.graph.sources
        return LinkOverview(
            links=sum(map(len, sources.values())),
            broken=sum(self._is_broken(target, path) for path, target in self.graph.broken()),
            unlinked=len(self.orphans(self._snapshot.paths)),
            most_linked=self.most_linked(sources),
        )

    def orphans(self, paths: Iterable[str]) -> list[str]:
        """Return those of `paths` to which no other document links."""
        return [path for path in paths if path not in self.graph.sources]

    def most_linked(self, paths: Iterable[str]) -> tuple[LinkedDocument, ...]:
        """Return the documents of `paths` with the most links from others, at least 2, in order."""
        sources = self.graph.sources
        linked = sorted((-len(sources.get(path, ())), path) for path in paths)
        return tuple(
            LinkedDocument(path, self._title_and_date(path)[0], -count)
            for count, path in linked[:MOST_LINKED]
            if count < -1
        )

    def wikilink(self, name: str, path: str, source: str, *, in_table: bool = False) -> str:
        page = self.page_name(name, path, source)
        if self.labels_first and name != page:
            page, name = name, page
        return wikilink(page, name, in_table=in_table)

    def page_name(self, name: str, path: str, source: str) -> str:
        """Return what a wikilink in `source` calls the page at `path`, if possible by `name`."""
        short = path.removesuffix(".md")
        for page in (name, stem_of(path), short):
            destination = self._generation.destinations.find(page, source)
            if destination is not None and destination.path == path and "|" not in page:
                return page
        return short

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
            for link, line in self._links_with_lines(body, first_line):
                if link.target in leading and (line, link.target) not in seen:
                    seen.add((line, link.target))
                    text = _line_at(body, link.start, labels_first=self.labels_first)
                    yield Backlink(source, title, date, line, text, link.target)
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
                similar = self._similar(target_key(split_target(target.written)[0]))
                suggestions = tuple(each for each in similar if each != path)[:MOST]
                yield BrokenLink(path, target.written, line, suggestions)

    def _similar(self, key: str) -> tuple[str, ...]:
        """Return the paths of the documents with the most similar names, best first."""
        if key not in self._found:
            keys, paths = self._keys_and_paths if key and self._room > 0 else ([], [])
            self._room -= len(keys)
            found = process.extract(
                key, keys, scorer=fuzz.ratio, limit=2 * MOST + 2, score_cutoff=SIMILAR
            )
            self._found[key] = tuple(dict.fromkeys(paths[index] for _, _, index in found))
        return self._found[key]

    def _is_broken(self, target: Target, path: str) -> bool:
        """Return whether a target leads to neither a document nor another file or folder.

        A path that leads out of the base is not checked.
        """
        page = split_target(target.written)[0]
        if target.destination is not None or page.casefold() in _TABLES_OF_CONTENTS:
            return False
        if not self._snapshot.is_vault and page in self._tags(path):
            return False  # Logseq and Roam link to tags, which need no page
        if self.labels_first and page.endswith("*"):  # Dendron embeds all notes below one
            place = bisect_left(self._stems, page[:-1])
            return not "".join(self._stems[place : place + 1]).startswith(page[:-1])
        if page.startswith("/") and not self._addresses.isdisjoint(_ends_of(page.strip("/"))):
            return False
        is_file = "." in page.rpartition("/")[2] and not page.lower().endswith(".md")
        for spelling in dict.fromkeys((page, unquote(page))):  # a name may hold an encoded `#`
            if is_file and self._attachments.find(spelling, path):
                return False
            if "/" in page or is_file:
                files = (spelling, *_sources_of(spelling))
                places = chain.from_iterable(places_of(file, path) for file in files)
                if any(f"{place}/".startswith("../") or self._exists(place) for place in places):
                    return False
        return True

    def _targets(self, path: str) -> Iterator[tuple[Target, int]]:
        targets = self.graph.targets.get(path, ())
        ((body, first_line),) = self._bodies([path])
        lines: dict[str, int] = {}
        for link, line in self._links_with_lines(body, first_line) if targets else ():
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
        holding = map(self._generation.words.rows_holding_all, filter(None, named))
        rows = {row for rows in holding for row in rows.tolist()}
        paths = self._newest_first([self._snapshot.paths[row] for row in rows])
        unlinked = (source for source in paths if source not in linking)
        found = (mention for source in unlinked for mention in self._mentions_in(source, search))
        return islice(found, MOST_MENTIONS)

    def _mentions_in(self, source: str, search: MentionSearch) -> Iterator[UnlinkedMention]:
        ((body, first_line),) = self._bodies([source])
        title, date = self._title_and_date(source)
        for start, end in search.find(body):
            line = first_line + body.count("\n", 0, start)
            column = start - body.rfind("\n", 0, start) - 1
            text = _line_at(body, start, labels_first=self.labels_first)
            name = body[start:end]
            yield UnlinkedMention(source, title, date, line, text, name, column)

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

    def _links_with_lines(self, body: str, first_line: int) -> Iterator[tuple[WrittenLink, int]]:
        line, counted = first_line, 0
        for link in links_of(body, labels_first=self.labels_first):
            line += body.count("\n", counted, link.start)
            counted = link.start
            yield link, line

    def _bodies(self, paths: Sequence[str]) -> list[Body]:
        return self._generation.bodies.read(paths)


_SOURCES = (".md", ".mdx", ".rst", ".adoc", ".qmd", ".ipynb", ".html")


def _sources_of(page: str) -> Iterator[str]:
    """Yield what a site may make a page of: `x.md` for `x.html`.

    For `x/index.html`, these are `x.md`, and `x/index.md` and `x/README.md`, too.
    """
    stem = page.removesuffix(".html").rstrip("/")
    folder, slash, name = stem.rpartition("/")
    stems = [stem]
    if name == "index":
        stems += [f"{folder}{slash}README", *([folder] if folder else [])]
    yield from (f"{each}{suffix}" for each in stems for suffix in _SOURCES)


_ADDRESS_KEYS = ("slug", "permalink", "url")


def _ends_of(path: str) -> Iterator[str]:
    """Yield `a/b/c`, `b/c` and `c`: a site may put its pages below a folder of its own."""
    while path:
        yield path
        path = path.partition("/")[2]


_TABLES_OF_CONTENTS = frozenset({"toc", "_toc_"})
"""What some programs replace by a table of contents: `[[_TOC_]]`."""


def _line_at(body: str, offset: int, *, labels_first: bool) -> str:
    first, last = max(offset - REACH, 0), offset + REACH
    start = body.rfind("\n", first, offset) + 1 or first
    end = body.find("\n", offset, last)
    line = body[start : end if end >= 0 else last]
    parts, done, place = list[str](), 0, offset - start
    for link in find_written_links(line, labels_first=labels_first):
        if link.start < offset - start:
            place -= max(min(link.end, offset - start) - link.start - len(link.label), 0)
        parts += [line[done : link.start], link.label]
        done = link.end
    return _cut("".join([*parts, line[done:]]), place)


def _cut(line: str, place: int) -> str:
    if len(line.strip()) <= LINE_LENGTH:
        return line.strip()
    start = line.find(" ", max(place - LINE_LENGTH // 2, 0), place) + 1 if place > 100 else 0
    shown = line[start : start + LINE_LENGTH]
    if start + LINE_LENGTH < len(line):
        shown = shown[: shown.rfind(" ") + 1 or None]
    return shown.strip()


_SKIPPED = (
    CODE_SPAN + r"|!?\[\[[^\[\]\n]{1,500}\]\]"
    r"|!?\[[^\[\]\n]{0,500}\](?:\([^()\n]{0,1000}\)|\[[^\[\]\n]{0,500}\]|:)"
    r"|<[^<>\n]{1,1000}>|[a-z][a-z0-9+.-]{1,20}://[^\s<>]+"
    r"|(?<!\S)[#^][\w/-]+|\[\^[^\[\]\n]{1,200}\]"
)
"""Matches code, links, HTML tags, web addresses, tags, block ids and footnotes."""
_SPACELESS = re.compile(CJK_CHARACTER)


class MentionSearch:
    """Searches a text for some names as whole words.

    Letter case counts for short names and ordinary words; any spaces and tabs separate words.
    """

    def __init__(self, names: Iterable[str]) -> None:
        distinct = dict.fromkeys(name.strip() for name in names if name_key(name))
        self._names = sorted(islice(distinct, MOST_NAMES), key=len)[::-1]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(f"{_SKIPPED}|(?P<name>{self._forms.pattern})")

    @cached_property
    def _forms(self) -> re.Pattern[str]:
        return re.compile("|".join(map(_form, self._names)))

    @cached_property
    def _first_look(self) -> re.Pattern[str]:
        words = (map(re.escape, _lower(name).split()) for name in self._names)
        return re.compile("|".join(map(r"[ \t]+".join, words)))

    def terms(self, language: str) -> list[list[str]]:
        """Return the search terms of each name: a text in `language` with the name has all."""
        words = (words_in(name) for name in self._names)
        return [[term for word in each if (term := term_of(word, language))] for each in words]

    def find(self, body: str) -> Iterator[tuple[int, int]]:
        if not self._names or not self._may_hold_name(body):
            return  # spares finding code, which is far slower
        for match in self._pattern.finditer(blank_code(body)):
            if match["name"] and "\n" not in match["name"]:
                yield match.span("name")

    def _may_hold_name(self, body: str) -> bool:
        """Return whether a body holds a name, perhaps within a word or in code."""
        if all(map(str.isascii, self._names)):
            return self._first_look.search(_lower(body)) is not None
        return self._forms.search(body) is not None


def _form(name: str) -> str:
    """Return a pattern for a name as whole words; scripts without spaces have no boundaries."""
    words = r"[ \t]+".join(re.escape(word) for word in name.split())
    before = "" if _SPACELESS.match(name[0]) else r"(?<![\w@])"
    after = "" if _SPACELESS.match(name[-1]) else r"(?!\w)"
    return before + (words if is_ambiguous(name_key(name)) else f"(?i:{words})") + after


def _lower(text: str) -> str:
    """Return a text in lower case, with the letters that `re` matches with `i` and `s` replaced."""
    return text.lower().replace("i\u0307", "i").replace("\u0131", "i").replace("\u017f", "s")


MOST = 3
SIMILAR = 75.0
"""Lowest similarity of a suggested name, 0..100: allows two typing errors in eight letters."""


def target_key(page: str) -> str:
    return name_key(page.rpartition("/")[2].removesuffix(".md"))
