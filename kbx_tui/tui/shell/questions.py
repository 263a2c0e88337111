"""Questions that fill the screen: trust a base, index so much, use its topics as entities."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import App, ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from kbx_tui.errors import KbxError
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.bases import Bases
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.command_table import Scope
from kbx_tui.tui.navigator import Navigator
from kbx_tui.tui.widgets.key_bar import KeyBar
from kbx_tui.tui.widgets.rows_view import Choice, ChoiceList

if TYPE_CHECKING:
    from kbx_tui.base_trust import TrustRequest
    from kbx_tui.index.index_status import IndexQuestion


class BaseQuestions:
    """Shows the questions over the app, and acts on the answers."""

    def __init__(
        self,
        app: App[Any],
        navigator: Navigator,
        bases: Bases,
        *,
        show_error: Callable[[str], object],
        on_trust: Callable[[Path], Awaitable[object]],
    ) -> None:
        """`on_trust` is called with the root of a base that the user has come to trust."""
        self._app, self._navigator, self._bases = app, navigator, bases
        self._show_error, self._on_trust = show_error, on_trust

    async def ask_for_trust(self, root: Path) -> None:
        """Ask whether the base at `root` may do what its kbx.toml asks for, if it asks."""
        if requests := await asyncio.to_thread(self._bases.questions, root):
            question = TrustQuestion(str(root), requests, self._navigator)
            self._app.push_screen(question, partial(self._take_trust, root, requests))

    def ask_to_index(self, question: IndexQuestion, answer: Callable[[bool], object]) -> None:
        """Ask whether to index that much; `answer` receives whether the user says so."""

        def take(confirmed: bool | None) -> None:
            answer(bool(confirmed))

        screen = ConfirmIndexing(question, self._navigator)
        self._app.call_later(self._app.push_screen, screen, take)

    def ask_for_entities(
        self, sentence: str, names: Sequence[str], answer: Callable[[bool], object]
    ) -> None:
        """Ask whether to use as entities what `sentence` counts; `answer` receives the answer.

        `names` are lines with the most frequent ones.
        """

        def take(wanted: bool | None) -> None:
            answer(bool(wanted))

        screen = EntitiesQuestion(sentence, names, self._navigator)
        self._app.call_later(self._app.push_screen, screen, take)

    async def _take_trust(
        self, root: Path, requests: Sequence[TrustRequest], allowed: bool | None
    ) -> None:
        try:
            await asyncio.to_thread(self._bases.answer, root, requests, allowed=bool(allowed))
        except KbxError as error:
            self._show_error(safe_line(str(error)))
        else:
            if allowed:
                await self._on_trust(root)


NO, YES = "no", "yes"


class QuestionScreen(Screen[bool]):
    """Dismissed with whether the user says yes; esc says no. Screens compose what they ask."""

    AUTO_FOCUS = "ChoiceList"
    SCOPES: tuple[Scope, ...] = ("welcome", "list", "app")
    """The scopes of the keys in the key bar."""

    def __init__(self, navigator: Navigator) -> None:
        super().__init__()
        self.navigator = navigator

    def answers(self, no: str, yes: str, *, title: str) -> ChoiceList:
        """Return a list of two answers: what `no` and `yes` lead to; `title` is that of yes."""
        return ChoiceList([Choice(NO, "Not now", no), Choice(YES, title, yes)])

    def on_mount(self) -> None:
        self.query_one(KeyBar).use(self.navigator.keymap)
        self.query_one(KeyBar).show(*self.SCOPES)

    @on(ChoiceList.Chosen)
    def take_choice(self, event: ChoiceList.Chosen) -> None:
        self.dismiss(event.choice.id == YES)

    def action_back(self) -> None:
        self.dismiss(False)

    def action_help(self) -> None:
        self.navigator.show_help()

    def action_leave(self) -> None:
        self.app.exit()


class TrustQuestion(QuestionScreen):
    """What the base asks for, and two answers. Dismissed with whether the user allows it.

    What it asks for scrolls by itself, so that the answers stay visible.
    """

    def __init__(self, root: str, requests: Sequence[TrustRequest], navigator: Navigator) -> None:
        super().__init__(navigator)
        self.root, self.requests = root, tuple(requests)

    def compose(self) -> ComposeResult:
        blocks = any(request.blocks for request in self.requests)
        missing = " and ".join(filter(None, (request.without for request in self.requests)))
        without = "it stays closed" if blocks else f"all else works; {missing}"
        with Vertical(id="trust"):
            with VerticalScroll(id="requests") as asked:
                asked.border_title = "Trust this knowledge base?"
                yield Static(Content("\n\n".join(self._paragraphs())))
            yield self.answers(
                without, "until its kbx.toml asks for something else", title="Allow it"
            )
        yield KeyBar()

    def _paragraphs(self) -> Iterator[str]:
        root = safe_line(self.root)
        yield f"{root} was not made here, and asks for more than searching needs:"
        for request in self.requests:
            yield safe_line(f"{request.wish}: it {request.effect}")


class ConfirmIndexing(QuestionScreen):
    """The number of files, and two answers. Dismissed with whether to index them."""

    def __init__(self, question: IndexQuestion, navigator: Navigator) -> None:
        super().__init__(navigator)
        self.question = question

    def compose(self) -> ComposeResult:
        keep = (
            "nothing is read or written" if self.question.is_first else "the index stays as it is"
        )
        choices = self.answers(
            f"{keep}; the Index mode begins it later",
            "it can be paused and stopped",
            title=f"Index {self.question.count}",
        )
        choices.border_title = "Index all of this?"
        choices.intro = (safe_line(f"{self.question.sentence}."), _advice(self.question))
        with Vertical(id="welcome"):
            yield choices
        yield KeyBar()


def _advice(question: IndexQuestion) -> str:
    if question.folder:
        return "A folder of your own notes is found faster, and holds nothing else."
    return "Files are only read. Words can be searched within seconds, meaning takes longer."


class EntitiesQuestion(QuestionScreen):
    """What could be entities, with counts, and two answers. Dismissed with whether to use it.

    One key answers, unlike where trust is asked for: a yes here can be undone.
    """

    BINDINGS = bindings("question")
    SCOPES = ("question", "welcome", "list", "app")

    def __init__(self, sentence: str, names: Sequence[str], navigator: Navigator) -> None:
        """`sentence` has the counts in words, `names` are lines of names (`EntityProposal`)."""
        super().__init__(navigator)
        self.sentence, self.names = sentence, names

    def compose(self) -> ComposeResult:
        choices = self.answers(
            "not asked again here; kbx init proposes it later",
            "written to kbx.toml; kbx undo takes it back",
            title="Use them as entities",
        )
        choices.border_title = "Entities"
        choices.intro = (
            safe_line(f"{self.sentence}: use them as entities? [y/n]"),
            *map(safe_line, self.names),
        )
        choices.outro = (
            "A search finds entities first, then the notes that belong to them. Each has a card,"
            " and experts ranks them. Notes are not changed.",
        )
        with Vertical(id="welcome"):
            yield choices
        yield KeyBar()

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
