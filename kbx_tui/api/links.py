"""Links to and from a document, broken ones, mentions made links, and links of merged pages."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from kbx_tui.api.documents import Documents
from kbx_tui.api.entities import Entities
from kbx_tui.api.session import Session
from kbx_tui.base_trust import OBSIDIAN
from kbx_tui.errors import EmbeddingError, NotFound, UnknownEntity, WriteFault
from kbx_tui.index.path_filter import holds, nearest_path
from kbx_tui.knowledge.decoding import decode
from kbx_tui.knowledge.fields import stem_of
from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.obsidian_vault import list_attachments, obsidian_address
from kbx_tui.knowledge.reading import parse_document
from kbx_tui.knowledge.records import Document, Entity
from kbx_tui.knowledge.written_links import WrittenLink, lines_in_tables, split_target
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.search import browse
from kbx_tui.search.document_links import LinkIndex
from kbx_tui.search.link_graph import Destination, part_line
from kbx_tui.search.link_records import (
    MOST_DOCUMENTS,
    BrokenLink,
    DocumentLinks,
    LinkedDocument,
    LinkOverview,
    RelatedDocuments,
    UnlinkedMention,
)
from kbx_tui.search.ranking.rank import Ranking
from kbx_tui.search.results.answer import vector_notes

if TYPE_CHECKING:
    from kbx_tui.drafting.drafts import Written
    from kbx_tui.search.browse import PageList


class Links:
    """The links of one base, as indexed; `kb.links`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._index: tuple[object, LinkIndex] | None = None

    def of(self, name: str) -> DocumentLinks:
        """Return the links to and from a document, by path, id, title or alias. Raises NotFound."""
        self._session.ensure_indexed()
        return self._links().of(self._path(replace_surrogates(name)))

    def related(self, name: str, limit: int) -> RelatedDocuments:
        """Return what is related to a document; see `KnowledgeBase.related`."""
        from kbx_tui.search.related import RelatedSearch  # links need none of it

        session = self._session
        session.ensure_indexed()
        path, links = self._path(replace_surrogates(name)), self._links()
        index, notes, vectors = session.fresh_index(), list[str](), None
        generation = index.generation()
        try:
            embedder = session.embedder()
            stored = int(index.store.meta().get("dimension", 0))
            dimension = stored or embedder.dimension  # which a server says only if it is there
            vectors = generation.vectors(model=embedder.model, dimension=dimension)
            notes += vector_notes(vectors.coverage.share, vectors.coverage.missing)
        except EmbeddingError as error:
            notes.append(f"meaning was not compared: {error}")
        muted = session.settings.search.muted_documents
        search = RelatedSearch(generation.snapshot, links.graph, vectors)
        found, pages = search.find(path, limit + len(muted))
        session.read_paths.update(pages)
        related = tuple(each for each in found if each.path not in muted)[:limit]
        title = generation.snapshot.titles[generation.snapshot.row_of[path]]
        return RelatedDocuments(path, title, related, (*notes, *session.outdated_notes()))

    def check(self, path: str | None = None) -> tuple[BrokenLink, ...]:
        """Return the links that lead to nothing, by path and line, with documents likely meant.

        Links to a heading or block that the document does not have are among them. Raises NotFound
        for a path without documents.
        """
        self._session.ensure_indexed()
        documents = Documents.of(self._session)
        documents.require_scope(path=path)
        paths = None if path is None else set(documents.in_scope(path))
        return self._links().all_broken(paths)

    def orphans(self, path: str = "") -> PageList:
        """Return the documents, of those that a path filter matches, to which no other links.

        Raises NotFound for a path without documents.
        """
        from kbx_tui.search.browse import list_pages

        self._session.ensure_indexed()
        documents = Documents.of(self._session)
        documents.require_scope(path=path)
        paths = self._links().orphans(documents.in_scope(path))
        return list_pages(self._session.open_index().generation(), paths)

    def overview(self) -> LinkOverview:
        """Return how many links and broken links the base has, and what is linked most."""
        self._session.ensure_indexed()
        return self._links().overview()

    def most_linked(self, documents: Ranking | str) -> tuple[LinkedDocument, ...]:
        """Return the most linked of some documents, at least 2 links each; "" stands for all."""
        return self._links().most_linked(Documents.of(self._session).chosen(documents))

    def follow(self, target: str, source: str) -> Destination | None:
        """Return where a wikilink or relative link in a document leads; None for any other."""
        index = self._session.fresh_index()
        return browse.follow(index, replace_surrogates(target), replace_surrogates(source))

    def obsidian_address(self, path: str) -> str:
        """Return the address at which Obsidian opens a document.

        Empty where `[links] open` does not name it, and where the base is not a vault or not
        trusted with that.
        """
        session = self._session
        if session.settings.links.open != "obsidian" or OBSIDIAN in session.refused:
            return ""
        return obsidian_address(session.root, path)

    def titles_to_ask_for(self) -> list[str]:
        """Return the titles of the most linked notes of a small base without entities."""
        snapshot = self._session.snapshot()
        if snapshot.entities or len(snapshot.paths) > MOST_DOCUMENTS:
            return []
        return [linked.title for linked in self.most_linked("")]

    def link(self, mention: UnlinkedMention, path: str, *, dry_run: bool = False) -> Written:
        """Make a mention a link to a document. Raises WriteFault if the name is gone."""
        from kbx_tui.api.file_writer import FileWriter  # reading needs none of it
        from kbx_tui.editing.page_edits import LinkName

        files = FileWriter(self._session)
        before = files.read(mention.path)
        lines = decode(before)[0].split("\n")
        in_table = mention.line - 1 in lines_in_tables(lines)
        wikilink = self._links().wikilink(mention.name, path, mention.path, in_table=in_table)
        edit = LinkName(mention.line, mention.column, mention.name, wikilink)
        description = f"link {mention.name}"
        return files.edit_page(mention.path, [edit], description, before=before, dry_run=dry_run)

    def sources(self, path: str) -> Sequence[str]:
        """Return the paths of the other documents that link to one, sorted."""
        return self._links().graph.sources.get(path, ())

    def redirected(
        self, path: str, data: bytes, old: str, new: Entity, aliases: Iterable[str]
    ) -> bytes:
        """Return a page whose links to the page at `old` lead to that of an entity.

        Links by one of its `aliases` stay, except in Obsidian vaults. Raises WriteFault for a link
        that cannot be changed, and for one in a property that is not by such a name.
        """
        from kbx_tui.editing.page_merge import with_links_to

        links, find = self._links(), self._session.fresh_index().generation().destinations.find
        names = set(map(name_key, aliases))
        is_vault = self._session.snapshot().is_vault

        def name(link: WrittenLink) -> str | None:
            found = find(link.target, path) if link.page else None
            if found is None or found.path != old:
                return None
            if link.is_wikilink and not is_vault and name_key(link.page) in names:
                return None
            # Obsidian finds a page by the name of its file alone.
            return links.page_name(stem_of(new.path) if is_vault else new.name, new.path, path)

        for target in links.graph.targets.get(path, ()):
            leads = target.destination is not None and target.destination.path == old
            by_name = name_key(split_target(target.written)[0]) in names
            if leads and (links.labels_first or (target.in_property and not by_name)):
                raise WriteFault(
                    f"the link {target.written!r} in {path} has to be changed by hand first"
                )
        after = with_links_to(path, data, new.path, name)
        for was, now in zip(
            *(parse_document(path, each).links for each in (data, after)), strict=True
        ):
            found = find(now, path)
            if was != now and (found is None or found.path != new.path):
                raise WriteFault(f"the link {was!r} in {path} has to be changed by hand first")
        return after

    def require_same(self, old: Document, new: Document, merged: Document) -> None:
        """Raise WriteFault if a link leads elsewhere once the page `old` is part of `new`."""
        graph = self._links().graph
        find = graph.destinations.find
        for written in (*old.links, *old.property_links):
            page, _ = split_target(written)
            if page and find(written, old.path) != find(written, new.path):
                raise WriteFault(
                    f"the link {written!r} of {old.path} would lead elsewhere from {new.path}: "
                    "give its full path first"
                )
        pages, lines = {old.path: old, new.path: new}, merged.body.split("\n")
        lines_of = {path: page.body.split("\n") for path, page in pages.items()}
        count, counts_of = Counter(lines), {path: Counter(lines_of[path]) for path in pages}
        for path in {*pages, *self.sources(old.path), *self.sources(new.path)}:
            for target in graph.targets.get(path, ()):
                found = target.destination
                if found is None or found.path not in pages or not found.heading:
                    continue
                was = part_line(pages[found.path].body, 1, found.heading)
                now = part_line(merged.body, 1, found.heading)
                text = lines_of[found.path][was - 1]
                same_count = count[text] == counts_of[found.path][text]
                is_same = now and lines[now - 1] == text and same_count
                if was and not is_same:
                    raise WriteFault(
                        f"the link {target.written!r} in {path} would no longer lead to one "
                        "heading: rename that heading, or change the link first"
                    )

    def require_kept(self, path: str, before: bytes, after: bytes) -> None:
        """Raise WriteFault if links lead to a page, or into it, by words that it would lose."""
        old, new = (parse_document(path, data) for data in (before, after))
        names, known = (set(map(name_key, (each.title, *each.aliases))) for each in (old, new))
        lost = names - known - {name_key(stem_of(path))}
        graph = self._links().graph
        for source in (path, *self.sources(path)):
            for target in graph.targets.get(source, ()):
                found = target.destination
                if found is None or found.path != path:
                    continue
                page, part = name_key(split_target(target.written)[0]), found.heading
                was, now = (part and part_line(each.body, 1, part) for each in (old, new))
                if page in lost or (was and not now):
                    raise WriteFault(
                        f"the link {target.written!r} in {source} leads to {path} by the wrong "
                        "name: change that link first"
                    )

    def require_own_names(self, old: Entity, new: Entity) -> None:
        """Raise WriteFault if links by a name that `new` gets from `old` lead to a third entity."""
        added = {name_key(name) for name in (old.name, *old.aliases)}
        for path, targets in self._links().graph.targets.items():
            for target in targets:
                found = target.destination
                if found is None or found.path in (old.path, new.path):
                    continue
                page, _ = split_target(target.written)
                if name_key(page) in added and "/" not in page and found.entity_id:
                    raise WriteFault(
                        f"the link {target.written!r} in {path} leads to {found.path}, which has "
                        f"that name, too: take it from {old.path} or change the link first"
                    )

    def _links(self) -> LinkIndex:
        index = self._session.fresh_index()
        generation = index.generation()
        if self._index is None or self._index[0] is not generation:
            root = self._session.root
            attachments = cache(lambda: sorted(list_attachments(root)))
            exists = partial(self._exists, attachments)
            before = None if self._index is None else self._index[1].known_graph
            links = LinkIndex(generation, index.store, attachments, exists, before)
            self._index = generation, links
        return self._index[1]

    def _exists(self, attachments: Callable[[], Sequence[str]], path: str) -> bool:
        """Return whether a file or folder is at a path of the base, which may be hidden.

        For agents, only indexed pages and attachments exist, and the folders that they are in.
        """
        if self._session.is_public:
            pages = self._session.snapshot().paths
            return path == "." or holds(pages, path) or holds(attachments(), path)
        try:
            return os.path.lexists(self._session.root / path)
        except ValueError:  # the path holds a NUL
            return False

    def _entity_page(self, name: str) -> Destination | None:
        """Return where an entity's name leads, with or without `@`; None for an unknown name.

        Raises Ambiguous, and UnknownEntity for a name with `@`.
        """
        try:
            entity = Entities(self._session).resolve(name.removeprefix("@"))
        except UnknownEntity:
            if name.startswith("@"):
                raise
            return None
        return Destination(entity.path, entity.id)

    def _path(self, name: str) -> str:
        documents = Documents.of(self._session)
        try:
            path, entity = documents.identify(name)
        except NotFound:
            found = self.follow(name, "") or self._entity_page(name)
            if found is None:
                near = nearest_path(name, documents.paths())
                if near == name.strip("/"):
                    raise NotFound(f"{near} is a folder; name a document in it") from None
                if not (near or name.endswith(".md")):
                    near = next((each.path for each in documents.find(name, 1)), "")
                hint = f"; did you mean {near}?" if near else ""
                raise NotFound(f"no document is called {name!r}{hint}") from None
            path = found.path
            entity = None
            self._session.read_paths.add(path)
        if not path:
            shown = entity.name if entity else name
            raise NotFound(f"{shown} has no page, so no document links to it")
        return path
