"""The why-not box: find a document, learn why it is not among the results, change that."""

from __future__ import annotations

import threading
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input

from kbx_tui.errors import KbxError
from kbx_tui.formatting import format_count, join_limited
from kbx_tui.safe_text import safe_line
from kbx_tui.search.ranking.explain import RankChange, explain_pair
from kbx_tui.search.why_not import Change, ChangeEffect, WhyNot, change_effects
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, fit, paragraph, shorten, shorten_start
from kbx_tui.tui.engine.client import LatestOnly
from kbx_tui.tui.explore.search_state import SearchState
from kbx_tui.tui.shell.frame_screen import ModeBox, ModeScreen
from kbx_tui.tui.widgets.input_fields import OrderedInput
from kbx_tui.tui.widgets.lines_view import BoxList, RowsView, dim_text, titled_text

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.name_lookup import DocumentName


Chosen = tuple[str, "ActionRow"]
"""The path of a document, and what to do with it."""
LIMIT = 10
DOCUMENTS = 20


class DocumentLine(OrderedInput):
    BINDINGS = bindings("why_not")


class WhyNotBox(ModeBox[Chosen | None]):
    """A box whose result is what to do. The field keeps the focus: typing finds other documents."""

    AUTO_FOCUS = "DocumentLine"

    def __init__(self, below: ModeScreen) -> None:
        super().__init__(below)
        self._requests = LatestOnly(self._client)
        self._cancelled = threading.Event()
        """Set when the last request is no longer wanted: it then ends soon on the engine thread."""
        self._found_for: str | None = None
        self._takes_found = False

    def compose(self) -> ComposeResult:
        with Vertical(id="why_not"):
            summary = self._model.summary
            count = f" of {summary.documents:,}" if summary and summary.documents else ""
            yield DocumentLine(f"part of a title or path{count}")
            yield DocumentList()
            yield AnswerList()

    def on_mount(self) -> None:
        query = self._model.state.query
        self._box.border_title = Content(f"Why not in “{query}”" if query else "Go to a document")
        self._show_list(answered=False)
        self._request(self._find(""))

    def on_unmount(self) -> None:
        self._cancel()

    @property
    def _documents(self) -> DocumentList:
        return self.query_one(DocumentList)

    @property
    def _answer(self) -> AnswerList:
        return self.query_one(AnswerList)

    @property
    def _is_answered(self) -> bool:
        return self._answer.display

    # Asking the engine.

    def _request(self, request: Coroutine[Any, Any, None]) -> None:
        self._cancel()
        self._requests.start(request)

    def _cancel(self) -> None:
        self._cancelled.set()
        self._cancelled = threading.Event()
        self._requests.cancel()

    async def _find(self, text: str) -> None:
        found: Sequence[DocumentName] = ()
        if self._model.is_searchable:
            found = await self._client.run(lambda engine: engine.documents.find(text, DOCUMENTS))
        if text != self.query_one(DocumentLine).value:
            return
        if not text:  # why not is asked of what is missing
            found = sorted(found, key=lambda each: each.path in self._ranks)
        self._found_for, documents = text, self._documents
        if not self._model.is_searchable:
            documents.empty_state = dim_text("Nothing is indexed yet; try again in a moment.")
        else:
            documents.empty_state = titled_text(
                "No title or path is like that.",
                "Here documents are found by words of their title or path, or by parts of these. To"
                " find one by what it says, close this box and ask for that in the query.",
            )
        documents.ranks = self._ranks
        documents.show(found)
        if self._takes_found:
            self.action_take()

    async def _answer_for(self, document: DocumentName) -> None:
        state, cancelled = self._model.state, self._cancelled
        result_rank = self._ranks.get(document.path)

        def ask(engine: KnowledgeBase) -> AnswerView:
            if not state.query:
                return read_only(document.path, title_of(document))
            request = state.request()
            answer = engine.why_not(request, document.path, LIMIT, cancelled=cancelled.is_set)
            return present_answer(answer, state, result_rank)

        try:
            self._answer.show_answer(await self._client.run(ask))
        except KbxError as error:
            self._documents.empty_state = dim_text(safe_line(str(error)))
            self._documents.show(())
            self._show_list(answered=False)
        else:
            self._show_list(answered=True)

    @property
    def _ranks(self) -> dict[str, int]:
        view = self._model.displayed.view
        return {} if view is None else {result.path: result.rank for result in view.results}

    # What the user does.

    @on(Input.Changed)
    def find(self, event: Input.Changed) -> None:
        self._show_list(answered=False)
        self._takes_found = False
        self._request(self._find(event.value))

    @on(RowsView.Opened)
    def action_take(self) -> None:
        if self._is_answered:
            answer, action = self._answer.answer, self._answer.current
            if answer is not None and action is not None:
                self.dismiss((answer.path, action))
        elif self._found_for != self.query_one(DocumentLine).value:
            self._takes_found = True
        elif (document := self._documents.current) is not None:
            self._box.border_subtitle = "asking …"
            self._request(self._answer_for(document))

    def action_read(self) -> None:
        answer, document = self._answer.answer, self._documents.current
        path = document.path if document is not None else ""
        if self._is_answered and answer is not None:
            path = answer.path
        if path:
            self.dismiss((path, ActionRow("read", "read it")))

    @property
    def _list(self) -> DocumentList | AnswerList:
        return self._answer if self._is_answered else self._documents

    def _show_list(self, *, answered: bool) -> None:
        self._answer.display, self._documents.display = answered, not answered
        key_of = self._below.app.keymap.key_of
        take, read, close = map(key_of, ("why_not.take", "why_not.read", "why_not.close"))
        verb = "do it" if answered else "why not"
        self._box.border_subtitle = Content(f"{take} {verb} · {read} read · {close} close")


