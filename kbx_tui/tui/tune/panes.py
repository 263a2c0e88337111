"""The panes of the tune mode, and their texts while empty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from statistics import fmean
from typing import TYPE_CHECKING

from textual.strip import Strip

from kbx_tui.formatting import format_count, format_percent, format_score
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import (
    BLANK,
    Line,
    LineDrawing,
    Look,
    Span,
    fit,
    fit_to_height,
    longest_fitting,
    looks,
    paragraph,
    shorten,
    wrap,
)
from kbx_tui.tui.judging.live_measure import EQUAL, LiveMeasure
from kbx_tui.tui.judging.model import vote_words
from kbx_tui.tui.terminal_app import Newest
from kbx_tui.tui.tune.curve import Curve, Value, curve_words, plot_lines, plot_position
from kbx_tui.tui.tune.model import PastQueries, SnapshotRow
from kbx_tui.tui.widgets.lines_view import (
    EmptyState,
    RowsView,
    Slot,
    TextPane,
    blank,
    dim_text,
    titled_text,
)
from kbx_tui.tui.widgets.number_slider import Draggable

if TYPE_CHECKING:
    from kbx_tui.evaluation.blind_preferences import Votes
    from kbx_tui.evaluation.judgments import JudgedQuery
    from kbx_tui.evaluation.optimise import Advice
    from kbx_tui.evaluation.past_queries import Outcome, ThresholdObservatory


LEAST_HEIGHT = 4
MARGIN = 1


class CurvePane(LineDrawing, Draggable, can_focus=True, inherit_bindings=False):
    COMPONENT_CLASSES = looks("strong", "accent", "document", "entity", "rule")
    BINDINGS = bindings("slider")

    @dataclass
    class Moved(Newest):
        value: Value

    def __init__(self) -> None:
        super().__init__()
        self.curve: Curve | None = None
        self.p: float | None = None
        self.steps: tuple[float, ...] = ()
        self.empty_state: EmptyState = blank
        self._value: Value | None = None
        """The value that the user has moved the knob to; `curve` follows."""
        self._lines: list[Line] = []

    def show(self, curve: Curve | None, p: float | None, steps: tuple[float, ...]) -> None:
        self.curve, self.p, self.steps = curve, p, steps
        self._value = None if curve is None else curve.current
        self.on_resize()

    def on_resize(self) -> None:
        self._lines = self._lay_out(*self.content_size)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        return self.draw(self._lines[y] if y < len(self._lines) else BLANK, self.content_size.width)

    def _lay_out(self, width: int, height: int) -> list[Line]:
        if self.curve is None:
            return fit_to_height(self.empty_state(width), height)
        words: list[Line] = [
            (Span(f"  {line}"),) for line in wrap(curve_words(self.curve, self.p), width - 3)
        ]
        tall = height - len(words)
        if tall < LEAST_HEIGHT:
            return words[:height]
        plot = plot_lines(self.curve, self.steps, width - 2 * MARGIN, tall)
        return [*((Span(" " * MARGIN), *line) for line in plot), *words]

    def action_move(self, steps: int) -> None:
        if self.curve is not None and self._value is not None:
            self._move_to(self.curve.knob.moved(self._value, steps))

    def action_move_to_end(self, right: bool) -> None:
        if self.curve is not None:
            self._move_to(self.curve.knob.values[-1 if right else 0])

    def drag_to(self, x: int) -> None:
        if self.curve is not None:
            position = plot_position(x - MARGIN, self.content_size.width - 2 * MARGIN)
            self._move_to(self.curve.knob.value_at(position))

    def _move_to(self, value: Value) -> None:
        if value != self._value:
            self._value = value
            self.post_message(self.Moved(value))


@dataclass(frozen=True, slots=True)
class QueryRow:
    query: JudgedQuery
    start: float | None
    """None while the current settings are A, which `now` then measures."""
    now: float | None

    @property
    def sign(self) -> str:
        if self.start is None or self.now is None or abs(self.now - self.start) <= EQUAL:
            return " "
        return "▲" if self.now > self.start else "▼"


def query_rows(queries: Sequence[JudgedQuery], measure: LiveMeasure | None) -> tuple[QueryRow, ...]:
    figures: dict[str, tuple[float | None, float]] = {}
    if measure is not None:
        starts = repeat(None) if measure.current == measure.pinned else measure.start
        measured = zip(measure.queries, starts, measure.now, strict=False)
        figures = {query.text: (start, now) for query, start, now in measured}
    return tuple(QueryRow(query, *figures.get(query.text, (None, None))) for query in queries)


def title_words(
    count: int, measure: LiveMeasure | None, interval: Sequence[float]
) -> tuple[str, ...]:
    """Return `12 judged queries · order .69 of 1.00 (.61 to .77) · 92 % graded`, then less."""
    judged = format_count(count, "judged query")
    if measure is None:
        return (judged if count else "Judged queries",)
    mean = f"order {format_score(fmean(measure.now))} of 1.00"
    between = f"{mean} ({' to '.join(map(format_score, interval))})" if interval else mean
    share = f"{format_percent(fmean(measure.judged))} graded"
    return (
        f"{judged} · {between} · {share}",
        f"{count:,} · {between} · {share}",
        f"{between} · {share}",
        f"{mean} · {share}",
        mean,
    )


def comparison_words(
    measure: LiveMeasure | None, votes: Votes | None, save_key: str = ""
) -> tuple[str, ...]:
    """Return `vs A: 2 better, 1 worse, 9 same · preferred ...` and then shorter forms."""
    preferred = vote_words(votes) if votes is not None else ()
    if measure is None:
        return (*preferred, "")
    if measure.current == measure.pinned:
        return "3 to 0: how many have that grade · ?: not sure", "best possible order: 1.00"
    same = len(measure.queries) - measure.better - measure.worse
    words = f"vs A: {measure.better} better, {measure.worse} worse, {same} same"
    saves = (f"{words} · {save_key} saves",) if save_key else ()
    return (*(f"{words} · {each}" for each in preferred), *saves, words)


COUNTS_FROM = 50
GRADES: tuple[int | None, ...] = (3, 2, 1, 0, None)
FIGURES = 11


class QueryTable(RowsView[QueryRow]):
    COMPONENT_CLASSES = looks("strong", "accent", "bad", "rule", "cursor")
    BINDINGS = bindings("judged_queries")

    def show(self, rows: tuple[QueryRow, ...]) -> None:
        before = self.current.query.text if self.current is not None else ""
        self.show_rows(rows, key=lambda row: row.query.text, otherwise=self.cursor)
        if rows and rows[self.cursor].query.text != before:
            self.cursor_moved()

    def slots(self) -> Sequence[Slot | Line]:
        if not self.rows:
            return ()
        width = self.line_width
        figures = "nDCG@10" if all(row.start is None for row in self.rows) else "A → now"
        grades = "".join(f"{'?' if grade is None else grade:>3}" for grade in GRADES)
        right = f"{f'graded {grades}' if width >= COUNTS_FROM else ''}  {figures:>{FIGURES}}"
        title = Span(f"{'   query':<{max(width - len(right), 0)}}{right}", "dim")
        return [(title,), *self.row_slots()]

    def row_line(self, row: int, part: int, width: int) -> Line:
        """Return `›▲ what did alice decide   2  1  0  4  0    .63 → .81`."""
        shown = self.rows[row]
        now = "–" if shown.now is None else f"{format_score(shown.now):>4}"
        if shown.start is not None:
            now = f"{format_score(shown.start):>4} → {now}"
        look: Look = "dim" if shown.now is None else "text" if shown.sign == " " else "strong"
        grades = [*shown.query.grades.values(), *(None for _ in shown.query.unsure)]
        counts = [grades.count(grade) for grade in GRADES] if width >= COUNTS_FROM else []
        room = width - 3 - 3 * len(counts) - 2 - FIGURES
        return (
            Span(self.marker(row), "dim"),
            Span(shown.sign, "bad" if shown.sign == "▼" else "accent"),
            Span(" "),
            Span(fit(safe_line(shown.query.text), max(room, 0))),
            *(Span(f"{count or '·':>3}", "text" if count else "rule") for count in counts),
            Span("  "),
            Span(f"{now:>{FIGURES}}", look),
        )


class ThresholdPane(TextPane):
    COMPONENT_CLASSES = looks("strong", "accent", "entity", "rule")

    def show(self, past: PastQueries | None) -> None:
        self.content = lambda width: (
            self.empty_lines() if past is None else past_query_lines(past, width)
        )
        self.rebuild_lines()


WHEN_FROM = 60


class SnapshotList(RowsView[SnapshotRow]):
    COMPONENT_CLASSES = looks("strong", "accent", "cursor")
    BINDINGS = bindings("snapshots")

    def row_heights(self) -> list[int]:
        return [2] * len(self.rows)

    def row_line(self, row: int, part: int, width: int) -> Line:
        shown = self.rows[row]
        if part:
            return (Span(f"     now {shown.comparison}", "dim"),)
        marker = Span(self.marker(row), "dim")
        letter = Span("A " if shown.is_pinned else "  ", "accent")
        when = f"  {shown.when}" if width >= WHEN_FROM else ""
        words = fit(shown.settings.words(), max(width - 3 - len(when), 0))
        return (marker, letter, Span(words), Span(when, "dim"))


class DecisionPane(TextPane):
    COMPONENT_CLASSES = looks("strong", "accent", "document", "entity", "rule", "bad")
    BINDINGS = bindings("decision", "text")

    def show(self, title: str, content: EmptyState) -> None:
        self.border_title, self.content = title, content
        self.rebuild_lines()


BAR = 30
awaiting = dim_text("Reading the judged queries; optimising starts by itself after that.")


def progress_lines(done: int, total: int, width: int) -> list[Line]:
    filled = round(done / max(total, 1) * BAR)
    bar = (Span("  " + "█" * filled, "document"), Span("░" * (BAR - filled), "rule"))
    text = "Each fifth of the judged queries is measured with what the rest chooses."
    return [bar, BLANK, *paragraph(text, width, "dim")]


def advice_lines(advice: Advice, take_key: str, width: int) -> list[Line]:
    lines = [
        *paragraph(f"{advice.verdict[0].upper()}{advice.verdict[1:]}.", width, "strong"),
        BLANK,
    ]
    facts = [
        f"nDCG@10 is {format_score(advice.before)} on {advice.queries} judged queries,"
        f" judged@10 {format_percent(advice.judged_before)}."
    ]
    if advice.left_out:
        facts.append(f"There was no memory for {advice.left_out:,} judged queries.")
    if advice.changes and not advice.wins:
        facts.append(
            f"The best on the queries that chose it, {format_score(advice.after)}, would be:"
        )
    for fact in facts:
        lines += paragraph(fact, width)
    for key, (old, new) in advice.changes.items():
        lines.append((Span(f"    {key}  "), Span(f"{old} → {new}", "accent")))
    if advice.wins:
        lines += [BLANK, *paragraph(f"{take_key} takes these settings into the app.", width)]
    return lines


def no_judged_query(keymap: Keymap) -> EmptyState:
    if not keymap.offers("grade.0"):
        return titled_text(
            "No query is judged yet.",
            "Where results may be graded, it is shown here how good each setting is on the graded"
            " queries.",
        )
    grades, explore = map(keymap.key_of, ("grade.0", "mode.explore"))
    return titled_text(
        "No query is judged yet.",
        f"Go to explore ({explore}), ask what you really ask, and grade the results with"
        f" {grades}, from not relevant to just what was wanted. With ten such queries, settings can"
        " be compared here.",
        "The demo comes with 12 judged queries: `kbx demo`. `kbx judgments import` takes those of"
        " other tools.",
    )


def no_curve(*, searchable: bool, judged: bool, measurable: bool, fast: bool) -> EmptyState:
    if not searchable:
        return dim_text("The index is being built; judged queries are read when it is ready.")
    if not judged:
        return dim_text("With judged queries, this is how good each value of a knob is on them.")
    if not measurable:
        return titled_text(
            "No judged query has a relevant document.",
            "Without one, every setting is as good as any other. Open a query and grade a"
            " document that answers it.",
        )
    if fast:
        return dim_text("A fast search has no knobs. The key for the mode in explore changes it.")
    return dim_text("Reading the judged queries …")


def no_past_query(total: int | None, *, searchable: bool) -> EmptyState:
    if not searchable:
        return dim_text("The index is being built.")
    if total == 0:
        return titled_text(
            "No past query yet.",
            "Queries with which you open or grade a document in explore are kept. Here you then"
            " see what another threshold would have done with them.",
        )
    return dim_text("Reading the past queries …")


def no_snapshot(keymap: Keymap) -> EmptyState:
    if not keymap.offers("snapshot.take"):
        return dim_text("No settings have been kept.")
    key = keymap.key_of("snapshot.take")
    return dim_text(
        f"{key} keeps the current settings, to compare others with them on the judged queries."
    )


BLOCKS = " ▁▂▃▄▅▆▇█"
BAR_HEIGHT = 3
OUTCOMES: dict[Outcome, str] = {"two_pass": "two-pass", "flat": "flat", "nothing": "nothing"}


def past_query_lines(past: PastQueries, width: int) -> list[Line]:
    observed, count = past.observed, len(past.observed.queries)
    read = f"{count:,} of {past.total:,}" if count < past.total else f"{count:,}"
    queries = "past query" if past.total == 1 else "past queries"
    lines = histogram_lines(observed.histogram, past.current, width)
    scores = f"  best entity scores of {read} {queries}"
    which = (f"{scores} whose result was opened or graded", f"{scores}, results opened", scores)
    lines.append((Span(shorten(longest_fitting(which, width), width), "dim"),))
    now = outcome_words(observed, past.current)
    lines.append((Span(f"  threshold {format_score(past.current)}  ", "strong"), Span(now)))
    if past.pinned == past.current:
        return lines
    then = outcome_words(observed, past.pinned)
    lines.append((Span(f"  A         {format_score(past.pinned)}  {then}", "dim"),))
    flips = observed.flips(past.pinned, past.current)
    if not flips:
        return [*lines, (Span("  no query changes between the two", "dim"),)]
    change = "changes" if len(flips) == 1 else "change"
    title = f"  {format_count(len(flips), 'query')} {change}:"
    lines.append((Span(title),))
    places = [_place(observed, threshold) for threshold in (past.pinned, past.current)]
    for query in flips:
        change = " → ".join(OUTCOMES[query.outcomes[place]] for place in places)
        text = fit(safe_line(query.query), max(width - len(change) - 7, 1))
        lines.append((Span(f"    {text}  "), Span(change, "accent")))
    return lines


def histogram_lines(histogram: Sequence[int], threshold: float, width: int) -> list[Line]:
    room, most = max(width - 3, 1), max(*histogram, 1)
    line = min(int(threshold * room), room - 1)
    lines: list[Line] = []
    for row in reversed(range(BAR_HEIGHT)):
        cells = []
        for cell in range(room):
            count = histogram[min(cell * len(histogram) // room, len(histogram) - 1)]
            eighths = -(-count * BAR_HEIGHT * 8 // most) - row * 8
            cells.append(BLOCKS[min(max(eighths, 0), 8)])
        text = "".join(cells)
        spans = (Span(text[:line], "rule"), Span("│", "accent"), Span(text[line + 1 :], "entity"))
        lines.append((Span("  "), *spans))
    scale = f"0{'.5':>{room // 2 - 1}}{'1':>{room - room // 2}}"
    return [*lines, (Span(f"  {fit(scale, room)}", "dim"),)]


def outcome_words(observed: ThresholdObservatory, threshold: float) -> str:
    place = _place(observed, threshold)
    counts = [query.outcomes[place] for query in observed.queries]
    parts = [f"{counts.count(outcome):,} {name}" for outcome, name in OUTCOMES.items()]
    return ", ".join(parts if "nothing" in counts else parts[:2])


def _place(observed: ThresholdObservatory, threshold: float) -> int:
    distances = [abs(each - threshold) for each in observed.thresholds]
    return distances.index(min(distances))
