"""The tune mode: judged queries, and how other settings would answer them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Size

from kbx_tui.search.request import Tuning
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.keymap import TUNE
from kbx_tui.tui.drawing.lines import longest_fitting
from kbx_tui.tui.explore.search_state import knobs_of
from kbx_tui.tui.judging.judging_screen import JudgingScreen
from kbx_tui.tui.terminal_app import GoTo
from kbx_tui.tui.tune import panes
from kbx_tui.tui.tune.curve import MEASURES
from kbx_tui.tui.tune.model import TuneChanged
from kbx_tui.tui.widgets.footer import StatusLine
from kbx_tui.tui.widgets.lines_view import RowsView, blank

Meanings = tuple[tuple[str, str], ...]

NDCG = (
    "How good the first ten results are, 0 to 1: graded documents count by their grade, and more"
    " the higher they stand. 1 is the best order there is."
)
QUERIES: Meanings = (
    ("order .69 of 1.00", f"The mean nDCG@10. {NDCG}"),
    ("3 2 1 0 ?", "How many documents of the query have each grade; ? is not sure."),
    ("A → now", "nDCG@10 under the settings A, and under the current ones: ▲ better, ▼ worse."),
    (
        "92 % graded",
        "The share of the first ten that have a grade (judged@10); the rest count as not relevant.",
    ),
    ("(.61 to .77)", "The 95 % interval: with other queries of this kind it would lie in there."),
)
CURVE: Meanings = (
    ("the line", "The measure at each value of the knob, over all judged queries."),
    ("dots", "Its 95 % interval. Values whose intervals overlap widely are hardly different."),
    ("● and ◆", "The current value, and the best one."),
    ("┴", "Values at which the first ten of the query under the cursor change; none between them."),
    (
        "p",
        "How probable so large a gain is, if both values were equally good: .05 and less counts.",
    ),
)
THRESHOLDS: Meanings = (
    ("bars", "Your past queries by the score of their best entity; the line is the threshold."),
    ("two-pass, flat", "How many are answered with entities, and how many without."),
    ("changes", "Queries that the threshold of A answers otherwise than the current one."),
)
SNAPSHOTS: Meanings = (
    ("wins, ties, losses", "On how many judged queries the current settings are better or worse."),
    ("+.02 (-.01 to .05)", "The mean difference in nDCG@10, with its 95 % interval."),
    ("p", "As for the curve, made stricter for the number of snapshots (Holm)."),
)
DECISION: Meanings = (
    (
        "queries that did not choose it",
        "Each fifth of the queries is measured with the settings that the rest chooses: what is"
        " chosen and measured by the same queries always looks too good.",
    ),
    ("keep what you have", "No setting is better on those, or it may be chance (p above .05)."),
)


MEANINGS: dict[str, Meanings] = {
    "queries": QUERIES,
    "curve": CURVE,
    "thresholds": THRESHOLDS,
    "snapshots": SNAPSHOTS,
    "decision": DECISION,
}


class Tune(JudgingScreen):
    BINDINGS = bindings(*TUNE)
    AUTO_FOCUS = "QueryTable"
    MODE = "tune"
    PANES: ClassVar = {
        "queries": panes.QueryTable,
        "curve": panes.CurvePane,
        "thresholds": panes.ThresholdPane,
        "snapshots": panes.SnapshotList,
        "decision": panes.DecisionPane,
    }
    MAIN_LIST = panes.QueryTable

    def __init__(self, session: BaseSession, app_state: AppState) -> None:
        super().__init__(session, app_state)
        self.model = model = session.tune
        self.judge = self
        self.action_undo = model.explore.undo
        self.action_next_knob, self.action_next_measure = model.next_knob, model.next_measure
        self._awaits_queries = False
        """Whether optimising starts as soon as the judged queries have been read."""

    def compose_panes(self) -> ComposeResult:
        with Horizontal(id="tune-panes"):
            yield panes.QueryTable()
            with Vertical(id="tune-figures"):
                yield panes.CurvePane()
                yield panes.ThresholdPane()
                yield panes.SnapshotList()
                yield panes.DecisionPane()

    def on_mount(self) -> None:
        self.query_one(panes.ThresholdPane).border_title = "Entity threshold"
        self.query_one(panes.SnapshotList).empty_state = panes.no_snapshot(self.app.keymap)
        self.model.post = self.post_message
        self._show_queries()
        self._show_curve()
        self._show_past()
        self._show_snapshots()
        self.model.open()

    def on_unmount(self) -> None:
        self.model.stop_optimising()
        self.model.close()

    def fit(self, size: Size) -> None:
        self._show_hidden_panes()

    def meanings(self) -> Iterable[tuple[str, str]]:
        return MEANINGS.get(self.focused_pane, ())

    # Messages.

    def on_grades_changed(self) -> None:
        self.model.refresh()

    def on_measure_changed(self) -> None:
        self.query_one(StatusLine).clear_error()
        self._show_queries()
        self._show_snapshots()
        self.model.refresh()

    def on_tune_changed(self, message: TuneChanged) -> None:
        match message.part:
            case "past":
                self._show_past()
            case "snapshots":
                self._show_snapshots()
            case "advice":
                self._show_advice()
            case "curve":
                self._show_curve()
                self._show_title()
                is_read = (
                    self.model.curve is not None and not self.session.judging.reading.is_running
                )
                if self._awaits_queries and is_read and self.model.tuning is not None:
                    self._awaits_queries = False
                    self.model.optimise(self.model.tuning)

    # What the panes show.

    def _show_hidden_panes(self) -> None:
        key = self.app.keymap.key_of("screen.next")
        hidden = "" if self.has_class("-wide") else f"{key}: thresholds · snapshots"
        self.query_one(panes.CurvePane).border_subtitle = hidden

    def _show_queries(self) -> None:
        judging, table = self.session.judging, self.query_one(panes.QueryTable)
        table.empty_state = panes.no_judged_query(self.app.keymap)
        measured = judging.measured if judging.queries else None
        table.show(panes.query_rows(judging.queries, measured))
        self._show_title()

    def _show_title(self) -> None:
        judging, curve = self.session.judging, self.model.curve
        table = self.query_one(panes.QueryTable)
        measured = judging.measured if judging.queries else None
        is_ndcg = curve is not None and curve.measure == "ndcg"
        interval = (curve.now_low, curve.now_high) if curve is not None and is_ndcg else ()
        room = table.size.width - 4
        wordings = panes.title_words(len(judging.queries), measured, interval)
        table.border_title = longest_fitting(wordings, room)
        keymap = self.app.keymap
        save_key = keymap.key_of("settings.save") if keymap.offers("settings.save") else ""
        comparison = panes.comparison_words(measured, self.model.votes, save_key)
        table.border_subtitle = longest_fitting(comparison, room)

    def _show_curve(self) -> None:
        model, pane = self.model, self.query_one(panes.CurvePane)
        queries = self.session.judging.queries
        over = f"{MEASURES[model.measure]} over {model.knob.name}"
        pane.border_title = f"{over} · outer lines: 95 % interval" if model.curve else over
        self._show_hidden_panes()
        pane.empty_state = panes.no_curve(
            searchable=model.explore.is_searchable,
            judged=bool(queries),
            measurable=any(query.is_measurable for query in queries),
            fast=model.tuning is None,
        )
        pane.show(model.curve, model.p, model.steps)

    def _show_past(self) -> None:
        pane, model = self.query_one(panes.ThresholdPane), self.model
        searchable = model.explore.is_searchable
        pane.empty_state = panes.no_past_query(model.past_total, searchable=searchable)
        pane.show(model.past)

    def _show_snapshots(self) -> None:
        rows = self.model.snapshots
        pane = self.query_one(panes.SnapshotList)
        pane.border_title = "Snapshots" + (f" ({len(rows)})" if rows else "")
        pane.show_rows(rows, key=lambda row: row.snapshot, otherwise=pane.cursor)

    def _show_advice(self) -> None:
        pane = self.query_one(panes.DecisionPane)
        if not self.has_class("-deciding"):
            return
        if self.model.progress is not None:
            pane.show("Optimising", partial(panes.progress_lines, *self.model.progress))
        elif (advice := self.model.advice) is not None:
            key = self.app.keymap.key_of("decision.accept")
            pane.show("Optimised", lambda width: panes.advice_lines(advice, key, width))
        else:
            self._close_decision()

    def _close_decision(self) -> None:
        self._awaits_queries = False
        if self.has_class("-deciding"):
            had_focus = isinstance(self.focused, panes.DecisionPane)
            self.remove_class("-deciding")
            self.query_one(panes.DecisionPane).show("", blank)
            if had_focus:
                self.go_to_pane("curve")

    def action_close_decision(self) -> None:
        self._close_decision()
        self.model.stop_optimising()

    def action_accept_decision(self) -> None:
        if self.model.progress is None:
            advice = self.model.advice
            self.action_close_decision()
            if advice is not None and advice.wins:
                self._take(advice.best)

    # What the user does.

    @on(RowsView.Moved, "QueryTable")
    def highlight_query(self, event: RowsView.Moved) -> None:
        self.model.look_at(event.row.query.text)

    @on(RowsView.Opened, "QueryTable")
    def open_query(self, event: RowsView.Opened) -> None:
        self.app.post_message(GoTo(query=event.row.query.text))

    @on(panes.CurvePane.Moved)
    def move_knob(self, event: panes.CurvePane.Moved) -> None:
        self.model.explore.update(**{self.model.knob.state_field: event.value})

    def action_pin_settings(self) -> None:
        row = self.query_one(panes.SnapshotList).current
        if isinstance(self.focused, panes.SnapshotList) and row is not None:
            self.session.judging.pin(row.settings)
            self.show_notice(f"A is now {row.settings.words()}, the snapshot of {row.when}")
        else:
            super().action_pin_settings()

    def action_take_snapshot(self) -> None:
        self.session.client.start(self.model.take_snapshot())

    def action_take_row(self) -> None:
        if (row := self.query_one(panes.SnapshotList).current) is not None:
            self._take(row.settings.tuning)

    def action_drop(self) -> None:
        if (row := self.query_one(panes.SnapshotList).current) is not None:
            self.session.client.start(self.model.drop_snapshot(row.snapshot))
            undo = self.app.keymap.key_of("tune.undo")
            self.show_notice(f"the snapshot of {row.when} is dropped; {undo} takes that back")

    def action_slide(self, name: str, steps: int) -> None:
        value = getattr(self.model.explore.state, name)
        moved = min(max(round(value + steps / 100, 2), 0.0), 1.0)
        self.model.explore.update(**{name: moved})

    def action_optimise(self) -> None:
        queries = self.session.judging.queries
        if self.model.tuning is None or not any(query.is_measurable for query in queries):
            self.show_notice("there is nothing to optimise by: grade some results first")
        else:
            self.add_class("-deciding")
            self.go_to_pane("decision")
            judging = self.session.judging
            self._awaits_queries = self.model.curve is None or judging.reading.is_running
            if self._awaits_queries:
                self.query_one(panes.DecisionPane).show("Optimising", panes.awaiting)
            else:
                self.model.optimise(self.model.tuning)

    def _take(self, tuning: Tuning) -> None:
        self.model.explore.update(**knobs_of(tuning))
        self.show_notice(f"{self.app.keymap.key_of('tune.undo')} takes these settings back")

    def action_back(self) -> None:
        if self.has_class("-deciding"):
            self.action_close_decision()
        else:
            super().action_back()

    def pane_names(self) -> list[str]:
        if not self.has_class("-deciding"):
            hidden = ["decision"]
        else:
            hidden = ["thresholds", "snapshots"] if self.has_class("-wide") else []
        return [name for name in self.PANES if name not in hidden]

    # Grading: the results of the query under the cursor, in explore.

    def show_grades(self) -> None:
        self._show_queries()

    def document_to_grade(self) -> str:
        return "open the query first: its results are what is graded"

    def go_to_next(self) -> str:
        if (row := self.query_one(panes.QueryTable).current) is None:
            return "no query is judged yet"
        self.app.post_message(GoTo(query=row.query.text))
        return ""
