"""The experts mode: who or what is known best on a topic, and the facts that show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.cells import cell_len
from textual import getters, on
from textual.app import ComposeResult
from textual.timer import Timer

from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line
from kbx_tui.search.query.typed_filters import read_filters
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.keymap import ANY_MODE
from kbx_tui.tui.drawing.lines import (
    BLANK,
    Line,
    Look,
    Span,
    fit,
    longest_fitting,
    looks,
    move_text,
    paragraph,
    rank_moves,
    shorten,
    shorten_start,
    wrap_ranges,
)
from kbx_tui.tui.experts.model import (
    PARTLY,
    WEIGHTS,
    ClaimRow,
    ExpertRow,
    ExpertsView,
    Row,
    half_life_at,
    slider_value,
)
from kbx_tui.tui.shell.frame_screen import ModeScreen
from kbx_tui.tui.terminal_app import GoTo, TerminalApp
from kbx_tui.tui.widgets.footer import StatusLine
from kbx_tui.tui.widgets.input_fields import OrderedInput
from kbx_tui.tui.widgets.lines_view import EmptyState, RowsView, Slot, titled_text
from kbx_tui.tui.widgets.number_slider import NumberSlider

BAR = 12
ROOMY = 100
STATUS = 10
"""Cells of a date, and of the longest status."""
INDENT = " " * 6


class ExpertList(RowsView[Row]):
    COMPONENT_CLASSES = looks("strong", "accent", "entity", "rule", "cursor")
    BINDINGS = bindings("expert_list")
    LEAVE_ACTION = "screen.focus_topic"
    app = getters.app(TerminalApp)
    SETTLE_SECONDS = 3.0
    digits = 2
    """Decimals of scores: none if each is a number of facts."""

    def __init__(self) -> None:
        super().__init__()
        self.view: ExpertsView | None = None
        self.expanded_ids: frozenset[str] = frozenset()
        self._moves: Mapping[str, int] = {}
        self._timer: Timer | None = None
        self._ends: Sequence[int] = ()
        self._counts: Sequence[int] = ()
        self._topics: tuple[str, ...] = ()

    def show(self, view: ExpertsView | None, topics: Sequence[str] = ()) -> None:
        """Show an answer, with the claims of the first expert if all names fit, or topics."""
        before, self._topics = self.view, tuple(topics)
        same = before and view and before.question.topic == view.question.topic
        if not same:
            experts = view.ranking.experts[:1] if view is not None else ()
            first = frozenset(expert.entity_id for expert in experts)
            rows = tuple(view.rows(first)) if view is not None else ()
            has_room = sum(map(self._height_of, rows[:-1])) < self.visible_height
            self.expanded_ids, self.chosen = first if has_room else frozenset(), False
        current = self.current if self.chosen else None
        self._moves = rank_moves(_ranks(before), _ranks(view)) if same else {}
        self.view = view
        self._lay_out(current)
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(self.SETTLE_SECONDS, self._settle)

    def show_as_left(self, view: ExpertsView, expanded_ids: frozenset[str], current: Row) -> None:
        self.view, self.expanded_ids, self.chosen = view, expanded_ids, True
        self._lay_out(current)

    def slots(self) -> Sequence[Slot | Line]:
        above = no_topic(self.line_width) if self.rows and self.view is None else ()
        count = self.view.unscored_count if self.view is not None else 0
        below = [BLANK, *paragraph(f"{count:,} more without a score", self.line_width, "dim")]
        return [*above, *self.row_slots(), *(below if count else [])]

    def row_heights(self) -> list[int]:
        heights = list(map(self._height_of, self.rows))
        if isinstance(self.current, ClaimRow):
            heights[self.cursor] = len(self._claim_lines(self.cursor, self.line_width))
        return heights

    def _height_of(self, row: Row) -> int:
        return 2 if self.line_width < ROOMY and isinstance(row, ExpertRow) else 1

    def row_line(self, row: int, part: int, width: int) -> Line:
        content = self.rows[row]
        marker = self.marker(row)
        if isinstance(content, str):
            return (Span(f"{marker} ", "dim"), Span(safe_line(content), "strong"))
        if isinstance(content, ClaimRow):
            lines = self._claim_lines(row, width)
            return lines[part] if part < len(lines) else BLANK  # the width may have just changed
        counts = aligned(content.columns, self._counts)
        if part:
            room = width - cell_len(INDENT) - 1
            shorter = counts.replace(" on own page", " own").strip()
            return (Span(f"{INDENT} "), Span(longest_fitting([counts, shorter], room), "dim"))
        move = self._moves.get(content.expert.entity_id, 0)
        score = score_text(content, self.digits)
        has_kinds = self.view is not None and not self.view.question.people
        return expert_line(content, width, marker, move, score, counts, has_kinds=has_kinds)

    def _claim_lines(self, row: int, width: int) -> list[Line]:
        claim, is_open = self.rows[row], row == self.cursor
        assert isinstance(claim, ClaimRow)
        marker = self.marker(row)
        return claim_lines(claim, width, marker, self._ends, self.digits, is_open=is_open)

    @property
    def key_labels(self) -> Mapping[str, str]:
        return {"expert.open": "read"} if isinstance(self.current, ClaimRow) else {}

    def watch_cursor(self) -> None:
        self.rebuild_lines()  # the fact under the cursor is shown whole
        super().watch_cursor()

    def row_opened(self) -> None:
        row = self.current
        if isinstance(row, ExpertRow):
            self.expanded_ids ^= {row.expert.entity_id}
            self._lay_out(row)
        super().row_opened()

    def _lay_out(self, current: Row | None) -> None:
        rows: tuple[Row, ...] = self._topics
        if self.view is not None:
            rows = tuple(self.view.rows(self.expanded_ids))
        self._ends = widths_of(row for row in rows if isinstance(row, ClaimRow))
        experts = [row for row in rows if isinstance(row, ExpertRow)]
        self._counts = widths_of(experts)
        self.digits = 2
        if all(row.expert.score == row.expert.claim_count for row in experts):
            self.digits, self._counts[:1] = 0, [0]  # the score says the same
        keys = [_key(row) for row in rows]
        self.show_at(rows, keys.index(_key(current)) if current and _key(current) in keys else 0)

    def _settle(self) -> None:
        self._moves = {}
        self.refresh()


def widths_of(rows: Iterable[ExpertRow | ClaimRow]) -> list[int]:
    """Return the width of each column of rows."""
    cells = (map(cell_len, row.columns) for row in rows)
    return [max(column) for column in zip(*cells, strict=True)]


def score_text(row: ExpertRow, digits: int) -> str:
    return f"{row.expert.score:.2f}" if digits else row.columns[0]


def aligned(columns: Iterable[str], widths: Iterable[int]) -> str:
    """Return columns in their widths, without those that have none."""
    shown = (fit(each, cells) for each, cells in zip(columns, widths, strict=True) if cells)
    return "  ".join(shown)


def expert_line(
    row: ExpertRow,
    width: int,
    marker: str,
    move: int,
    score: str,
    counts: str,
    *,
    has_kinds: bool = True,
) -> Line:
    """Return `› 1 ▸ Bob Okafor  person  ━━━━━━━━━━  5.50  6 facts  4 sources`."""
    expert, moved = row.expert, move_text(move)
    cells = max(round(row.share * BAR), 1) if row.share else 0
    bar = fit("━" * cells, BAR)  # rows of blocks would form one block
    head = f"{row.rank:>3} {'▾' if row.is_expanded else '▸'} "
    end = f" {score:>9}"
    counts = f"  {counts}" if width >= ROOMY else ""
    kind = f" {fit(safe_line(expert.type), 8)} " if has_kinds else " "
    taken = 1 + cell_len(head) + cell_len(kind) + BAR + cell_len(end) + cell_len(counts)
    room = max(min(width - taken, 32), 6)
    name = fit(safe_line(expert.name), max(room - cell_len(moved), 1))  # keeps columns aligned
    who = (Span(marker + head, "dim"), Span(name, "strong"), Span(moved, "accent"))
    return (*who, Span(kind, "dim"), Span(bar, "entity"), Span(end), Span(counts, "dim"))


def claim_lines(
    claim: ClaimRow,
    width: int,
    marker: str,
    ends: Sequence[int],
    digits: int,
    *,
    is_open: bool = False,
) -> list[Line]:
    """Return `    + 1.00  Runs the migration  2026-03-17  people/bob.md:12`, whole if it is open.

    In a narrow terminal only the status or the date follows, and the rest is below an open one.
    """
    look: Look = "rule" if claim.status else "text"
    sign = f"{INDENT}{sign_of(claim, digits)}  "
    room = width - 1 - cell_len(sign) - 2
    why, date, place = claim.columns
    if width < ROOMY:
        end = fit(claim.status or date, STATUS)
    else:  # a fact has the room that the columns before the first one leave
        end = shorten(aligned(claim.columns, ends), max(room // 2, 0)).lstrip()
    text = safe_line(claim.receipt.text)
    room = max(room - cell_len(end), 2)
    texts = [text[a:b] for a, b in wrap_ranges(text, room)] if is_open else [text]
    signed = Span(sign, "rule" if claim.status else "entity")
    head = (Span(marker, "dim"), signed, Span(fit(texts[0], room), look), Span(f"  {end}", "dim"))
    indent = Span(" " * (1 + cell_len(sign)))
    lines: list[Line] = [head, *((indent, Span(part, look)) for part in texts[1:])]
    if is_open and width < ROOMY:
        below = " · ".join(filter(None, (why, date)))
        place = shorten_start(place, max(width - cell_len(indent.text) - cell_len(below) - 4, 0))
        lines.append((indent, Span(" · ".join(filter(None, (below, place))), "dim")))
    return lines


def sign_of(claim: ClaimRow, digits: int) -> str:
    """Return `+ 0.50`, `–` for one that does not count; the sign alone where all others add 1."""
    sign = "–" if claim.status else "+"
    return f"{sign} {claim.receipt.contribution:.{digits}f}" if digits else sign


_about = titled_text(
    "Type a topic, or choose one below.",
    "People are ranked by the facts known about them on that topic, which add up to the score.",
)


def no_topic(width: int) -> list[Line]:
    return [*_about(width), BLANK]


def no_experts(topic: str, weight: str, key: str, *, has_claims: bool) -> EmptyState:
    """Return the empty state; `key` changes the weight, `has_claims` if any entity has claims."""
    if not has_claims:
        return titled_text(
            "There are no facts yet.",
            "Experts are ranked by facts: list items on the page of a person, a project or another"
            " entity, at its top or below ## Facts.",
        )
    advice = "Try another word"
    if weight != "relevance":
        advice += f", or {key} until the weight is relevance, which also counts documents"
    return titled_text(f"No fact mentions “{shorten(topic, 40)}”.", f"{advice}.")


def _ranks(view: ExpertsView | None) -> dict[str, int]:
    experts = view.ranking.experts if view is not None else ()
    return {expert.entity_id: rank for rank, expert in enumerate(experts, 1)}


def _key(row: Row) -> tuple[str, ...]:
    if isinstance(row, str):
        return (row,)
    if isinstance(row, ExpertRow):
        return (row.expert.entity_id,)
    return (row.expert_id, row.receipt.text)


ORDERS = {
    "count": "most facts first",
    "recency": "most and newest facts first",
    "citation": "most sources first",
    "relevance": "most relevant first",
}
"""The order of the experts, by weight."""


TOPIC_WORDS = 4
"""A query of more words is a sentence, and no topic."""


class TopicLine(OrderedInput):
    BINDINGS = bindings("topic")
    offers_help = True

    def __init__(self) -> None:
        super().__init__("a topic, in a few words")


class Experts(ModeScreen):
    BINDINGS = bindings("experts", *ANY_MODE)
    AUTO_FOCUS = "TopicLine"
    MODE = "experts"
    MAIN_LIST = ExpertList
    MOST_KEYS = 7

    def __init__(self, session: BaseSession, app_state: AppState) -> None:
        super().__init__(session, app_state)
        self.model = session.experts

    def compose_panes(self) -> ComposeResult:
        experts = ExpertList()
        experts.border_title = "Experts"
        experts.empty_state = no_topic
        yield TopicLine()
        yield experts
        yield NumberSlider(
            "half-life",
            0.5,
            format_value=lambda value: f"{half_life_at(value):.0f}d",
            command="half_life.less",
        )

    def on_mount(self) -> None:
        self.model.on_change = self.show
        topic = self.query_one(TopicLine)
        topic.value = self.model.topic_after(self._asked_in_explore())
        topic.select_all()  # typing replaces it
        self._show_weight()
        self.session.client.start(self.model.find_topics())
        left = self.session.left.pop(self.MODE, None)
        if self.model.view is not None:
            if left is not None:
                self.query_one(ExpertList).show_as_left(self.model.view, *left)
            self.show()
            self.set_focus(self.query_one(ExpertList))  # the topic has already been typed

    def _asked_in_explore(self) -> str:
        """Return the query in explore as a topic; of a sentence, the first thing that it names."""
        explore = self.session.explore
        asked = read_filters(explore.state.query).text.strip(" ?")
        if len(asked.split()) <= TOPIC_WORDS:
            return asked
        entities = explore.displayed.view.entities if explore.displayed.view is not None else ()
        named = (entity.name for entity in entities if entity.kept and entity.type != "person")
        return next(named, "")

    def meanings(self) -> Iterable[tuple[str, str]]:
        weight = self.model.question.weight
        match self.focused:
            case NumberSlider() as slider:
                days = f"half-life {half_life_at(slider.value):.0f}d"
                return ((days, "The age at which a fact counts half."),)
            case ExpertList() as experts if experts.current is not None:
                keymap = self.app.keymap
                edit = keymap.key_of("claim.edit") if keymap.offers("claim.edit") else ""
                return row_words(experts.current, weight, edit, experts.digits)
        return ()

    @on(RowsView.Moved, "ExpertList")
    def show_keys_of_row(self) -> None:
        self.show_keys()

    @on(TopicLine.Changed)
    def change_topic(self, event: TopicLine.Changed) -> None:
        self.model.ask(topic=event.value.strip())

    @on(NumberSlider.Changed)
    def change_half_life(self, event: NumberSlider.Changed) -> None:
        self.model.ask(half_life_days=half_life_at(event.value))

    @on(RowsView.Opened, "ExpertList")
    def open_row(self, event: RowsView.Opened) -> None:
        if isinstance(event.row, str):
            self.query_one(TopicLine).value = event.row
        elif isinstance(event.row, ClaimRow):
            claim = event.row.receipt
            self._leave_for(GoTo(path=claim.path, line=claim.line))

    def _leave_for(self, there: GoTo) -> None:
        """Open something in explore, to come back from it to the same row."""
        experts = self.query_one(ExpertList)
        self.session.left[self.MODE] = experts.expanded_ids, experts.current
        self.app.post_message(there)

    def action_card(self) -> None:
        match self.query_one(ExpertList).current:
            case ExpertRow(expert=expert):
                self._leave_for(GoTo(entity=expert.entity_id))
            case ClaimRow(expert_id=expert_id):
                self._leave_for(GoTo(entity=expert_id))
            case _:
                self.show_notice("no card to show: type a topic and go to a person first")

    def action_focus_topic(self) -> None:
        self.set_focus(self.query_one(TopicLine))

    def action_next_weight(self) -> None:
        weight = WEIGHTS[(WEIGHTS.index(self.model.question.weight) + 1) % len(WEIGHTS)]
        self.model.ask(weight=weight)
        self._show_weight()
        self.show_notice(f"by {weight}. {WEIGHT_WORDS[weight]}")

    def action_toggle_people(self) -> None:
        people = not self.model.question.people
        self.model.ask(people=people)
        self.show_notice("only people" if people else "people and all other entities")

    def action_half_life(self, steps: int) -> None:
        if self.model.question.weight == "recency":
            self.query_one(NumberSlider).action_move(steps)
        else:
            key = self.app.keymap.key_of("weight.next")
            self.show_notice(f"the half-life counts by recency only: {key} chooses that")

    async def action_edit(self) -> None:
        row, path, line = self.query_one(ExpertList).current, "", 0
        if isinstance(row, ClaimRow):
            path, line = row.receipt.path, row.receipt.line
        elif isinstance(row, ExpertRow):
            expert = row.expert.entity_id
            path = (await self.session.client.run(lambda kb: kb.entities.card(expert))).path
        if not await self.edit_file(path, line):
            self.show_notice("nothing to open here: go to a person or a fact first")

    def show(self) -> None:
        if self not in self.app.screen_stack:
            return  # the screen has been closed
        experts, view = self.query_one(ExpertList), self.model.view
        if view is None:
            if not self.model.question.topic:
                experts.border_title, experts.empty_state = "Experts", no_topic
                experts.show(None, self.model.topics)
            return
        self.query_one(StatusLine).clear_error()
        question = view.question
        noun = "person" if question.people else "expert"
        ranked = f"{format_count(view.ranking.total_matched, noun)}, {ORDERS[question.weight]}"
        ranked += f" · {PARTLY}" if view.is_partial and view.ranking.experts else ""
        experts.border_title = ranked
        experts.empty_state = no_experts(
            question.topic,
            question.weight,
            self.app.keymap.key_of("weight.next"),
            has_claims=view.ranking.in_scope > 0,
        )
        experts.show(view)
        self.query_one(NumberSlider).show(slider_value(question.half_life_days))

    def _show_weight(self) -> None:
        slider = self.query_one(NumberSlider)
        slider.display = self.model.question.weight == "recency"


Meanings = tuple[tuple[str, str], ...]

WEIGHT_WORDS: Mapping[str, str] = {
    "count": "Every fact counts 1, one on a part of the topic by that part.",
    "recency": "A fact loses half its weight with every half-life, counted from the newest date.",
    "citation": "A fact counts its distinct sources, times its confidence.",
    "relevance": "Facts count by how much they say of the topic, and documents on it count too.",
}


WHY = "Why a fact on another page counts here: that page or the fact names them."


def row_words(row: Row, weight: str, edit_key: str, digits: int) -> Meanings:
    """Return the meanings of a row; `edit_key` opens a fact in an editor, empty without one."""
    if isinstance(row, str):
        return ((row, "A topic that facts of this base are about."),)
    if isinstance(row, ClaimRow):
        place = row.columns[-1]
        opens = f"; {edit_key} opens it in your editor" if edit_key else ""
        counts = f"It does not count: {row.status}." if row.status else WEIGHT_WORDS[weight]
        return (
            (sign_of(row, digits), f"What this adds to the score. {counts}"),
            *(((row.receipt.why, WHY),) if row.receipt.why else ()),
            (place, f"Where it stands{opens}."),
        )
    total = f"The sum over the facts, by {weight}. {WEIGHT_WORDS[weight]}"
    return (
        (score_text(row, digits), total),
        ("━━━", "The score as a share of that of the first."),
        (
            " · ".join(filter(None, row.columns if digits else row.columns[1:])),
            "The facts on the topic, those of them on its page, and the distinct sources that they"
            " name.",
        ),
    )
