"""Links between documents: to and from one, broken ones, and mentions made links."""

from __future__ import annotations

from functools import partial

from kbx_tui.api.documents import Documents
from kbx_tui.api.file_writer import FileWriter
from kbx_tui.api.session import Session
from kbx_tui.base_trust import OBSIDIAN
from kbx_tui.drafting.drafts import Written
from kbx_tui.editing.page_edits import LinkName
from kbx_tui.errors import NotFound
from kbx_tui.knowledge.decoding import decode
from kbx_tui.knowledge.markdown import is_in_table
from kbx_tui.knowledge.obsidian_vault import list_attachments, obsidian_address
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.search import browse
from kbx_tui.search.document_links import LinkIndex
from kbx_tui.search.link_graph import Destination
from kbx_tui.search.link_records import (
    MOST_DOCUMENTS,
    BrokenLink,
    DocumentLinks,
    LinkedDocument,
    LinkOverview,
    UnlinkedMention,
)
from kbx_tui.search.ranking.rank import Ranking


class Links:
    """The links of one base, as indexed; `kb.links`."""

    def __init__(self, session: Session) -> None:
        self._session, self._files = session, FileWriter(session)
        self._index: tuple[object, LinkIndex] | None = None

    def of(self, name: str) -> DocumentLinks:
        """Return the links to and from a document, by path, id, title or alias. Raises NotFound."""
        self._session.ensure_indexed()
        return self._links().of(self._path(replace_surrogates(name)))

    def check(self, path: str | None = None) -> tuple[BrokenLink, ...]:
        """Return the links that lead to nothing, by path and line, with documents likely meant."""
        self._session.ensure_indexed()
        paths = None if path is None else set(Documents.of(self._session).in_scope(path))
        return self._links().all_broken(paths)

    def overview(self) -> LinkOverview:
        """Return how many links and broken links the base has, and what is linked most."""
        self._session.ensure_indexed()
        return self._links().overview()

    def most_linked(self, documents: Ranking | str) -> tuple[LinkedDocument, ...]:
        """Return those of some documents with most links to them, at least 2; "" are all."""
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
        documents = Documents.of(self._session)
        try:
            path, entity = documents.identify(name)
        except NotFound:
            found = self.follow(name, "")
            if found is None:
                nearest = documents.find(name, 1)
                hint = f"; did you mean {nearest[0].path}?" if nearest else ""
                raise NotFound(f"no document is called {name!r}{hint}") from None
            path = found.path
            entity = None
        if not path:
            shown = entity.name if entity else name
            raise NotFound(f"{shown} has no page, so no document links to it")
        return path