ActionKind = Literal["apply", "go", "read"]


@dataclass(frozen=True, slots=True)
class ActionRow:
    kind: ActionKind
    text: str
    rank: int | None = None
    effect: str = ""
    detail: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class AnswerView:
    path: str
    title: str
    standing: str
    reason: str
    heading: str
    actions: tuple[ActionRow, ...]


NAMES = 3
FEW = 3
"""Documents below which a search finds one hardly better than reading it does."""


def present_answer(answer: WhyNot, state: SearchState, result_rank: int | None) -> AnswerView:
    """Return what the box shows; `result_rank` is the rank among the results on the screen."""
    rows, narrow = list[ActionRow](), list[ActionRow]()
    for effect in change_effects(answer):
        row, in_scope = _change_row(effect, state), effect.change.after.evidence.scope.in_scope
        # The seed has a gate and a parent score of its own, which the app cannot change.
        if replace(state, **row.changes).request() != state.request():
            (narrow if in_scope < FEW else rows).append(row)
    if rows:
        heading = f"What brings it into the first {answer.limit}, the smallest change first"
    elif answer.stage == "shown":
        heading = ""
    elif narrow:
        heading = f"Only a search of fewer than {FEW} documents brings it into the first"
        heading += f" {answer.limit}"
    else:
        heading = f"No single change brings it into the first {answer.limit}"
    if result_rank is not None:
        rows.append(ActionRow("go", f"go to it: number {result_rank} of the results"))
    rows.append(ActionRow("read", "read it"))
    standing = safe_line(answer.standing)
    return AnswerView(
        path=answer.path,
        title=safe_line(answer.title) or safe_line(answer.path),
        standing=standing[0].upper() + standing[1:],
        reason=_reason(answer, state),
        heading=heading,
        actions=(*rows, *narrow),
    )


def read_only(path: str, title: str) -> AnswerView:
    standing = "There is no query: type one to ask why a document is not among its results"
    return AnswerView(path, title, standing, "", "", (ActionRow("read", "read it"),))


def state_changes(change: Change, state: SearchState) -> Mapping[str, Any]:
    value = change.value
    match change.dimension:
        case "filters":
            return {name: "" if each is None else each for name, each in value.items()}
        case "hierarchy":
            return {"mode": "two-pass" if value else "flat"}
        case "fast":
            return {"mode": "flat"}  # a fast search has no entities either
        case "pinned":
            return {"pinned": state.pinned | set(value)}
        case "path" | "since" | "until":
            return {change.dimension: value or ""}
    return {change.dimension: value}


def _reason(answer: WhyNot, state: SearchState) -> str:
    muted = [each.name for each in answer.ranking.evidence.entities if each.id in state.muted]
    names = safe_line(f"Muted for this query: {join_limited(muted, limit=NAMES)}") if muted else ""
    return " · ".join(filter(None, (_main_reason(answer), names)))


