"""Prints searches, similarity checks and drafts as text. Loads Rich: import it only to print."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

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
from kbx_tui.search.results.response import (
    as_read,
    exact_words,
    kept_entities,
    mode_details,
    score_reasons,
)
from kbx_tui.user_files import editor_command

if TYPE_CHECKING:
    from rich.console import Console

    from kbx_tui.api import KnowledgeBase
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


def print_results(
    results: Sequence[tuple[str, SearchResult]],
    responses: Mapping[str, SearchResponse],
    bases: Mapping[str, KnowledgeBase],
    *,
    explain: bool,
) -> None:
    """Print results, each with the name of its base; the name is empty if only one was searched.

    On a terminal, paths are links (OSC 8), unless NO_COLOR is set or TERM is `dumb`.
    """
    if not results:
        return
    out, lines = console(), list[Text]()
    width = min(out.width, MAX_WIDTH)
    rank_width = len(str(len(results)))
    for name, answer in responses.items():
        head = heading(answer)
        lines.append(Text.assemble((safe_line(name), "bold"), " · ", head) if name else head)
        if answer.meta.pass1_entities:
            lines.append(entity_line(answer.meta, width))
        if explain and not name:
            for line in (settings_line(answer.meta), feedback_line(answer.meta)):
                lines += _wrapped(Text(line, DIM), width) if line else []
    has_links = out.is_terminal and not (out.is_dumb_terminal or out.no_color)
    for rank, (base, result) in enumerate(results, 1):
        address = _address(bases[base], result) if has_links else ""
        lines += [Text(), *result_lines(rank, result, width, rank_width, base, address)]
        if explain:
            fast = responses[base].meta.search_mode_reason == "fast"
            lines += reason_lines(result, width, rank_width, fast=fast)
    out.print(*lines, sep="\n")


_EDITORS = {
    "code": "vscode",
    "code-insiders": "vscode-insiders",
    "codium": "vscodium",
    "cursor": "cursor",
}
"""Programs that open addresses `scheme://file/path:line`, with their scheme."""


def _address(kb: KnowledgeBase, result: SearchResult) -> str:
    """Return the address at which Obsidian, the editor or else the system opens a result."""
    if address := kb.links.obsidian_address(result.path):
        return address
    uri = (kb.root / result.path).as_uri()
    editor = editor_command(os.environ)
    scheme = _EDITORS.get(Path(editor[0]).stem.lower()) if editor else None
    return f"{scheme}://file{uri.removeprefix('file://')}:{result.line}" if scheme else uri


def heading(response: SearchResponse) -> Text:
    """Return mode, reason and number of results; no timing, as most of it is loading the engine."""
    meta = response.meta
    name = mode_name(meta.search_mode, meta.search_mode_reason)
    return Text.assemble((name, "bold"), (f" · {' · '.join(mode_details(response))}", DIM))


def entity_line(meta: SearchMeta, width: int) -> Text:
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
    documents = (meta.explain or {}).get("drawn_to", ())
    titles = [shortened(safe_line(row["title"]), FEEDBACK_TITLE_WIDTH) for row in documents]
    return f"meaning moved towards {join_limited(titles)}" if titles else ""


def result_lines(
    rank: int, result: SearchResult, width: int, rank_width: int, base: str = "", address: str = ""
) -> list[Text]:
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
    date = safe_line(result.date[:DATE_WIDTH])  # of a week, its first day
    title_width = max(width - cell_len(first.plain) - (DATE_WIDTH + 1 if date else 0), 10)
    known = f" · {safe_line(exact_words(explanation['exact']))}" if explanation.get("exact") else ""
    title = shortened(safe_line(result.title), title_width)
    known = known if cell_len(title + known) <= title_width else ""
    first.append(title, "bold").append(known, DIM)
    title += known
    if date:
        first.append(" " * (title_width - cell_len(title) + 1)).append(date, DIM)
    indent, path = " " * (rank_width + SCORE_WIDTH), f"{safe_line(result.path)}:{result.line}"
    place = Text(indent)
    if base:
        place.append(f"{safe_line(base)}  ", ENTITY)
    place.append(path, Style.parse(DIM) + Style(link=address or None))
    read = as_read(result.snippet, result.line_breaks)
    snippet = highlighted(read.text, read.ranges(result.matches))
    if result.is_cut:
        snippet.append(" …", DIM)
    return [first, place, *indented(snippet, width, rank_width)]


def reason_lines(result: SearchResult, width: int, rank_width: int, *, fast: bool) -> list[Text]:
    reasons = score_reasons(result.explain or {}, fast=fast).lines()
    return [row for line in reasons for row in indented(Text(line, DIM), width, rank_width)]


def highlighted(text: str, matches: Iterable[Sequence[int]]) -> Text:
    """Return `text` with the `[start, end]` spans of `matches` in bold."""
    line, position = Text(), 0
    for start, end in matches:  # piece by piece: the spans refer to the text before escaping
        line.append(safe_line(text[position:start]))
        line.append(safe_line(text[start:end]), "bold yellow")
        position = end
    return line.append(safe_line(text[position:]))


def shortened(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…"


def _value(value: str | Iterable[str]) -> str:
    return safe_line(value if isinstance(value, str) else ",".join(value))


def indented(text: Text, width: int, rank_width: int) -> list[Text]:
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
"""Returns whether the page at a path redacts a text; such texts are greyed."""


def print_check(check: SimilarityCheck, is_redacted: IsRedacted) -> None:
    for note in check.notes:
        say(note)
    if check.matches:
        print_matches(check.matches, is_redacted)
        return
    nearest = check.nearest[0] if check.nearest else None
    if nearest is None or not nearest.score:
        console().print(Text("no similar fact is known"))
        return
    score, threshold = format_score(nearest.score), format_score(nearest.threshold)
    why = f"the nearest scores {score}, below the threshold of {threshold}"
    console().print(Text(f"no similar fact is known; {why}:"))
    console().print(Text(safe_line(f"     {nearest.text}"), DIM))


def print_matches(matches: Sequence[SimilarityMatch], is_redacted: IsRedacted) -> None:
    out = console()
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
        out.print(head)
        out.print(Text("     " + safe_line(" · ".join(filter(None, details))), DIM))
        _print_conflicts(out, match.conflicts)


def print_field(similarity: FieldSimilarity) -> None:
    out = console()
    current, pair = similarity.current_value, similarity.pair
    if current is None or pair is None:
        out.print(Text(safe_line(f"{similarity.entity} has no {similarity.field} yet")))
        return
    verdict = "the same" if similarity.is_similar else "not the same"
    if pair.relation == "conflict":
        verdict = "in conflict"
    head = Text.assemble(
        (f"{format_score(similarity.similarity):>4} ", "bold"),
        (verdict, GOOD if similarity.is_similar else BAD),
        (f" (threshold {format_score(similarity.threshold)})", DIM),
    )
    out.print(head)
    out.print(Text(safe_line(f"     now       {current}")))
    out.print(Text(safe_line(f"     proposed  {similarity.proposed_value}")))
    _print_conflicts(out, pair.conflicts)


def print_scan(scan: DuplicateScan, is_redacted: IsRedacted, *, kept: bool) -> None:
    """Print duplicate clusters, best first, then conflicts; `kept`: the scan is of kept pairs."""
    for note in scan.notes:
        say(note)
    if scan.kept and not kept:
        pairs = format_count(scan.kept, "pair")
        say(f"left out: {pairs} that you decided to keep; --kept lists them")
    out = console()
    clusters, facts = format_count(len(scan.clusters), "cluster"), format_count(scan.facts, "fact")
    out.print(Text(f"{clusters} among {facts}", "bold"))
    for cluster in scan.clusters:
        out.print()
        out.print(Text(f"{format_score(cluster.score):>4} {cluster.relation}", "bold"))
        _print_facts(out, cluster.facts, is_redacted)
    for pair in scan.conflicting:
        out.print()
        out.print(Text(f"{format_score(pair.score):>4} conflict", BAD))
        _print_facts(out, pair.facts, is_redacted)
        _print_conflicts(out, pair.conflicts)


def _print_conflicts(out: Console, conflicts: Sequence[Conflict]) -> None:
    for conflict in conflicts:
        line = f"     {conflict.kind}: {conflict.left} ≠ {conflict.right}"
        out.print(Text(safe_line(line), BAD))


def _print_facts(out: Console, facts: Sequence[DuplicateFact], is_redacted: IsRedacted) -> None:
    for fact in facts:
        details = [fact.entity_name, fact.date, f"{fact.source_path}:{fact.line}"]
        style = DIM if is_redacted(fact.source_path, fact.text) else ""
        out.print(Text("     " + safe_line(fact.text), style))
        out.print(Text("     " + safe_line(" · ".join(filter(None, details))), DIM))


INDENT = " " * 11
"""Aligns with the text after a draft's sign and state."""


