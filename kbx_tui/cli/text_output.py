"""Searches, similarity checks and drafts as text. Loads Rich: imported to print something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from kbx_tui.cli import output
from kbx_tui.cli.output import console, print_diff, say
from kbx_tui.formatting import (
    STATE_SIGNS,
    format_count,
    format_score,
    join_limited,
    mode_name,
    stacked_bar,
)
from kbx_tui.safe_text import safe_line
from kbx_tui.search.results.response import kept_entities, mode_details, score_reasons

if TYPE_CHECKING:
    from rich.console import Console

    from kbx_tui.drafting.drafts import Applied, DraftCheck, Plan, Verdict
    from kbx_tui.search.results.response import SearchMeta, SearchResponse, SearchResult
    from kbx_tui.similarity.conflict_guard import Conflict
    from kbx_tui.similarity.duplicate_scan import DuplicateScan
    from kbx_tui.similarity.pair_score import (
        DuplicateFact,
        FieldSimilarity,
        SimilarityCheck,
        SimilarityMatch,
    )


MAX_WIDTH = 120
ENTITIES_SHOWN = 5
DATE_WIDTH = len("2026-03-17")
SCORE_WIDTH = len(" 1.00 ")
FEEDBACK_TITLE_WIDTH = 60
DOCUMENT, ENTITY, RERANKER, DIM = "cyan", "magenta", "green", "dim"


def print_listing(response: SearchResponse, *, explain: bool) -> None:
    """Print the results, and on stderr the notes, which say why there are none."""
    for note in response.meta.notes:
        say(note)
    if not response.results:
        return
    out = console()
    width = min(out.width, MAX_WIDTH)
    rank_width = len(str(len(response.results)))
    lines = [heading(response)]
    if response.meta.pass1_entities:
        lines.append(entity_line(response.meta, width))
    if explain:
        for line in (settings_line(response.meta), feedback_line(response.meta)):
            lines += _wrapped(Text(line, DIM), width) if line else []
    fast = response.meta.search_mode_reason == "fast"
    for rank, result in enumerate(response.results, 1):
        lines += [Text(), *result_lines(rank, result, width, rank_width)]
        lines += reason_lines(result, width, rank_width, fast=fast) if explain else []
    out.print(*lines, sep="\n")


def heading(response: SearchResponse) -> Text:
    """Return the search mode, the reason, and the number of results.

    No timing: a single search mostly loads the engine. `--json` has the timings.
    """
    meta = response.meta
    name = mode_name(meta.search_mode, meta.search_mode_reason)
    return Text.assemble((name, "bold"), (f" · {' · '.join(mode_details(response))}", DIM))


def entity_line(meta: SearchMeta, width: int) -> Text:
    """Return the entities of pass 1 with their scores, the kept ones marked ●."""
    kept = kept_entities(meta)
    line = Text()
    for entity in meta.pass1_entities[:ENTITIES_SHOWN]:
        is_kept = entity.id in kept
        label = f"{'●' if is_kept else '○'} {safe_line(entity.name)} {format_score(entity.score)}"
        if line and cell_len(line.plain) + 3 + cell_len(label) > width:
            break
        line.append("   " if line else "").append(label, ENTITY if is_kept else DIM)
    return line


def settings_line(meta: SearchMeta) -> str:
    """Return the scope of a search and, if entities count, the knobs that rank it."""
    explain = meta.explain or {}
    filters = {
        "path": meta.path_filter,
        **explain["filters"],
        "pinned": explain["pinned"],
        "muted": explain["muted"],
    }
    named = [f"{name} {_value(value)}" for name, value in filters.items() if value]
    parts = [f"{meta.in_scope:,} of {explain['documents']:,} documents in scope", *named]
    if explain["reranked"]:
        parts.append(f"{explain['reranked']} reranked by {safe_line(explain['reranker'])}")
    if meta.search_mode == "two_pass":
        parts += [
            f"alpha {format_score(explain['hierarchy_alpha'])}",
            f"threshold {format_score(explain['hierarchy_threshold'])}",
            f"at most {format_count(explain['max_entities'], 'entity')}",
            f"gate {explain['gate']}",
            f"parent {explain['parent']}",
        ]
        if explain["preset"] != "default":
            parts.append(f"preset {explain['preset']}")
    return " · ".join(parts)


def feedback_line(meta: SearchMeta) -> str:
    """Return the documents that the query vector moved towards; empty if there are none."""
    documents = (meta.explain or {}).get("drawn_to", ())
    titles = [shortened(safe_line(row["title"]), FEEDBACK_TITLE_WIDTH) for row in documents]
    return f"meaning moved towards {join_limited(titles)}" if titles else ""


def result_lines(rank: int, result: SearchResult, width: int, rank_width: int) -> list[Text]:
    """Return lines for one result: score and title, its place, the snippet."""
    explanation = result.explain or {}
    bar_width = 20 if width >= 100 else 10 if width >= 60 else 0
    first = Text(f"{rank:>{rank_width}} ")
    first.append(f"{format_score(result.score):>4} ", "bold")
    if bar_width:
        parts = (1.0, 0.0, 0.0)
        if not explanation.get("exact"):
            names = ("document_part", "entity_part", "reranker_part")
            parts = tuple(explanation.get(name, 0.0) for name in names)
        bars = stacked_bar(*parts[:2], bar_width, reranker=parts[2])
        for bar, colour in zip(bars, (DOCUMENT, ENTITY, RERANKER), strict=True):
            first.append(bar, colour)
        first.append(" " * (bar_width - sum(map(len, bars)) + 1))
    date = safe_line(result.date)
    title_width = max(width - cell_len(first.plain) - (DATE_WIDTH + 1 if date else 0), 10)
    title = shortened(safe_line(result.title), title_width)
    first.append(title, "bold")
    if date:
        first.append(" " * (title_width - cell_len(title) + 1)).append(date, DIM)
    place = Text(
        f"{' ' * (rank_width + SCORE_WIDTH)}{safe_line(result.path)}:{result.line}", style=DIM
    )
    snippet = highlighted(result.snippet, result.matches)
    if result.is_cut:
        snippet.append(" …", DIM)
    return [first, place, *_indented(snippet, width, rank_width)]


def reason_lines(result: SearchResult, width: int, rank_width: int, *, fast: bool) -> list[Text]:
    """Return how the score of a result adds up; `fast` says that no meaning was compared."""
    reasons = score_reasons(result.explain or {}, fast=fast).lines()
    return [row for line in reasons for row in _indented(Text(line, DIM), width, rank_width)]


def highlighted(text: str, matches: Iterable[Sequence[int]]) -> Text:
    """Return `text` with the `[start, end]` spans of `matches` in bold.

    Text is made safe piece by piece, because the spans refer to the original.
    """
    line, position = Text(), 0
    for start, end in matches:
        line.append(safe_line(text[position:start]))
        line.append(safe_line(text[start:end]), "bold yellow")
        position = end
    return line.append(safe_line(text[position:]))


def shortened(text: str, width: int) -> str:
    """Return `text`, truncated with an ellipsis if wider than `width` cells."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…"