def _main_reason(answer: WhyNot) -> str:
    if answer.path in answer.ranking.evidence.scope.filters.muted_documents:
        return "The Index mode lists what is muted, and leaves it in again"
    if answer.stage != "ranked" or answer.needed is None:
        return ""
    ranking, last = answer.ranking, int(answer.ranking.best(answer.limit)[-1])
    pair = explain_pair(ranking, last, ranking.evidence.paths.index(answer.path))
    title = safe_line(ranking.evidence.titles[last])
    return pair.text(f"Number {answer.limit}, {title},", "it")


SCOPES = frozenset({"path", "doc_types", "since", "until", "query", "filters", "dates"})
"""Dimensions of changes whose texts say where to search: `without @hana`, `of any date`."""


def _change_row(effect: ChangeEffect, state: SearchState) -> ActionRow:
    change, comparison = effect.change, effect.comparison
    lost, moved = len(comparison.lost), len(comparison.moved)
    counts = [
        f"{format_count(lost, 'other')} lost" if lost else "",
        f"{moved} moved" if moved else "",
    ]
    return ActionRow(
        "apply",
        safe_line(f"search {change.text}" if change.dimension in SCOPES else change.text),
        rank=change.rank,
        effect=", ".join(filter(None, counts)) or "nothing else changes",
        detail=_detail(change.rank, comparison.lost, moved),
        changes=state_changes(change, state),
    )


def _detail(rank: int, lost: Sequence[RankChange], moved: int) -> str:
    titles = [safe_line(change.title) for change in lost]
    names = f"loses {join_limited(titles, limit=NAMES)}" if titles else "loses nothing"
    moves = f"; {format_count(moved, 'other')} {'moves' if moved == 1 else 'move'}" if moved else ""
    return f"It becomes number {rank}. The first page {names}{moves}."


RANK_AFTER = len("→ number 10")
MOST_TEXT = 40


class AnswerList(BoxList[ActionRow]):
    answer: AnswerView | None = None

    def show_answer(self, answer: AnswerView) -> None:
        self.answer = answer
        self.show(answer.actions)

    def row_line(self, row: int, part: int, width: int) -> Line:
        action = self.rows[row]
        marker = Span(" › " if row == self.cursor else "   ", "accent")
        if action.kind != "apply":
            return (marker, Span(shorten(action.text, max(width - 4, 1)), "dim"))
        widest = max(cell_len(each.text) for each in self.rows if each.kind == "apply")
        text = min(widest, MOST_TEXT, max(width - RANK_AFTER - 8, 8))
        effect, room = action.effect, max(width - text - RANK_AFTER - 8, 0)
        if cell_len(effect) > room:
            effect = effect.partition(",")[0]
        return (
            marker,
            Span(fit(action.text, text), "strong"),
            Span(f"  {fit(f'→ number {action.rank}', RANK_AFTER)}"),
            Span("  " + shorten(effect, room), "dim"),
        )

    def lines_above(self, width: int) -> list[Line]:
        answer = self.answer
        if answer is None:
            return []
        path = shorten_start(safe_line(answer.path), max(width - 3, 1))
        return [
            *paragraph(answer.title, width, "strong"),
            (Span(f"  {path}", "dim"),),
            *paragraph(answer.standing, width),
            *(paragraph(answer.reason, width) if answer.reason else []),
            BLANK,
            *(paragraph(answer.heading, width, "dim") if answer.heading else []),
        ]

    def detail(self) -> str:
        return self.current.detail if self.current is not None else ""


PATH_FROM = 90
DATE = 10
RANK = 5


class DocumentList(BoxList["DocumentName"]):
    ranks: Mapping[str, int] = MappingProxyType({})

    def row_line(self, row: int, part: int, width: int) -> Line:
        document = self.rows[row]
        rank = f"#{self.ranks[document.path]}" if document.path in self.ranks else ""
        room = max(width - DATE - RANK - 5, 1)
        is_wide = width >= PATH_FROM
        beside = room - room // 2 - 2 if is_wide else -2
        path = shorten_start(safe_line(document.path), beside) if is_wide else ""
        return (
            Span(" › " if row == self.cursor else "   ", "accent"),
            Span(fit(title_of(document), room - beside - 2), "strong"),
            Span(f"  {fit(path, beside)}" if is_wide else "", "dim"),
            Span(f"{rank:>{RANK}} ", "accent"),
            Span(fit(safe_line(document.date[:DATE]), DATE), "dim"),
        )


def title_of(document: DocumentName) -> str:
    return safe_line(document.title) or safe_line(document.path)
