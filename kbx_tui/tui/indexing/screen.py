"""The Index mode: the index run, files that need attention, and folders, also in their own box.

Keys add folders to the scope of the search and remove them. Folders below closed ones have no row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Size

from kbx_tui.formatting import format_count, format_duration, format_percent, format_size
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.command_table import Scope
from kbx_tui.tui.commands.keymap import ANY_MODE
from kbx_tui.tui.drawing.lines import Line, Look, Span, fit, looks, shorten_start, wrap
from kbx_tui.tui.engine.index_sync import STAGES, IndexRun, RunState
from kbx_tui.tui.indexing.model import (
    FilesRead,
    FolderRow,
    FoldersChanged,
    IndexModel,
    Mark,
    RunChanged,
    folders_to,
)
from kbx_tui.tui.shell.frame_screen import ModeBox, ModeScreen
from kbx_tui.tui.terminal_app import GoTo
from kbx_tui.tui.widgets.lines_view import RowsView, Slot, TextPane, dim_text, titled_text

if TYPE_CHECKING:
    from kbx_tui.evaluation.past_queries import OverRetrieved
    from kbx_tui.index.build.progress import Progress
    from kbx_tui.index.index_status import IndexOverview


STATES: dict[RunState, str] = {
    "idle": "up to date",
    "counting": "comparing files",
    "asking": "waiting for your answer",
    "running": "indexing",
    "paused": "paused",
    "stopped": "stopped; what is indexed stays",
    "locked": "waiting for another run to end",
    "failed": "the last run failed",
}
NAME = 11
FIGURES = 34


class RunPane(TextPane, can_focus=False):
    COMPONENT_CLASSES = looks("strong", "accent", "document", "rule", "bad")

    def show(self, run: IndexRun, overview: IndexOverview | None, watching: str) -> None:
        self.border_title = f"Index · {state_words(run, overview)}"
        self.set_class(run.state == "idle", "-done")
        self.content = lambda width: [
            *stage_lines(run, width, few=self.visible_height <= FEW_LINES),
            *base_lines(overview, watching),
        ]
        self.rebuild_lines()


def state_words(run: IndexRun, overview: IndexOverview | None) -> str:
    if run.state != "idle" or overview is None:
        return STATES[run.state] if run.state != "idle" else "…"
    if overview.stale:
        return f"{format_count(len(overview.stale), 'file')} to index"
    return "some texts lack vectors" if overview.unembedded else STATES["idle"]


FEW_LINES = 4


def stage_lines(run: IndexRun, width: int, *, few: bool = False) -> list[Line]:
    """Return a bar for each stage that is not done; with `few`, only for the current one."""
    stages = run.stages_left[:1] if few else run.stages_left
    now = run.now
    return [stage_line(name, now if now and name == now.stage else None, width) for name in stages]


def stage_line(name: str, now: Progress | None, width: int) -> Line:
    """Return ` meaning    ━━━━━━━━────  312 of 1,204  40/s  26 s left`; `now` if it has begun."""
    room = max(min(width - NAME - FIGURES - 3, 40), 6)
    share, figures = 0.0, [""]
    if now is not None:
        share = now.done / now.total if now.total else 0.0
        left = now.seconds_left
        figures = [
            f"{now.done:,} of {now.total:,}" if now.total > 1 else "",
            f"{now.rate:,.0f}/s" if now.rate else "",
            f"{format_duration(left)} left" if left is not None and left >= 1.0 else "",
        ]
    filled = int(share * room)
    return (
        Span(f" {fit(STAGES[name], NAME)}", "strong" if now else "dim"),
        Span("━" * filled, "document"),
        Span("─" * (room - filled), "rule"),
        Span(f"  {'  '.join(filter(None, figures))}", "dim"),
    )


def base_lines(overview: IndexOverview | None, watching: str) -> list[Line]:
    if overview is None:
        holds = "reading the index …"
    elif not overview.documents:
        holds = f"nothing is indexed; {format_count(len(overview.stale), 'file')} to index"
    else:
        holds = (
            f"{format_count(len(overview.documents), 'document')} ·"
            f" meaning {format_percent(overview.vector_share)} · {format_size(overview.size_bytes)}"
        )
    return [(Span(f" {holds}"),), (Span(f" {watching}", "dim"),)]


Kind = Literal["problem", "stale", "over-retrieved", "muted", "unembedded", "template"]


@dataclass(frozen=True, slots=True)
class FileRow:
    kind: Kind
    path: str
    line: int
    text: str
    is_gone: bool = False

    @property
    def place(self) -> str:
        """Path and line, such as `memory/people/ida.md:12`, without control characters."""
        return safe_line(f"{self.path}:{self.line}" if self.line else self.path)


def file_rows(
    overview: IndexOverview, over_retrieved: Sequence[OverRetrieved], muted: Sequence[str]
) -> Iterator[FileRow]:
    """Yield the files that need attention, kind by kind."""
    for problem in overview.problems:
        reason = safe_line(problem.reason) + " (not indexed)" * problem.skipped
        yield FileRow("problem", problem.path, problem.line or 0, reason)
    for path, change in overview.stale:
        yield FileRow("stale", path, 0, change, is_gone=change == "deleted")
    for each in over_retrieved:
        if each.path not in muted:
            count = f"{each.occurrences:,} of {each.queries:,} queries"
            yield FileRow("over-retrieved", each.path, 0, f"among the first ten of {count}")
    for path in muted:
        yield FileRow("muted", path, 0, "left out of every search")
    for path, texts in overview.unembedded:
        yield FileRow("unembedded", path, 0, f"{format_count(texts, 'text')} without a vector")
    for template in overview.templates:
        yield FileRow("template", template.path, 0, safe_line(template.reason))


class KindWords(NamedTuple):
    sign: str
    look: Look
    noun: str
    rest: str
    """What the title of the group says after the noun."""
    advice: str


KINDS: dict[Kind, KindWords] = {
    "problem": KindWords("!", "bad", "problem", "", "mend the file"),
    "stale": KindWords("~", "accent", "file", " to index", "the next run reads it"),
    "over-retrieved": KindWords(
        "+", "accent", "document", " too often found", "by queries without a word of its title"
    ),
    "muted": KindWords("–", "dim", "muted document", "", "[search] muted_documents in kbx.toml"),
    "unembedded": KindWords(
        "○", "dim", "document", " without vectors", "words find it, meaning not yet"
    ),
    "template": KindWords("–", "dim", "place", " left out", "on purpose; nothing is to be done"),
}
AROUND = 5


class FileList(RowsView[FileRow]):
    COMPONENT_CLASSES = looks("strong", "accent", "bad", "cursor")
    BINDINGS = bindings("files")

    def show(self, rows: Iterable[FileRow]) -> None:
        is_chosen = self.chosen
        self.show_rows(
            rows,
            key=lambda row: (row.kind, row.path) if is_chosen else None,
            otherwise=self.cursor,
        )

    def slots(self) -> Sequence[Slot | Line]:
        def title(first: FileRow) -> Line:
            words = KINDS[first.kind]
            count = format_count(sum(row.kind == first.kind for row in self.rows), words.noun)
            return (Span(f" {count}{words.rest}", "strong"), Span(f"  {words.advice}", "dim"))

        return self.grouped(lambda row: row.kind, title)

    def row_heights(self) -> list[int]:
        heights = [1] * len(self.rows)
        if self.rows:
            heights[self.cursor] += len(self._rest(self.cursor))
        return heights

    def cursor_moved(self) -> None:
        self.rebuild_lines()  # only the row under the cursor shows its text in full

    def row_line(self, row: int, part: int, width: int) -> Line:
        if part:
            return (Span(f"     {self._rest(row)[part - 1]}", "dim"),)
        content, place_width = self.rows[row], self._place_width(width)
        text = "" if self._rest(row) else content.text
        return file_line(content, text, self.marker(row), place_width)

    def _rest(self, row: int) -> list[str]:
        """Return further lines of a row: its wrapped text, if under the cursor and too long."""
        text, width = self.rows[row].text if row == self.cursor else "", self.line_width
        is_cut = cell_len(text) > width - self._place_width(width) - AROUND
        return wrap(text, max(width - 6, 10)) if is_cut else []

    def _place_width(self, width: int) -> int:
        longest = max((cell_len(row.place) for row in self.rows), default=0)
        return min(longest, max((width - AROUND) // 2, 8))


def file_line(row: FileRow, text: str, marker: str, place_width: int) -> Line:
    """Return `› ! memory/people/ida.md:12  the date cannot be read`."""
    words = KINDS[row.kind]
    place = shorten_start(row.place, place_width)
    return (
        Span(marker, "dim"),
        Span(f"{words.sign} ", words.look),
        Span(fit(place, place_width)),
        Span(f"  {text}", "dim"),
    )


MARKS: dict[Mark, str] = {"": "", "all": "[x] ", "some": "[-] ", "none": "[ ] "}

no_folders = titled_text("No document is indexed yet.", "The folders appear here once one is.")


class FolderList(RowsView[FolderRow]):
    COMPONENT_CLASSES = looks("strong", "accent", "document", "rule", "cursor")
    BINDINGS = bindings("folders")

    def __init__(self, model: IndexModel) -> None:
        super().__init__()
        self.model = model
        self.empty_state = no_folders
        self._opened: set[str] = {""}

    def refresh_folders(self) -> None:
        if not self.rows:  # open folders that contain a single folder
            folder = ""
            while len(below := self.model.folders.children.get(folder, ())) == 1:
                folder = below[0]
                self._opened.add(folder)
        self._lay_out()

    def row_line(self, row: int, part: int, width: int) -> Line:
        """Return `›   ▸ [x] meetings      5,012    12 hits`."""
        folder = self.rows[row]
        fold = ("▾ " if folder.is_open else "▸ ") if folder.has_folders else "  "
        name = safe_line(folder.path.rpartition("/")[2]) + "/" if folder.path else "everything"
        noun = "hit " if folder.hits == 1 else "hits"
        hits = "" if folder.hits is None else f" {folder.hits:>6,} {noun}"
        documents = f"{folder.documents:>7,}"
        mark = MARKS[folder.mark]
        head = f"{self.marker(row)}{'  ' * folder.depth}{fold}"
        room = max(width - len(head) - len(mark) - len(documents) - len(hits) - 1, 6)
        return (
            Span(head, "dim"),
            Span(mark, "accent" if folder.mark in ("all", "some") else "dim"),
            Span(fit(name, room), "strong" if folder.hits else "text"),
            Span(documents, "dim"),
            Span(hits, "document" if folder.hits else "rule"),
        )

    def action_toggle_folder(self) -> None:
        if (row := self.current) is not None:
            self.model.toggle(row.path)

    def action_unfold(self) -> None:
        row = self.current
        if row is None or not row.has_folders:
            return
        if row.is_open:
            self.choose(self.cursor + 1)
        else:
            self._opened.add(row.path)
            self._lay_out()

    def action_fold(self) -> None:
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
        self.show_rows(self.model.folders.rows(self._opened), key=lambda row: row.path)


class FolderPicker(ModeBox[None]):
    """The folder tree of the Index mode in a box of its own. Each choice applies at once."""

    BINDINGS = bindings("picker")
    SCOPES = ("folders", "list", "picker", "app")
    AUTO_FOCUS = "FolderList"

    def __init__(self, below: ModeScreen) -> None:
        super().__init__(below)
        self.model = below.session.index

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
    BINDINGS = bindings("indexing", *ANY_MODE)
    AUTO_FOCUS = "FileList"
    MODE = "index"
    PANES: ClassVar = {"files": FileList, "folders": FolderList}
    MAIN_LIST = FileList

    def __init__(self, session: BaseSession, app_state: AppState) -> None:
        super().__init__(session, app_state)
        self.model = session.index
        self._is_settled = False
        """Whether files have been listed before; from then on the focus stays where it is."""

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
        self._show_hidden_panes()

    def _show_hidden_panes(self) -> None:
        """Say in the border of a pane, if only one fits, which key shows the other."""
        key = self.app.keymap.key_of("screen.next")
        for pane, other in ((FileList, "folders"), (FolderList, "files")):
            hint = "" if self._shows_folders else f"{key}: {other}"
            self.query_one(pane).border_subtitle = hint

    @property
    def _shows_folders(self) -> bool:
        """Whether the folders are shown beside the files, or below where none needs attention."""
        is_clear = self.has_class("-clear") and not self.has_class("-small")
        return self.has_class("-wide") or is_clear

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
        self.query_one(RunPane).show(self.session.index_sync.run, overview, words)

    @on(FilesRead)
    def show_files(self) -> None:
        files = self.query_one(FileList)
        files.empty_state = nothing_to_do
        if self.model.overview is not None:
            if self.model.overview.published:
                files.empty_state = index_of_another_machine
            model = self.model
            files.show(file_rows(self.model.overview, model.over_retrieved, model.muted))
            self.set_class(not files.rows, "-clear")
            self._show_hidden_panes()
            if model.has_read_queries and not self._is_settled:
                self._is_settled = True
                folders = self.query_one(FolderList)
                if not files.rows and files.has_focus and folders.rows and self._shows_folders:
                    self.set_focus(folders)
        self.show_keys()
        self.show_run()

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

    @on(RowsView.Opened, "FileList")
    async def action_edit(self) -> None:
        row = self.query_one(FileList).current
        if row is None or row.is_gone or not await self.edit_file(row.path, row.line):
            self.show_notice("no file is chosen: go to one first")

    def action_mute(self) -> None:
        row = self.query_one(FileList).current
        if row is None or row.is_gone or row.kind in ("problem", "template"):
            self.show_notice("no document is chosen: go to one first")
        else:
            self.session.client.start(self.model.mute(row.path))

    def action_undo(self) -> None:
        self.model.undo()
