"""What is indexed, what needs attention, and where: the Index mode."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Size

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.command_table import Scope
from kbx_tui.tui.indexing.folder_list import FolderList
from kbx_tui.tui.indexing.model import FilesRead, FoldersChanged, RunChanged
from kbx_tui.tui.indexing.panes import FileList, RunPane, file_groups
from kbx_tui.tui.shell.frame_screen import ModeScreen
from kbx_tui.tui.shell.messages import GoTo
from kbx_tui.tui.widgets.key_bar import KeyBar
from kbx_tui.tui.widgets.lines_view import dim_text, titled_text
from kbx_tui.tui.widgets.rows_view import RowsView

nothing_to_do = titled_text(
    "Nothing needs attention.",
    "Every file was read completely, the index holds what is on disk, and all of it can be found by"
    " words and by meaning.",
)
index_of_another_machine = titled_text(
    "Nothing needs attention.",
    "Another machine indexes the files and publishes the index. Newer versions are fetched while"
    " you search.",
)
reading_files = dim_text("comparing the files with the index …")


class Index(ModeScreen):
    BINDINGS = bindings("indexing", "mode")
    AUTO_FOCUS = "FileList"
    MODE = "index"
    PANES: ClassVar = {"files": FileList, "folders": FolderList}
    MAIN_LIST = FileList

    def __init__(self, session: BaseSession, app_state: AppState) -> None:
        super().__init__(session, app_state)
        self.model = session.index
        self._is_settled = False
        """Whether the files have been listed once, so that the focus is where the user put it."""

    def compose_panes(self) -> ComposeResult:
        with Horizontal(id="index-panes"):
            with Vertical(id="index-files"):
                yield RunPane()
                yield FileList()
            yield FolderList(self.model)

    def on_mount(self) -> None:
        self.model.post = self.post_message
        self.query_one(FileList).border_title = "Files"
        self.query_one(FileList).empty_state = reading_files
        self.show_folders()
        self.show_run()
        self.model.open()

    def on_unmount(self) -> None:
        self.model.close()

    def fit(self, size: Size) -> None:
        self.set_class(size.height < 24, "-low")
        # The borders say which key shows the other pane, where there is room for one.
        key = self.app.keymap.key_of("screen.next")
        for pane, other in ((FileList, "folders"), (FolderList, "files")):
            hint = "" if self.has_class("-wide") else f"{key}: {other}"
            self.query_one(pane).border_subtitle = hint

    def scopes(self) -> tuple[Scope, ...]:
        is_empty = isinstance(self.focused, FileList) and not self.focused.rows
        return tuple(scope for scope in super().scopes() if not (is_empty and scope == "files"))

    @on(RunChanged)
    def show_run(self) -> None:
        overview = self.model.overview
        if overview is not None and overview.published:
            words = safe_line(f"read from {overview.published}")
        else:
            words = self.session.index_sync.watching_words
        self.query_one(RunPane).show(self.model.run, overview, words)

    @on(FilesRead)
    def show_files(self) -> None:
        files = self.query_one(FileList)
        files.empty_state = nothing_to_do
        if self.model.overview is not None:
            if self.model.overview.published:
                files.empty_state = index_of_another_machine
            model = self.model
            files.show(file_groups(self.model.overview, model.over_retrieved, model.muted))
            if model.has_read_queries and not self._is_settled:
                self._is_settled = True
                self._leave_empty_list(files)
        self.query_one(KeyBar).show(*self.scopes())
        self.show_run()

    def _leave_empty_list(self, files: FileList) -> None:
        folders = self.query_one(FolderList)
        if not files.rows and files.has_focus and folders.rows and self.has_class("-wide"):
            self.set_focus(folders)

    @on(FoldersChanged)
    def show_folders(self) -> None:
        folders, path = self.query_one(FolderList), self.model.path
        where = f"in {safe_line(path)}" if path else "everywhere"
        folders.border_title = Content(f"Folders · {where}")
        folders.refresh_folders()

    @on(RowsView.Opened, "FolderList")
    def search_in_folder(self, event: RowsView.Opened) -> None:
        self.model.take(event.row.path)
        self.app.post_message(GoTo())

    @on(RowsView.Opened, "FileList")
    async def mend_file(self) -> None:
        await self.action_edit()

    def action_pause(self) -> None:
        sync = self.session.index_sync
        if sync.run.state == "paused":
            sync.resume()
        elif sync.run.is_active:
            sync.pause()
        else:
            self.show_notice("nothing is being indexed")

    def action_stop(self) -> None:
        sync, key = self.session.index_sync, self.app.keymap.key_of("index.run")
        if not sync.run.is_active:
            self.show_notice("nothing is being indexed")
            return
        sync.halt()
        self.show_notice(f"stopping; what is indexed stays, and {key} goes on")

    def action_run(self) -> None:
        self.session.index_sync.index(by_user=True)

    def action_watch(self) -> None:
        sync, overview = self.session.index_sync, self.model.overview
        if overview is not None and overview.published:
            self.show_notice("no files are watched here: another machine indexes them")
            return
        if sync.is_watching:
            sync.stop_watching()
            self.show_notice("files are not watched until you start kbx again, or turn it on here")
        else:
            sync.watch(by_user=True)
            self.show_notice("files are indexed as soon as they change")
        self.show_run()

    async def action_edit(self) -> None:
        row = self.query_one(FileList).current
        if row is None or row.is_gone or not await self.edit_file(row.path, row.line):
            self.show_notice("no file is chosen: go to one first")

    def action_mute(self) -> None:
        """Leave the document under the cursor out of every search, or leave it in again."""
        row = self.query_one(FileList).current
        if row is None or row.is_gone or row.kind in ("problem", "template"):
            self.show_notice("no document is chosen: go to one first")
        else:
            self.model.mute(row.path)

    def action_undo(self) -> None:
        self.model.undo()