def _value(value: str | Iterable[str]) -> str:
    return safe_line(value if isinstance(value, str) else ",".join(value))


def _indented(text: Text, width: int, rank_width: int) -> list[Text]:
    """Return `text` wrapped to `width` cells, indented to the title of its result."""
    indent = " " * (rank_width + SCORE_WIDTH)
    room = max(width - len(indent), 20)
    return [Text(indent).append_text(line) for line in _wrapped(text, room)]


def _wrapped(text: Text, width: int) -> list[Text]:
    lines = text.wrap(console(), width)
    for line in lines:
        line.rstrip()
    return list(lines)


GOOD, BAD = "green", "yellow"
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


def _print_nearest(console: Console, nearest_facts: Sequence[SimilarityMatch]) -> None:
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


INDENT = " " * 11
"""As wide as the sign and state of a draft."""


def print_drafts(
    checks: Sequence[tuple[DraftCheck, Verdict]], plan: Plan, applied: Applied | None
) -> None:
    """Print every draft, then the diff of what would be written or a summary of what was."""
    out = console()
    states: Counter[str] = Counter(verdict.state for _, verdict in checks)
    counts = ", ".join(f"{states[state]} {state}" for state in STATE_SIGNS if states[state])
    total = format_count(len(checks), "draft")
    out.print(Text(f"{total}: {counts}" if counts else "no drafts", "bold"))
    for check, verdict in checks:
        _print_draft(out, check, verdict)
    if applied is None:
        if plan.diff:
            out.print()
            print_diff(plan.diff)
        return
    out.print()
    undecided = len(checks) - len(applied.done) - len(applied.failed)
    summary = f"{applied.created} written, {applied.skipped} skipped, {undecided} left to decide"
    out.print(Text(summary, "bold"))
    for problem in applied.failed:
        say(problem.reason)


def _print_draft(console: Console, check: DraftCheck, verdict: Verdict) -> None:
    entity = check.entity.name if check.entity else "?"
    head = Text.assemble(
        (f"{STATE_SIGNS[verdict.state]} {verdict.state:<9}", GOOD if verdict.is_sure else BAD),
        safe_line(check.draft.text),
        (safe_line(f"  ({entity})"), DIM),
    )
    console.print(head)
    proposal = f"{verdict.proposal.action}: {verdict.reason}"
    console.print(Text(safe_line(f"{INDENT}{proposal}"), DIM))
    for note in check.notes:
        console.print(Text(safe_line(f"{INDENT}{note}"), BAD))
    if verdict.match:
        known = verdict.match.known
        place = f"{known.source_path}:{known.line}"
        line = f"{INDENT}{format_score(known.score)} {known.relation}: {known.text} · {place}"
        console.print(Text(safe_line(line), DIM))
