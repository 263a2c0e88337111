"""Links between documents: to and from one, broken ones, and mentions made links."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from kbx_tui.api.catalog import Catalog
from kbx_tui.api.file_writer import FileWriter
from kbx_tui.api.session import Session
from kbx_tui.drafting.records import Written
from kbx_tui.editing.page_edits import LinkName
from kbx_tui.errors import NotFound
from kbx_tui.knowledge.decoding import decode
from kbx_tui.knowledge.inline import is_in_table
from kbx_tui.knowledge.obsidian_vault import list_attachments
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.search.document_links import LinkIndex
from kbx_tui.search.link_records import (
    MOST_DOCUMENTS,
    BrokenLink,
    DocumentLinks,
    LinkedDocument,
    LinkOverview,
    UnlinkedMention,
)


class LinkBrowser:
    """Looks links up in a session. `KnowledgeBase` documents the methods."""

    def __init__(self, session: Session) -> None:
        self._session, self._files = session, FileWriter(session)
        self._catalog = Catalog(session)
        self._index: tuple[object, LinkIndex] | None = None

    def of(self, name: str) -> DocumentLinks:
        self._session.ensure_indexed()
        return self._links().of(self._path(replace_surrogates(name)))

    def broken(self, path: str | None) -> tuple[BrokenLink, ...]:
        self._session.ensure_indexed()
        paths = None if path is None else set(self._catalog.paths_in_scope(path))
        return self._links().all_broken(paths)

    def overview(self) -> LinkOverview:
        self._session.ensure_indexed()
        return self._links().overview()

    def most_linked(self, paths: Collection[str]) -> tuple[LinkedDocument, ...]:
        return self._links().most_linked(paths)

    def titles_to_ask_for(self) -> list[str]:
        """Return the titles of the most linked notes of a small base without entities."""
        snapshot = self._session.snapshot()
        if snapshot.entities or len(snapshot.paths) > MOST_DOCUMENTS:
            return []
        return [linked.title for linked in self.most_linked(snapshot.paths)]

    def link(self, mention: UnlinkedMention, path: str, *, dry_run: bool) -> Written:
        before = self._files.read(mention.path)
        lines = decode(before)[0].split("\n")
        in_table = is_in_table(lines, mention.line - 1)
        wikilink = self._links().wikilink(mention.name, path, mention.path, in_table=in_table)
        edit = LinkName(mention.line, mention.column, mention.name, wikilink)
        return self._files.edit_page(
            mention.path, [edit], f"link {mention.name}", before=before, dry_run=dry_run
        )

    def _links(self) -> LinkIndex:
        """Return the links of the newest generation, read once."""
        index = self._session.fresh_index()
        generation = index.generation()
        if self._index is None or self._index[0] is not generation:
            attachments = partial(list_attachments, self._session.root)
            before = None if self._index is None else self._index[1].known_graph
            self._index = generation, LinkIndex(generation, index.store, attachments, before)
        return self._index[1]

    def _path(self, name: str) -> str:
        """Return the path of the document with a path, id, name, file name, title or alias."""
        try:
            path, entity = self._catalog.identify(name)
        except NotFound:
            found = self._catalog.follow(name, "")
            if found is None:
                nearest = self._catalog.find_documents(name, 1)
                hint = f"; did you mean {nearest[0].path}?" if nearest else ""
                raise NotFound(f"no document is called {name!r}{hint}") from None
            path = found.path
            entity = None
        if not path:
            shown = entity.name if entity else name
            raise NotFound(f"{shown} has no page, so no document links to it")
        return path
