"""The experts, best first; each expands to the claims that add up to its score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.timer import Timer

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span, fit_line, looks
from kbx_tui.tui.drawing.rank_moves import move_text, rank_moves
from kbx_tui.tui.experts.view import ClaimRow, ExpertRow, ExpertsView, Row
from kbx_tui.tui.widgets.lines_view import EmptyState, titled_text
from kbx_tui.tui.widgets.rows_view import RowsView

BAR = 12
"""The width of a full bar in cells."""
ROOMY = 100
"""The width from which the counts are beside the bar instead of below it."""


@dataclass(frozen=True, slots=True)
class ClaimEnds:
    """The width of each column at the end of a claim, in cells."""

    status: int = 0
    date: int = 0
    place: int = 0

    @classmethod
    def of(cls, claims: Iterable[ClaimRow]) -> ClaimEnds:
        """Return columns wide enough for these claims."""
        cells = [
            (cell_len(each.status), cell_len(each.date), cell_len(each.place)) for each in claims
        ]
        return cls(*(max(column) for column in zip(*cells, strict=True)))

    def text(self, claim: ClaimRow) -> str:
        """Return status, date and place in their columns, two blanks apart."""
        columns = ((claim.status, self.status), (claim.date, self.date), (claim.place, self.place))
        return "  ".join(fit(text, width) for text, width in columns if width)


class ExpertList(RowsView[Row]):
    """Experts and the claims of expanded ones, all under one cursor."""

    COMPONENT_CLASSES = looks("strong", "accent", "entity", "rule", "cursor")
    BINDINGS = bindings("expert_list")
    LEAVE_ACTION = "screen.focus_topic"
    SETTLE_SECONDS = 3.0
    """How long an expert shows that its rank has changed."""

    def __init__(self) -> None:
        super().__init__()
        self.view: ExpertsView | None = None
        self.expanded_ids: frozenset[str] = frozenset()
        self._moves: Mapping[str, int] = {}
        self._timer: Timer | None = None
        self._ends = ClaimEnds()
        self._counts_width = 0
        """The width of the longest counts, in cells."""

    def show(self, view: ExpertsView | None) -> None:
        """Show a ranking; on the same topic, rank changes are shown."""
        before = self.view
        same = before is not None and view is not None and before.topic == view.topic
        if not same:
            self.expanded_ids, self.chosen = frozenset(), False
        current = self.current if self.chosen else None
        self._moves = rank_moves(_ranks(before), _ranks(view)) if same else {}
        self.view = view
        self._lay_out(current)
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(self.SETTLE_SECONDS, self._settle)

    def row_heights(self) -> list[int]:
        height = 2 if self.line_width < ROOMY else 1
        return [height if isinstance(row, ExpertRow) else 1 for row in self.rows]

    def row_line(self, row: int, part: int, width: int) -> Line:
        content = self.rows[row]
        marker = self.marker(row)
        if isinstance(content, ClaimRow):
            return claim_line(content, width, marker, self._ends)
        if part:
            return (Span("       "), Span(shorten(content.counts, max(width - 7, 0)), "dim"))
        move = self._moves.get(content.id, 0)
        return expert_line(content, width, marker, move, self._counts_width)

    def row_opened(self) -> None:
        """Expand or collapse the expert under the cursor."""
        row = self.current
        if isinstance(row, ExpertRow):
            self.expanded_ids ^= {row.id}
            self._lay_out(row)

    def _lay_out(self, current: Row | None) -> None:
        """Rebuild the rows with the cursor on the row that was `current`."""
        self.rows = self.view.rows(self.expanded_ids) if self.view is not None else ()
        self._ends = ClaimEnds.of(row for row in self.rows if isinstance(row, ClaimRow))
        experts = (row for row in self.rows if isinstance(row, ExpertRow))
        self._counts_width = max((cell_len(expert.counts) for expert in experts), default=0)
        self.rebuild_lines()
        keys = [_key(row) for row in self.rows]
        self.cursor = keys.index(_key(current)) if current and _key(current) in keys else 0
        self.show_cursor()

    def _settle(self) -> None:
        self._moves = {}
        self.refresh()


def expert_line(expert: ExpertRow, width: int, marker: str, move: int, counts_width: int) -> Line:
    """Return `› 1 ▸ Bob Okafor  person  ██████████  5.00  5 claims · 4 sources`.

    `counts_width` is the width of the last column in cells, the same for all experts.
    """
    moved = move_text(move)
    bar = fit("▒" * max(round(expert.share * BAR), 1), BAR)
    head = f"{expert.rank:>3} {'▾' if expert.is_expanded else '▸'} "
    end = f" {expert.score:>6.2f}"
    counts = f"  {fit(expert.counts, counts_width)}" if width >= ROOMY else ""
    kind = f" {fit(expert.type, 8)} "
    taken = 1 + cell_len(head) + cell_len(kind) + BAR + cell_len(end) + cell_len(counts)
    room = max(min(width - taken, 32), 6)
    name = fit(expert.name, max(room - cell_len(moved), 1))  # a move shifts no column
    who = (Span(marker + head, "dim"), Span(name, "strong"), Span(moved, "accent"))
    score = (Span(bar, "entity"), Span(end), Span(counts, "dim"))
    return fit_line((*who, Span(kind, "dim"), *score), width)


def claim_line(claim: ClaimRow, width: int, marker: str, ends: ClaimEnds) -> Line:
    """Return `    + 1.00  Runs the migration  2026-03-17  people/bob.md:12`."""
    look: Look = "rule" if claim.status else "text"
    sign = f"      {'–' if claim.status else '+'} {claim.contribution:>5.2f}  "
    room = width - 1 - cell_len(sign) - 2
    end = shorten(ends.text(claim), max(room // 2, 0)) if width >= ROOMY else ""
    text = fit(claim.text, max(room - cell_len(end), 0))
    signed = Span(sign, "rule" if claim.status else "entity")
    return (Span(marker, "dim"), signed, Span(text, look), Span(f"  {end}", "dim"))


def no_topic(topics: Sequence[str] = ()) -> EmptyState:
    """Return what the list shows before a topic is typed: some `topics` with experts."""
    about = titled_text(
        "Type a topic.",
        "People, projects, teams and all other entities are ranked by the facts known about them on"
        " that topic, which add up to the score. Enter shows the facts.",
    )
    return lambda width: [
        *about(width),
        *([BLANK] if topics else []),
        *(
            (Span("  for example  " if not index else " " * 15, "dim"), Span(topic))
            for index, topic in enumerate(topics)
        ),
    ]


def no_experts(topic: str, weight: str, key: str, *, has_claims: bool) -> EmptyState:
    """Return what the list shows when no entity has a fact on the topic.

    `key` chooses another weight; `has_claims`: whether anything is known of any entity.
    """
    if not has_claims:
        return titled_text(
            "There are no facts yet.",
            "Experts are ranked by facts: list items below ## Facts or ## Recent Facts on the page"
            " of a person, a project or another entity.",
        )
    advice = "Try another word"
    if weight != "relevance":
        advice += f", or {key} until the weight is relevance, which also counts documents"
    return titled_text(f"No fact mentions “{shorten(topic, 40)}”.", f"{advice}.")


def _ranks(view: ExpertsView | None) -> dict[str, int]:
    experts = view.ranking.experts if view is not None else ()
    return {expert.entity_id: rank for rank, expert in enumerate(experts, 1)}


def _key(row: Row) -> tuple[str, ...]:
    return (row.id,) if isinstance(row, ExpertRow) else (row.expert_id, row.text)
