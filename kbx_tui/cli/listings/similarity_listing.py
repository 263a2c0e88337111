"""Similarity checks as text: score, relation, matching text and its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.text import Text

from kbx_tui.cli import output
from kbx_tui.cli.output import say
from kbx_tui.formatting import format_count, format_score
from kbx_tui.safe_text import safe_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from kbx_tui.similarity.conflicts.conflict_guard import Conflict
    from kbx_tui.similarity.duplicate_scan import DuplicateScan
    from kbx_tui.similarity.matches import (
        DuplicateFact,
        FieldSimilarity,
        Nearest,
        SimilarityCheck,
        SimilarityMatch,
    )

DIM, GOOD, BAD = "dim", "green", "yellow"
KIND_NAMES = {"fact": "fact", "open_item": "open item", "chunk": "passage", "field": "field"}


IsRedacted = Callable[[str, str], bool]
"""Returns whether the page at a path redacts a text, which is then greyed."""


def print_check(check: SimilarityCheck, is_redacted: IsRedacted) -> None:
    """Print the matches of one text, best first."""
    for note in check.notes:
        say(note)
    console = output.console()
    if not check.matches:
        _print_nearest(console, check.nearest[:1])
        return
    print_matches(check.matches, is_redacted)


def _print_nearest(console: Console, nearest_facts: Sequence[Nearest]) -> None:
    if not nearest_facts or not nearest_facts[0].score:
        console.print(Text("no similar fact is known"))
        return
    (nearest,) = nearest_facts
    score, threshold = format_score(nearest.score), format_score(nearest.threshold)
    why = f"the nearest scores {score}, below the threshold of {threshold}"
    console.print(Text(f"no similar fact is known; {why}:"))
    console.print(Text(safe_line(f"     {nearest.text}"), DIM))


def print_matches(matches: Sequence[SimilarityMatch], is_redacted: IsRedacted) -> None:
    """Print matches in the given order."""
    console = output.console()
    for match in matches:
        style = GOOD if match.is_similar else BAD
        head = Text.assemble(
            (f"{format_score(match.score):>4} ", "bold"),
            (f"{match.relation:<9} ", style),
            (safe_line(match.text), DIM if is_redacted(match.source_path, match.text) else ""),
        )
        kind = KIND_NAMES[match.match_type] + (", done" if match.done else "")
        kind += f" {match.field}" if match.field else ""
        below = match.score < match.threshold
        details = [match.entity_name, kind, match.date, f"{match.source_path}:{match.line}"]
        details += [f"below the threshold of {format_score(match.threshold)}"] if below else []
        console.print(head)
        console.print(Text("     " + safe_line(" · ".join(filter(None, details))), DIM))
        _print_conflicts(console, match.conflicts)


def print_field(similarity: FieldSimilarity) -> None:
    """Print whether a field already says the same as the proposed value."""
    console = output.console()
    current, pair = similarity.current_value, similarity.pair
    if current is None or pair is None:
        console.print(Text(safe_line(f"{similarity.entity} has no {similarity.field} yet")))
        return
    verdict = "the same" if similarity.is_similar else "not the same"
    if pair.relation == "conflict":
        verdict = "in conflict"
    head = Text.assemble(
        (f"{format_score(similarity.similarity):>4} ", "bold"),
        (verdict, GOOD if similarity.is_similar else BAD),
        (f" (threshold {format_score(similarity.threshold)})", DIM),
    )
    console.print(head)
    console.print(Text(safe_line(f"     now       {current}")))
    console.print(Text(safe_line(f"     proposed  {similarity.proposed_value}")))
    _print_conflicts(console, pair.conflicts)


def print_scan(scan: DuplicateScan, is_redacted: IsRedacted, *, kept: bool) -> None:
    """Print clusters of duplicate facts, best first, then contradicting pairs.

    `kept` says that the scan was for those that the user decided to keep.
    """
    for note in scan.notes:
        say(note)
    if scan.kept and not kept:
        pairs = format_count(scan.kept, "pair")
        say(f"left out: {pairs} that you decided to keep; --kept lists them")
    console = output.console()
    clusters, facts = format_count(len(scan.clusters), "cluster"), format_count(scan.facts, "fact")
    console.print(Text(f"{clusters} among {facts}", "bold"))
    for cluster in scan.clusters:
        console.print()
        console.print(Text(f"{format_score(cluster.score):>4} {cluster.relation}", "bold"))
        _print_facts(console, cluster.facts, is_redacted)
    for pair in scan.conflicting:
        console.print()
        console.print(Text(f"{format_score(pair.score):>4} conflict", BAD))
        _print_facts(console, pair.facts, is_redacted)
        _print_conflicts(console, pair.conflicts)


def _print_conflicts(console: Console, conflicts: Sequence[Conflict]) -> None:
    for conflict in conflicts:
        line = f"     {conflict.kind}: {conflict.left} ≠ {conflict.right}"
        console.print(Text(safe_line(line), BAD))


def _print_facts(console: Console, facts: Sequence[DuplicateFact], is_redacted: IsRedacted) -> None:
    for fact in facts:
        details = [fact.entity_name, fact.date, f"{fact.source_path}:{fact.line}"]
        style = DIM if is_redacted(fact.source_path, fact.text) else ""
        console.print(Text("     " + safe_line(fact.text), style))
        console.print(Text("     " + safe_line(" · ".join(filter(None, details))), DIM))
