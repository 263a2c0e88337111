"""Full-screen questions: which base to open, and what the app may do with it.

Separate from the app, because they are seldom asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import Bases, complete_folder, error_line, is_folder
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.command_table import Scope
from kbx_tui.tui.shell.overlay import Overlay
from kbx_tui.tui.terminal_app import OpenBase, TerminalApp
from kbx_tui.tui.widgets.footer import KeyBar, StatusLine
from kbx_tui.tui.widgets.input_fields import PathInput
from kbx_tui.tui.widgets.lines_view import Choice, ChoiceList, RowsView

if TYPE_CHECKING:
    from kbx_tui.base_trust import TrustRequest
    from kbx_tui.index.index_status import IndexQuestion
    from kbx_tui.knowledge.topics import EntityProposal


DEMO = Choice("demo", "Open the demo", "a fictional company, to look around in")
FOLDER = Choice("folder", "Choose a folder", "markdown you have; nothing in it is changed")
NEW = Choice("new", "Start a new one", "empty, with a page on what goes where")


class Welcome(Screen[None]):
    BINDINGS = bindings("bases")
    AUTO_FOCUS = "ChoiceList"
    app = getters.app(TerminalApp)

    def __init__(
        self, bases: Bases, app_state: AppState, *, why: str = "", is_base_open: bool = False
    ) -> None:
        super().__init__()
        self.bases, self.app_state = bases, app_state
        self.why, self.is_base_open = why, is_base_open
        self._find_root: Callable[[str], Path] = bases.existing
        self._forgotten: list[tuple[str, int]] = []

    def compose(self) -> ComposeResult:
        with Vertical(id="welcome"):
            yield ChoiceList(self._choices())
            yield FolderLine()
        yield StatusLine()
        yield KeyBar()

    def on_mount(self) -> None:
        choices = self.query_one(ChoiceList)
        choices.border_title = "Open another knowledge base" if self.is_base_open else "kbx"
        choices.intro = () if self.is_base_open else (ABOUT, _reason(self.why))
        choices.rebuild_lines()
        self._show_keys()
        self.query_one(FolderLine).border_title = "folder"

    @on(RowsView.Opened)
    def take_choice(self, event: RowsView.Opened) -> None:
        if event.row.id in (FOLDER.id, NEW.id):
            is_new = event.row.id == NEW.id
            self._find_root = self.bases.new if is_new else self.bases.existing
            self._ask_for_folder("~/notes/" if is_new else "")
        elif event.row.id == DEMO.id:
            self._open(self.bases.demo)
        else:
            root = event.row.id
            self._open(lambda: self.bases.existing(root))

    @on(Input.Submitted)
    def take_folder(self, event: Input.Submitted) -> None:
        folder = event.value.strip()
        if folder:
            self._open(lambda: self._find_root(folder))

    def action_back(self) -> None:
        if self.query_one(FolderLine).display:
            self.query_one(StatusLine).clear_error()
            self.query_one(FolderLine).display = False
            self.set_focus(self.query_one(ChoiceList))
        elif self.is_base_open:
            self.dismiss()

    def action_forget(self) -> None:
        choice = self.query_one(ChoiceList).current
        if choice is None or choice.id not in self.app_state.user.bases:
            self._say("only a recent knowledge base can be removed from this list")
            return
        self._forgotten.append((choice.id, self.app_state.forget_base(choice.id)))
        self._show_choices()
        key = self.app.keymap.key_of("base.recall")
        self._say(f"{choice.title} is no longer listed; its files stay; {key} lists it again")

    def action_recall(self) -> None:
        if not self._forgotten:
            self._say("no knowledge base was removed from this list")
            return
        root, place = self._forgotten.pop()
        self.app_state.recall_base(root, place)
        self._show_choices()
        self._say(f"{safe_line(Path(root).name)} is listed again")

    def _show_choices(self) -> None:
        choices = self.query_one(ChoiceList)
        choices.show_at(tuple(self._choices()), choices.cursor)
        self._show_keys()

    def _show_keys(self) -> None:
        has_bases = self.app_state.user.bases or self._forgotten
        bases: tuple[Scope, ...] = ("bases",) if has_bases else ()
        self.query_one(KeyBar).show("welcome", "list", *bases, "app")

    def _say(self, text: str) -> None:
        self.query_one(StatusLine).show_notice(text)

    def _choices(self) -> list[Choice]:
        recent = [
            Choice(base, safe_line(Path(base).name), safe_line(_shorten_home(base)))
            for base in self.app_state.user.bases
            if is_folder(base)
        ]
        return [*recent, FOLDER, DEMO, NEW] if recent else [DEMO, FOLDER, NEW]

    def _ask_for_folder(self, start: str) -> None:
        self.query_one(StatusLine).clear_error()  # about the previous folder
        line = self.query_one(FolderLine)
        line.display = True
        line.value = start
        line.cursor_position = len(start)
        self.set_focus(line)

    @work(exclusive=True, exit_on_error=False)
    async def _open(self, find_root: Callable[[], Path]) -> None:
        self.query_one(StatusLine).clear_error()
        self.query_one(StatusLine).show_progress("looking …")
        try:
            root = await asyncio.to_thread(find_root)
        except Exception as error:
            self.query_one(StatusLine).show_error(error_line(error))
            return
        finally:
            self.query_one(StatusLine).show_progress("")
        if self.is_base_open:
            self.dismiss()
        self.app.post_message(OpenBase(root))


class FolderLine(PathInput):
    def __init__(self) -> None:
        super().__init__(
            "a folder, as ~/notes", lambda text: asyncio.to_thread(complete_folder, text)
        )

    async def key_tab(self, event: events.Key) -> None:
        event.stop()
        self.cursor_position = len(self.value)
        self.action_cursor_right()

    async def key_escape(self) -> None:
        await self.run_action("screen.back")


ABOUT = (
    "Ask a folder of markdown who said, decided or knows what, and see why each answer stands where"
    " it does."
)


def _reason(why: str) -> str:
    reason = safe_line(why).partition(": ")[0]
    return f"{reason[:1].upper()}{reason[1:]}. Choose:" if reason else ""


def _shorten_home(root: str) -> str:
    home = str(Path.home())
    return f"~{root[len(home) :]}" if root.startswith(home + "/") else root


NO, YES = "no", "yes"


class QuestionScreen(Overlay[bool]):
    """A yes-or-no question. Dismissed with whether the user chose yes; esc means no."""

    AUTO_FOCUS = "ChoiceList"
    SCOPES: tuple[Scope, ...] = ("welcome", "list", "app")

    def __init__(self, title: str, no: str, yes: str) -> None:
        """`title` is the title of yes; `no` and `yes` describe the effect of each answer."""
        super().__init__()
        self.choices = ChoiceList([Choice(NO, "Not now", no), Choice(YES, title, yes)])

    def compose(self) -> ComposeResult:
        with Vertical(id="welcome"):
            yield self.choices
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(KeyBar).show(*self.SCOPES)

    @on(RowsView.Opened)
    def take_choice(self, event: RowsView.Opened) -> None:
        self.dismiss(event.row.id == YES)

    def action_back(self) -> None:
        self.dismiss(False)


class TrustQuestion(QuestionScreen):
    """Asks whether a base may do what its kbx.toml requests; only the requests scroll."""

    def __init__(self, root: str, requests: Sequence[TrustRequest]) -> None:
        blocks = any(request.blocks for request in requests)
        missing = " and ".join(filter(None, (request.without for request in requests)))
        without = "it stays closed" if blocks else f"all else works; {missing}"
        super().__init__("Allow it", without, "until its kbx.toml asks for something else")
        self.root, self.requests = root, tuple(requests)

    def compose(self) -> ComposeResult:
        with Vertical(id="trust"):
            with VerticalScroll(id="requests") as asked:
                asked.border_title = "Trust this knowledge base?"
                yield Static(Content("\n\n".join(self._paragraphs())))
            yield self.choices
        yield KeyBar()

    def _paragraphs(self) -> Iterator[str]:
        root = safe_line(self.root)
        yield f"{root} was not made here, and asks for more than searching needs:"
        for request in self.requests:
            yield safe_line(f"{request.wish}: it {request.effect}")


class ConfirmIndexing(QuestionScreen):
    def __init__(self, question: IndexQuestion) -> None:
        keep = "nothing is read or written" if question.is_first else "the index stays as it is"
        super().__init__(
            f"Index {question.count}",
            f"{keep}; the Index mode begins it later",
            "it can be paused and stopped",
        )
        self.choices.border_title = "Index all of this?"
        advice = "Files are only read. Words can be searched within seconds, meaning takes longer."
        if question.folder:
            advice = "A folder of your own notes is found faster, and holds nothing else."
        self.choices.intro = (safe_line(f"{question.sentence}."), advice)


NAMES_SHOWN = 6


class EntitiesQuestion(QuestionScreen):
    """Asks if topics of notes are entities. No letter answers: one may be typing a query."""

    def __init__(self, proposal: EntityProposal) -> None:
        super().__init__(
            "Use them as entities",
            "not asked again here; kbx init proposes it later",
            "written to kbx.toml; kbx undo takes it back",
        )
        self.choices.border_title = "Entities"
        self.choices.intro = (
            safe_line(f"{proposal.sentence}: use them as entities?"),
            *map(safe_line, proposal.lines(NAMES_SHOWN)),
        )
        self.choices.outro = (
            *map(safe_line, proposal.explanation),
            "Each entity has a card, and experts ranks them. Notes are not changed.",
        )