def print_drafts(
    checks: Sequence[tuple[DraftCheck, Verdict]],
    plan: Plan,
    applied: Applied | None,
    *,
    explain: bool = False,
) -> None:
    out = console()
    states: Counter[str] = Counter(verdict.state for _, verdict in checks)
    counts = ", ".join(f"{states[state]} {state}" for state in STATE_SIGNS if states[state])
    total = format_count(len(checks), "draft")
    out.print(Text(f"{total}: {counts}" if counts else "no drafts", "bold"))
    for check, verdict in checks:
        _print_draft(out, check, verdict)
        if explain:
            _print_difference(out, check, verdict)
    if applied is None:
        if plan.diff:
            out.print()
            print_diff(plan.diff)
        for problem in plan.problems:
            say(problem.reason)
        return
    out.print()
    undecided = len(checks) - len(applied.done) - len(applied.failed)
    written = len(applied.done) - applied.skipped
    summary = f"{written} written, {applied.skipped} skipped, {undecided} left to decide"
    out.print(Text(summary, "bold"))
    for problem in applied.failed:
        say(problem.reason)


def _print_difference(out: Console, check: DraftCheck, verdict: Verdict) -> None:
    from kbx_tui.drafting.texts import difference

    known = verdict.match.known if verdict.match else verdict.repeat
    if known is None:
        return
    texts = difference(check.text, known.text, known.pair.conflicts)
    for sign, pieces in (("−", texts.right), ("+", texts.left)):
        marked = (piece.text if piece.mark == "same" else f"[{piece.text}]" for piece in pieces)
        out.print(Text(safe_line(f"{INDENT}{sign} {''.join(marked)}"), DIM))


def _print_draft(out: Console, check: DraftCheck, verdict: Verdict) -> None:
    entity = check.entity.name if check.entity else "?"
    head = Text.assemble(
        (f"{STATE_SIGNS[verdict.state]} {verdict.state:<9}", GOOD if verdict.is_sure else BAD),
        safe_line(check.draft.text),
        (safe_line(f"  ({entity})"), DIM),
    )
    out.print(head)
    if (asked := check.draft.asked) is not None:
        out.print(Text(safe_line(f"{INDENT}{check.draft.id} from {asked.words}"), DIM))
    proposal = f"{(check.draft.choice or verdict.proposal).action}: {verdict.reason}"
    out.print(Text(safe_line(f"{INDENT}{proposal}"), DIM))
    for note in check.notes:
        out.print(Text(safe_line(f"{INDENT}{note}"), BAD))
    if verdict.match:
        known = verdict.match.known
        place = f"{known.source_path}:{known.line}"
        line = f"{INDENT}{format_score(known.score)} {known.relation}: {known.text} · {place}"
        out.print(Text(safe_line(line), DIM))
