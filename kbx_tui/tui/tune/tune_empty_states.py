"""What the panes of the tune mode say while they have nothing to show. Pure."""

from __future__ import annotations

from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.widgets.lines_view import EmptyState, dim_text, titled_text


def no_judged_query(keymap: Keymap) -> EmptyState:
    """Return what the queries say before a document is graded."""
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
    """Return what the curve says without a figure."""
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
    """Return what the observatory says before a query has been read."""
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
    """Return what the snapshots say before one is taken."""
    if not keymap.offers("snapshot.take"):
        return dim_text("No settings have been kept.")
    key = keymap.key_of("snapshot.take")
    return dim_text(
        f"{key} keeps the current settings, to compare others with them on the judged queries."
    )
