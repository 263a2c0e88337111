"""Checks for people: how alike, what, and where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from kbx_tui.cli import output
from kbx_tui.cli.running import say
from kbx_tui.formatting import count_words, score_text
from kbx_tui.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from kbx_tui.similarity.conflicts.conflict_guard import Conflict
    from kbx_tui.similarity.duplicate_scan import DuplicateFact, DuplicateScan
    from kbx_tui.similarity.matches import (
        FieldSimilarity,
        Nearest,
        SimilarityCheck,
        SimilarityMatch,
    )

DIM, GOOD, BAD = "dim", "green", "yellow"
KIND_NAMES = {"fact": "fact", "open_item": "open item", "chunk": "passage", "field": "field"}


def print_check(check: SimilarityCheck) -> None:
    """Print the matches of one text, best first."""
    for note in check.notes:
        say(note)
    console = output.console()
    if not check.matches:
        _print_nearest(check.nearest[:1], console)
        return
    print_matches(check.matches)


def _print_nearest(found: Sequence[Nearest], console: Console) -> None:
    if not found or not found[0].score:
        console.print(Text("nothing like it is known"))
        return
    (nearest,) = found
    below = nearest.score < nearest.threshold
    needed = f"where {score_text(nearest.threshold)} is needed"
    why = needed if below else "and shares no word with it"
    console.print(
        Text(f"nothing like it is known; the nearest scores {score_text(nearest.score)} {why}:")
    )
    console.print(Text(visible(f"     {nearest.text}"), DIM))


def print_matches(matches: Sequence[SimilarityMatch]) -> None:
    """Print what is alike, in order."""
    console = output.console()
    for match in matches:
        style = GOOD if match.is_similar else BAD
        head = Text.assemble(
            (f"{score_text(match.score):>4} ", "bold"),
            (f"{match.relation:<9} ", style),
            visible(match.text),
        )
        kind = KIND_NAMES[match.match_type] + (", done" if match.done else "")
        about = [match.entity_name, kind, match.date, f"{match.source_path}:{match.line}"]
        console.print(head)
        console.print(Text("     " + visible(" · ".join(filter(None, about))), DIM))
        print_conflicts(match.conflicts)


def print_field(found: FieldSimilarity) -> None:
    """Print whether a field says it already."""
    console = output.console()
    current = found.current_value
    if current is None or found.pair is None:
        console.print(Text(visible(f"{found.entity} has no {found.field} yet")))
        return
    verdict = "the same" if found.is_similar else "not the same"
    if found.pair.relation == "conflict":
        verdict = "in conflict"
    head = Text.assemble(
        (f"{score_text(found.similarity):>4} ", "bold"),
        (verdict, GOOD if found.is_similar else BAD),
        (f" (threshold {score_text(found.threshold)})", DIM),
    )
    console.print(head)
    console.print(Text(visible(f"     now       {current}")))
    console.print(Text(visible(f"     proposed  {found.proposed_value}")))
    print_conflicts(found.pair.conflicts)


def print_scan(scan: DuplicateScan) -> None:
    """Print the clusters, best first."""
    for note in scan.notes:
        say(note)
    console = output.console()
    looked = count_words(scan.facts, "fact")
    console.print(Text(f"{count_words(len(scan.clusters), 'cluster')} among {looked}", "bold"))
    for cluster in scan.clusters:
        console.print()
        head = f"{score_text(cluster.score):>4} {cluster.relation}"
        console.print(Text(head, "bold"))
        _print_facts(cluster.facts)
    for pair in scan.conflicting:
        console.print()
        console.print(Text(f"{score_text(pair.score):>4} conflict", BAD))
        _print_facts(pair.facts)
        print_conflicts(pair.conflicts)


def print_conflicts(conflicts: Sequence[Conflict]) -> None:
    for conflict in conflicts:
        text = f"     {conflict.kind}: {conflict.left} ≠ {conflict.right}"
        output.console().print(Text(visible(text), BAD))


def _print_facts(facts: Sequence[DuplicateFact]) -> None:
    console = output.console()
    for fact in facts:
        about = [fact.entity_name, fact.date, f"{fact.source_path}:{fact.line}"]
        console.print(Text("     " + visible(fact.text)))
        console.print(Text("     " + visible(" · ".join(filter(None, about))), DIM))
