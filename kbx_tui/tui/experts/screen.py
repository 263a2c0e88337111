"""Who or what is known best on a topic, and by which facts."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input

from kbx_tui.formatting import count_words
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.registry import Scope
from kbx_tui.tui.drawing import empty_states
from kbx_tui.tui.experts.expert_list import ExpertList
from kbx_tui.tui.experts.model import WEIGHTS
from kbx_tui.tui.experts.view import ClaimRow, days_at, value_of
from kbx_tui.tui.messages import ExpertsReady, Failed, Indexing, Noticed
from kbx_tui.tui.shell.mode_screen import ModeScreen
from kbx_tui.tui.widgets.key_bar import KeyBar
from kbx_tui.tui.widgets.number_slider import NumberSlider
from kbx_tui.tui.widgets.status_line import StatusLine

WEIGHT_HELP = {
    "count": "every claim counts 1",
    "recency": "half as much after a half-life",
    "citation": "sources times confidence",
    "relevance": "documents on the topic speak too",
}


class TopicLine(Input):
    """The line a topic is typed into."""

    BINDINGS = bindings("topic")

    def __init__(self) -> None:
        super().__init__(placeholder="a topic: migration, hiring, refunds", compact=True)
        self.cursor_blink = False


class Experts(ModeScreen):
    """The third mode."""

    BINDINGS = bindings("experts", "mode")
    AUTO_FOCUS = "TopicLine"

    def compose(self) -> ComposeResult:
        experts = ExpertList()
        experts.border_title = "Experts"
        experts.invitation = empty_states.no_topic
        yield TopicLine()
        yield experts
        yield NumberSlider("half-life", 0.5, shown=lambda value: f"{days_at(value):.0f}d")
        yield StatusLine()
        yield KeyBar()

    def on_mount(self) -> None:
        self.use_keymap(self.keymap)
        self.query_one(KeyBar).here = "experts"
        topic = self.query_one(TopicLine)
        topic.border_title = "topic"
        topic.value = self.controller.expertise.question.topic
        topic.cursor_position = len(topic.value)
        self._show_weight()
        if (view := self.controller.expertise.view) is not None:
            self.on_experts_ready(ExpertsReady(view))

    def on_descendant_focus(self) -> None:
        self.query_one(KeyBar).show(*self.scopes())

    def scopes(self) -> tuple[Scope, ...]:
        if isinstance(self.focused, TopicLine):
            return ("topic", "app")
        if isinstance(self.focused, NumberSlider):
            return ("slider", "experts", "mode", "app")
        return ("expert_list", "list", "experts", "mode", "app")

    @property
    def palette_scopes(self) -> tuple[Scope, ...]:
        return ("experts", "mode")

    def leave_field(self) -> None:
        if self.is_typing:
            self.action_focus_experts()

    @property
    def is_typing(self) -> bool:
        return isinstance(self.focused, TopicLine)

    # What the controller tells.

    def on_experts_ready(self, message: ExpertsReady) -> None:
        view = message.view
        self.query_one(StatusLine).clear_error()
        experts = self.query_one(ExpertList)
        found = count_words(view.ranking.total_matched, "expert")
        experts.border_title = f"{found} · by {view.weight}"
        experts.invitation = empty_states.no_experts(view.topic)
        experts.show(view)
        self.query_one(NumberSlider).show(value_of(view.half_life_days))

    def on_indexing(self, message: Indexing) -> None:
        self.query_one(StatusLine).show_progress(message.text)

    def on_noticed(self, message: Noticed) -> None:
        self.notice(message.text)

    def on_failed(self, message: Failed) -> None:
        self.query_one(StatusLine).show_error(message.text)

    # What a person does.

    @on(TopicLine.Changed)
    def ask(self, event: TopicLine.Changed) -> None:
        topic = event.value.strip()
        self.controller.expertise.ask(topic=topic)
        if not topic:
            self.query_one(ExpertList).invitation = empty_states.no_topic
            self.query_one(ExpertList).show(None)

    @on(NumberSlider.Changed)
    def turn_half_life(self, event: NumberSlider.Changed) -> None:
        self.controller.expertise.ask(half_life_days=days_at(event.value))

    def action_focus_topic(self) -> None:
        self.set_focus(self.query_one(TopicLine))

    def action_focus_experts(self) -> None:
        self.set_focus(self.query_one(ExpertList))

    def action_next_pane(self, step: int) -> None:
        self.focus_next() if step > 0 else self.focus_previous()

    def action_back(self) -> None:
        if isinstance(self.focused, ExpertList):
            self._app.call_later(self._app.go_to, "explore")
        else:
            self.action_focus_experts()

    def action_next_weight(self) -> None:
        expertise = self.controller.expertise
        at = WEIGHTS.index(expertise.question.weight)
        expertise.ask(weight=WEIGHTS[(at + 1) % len(WEIGHTS)])
        self._show_weight()
        self.notice(f"by {expertise.question.weight}: {WEIGHT_HELP[expertise.question.weight]}")

    def action_half_life(self, steps: int) -> None:
        self.query_one(NumberSlider).action_move(steps)

    async def action_edit(self) -> None:
        row, summary = self.query_one(ExpertList).current, self._app.explore_summary
        if not isinstance(row, ClaimRow) or summary is None:
            self.notice("no claim at hand: enter on an expert opens its claims")
            return
        await self._app.edit(summary.root, row.path, row.line)
        self.controller.upkeep.index(perhaps=[row.path])

    def _show_weight(self) -> None:
        weight = self.controller.expertise.question.weight
        slider = self.query_one(NumberSlider)
        slider.annotate("" if weight == "recency" else f"counts by recency only (now {weight}: w)")
