"""Picks the folders to search in, over the explore screen."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.content import Content

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.indexing.folder_list import FolderList
from kbx_tui.tui.indexing.messages import FoldersChanged
from kbx_tui.tui.indexing.model import IndexModel
from kbx_tui.tui.shell.box_screen import BoxScreen


class FolderPicker(BoxScreen[None]):
    """The tree of the Index mode alone. Each choice applies at once."""

    BINDINGS = bindings("picker")
    SCOPES = ("folders", "list", "picker", "app")
    AUTO_FOCUS = "FolderList"

    def __init__(self, model: IndexModel, keymap: Keymap) -> None:
        super().__init__()
        self.model, self._keymap = model, keymap

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
        folders, path, key = self.query_one(FolderList), self.model.path, self._keymap.key_of
        folders.border_title = Content(f"Search in {safe_line(path) or 'everything'}")
        folders.border_subtitle = Content(
            f"{key('folders.toggle')} in or out · {key('folders.take')} only here"
            f" · {key('picker.close')} closes"
        )
        folders.refresh_folders()

    @on(FolderList.Taken)
    def leave_for_results(self) -> None:
        self.dismiss()

    def action_close(self) -> None:
        self.dismiss()
