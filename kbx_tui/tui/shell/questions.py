"""Questions that fill the screen: trust a base, index so much, use its topics as entities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.command_table import Scope
from kbx_tui.tui.terminal_app import TerminalApp
from kbx_tui.tui.widgets.key_bar import KeyBar
from kbx_tui.tui.widgets.rows_view import Choice, ChoiceList, RowsView

if TYPE_CHECKING:
    from kbx_tui.base_trust import TrustRequest
    from kbx_tui.index.index_status import IndexQuestion

NO, YES = "no", "yes"


class QuestionScreen(Screen[bool]):
    """A question with two answers. Dismissed with whether the user says yes; esc says no."""

    AUTO_FOCUS = "ChoiceList"
    SCOPES: tuple[Scope, ...] = ("welcome", "list", "app")
    app = getters.app(TerminalApp)

    def __init__(self, title: str, no: str, yes: str) -> None:
        """`title` is that of yes; `no` and `yes` say what the answers lead to."""
        super().__init__()
        self.choices = ChoiceList([Choice(NO, "Not now", no), Choice(YES, title, yes)])

    def compose(self) -> ComposeResult:
        with Vertical(id="welcome"):
            yield self.choices
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(KeyBar).use(self.app.keymap)
        self.query_one(KeyBar).show(*self.SCOPES)

    @on(RowsView.Opened)
    def take_choice(self, event: RowsView.Opened) -> None:
        self.dismiss(event.row.id == YES)

    def action_back(self) -> None:
        self.dismiss(False)


class TrustQuestion(QuestionScreen):
    """Whether a base may do what its kbx.toml asks for.

    What it asks for scrolls by itself, so that the answers stay visible.
    """

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


class EntitiesQuestion(QuestionScreen):
    """Whether tags, hubs and similar topics of notes are to be entities.

    One key answers, unlike where trust is asked for: a yes here can be undone.
    """

    BINDINGS = bindings("question")
    SCOPES = ("question", "welcome", "list", "app")

    def __init__(self, sentence: str, names: Sequence[str]) -> None:
        """`sentence` has the counts in words, `names` are lines of names (`EntityProposal`)."""
        super().__init__(
            "Use them as entities",
            "not asked again here; kbx init proposes it later",
            "written to kbx.toml; kbx undo takes it back",
        )
        self.choices.border_title = "Entities"
        self.choices.intro = (
            safe_line(f"{sentence}: use them as entities? [y/n]"),
            *map(safe_line, names),
        )
        self.choices.outro = (
            "A search finds entities first, then the notes that belong to them. Each has a card,"
            " and experts ranks them. Notes are not changed.",
        )

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
