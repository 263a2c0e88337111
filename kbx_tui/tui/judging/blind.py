"""Blind comparison: which list answers better, without saying which settings produced it.

Imported when first opened, because it loads the engine's ranking.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from random import Random
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen

from kbx_tui.evaluation.blind_preferences import DEPTH, Preference, ShownList, preference_key
from kbx_tui.evaluation.judgments import knobs_of
from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line
from kbx_tui.search.request import SearchRequest, Tuning
from kbx_tui.search.results.response import Snippet
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.lines import (
    BLANK,
    Line,
    Span,
    fit,
    highlight,
    longest_fitting,
    looks,
    slice_line,
    width_of,
    wrap_ranges,
)
from kbx_tui.tui.engine.client import EngineClient, LatestOnly
from kbx_tui.tui.explore.displayed_search import read_snippets
from kbx_tui.tui.judging.model import JudgingModel, vote_sentences, vote_words
from kbx_tui.tui.shell.overlay import Overlay
from kbx_tui.tui.terminal_app import Newest
from kbx_tui.tui.widgets.lines_view import LineWidget, TextPane, dim_text, titled_text

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.evaluation.blind_preferences import Better, Votes
    from kbx_tui.search.evidence.evidence import Evidence


BOX = 150
"""Width of the box in cells if there is room, as in `styles/blind.tcss`."""


class BlindLine(LineWidget):
    def show(self, text: str) -> None:
        self.show_line(lambda width: (Span(f" {text}", "dim"),))


class BlindScreen(ModalScreen[None], Overlay[None]):
    BINDINGS = bindings("blind")
    AUTO_FOCUS = "TwoLists"

    def __init__(self, model: BlindModel) -> None:
        super().__init__()
        self.model = model

    def compose(self) -> ComposeResult:
        with Vertical(id="blind"):
            yield TwoLists()
            yield BlindLine()

    def on_mount(self) -> None:
        self.model.post = self.post_message
        self._show_text("Which list answers better?", "Looking for a query on which they differ …")
        self.model.start()

    def on_unmount(self) -> None:
        self.model.stop()

    def on_resize(self) -> None:
        self._show_keys()

    def _show_keys(self) -> None:
        first, second, neither, later, undo, close = (
            self.app.keymap.key_of(f"blind.{name}")
            for name in ("first", "second", "neither", "later", "undo", "close")
        )
        answers = (
            f"{first} list 1 · {second} list 2 · {neither} neither · {later} later · {undo} undo ·"
            f" {close} close",
            f"{first} · {second} · {neither} neither · {later} later · {undo} · {close}",
            f"{first} · {second} · {neither} · {close}",
        )
        wordings = (f"{undo} undo · {close} close",) if self.model.votes else answers
        room = min(self.size.width, BOX) - 6
        self._box.border_subtitle = Content(longest_fitting(wordings, room))

    @property
    def _box(self) -> Vertical:
        return self.query_one("#blind", Vertical)

    def _show_text(self, title: str, *texts: str) -> None:
        lists = self.query_one(TwoLists)
        lists.empty_state = titled_text(title, *texts) if texts else dim_text(title)
        lists.show(None)

    def on_round_changed(self) -> None:
        model, progress = self.model, f"{format_count(self.model.answered, 'answer')} in this round"
        self._show_keys()
        if model.question is not None:
            title = f"Which list answers better: “{safe_line(model.question.query)}”"
            self._box.border_title = Content(title)
            self.query_one(TwoLists).show(model.question)
        elif model.votes is not None:
            self._box.border_title = "No further question"
            why = "No query is judged or was asked before. Ask one in explore first."
            if model.queries:
                why = (
                    f"In {format_count(len(model.queries), 'query')}, judged or asked before, the"
                    " first results of A and of the current settings are the same, or you have said"
                    " which you prefer."
                )
            self._show_text("That is all.", why, *vote_sentences(model.votes))
        else:
            progress += f"; looking at query {model.looked + 1:,} of {len(model.queries):,}"
        self.query_one(BlindLine).show(progress)

    # What the user does.

    def action_prefer(self, better: str) -> None:
        if self.model.question is not None:
            self._show_text("Looking for the next query on which they differ …")
            self.model.answer(better)  # type: ignore[arg-type]

    def action_later(self) -> None:
        self.model.skip()

    def action_undo(self) -> None:
        if not self.model.undo():
            self.query_one(BlindLine).show("nothing to undo in this round")

    def action_close(self) -> None:
        self.dismiss(None)


BESIDE_FROM = 64
SPACINGS = ((3, 1), (3, 0), (2, 0), (1, 0), (0, 0))
"""(lines of a passage, blank lines below it); the first pair that fits is used."""


class TwoLists(TextPane):
    COMPONENT_CLASSES = looks("strong", "accent", "rule")

    question: Question | None = None

    def show(self, question: Question | None) -> None:
        self.question = question
        self.rebuild_lines()
        self.scroll_to_line(0)

    def build(self, width: int) -> list[Line]:
        if self.question is None:
            return self.empty_lines()
        for passage, gap in SPACINGS:
            lines = question_lines(self.question, width, passage, gap)
            if len(lines) <= self.visible_height:
                break
        return lines


def question_lines(question: Question, width: int, passage: int, gap: int) -> list[Line]:
    half = (width - 3) // 2
    room = width if width < BESIDE_FROM else half
    first = _list("List 1", question.first_results, room, passage, gap)
    second = _list("List 2", question.second_results, room, passage, gap)
    if width < BESIDE_FROM:
        return [*first, *second]
    return [
        (*left, Span(" " * (half - width_of(left))), Span(" │ ", "rule"), *right)
        for left, right in zip_longest(first, second, fillvalue=BLANK)
    ]


def _list(
    name: str, results: Sequence[ShownResult], width: int, passage: int, gap: int
) -> list[Line]:
    lines: list[Line] = [(Span(f" {name} ", "accent"), Span("─" * (width - 9), "rule"))]
    if not results:
        lines.append((Span("   no result", "dim"),))
    for rank, result in enumerate(results, 1):
        dated = f" {result.date[:10]:>10} " if width >= 40 else " "
        title = fit(result.title, max(width - 4 - len(dated), 1))
        lines.append(
            (
                Span(f" {rank}  ", "dim"),
                Span(title, "dim" if result.is_same else "strong"),
                Span(dated, "dim"),
            )
        )
        lines += [*_passage(result, width - 5, passage), *[BLANK] * gap]
    return lines


def _passage(result: ShownResult, width: int, count: int) -> list[Line]:
    """Return exactly `count` lines, so that equal ranks are side by side."""
    lines: list[Line] = []
    if result.snippet is not None and count:
        text = result.snippet.text
        marked = highlight(text, () if result.is_same else result.snippet.matches)
        for start, end in wrap_ranges(text, max(width, 8))[:count]:
            lines.append((Span("    "), *slice_line(marked, start, end)))
    return [*lines, *[BLANK] * (count - len(lines))]


PAUSE_SECONDS = 0.005


class RoundChanged(Newest):
    """The question has changed or gone, or another query has been tried."""


class BlindModel:
    """One round of questions about two settings, which do not change during the round.

    It asks about the query on the screen, the judged queries and the past ones, in this order.
    """

    def __init__(
        self,
        client: EngineClient,
        judging: JudgingModel,
        query: str,
        settings: tuple[Tuning, Tuning],
        *,
        random: Random | None = None,
    ) -> None:
        self._client, self._judging = client, judging
        self._query, self._settings = query, settings
        self._random = random or Random()
        self.post: Callable[[Message], object] = lambda message: None
        self.question: Question | None = None
        self.votes: Votes | None = None
        self.answered = 0
        self._answers: list[tuple[Question, Callable[[], object]]] = []
        self.queries: tuple[str, ...] = ()
        self._left: deque[str] = deque()
        self._finding = LatestOnly(client)

    @property
    def looked(self) -> int:
        return len(self.queries) - len(self._left)

    def start(self) -> None:
        self._finding.start(self._begin())

    def stop(self) -> None:
        self._finding.cancel()
        if self.answered:
            self._client.start(self._sum_up())

    def answer(self, better: Better) -> None:
        if (question := self.question) is None:
            return
        undo = self._judging.prefer(question.query, question.first, question.second, better)
        self._answers.append((question, undo))
        self.answered += 1
        self._go_on()

    def skip(self) -> None:
        if self.question is not None:
            self._go_on()

    def undo(self) -> bool:
        if not self._answers:
            return False
        again, undo = self._answers.pop()
        undo()
        self.answered -= 1
        if self.question is not None:
            self._left.appendleft(self.question.query)
        self._finding.cancel()
        self._show(again)
        return True

    def _go_on(self) -> None:
        self.question = None
        self._finding.start(self._find())

    def _show(self, question: Question) -> None:
        self.question, self.votes = question, None
        self.post(RoundChanged())

    async def _begin(self) -> None:
        def read(engine: KnowledgeBase) -> list[str]:
            judged = [query.text for query in engine.judgments.queries()]
            past = [past.query for past in engine.queries.asked()]
            return [query for query in (self._query, *judged, *past) if query]

        self.queries = tuple(dict.fromkeys(await self._client.run(read)))
        self._left = deque(self.queries)
        await self._find()

    async def _find(self) -> None:
        def find(engine: KnowledgeBase) -> Question | None:
            return ask(engine, query, self._settings, engine.preferences.read(), self._random)

        while self._left:
            query = self._left[0]
            self.post(RoundChanged())
            question = await self._client.run(find)
            self._left.popleft()
            if question is not None:
                self._show(question)
                return
            await asyncio.sleep(PAUSE_SECONDS)
        self.votes = await self._count()
        self.post(RoundChanged())

    async def _count(self) -> Votes:
        before, after = self._settings
        return await self._client.run(lambda engine: engine.preferences.count(before, after))

    async def _sum_up(self) -> None:
        if words := vote_words(await self._count()):
            self._judging.say(words[0])


@dataclass(frozen=True, slots=True)
class ShownResult:
    title: str
    date: str
    snippet: Snippet | None
    is_same: bool


@dataclass(frozen=True, slots=True)
class Question:
    query: str
    first: ShownList
    second: ShownList
    first_results: tuple[ShownResult, ...]
    second_results: tuple[ShownResult, ...]


def ask(
    engine: KnowledgeBase,
    query: str,
    settings: tuple[Tuning, Tuning],
    given: Sequence[Preference],
    random: Random,
) -> Question | None:
    """Return the question for a query; None if the lists are equal or were already compared."""
    found: dict[str, Evidence] = {}
    lists = []
    for tuning in settings:
        if tuning.preset not in found:
            found[tuning.preset] = engine.retrieve(SearchRequest(query, preset=tuning.preset))
        paths = engine.rank(found[tuning.preset], tuning).best_paths(DEPTH)
        lists.append((ShownList(paths, knobs_of(tuning)), found[tuning.preset]))
    (of_a, _), (of_b, _) = lists
    if of_a.paths == of_b.paths:
        return None
    if preference_key(query, (of_a.paths, of_b.paths)) in {one.key for one in given}:
        return None
    random.shuffle(lists)
    (first, first_evidence), (second, second_evidence) = lists
    first_results = _results(engine, first_evidence, first, second)
    second_results = _results(engine, second_evidence, second, first)
    return Question(query, first, second, first_results, second_results)


def _results(
    engine: KnowledgeBase, evidence: Evidence, shown: ShownList, other: ShownList
) -> tuple[ShownResult, ...]:
    snippets = read_snippets(engine, evidence, shown.paths)
    results = []
    for rank, path in enumerate(shown.paths):
        row = evidence.paths.index(path)
        title = safe_line(evidence.titles[row]) or safe_line(path)
        is_same = other.paths[rank : rank + 1] == (path,)
        date = safe_line(evidence.dates[row] or "")
        results.append(ShownResult(title, date, snippets.get(path), is_same))
    return tuple(results)
