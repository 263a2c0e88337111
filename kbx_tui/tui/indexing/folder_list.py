"""The tree of folders with the hits of the query; keys take folders into the scope and out of it.

Only the folders that are unfolded have a row, and only the rows in view are drawn.
"""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.content import Content

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import fit
from kbx_tui.tui.drawing.lines import Line, Span, fit_line, looks
from kbx_tui.tui.indexing.folder_tree import FolderRow, FolderTree, Mark, folders_to
from kbx_tui.tui.indexing.model import FoldersChanged, IndexModel
from kbx_tui.tui.shell.frame_screen import BoxScreen
from kbx_tui.tui.widgets.lines_view import titled_text
from kbx_tui.tui.widgets.rows_view import RowsView

MARKS: dict[Mark, str] = {"": "", "all": "[x] ", "some": "[-] ", "none": "[ ] "}
COUNT = 7

no_folders = titled_text("No document is indexed yet.", "The folders appear here once one is.")


class FolderList(RowsView[FolderRow]):
    COMPONENT_CLASSES = looks("strong", "accent", "document", "rule", "cursor")
    BINDINGS = bindings("folders")

    def __init__(self, model: IndexModel) -> None:
        super().__init__()
        self.model = model
        self.empty_state = no_folders
        self._folders = FolderTree()
        self._opened: set[str] = {""}

    def refresh_folders(self) -> None:
        tree = self.model.folders
        if not self._folders.documents:  # open what has a single folder in it
            folder = ""
            while len(below := tree.children.get(folder, ())) == 1:
                folder = below[0]
                self._opened.add(folder)
        self._folders = tree
        self._lay_out()

    def row_line(self, row: int, part: int, width: int) -> Line:
        return folder_line(self.rows[row], width, self.marker(row))

    def action_toggle_folder(self) -> None:
        if (row := self.current) is not None:
            self.model.toggle(row.path)

    def action_unfold(self) -> None:
        """Show the folders in the current one, or go to the first of them."""
        row = self.current
        if row is None or not row.has_folders:
            return
        if row.is_open:
            self.choose(self.cursor + 1)
        else:
            self._opened.add(row.path)
            self._lay_out()

    def action_fold(self) -> None:
        """Hide the folders in the current one, or go to the folder that it is in."""
        row = self.current
        if row is None:
            return
        if row.is_open and row.path:
            self._opened.discard(row.path)
            self._lay_out()
        elif row.path:
            places = {each.path: place for place, each in enumerate(self.rows)}
            outer = [places[folder] for folder in folders_to(row.path) if folder in places]
            self.choose(outer[-1])

    def _lay_out(self) -> None:
        self.show_rows(self._folders.rows(self._opened), key=lambda row: row.path)


def folder_line(row: FolderRow, width: int, marker: str) -> Line:
    """Return `›   ▸ [x] meetings      5,012    12 hits`."""
    fold = ("▾ " if row.is_open else "▸ ") if row.has_folders else "  "
    name = safe_line(row.path.rpartition("/")[2]) + "/" if row.path else "everything"
    hits = "" if row.hits is None else f" {row.hits:>6,} {'hit ' if row.hits == 1 else 'hits'}"
    documents = f"{row.documents:>{COUNT},}"
    mark = MARKS[row.mark]
    head = f"{marker}{'  ' * row.depth}{fold}"
    room = max(width - len(head) - len(mark) - len(documents) - len(hits) - 1, 6)
    return fit_line(
        (
            Span(head, "dim"),
            Span(mark, "accent" if row.mark in ("all", "some") else "dim"),
            Span(fit(name, room), "strong" if row.hits else "text"),
            Span(documents, "dim"),
            Span(hits, "document" if row.hits else "rule"),
        ),
        width,
    )


class FolderPicker(BoxScreen[None]):
    """The tree of the Index mode alone. Each choice applies at once."""

    BINDINGS = bindings("picker")
    SCOPES = ("folders", "list", "picker", "app")
    AUTO_FOCUS = "FolderList"

    def __init__(self, model: IndexModel) -> None:
        super().__init__()
        self.model = model

    def compose(self) -> ComposeResult:
        yield FolderList(self.model)

    def on_mount(self) -> None:
        self.model.post = self.post_message
        self.show_folders()
        self.model.read_folders()

    def on_unmount(self) -> None:
        self.model.close()

    @on(FoldersChanged)
    def show_folders(self) -> None:
        folders, path, key = self.query_one(FolderList), self.model.path, self.app.keymap.key_of
        folders.border_title = Content(f"Search in {safe_line(path) or 'everything'}")
        folders.border_subtitle = Content(
            f"{key('folders.toggle')} in or out · {key('folders.take')} only here"
            f" · {key('picker.close')} closes"
        )
        folders.refresh_folders()

    @on(RowsView.Opened)
    def search_in_folder(self, event: RowsView.Opened) -> None:
        self.model.take(event.row.path)
        self.dismiss()

    def action_close(self) -> None:
        self.dismiss()
