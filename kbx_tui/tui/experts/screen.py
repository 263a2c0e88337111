"""Who or what is known best on a topic, and from which facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult

from kbx_tui.formatting import format_count
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.experts.expert_list import ExpertList, no_experts, no_topic
from kbx_tui.tui.experts.expert_words import half_life_words, row_words
from kbx_tui.tui.experts.messages import ExpertsReady, TopicsFound
from kbx_tui.tui.experts.model import WEIGHTS
from kbx_tui.tui.experts.view import ClaimRow, ExpertsView, half_life_at, slider_value
from kbx_tui.tui.navigator import Navigator
from kbx_tui.tui.shell.mode_screen import ModeScreen
from kbx_tui.tui.widgets.number_slider import NumberSlider
from kbx_tui.tui.widgets.ordered_input import OrderedInput
from kbx_tui.tui.widgets.status_line import StatusLine

WEIGHT_HELP = {
    "count": "every claim counts 1",
    "recency": "a claim loses half its weight every half-life",
    "citation": "sources times confidence",
    "relevance": "documents on the topic count too",
}


class TopicLine(OrderedInput):
    """The field for the topic."""

    BINDINGS = bindings("topic")

    def __init__(self) -> None:
        super().__init__(placeholder="a topic, in a few words", compact=True)
        self.cursor_blink = False


class Experts(ModeScreen):
    """The experts mode."""

    BINDINGS = bindings("experts", "mode")
    AUTO_FOCUS = "TopicLine"
    MODE = "experts"
    SCOPE = "experts"
    MAIN_LIST = ExpertList
    FOCUS_SCOPES: ClassVar = {
        TopicLine: ("topic",),
        NumberSlider: ("slider",),
        ExpertList: ("expert_list", "list"),
    }

    def __init__(self, session: BaseSession, app_state: AppState, navigator: Navigator) -> None:
        super().__init__(session, app_state, navigator)
        self.model = session.experts

    def compose_panes(self) -> ComposeResult:
        experts = ExpertList()
        experts.border_title = "Experts"
        experts.empty_state = no_topic()
        yield TopicLine()
        yield experts
        yield NumberSlider(
            "half-life", 0.5, format_value=lambda value: f"{half_life_at(value):.0f}d"
        )

    def on_mount(self) -> None:
        self.model.post = self.post_message
        topic = self.query_one(TopicLine)
        topic.border_title = "topic"
        topic.value = self.model.question.topic
        topic.cursor_position = len(topic.value)
        self._show_weight()
        self.model.find_topics()
        if self.model.view is not None:
            self._show(self.model.view)
            self.set_focus(self.query_one(ExpertList))  # the topic is typed already

    def meanings(self) -> Iterable[tuple[str, str]]:
        weight = self.model.question.weight
        match self.focused:
            case NumberSlider() as slider:
                return half_life_words(f"{half_life_at(slider.value):.0f}d", weight)
            case ExpertList() as experts if experts.current is not None:
                keymap = self.navigator.keymap
                edit = keymap.key_of("claim.edit") if keymap.offers("claim.edit") else ""
                return row_words(experts.current, weight, edit)
        return ()

    def on_topics_found(self, message: TopicsFound) -> None:
        experts = self.query_one(ExpertList)
        if self.model.view is None and not self.model.question.topic:
            experts.empty_state = no_topic(message.topics)
            experts.rebuild_lines()

    def on_experts_ready(self, message: ExpertsReady) -> None:
        if message.view is self.model.view:  # else the topic was cleared after it was posted
            self._show(message.view)

    @on(TopicLine.Changed)
    def change_topic(self, event: TopicLine.Changed) -> None:
        topic = event.value.strip()
        self.model.ask(topic=topic)
        if not topic:
            experts = self.query_one(ExpertList)
            experts.border_title, experts.empty_state = "Experts", no_topic(self.model.topics)
            experts.show(None)

    @on(NumberSlider.Changed)
    def change_half_life(self, event: NumberSlider.Changed) -> None:
        self.model.ask(half_life_days=half_life_at(event.value))

    def action_focus_topic(self) -> None:
        self.set_focus(self.query_one(TopicLine))

    def action_next_pane(self, step: int) -> None:
        self.focus_next() if step > 0 else self.focus_previous()

    def action_next_weight(self) -> None:
        weight = WEIGHTS[(WEIGHTS.index(self.model.question.weight) + 1) % len(WEIGHTS)]
        self.model.ask(weight=weight)
        self._show_weight()
        self.show_notice(f"by {weight}: {WEIGHT_HELP[weight]}")

    def action_toggle_people(self) -> None:
        people = not self.model.question.people
        self.model.ask(people=people)
        self.show_notice("only people" if people else "people and all other entities")

    def action_half_life(self, steps: int) -> None:
        self.query_one(NumberSlider).action_move(steps)

    async def action_edit(self) -> None:
        row = self.query_one(ExpertList).current
        if not isinstance(row, ClaimRow) or not await self.edit_file(row.path, row.line):
            self.show_notice("no claim is chosen: enter on an expert opens its claims")

    def _show(self, view: ExpertsView) -> None:
        self.query_one(StatusLine).clear_error()
        experts = self.query_one(ExpertList)
        count = format_count(view.ranking.total_matched, "expert")
        only = " · only people" if view.people else ""
        experts.border_title = f"{count}{only} · by {view.weight}"
        experts.empty_state = no_experts(
            view.topic,
            view.weight,
            self.navigator.keymap.key_of("weight.next"),
            has_claims=view.ranking.in_scope > 0,
        )
        experts.show(view)
        self.query_one(NumberSlider).show(slider_value(view.half_life_days))

    def _show_weight(self) -> None:
        weight = self.model.question.weight
        key = self.navigator.keymap.key_of("weight.next")
        note = "" if weight == "recency" else f"unused by {weight}; {key} changes that"
        self.query_one(NumberSlider).annotate(note)
