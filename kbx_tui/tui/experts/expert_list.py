"""Experts, best first; each opens into the claims that its score is the sum of."""

from __future__ import annotations

from collections.abc import Mapping

from rich.cells import cell_len
from textual.timer import Timer

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import Line, Look, Span, fit_line, looks
from kbx_tui.tui.experts.view import ClaimRow, ExpertRow, ExpertsView, Row
from kbx_tui.tui.explore.panes.result_list import rank_moves
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

BAR = 12
ROOMY = 100
"""From this width on, counts stand beside the bar; else below it."""


class ExpertList(RowsView):
    """A cursor goes over experts and opened claims alike."""

    COMPONENT_CLASSES = looks("strong", "accent", "entity", "rule", "cursor")
    BINDINGS = bindings("expert_list")
    SETTLE_SECONDS = 3.0
    """How long an expert whose rank changed says so."""

    def __init__(self) -> None:
        super().__init__()
        self.view: ExpertsView | None = None
        self.opened_ids: frozenset[str] = frozenset()
        self._rows: tuple[Row, ...] = ()
        self._moves: Mapping[str, int] = {}
        self._timer: Timer | None = None

    def show(self, view: ExpertsView | None) -> None:
        """Show a ranking; on the same topic, ranks that changed say by how much."""
        before = self.view
        same = before is not None and view is not None and before.topic == view.topic
        if not same:
            self.opened_ids, self.chosen = frozenset(), False
        at = self.current if self.chosen else None
        self._moves = rank_moves(_ranks(before), _ranks(view)) if same else {}
        self.view = view
        self._lay_out(at)
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(self.SETTLE_SECONDS, self._settle)

    @property
    def current(self) -> Row | None:
        """The expert or claim under the cursor."""
        return self._rows[self.cursor] if self.cursor < len(self._rows) else None

    def count_rows(self) -> int:
        return len(self._rows)

    def slots(self) -> list[Slot]:
        narrow = self.line_width < ROOMY
        return [
            (at, part)
            for at, row in enumerate(self._rows)
            for part in range(2 if narrow and isinstance(row, ExpertRow) else 1)
        ]

    def row_line(self, row: int, part: int, width: int) -> Line:
        shown = self._rows[row]
        marker = "›" if row == self.cursor and self.has_focus else " "
        if isinstance(shown, ClaimRow):
            return claim_line(shown, width, marker)
        if part:
            return (Span("       "), Span(shorten(shown.counts, max(width - 7, 0)), "dim"))
        return expert_line(shown, width, marker, self._moves.get(shown.id, 0))

    def opened(self) -> None:
        """Open the claims of the expert at hand, or close them."""
        row = self.current
        if isinstance(row, ExpertRow):
            self.opened_ids ^= {row.id}
            self._lay_out(row)

    def action_move_or_leave(self) -> None:
        if self.cursor == 0:
            self.run_later("screen.focus_topic")
        self.choose(self.cursor - 1)

    def run_later(self, action: str) -> None:
        """Run an action of the screen."""
        self.call_later(self.run_action, action)

    def _lay_out(self, at: Row | None) -> None:
        self._rows = self.view.rows(self.opened_ids) if self.view is not None else ()
        self.lines_changed()
        self.cursor = next((n for n, row in enumerate(self._rows) if _same(row, at)), 0)
        self.show_cursor()

    def _settle(self) -> None:
        self._moves = {}
        self.refresh()


def expert_line(expert: ExpertRow, width: int, marker: str, move: int) -> Line:
    """Return `› 1 ▸ Bob Okafor  person  ██████████  5.00  5 claims · 4 sources`."""
    moved = f" ▲{move}" if move > 0 else f" ▼{-move}" if move < 0 else ""
    bar = fit("▒" * max(round(expert.share * BAR), 1), BAR)
    head = f"{expert.rank:>3} {'▾' if expert.is_open else '▸'} "
    end = f" {expert.score:>6.2f}"
    counts = f"  {expert.counts}" if width >= ROOMY else ""
    kind = f" {fit(expert.type, 8)} "
    taken = 1 + cell_len(head) + cell_len(kind) + BAR + cell_len(end) + cell_len(counts)
    name = fit(expert.name, max(min(width - taken - cell_len(moved), 32), 6))
    return fit_line(
        (
            Span(marker, "dim"),
            Span(head, "dim"),
            Span(name, "strong"),
            Span(moved, "accent"),
            Span(kind, "dim"),
            Span(bar, "entity"),
            Span(end),
            Span(counts, "dim"),
        ),
        width,
    )


def claim_line(claim: ClaimRow, width: int, marker: str) -> Line:
    """Return `    + 1.00  Runs the migration  2026-03-17  people/bob.md:12`."""
    sign = f"      {'+' if not claim.status else '–'} {claim.contribution:>5.2f}  "
    end = "  ".join(part for part in (claim.status, claim.date, claim.place) if part)
    room = width - 1 - cell_len(sign) - 2
    end = shorten(end, max(room // 2, 0)) if width >= ROOMY else ""
    text = fit(claim.text, max(room - cell_len(end), 0))
    look: Look = "rule" if claim.status else "text"
    return (
        Span(marker, "dim"),
        Span(sign, "rule" if claim.status else "entity"),
        Span(text, look),
        Span(f"  {end}", "dim"),
    )


def _ranks(view: ExpertsView | None) -> dict[str, int]:
    experts = view.ranking.experts if view is not None else ()
    return {expert.entity_id: rank for rank, expert in enumerate(experts, 1)}


def _same(row: Row, at: Row | None) -> bool:
    if isinstance(row, ExpertRow):
        return isinstance(at, ExpertRow) and row.id == at.id
    return isinstance(at, ClaimRow) and (row.expert_id, row.text) == (at.expert_id, at.text)
