"""The why-not box: find a document, learn why it is not among the results, change that."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.explore.panes.result_list import ResultList
from kbx_tui.tui.explore.screen import Explore
from kbx_tui.tui.why_not.answer_list import AnswerList
from kbx_tui.tui.why_not.document_list import DocumentList
from kbx_tui.tui.why_not.messages import AnswerReady, DocumentsFound, NoAnswer
from kbx_tui.tui.why_not.model import WhyNotModel
from kbx_tui.tui.why_not.view import ActionRow
from kbx_tui.tui.widgets.box_list import BoxList
from kbx_tui.tui.widgets.lines_view import dim_text, titled_text
from kbx_tui.tui.widgets.ordered_input import OrderedInput


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the user chose to do about a document."""

    path: str
    action: ActionRow


def open_box(explore: Explore, keymap: Keymap) -> None:
    """Open the box above explore, which then does what the user chose."""
    model = WhyNotModel(explore.session.client, explore.model)
    explore.app.push_screen(WhyNotBox(model, keymap), partial(_do, explore))


def _do(explore: Explore, chosen: Chosen | None) -> None:
    if chosen is None:
        return
    action, results = chosen.action, explore.query_one(ResultList)
    if action.kind == "read":
        explore.reader.open_document(chosen.path, focus=True)
        return
    if action.kind == "apply":
        results.seek(chosen.path)
        explore.model.apply(**action.changes)
        undo = explore.navigator.keymap.key_of("undo")
        explore.show_notice(f"{action.text}: {undo} takes it back")
    else:
        results.go_to(chosen.path)
    explore.pane_switch.focus("results")


class DocumentLine(OrderedInput):
    """The field for a title or path."""

    BINDINGS = bindings("why_not")

    def __init__(self) -> None:
        super().__init__(placeholder="part of a title or path", compact=True)
        self.cursor_blink = False


class WhyNotBox(ModalScreen[Chosen | None]):
    """An overlay on explore. Dismissed with what to do, or None.

    The field keeps the focus, so that typing always finds other documents; the list below it is
    that of documents, or that of actions on the one that was picked.
    """

    AUTO_FOCUS = "DocumentLine"

    def __init__(self, model: WhyNotModel, keymap: Keymap) -> None:
        super().__init__()
        self.model, self.keymap = model, keymap
        self._found_for: str | None = None
        """The text that the documents listed match; None before the first."""
        self._takes_found = False
        """Whether to pick the first document as soon as those that match are found."""

    def compose(self) -> ComposeResult:
        with Vertical(id="why_not"):
            yield DocumentLine()
            yield DocumentList()
            yield AnswerList()

    def on_mount(self) -> None:
        self.model.post = self.post_message
        query = self.model.explore.state.query
        self._box.border_title = Content(f"Why not in “{query}”" if query else "Go to a document")
        self._show_list(answered=False)
        self.model.find("")

    def on_unmount(self) -> None:
        self.model.cancel()

    @property
    def _box(self) -> Vertical:
        return self.query_one("#why_not", Vertical)

    @property
    def _documents(self) -> DocumentList:
        return self.query_one(DocumentList)

    @property
    def _answer(self) -> AnswerList:
        return self.query_one(AnswerList)

    @property
    def _is_answered(self) -> bool:
        return self._answer.display

    @property
    def _list(self) -> DocumentList | AnswerList:
        return self._answer if self._is_answered else self._documents

    # What the model found.

    def on_documents_found(self, message: DocumentsFound) -> None:
        if message.text != self.query_one(DocumentLine).value:
            return
        self._found_for, documents = message.text, self._documents
        if not self.model.explore.is_searchable:
            documents.empty_state = dim_text("Nothing is indexed yet; try again in a moment.")
        else:
            documents.empty_state = titled_text(
                "No title or path is like that.",
                "Here documents are found by words of their title or path, or by parts of these. To"
                " find one by what it says, close this box and ask for that in the query.",
            )
        documents.show(message.documents)
        if self._takes_found:
            self.action_take()

    def on_answer_ready(self, message: AnswerReady) -> None:
        self._answer.show_answer(message.answer)
        self._show_list(answered=True)

    def on_no_answer(self, message: NoAnswer) -> None:
        self._documents.empty_state = dim_text(message.reason)
        self._documents.show(())
        self._show_list(answered=False)

    # What the user does.

    @on(Input.Changed)
    def find(self, event: Input.Changed) -> None:
        self._show_list(answered=False)
        self._takes_found = False
        self.model.find(event.value)

    @on(BoxList.Opened)
    def action_take(self) -> None:
        """Pick the document, or do what is chosen about it."""
        if self._is_answered:
            answer, action = self._answer.answer, self._answer.current
            if answer is not None and action is not None:
                self.dismiss(Chosen(answer.path, action))
        elif self._found_for != self.query_one(DocumentLine).value:
            self._takes_found = True
        elif (document := self._documents.current) is not None:
            self._box.border_subtitle = "asking …"
            self.model.ask(document)

    def action_read(self) -> None:
        answer, document = self._answer.answer, self._documents.current
        path = document.path if document is not None else ""
        if self._is_answered and answer is not None:
            path = answer.path
        if path:
            self.dismiss(Chosen(path, ActionRow("read", "read it")))

    def action_move(self, rows: int) -> None:
        self._list.action_move(rows)

    def action_move_page(self, pages: int) -> None:
        self._list.action_move_page(pages)

    def action_close(self) -> None:
        self.dismiss(None)

    def _show_list(self, *, answered: bool) -> None:
        self._answer.display, self._documents.display = answered, not answered
        take, read, close = map(
            self.keymap.key_of, ("why_not.take", "why_not.read", "why_not.close")
        )
        verb = "do it" if self._is_answered else "why not"
        self._box.border_subtitle = Content(f"{take} {verb} · {read} read · {close} close")
