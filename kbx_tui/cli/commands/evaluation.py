"""`kbx eval`, `kbx tune` and `kbx reranker`: search quality, and the settings that improve it."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli.base_command import Command, global_options, open_kb
from kbx_tui.cli.options import (
    FILE,
    choice,
    flag,
    json_option,
    option,
    reranker_options,
    types_option,
)
from kbx_tui.cli.output import print_result, say, show_steps, wants_json
from kbx_tui.errors import NotFound
from kbx_tui.formatting import format_change, format_count, format_p, format_percent, format_score
from kbx_tui.safe_text import safe_line
from kbx_tui.tools.json_output import picked, rounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.drafts import Written
    from kbx_tui.evaluation.blind_preferences import Votes
    from kbx_tui.evaluation.metrics import Interval, PairedDifference
    from kbx_tui.evaluation.optimise import Advice
    from kbx_tui.evaluation.runs import GroupDifference, GroupMetrics, Run, Sweep


folder_argument = click.argument(
    "folder", required=False, metavar="[DIR]", type=click.Path(path_type=Path, file_okay=False)
)


@click.command(name="eval", cls=Command)
@folder_argument
@choice(
    "--mode",
    ["auto", "flat", "two_pass", "fast"],
    "auto: as in a normal search; otherwise the mode of every query.",
    default="auto",
)
@choice("--preset", ["default", "seed"], "Ranking preset; default: kbx.toml.")
@types_option
@reranker_options
@choice("--sweep knob", ["alpha", "threshold"], "Measure 21 values of a knob.")
@option("--save FILE", "Save the run; as a TREC run if FILE ends in .run.", FILE)
@flag("--force", "Let --save replace a file.")
@option(
    "--compare FILE",
    "Compare with a saved run, or the TREC run of any tool; may be repeated.",
    FILE,
    multiple=True,
)
@json_option
def eval_command(
    folder: Path | None,
    mode: str,
    preset: str | None,
    doc_types: tuple[str, ...],
    reranker: str | None,
    rerank: bool,
    knob: str | None,
    save: Path | None,
    force: bool,
    compare: tuple[Path, ...],
) -> None:
    """Measure search quality on judged queries.

    The measures are nDCG@10 with its 95 % interval, recall@10, MRR, ERR@10, RBP, how many of the
    first 10 results are judged, and how often pass 1 ranks a named entity first. DIR is a knowledge
    base that also contains queries.jsonl, qrels.tsv and optionally entities.tsv;
    with --kb, only these files are read from DIR. Without DIR, your own judgments in
    .kbx/judgments.jsonl are used. A knowledge base without an index is indexed first.

    \b
    Examples:
      kbx eval ~/labelled --type meeting,note
      kbx eval ~/labelled --save before.json
      kbx eval ~/labelled --compare before.json
      kbx eval --mode flat --save flat.json && kbx eval --compare flat.json
      kbx eval --sweep alpha
      kbx eval --reranker ~/models/my-cross-encoder
    """
    if knob and (save or compare or mode != "auto"):
        raise click.UsageError("--sweep cannot be combined with --mode, --save or --compare")
    if force and save is None:
        raise click.UsageError("--force lets --save FILE replace a file; give --save, too")
    if folder is not None and not global_options().kb:
        global_options().kb = [folder]
    from kbx_tui.editing.file_edits import require_free
    from kbx_tui.evaluation.runs import compare_runs, measured_again, read_saved_run, save_run

    if save is not None:
        require_free(save, overwrite=force)  # fail before measuring
    earlier = {str(file): read_saved_run(file, say) for file in compare}
    with open_kb() as kb:
        _require_types(kb, doc_types)
        queries = kb.judgments.queries(folder)
        preferences = () if folder is not None else kb.preferences.read()
        if knob:
            sweep = kb.judgments.sweep(queries, knob, preset=preset, doc_types=doc_types)  # type: ignore[arg-type]
            print_result(sweep_json(sweep), sweep_lines(sweep))
            return
        run = kb.judgments.evaluate(
            queries,
            mode=mode,  # type: ignore[arg-type]
            preset=preset,
            doc_types=doc_types,
            reranker=reranker if rerank else "",
        )
    if mode != "fast" and run.vector_share < 1.0:
        say(f"only {run.vector_share:.0%} of the texts have vectors; `kbx index` computes the rest")
    if run.by_candidates:
        count = format_count(run.by_candidates, "query")
        say(f"{count} scored by candidates, as a search in more than a million chunks is")
    if run.skipped:
        say(f"left out {run.skipped} queries without a document judged relevant")
    if save is not None:
        save_run(run, save, overwrite=force)
    earlier = {name: measured_again(before, queries) for name, before in earlier.items()}
    changes = compare_runs(earlier, run, preferences) if earlier else None
    for name in earlier.keys() - {row.against for row in changes or ()}:
        say(f"{name} has no judged query in common with this run")
    print_result(run_json(run, changes), run_lines(run, changes))


def _require_types(kb: KnowledgeBase, doc_types: Sequence[str]) -> None:
    """Raise NotFound for a type that does not exist; a base without an index is not read yet."""
    if kb.is_indexed():
        kb.documents.require_scope(doc_types)


def run_json(run: Run, changes: Sequence[GroupDifference] | None) -> dict[str, Any]:
    import msgspec

    from kbx_tui.evaluation.metrics import CUTOFF
    from kbx_tui.evaluation.runs import group_metrics

    names = "base mode preset doc_types skipped vector_share by_candidates"
    fields: dict[str, Any] = {
        **picked(run, names),
        "groups": [rounded(asdict(row)) for row in group_metrics(run)],
        "queries": [
            rounded(msgspec.to_builtins(result) | {"top": list(result.top[:CUTOFF])})
            for result in run.results
        ],
    }
    if changes is not None:
        fields["compared"] = [
            rounded(asdict(row) | {"votes": asdict(row.votes) | {"p": row.votes.p}})
            for row in changes
        ]
    return fields


def run_lines(run: Run, changes: Sequence[GroupDifference] | None) -> list[str]:
    from kbx_tui.evaluation.runs import group_metrics

    head = ("", "queries", "judged@10", "nDCG@10", "95 %", "R@10", "MRR", "ERR@10", "RBP",
            "two-pass", "named first", "ms")  # fmt: skip
    rows = map(_metric_cells, group_metrics(run))
    differences = difference_lines(changes) if changes is not None else []
    return [*_table(head, rows), *differences, "", *LEGEND]


LEGEND = (
    "judged@10: share of the first 10 results with a grade. nDCG@10: how well they are ordered, 1",
    "is perfect, with its 95 % interval. R@10: share of the relevant documents among them. MRR:",
    "1 / rank of the first. ERR@10, RBP: what a reader gains who stops when satisfied, or tires;",
    "after the +, what results without a grade could add. two-pass: share of the queries searched",
    "so. named first: share of those that name an entity that find it first. ms: of one query.",
)


def _metric_cells(row: GroupMetrics) -> list[str]:
    return [
        row.group,
        str(row.queries),
        format_percent(row.judged),
        _figure(row.ndcg),
        _interval(row.ndcg_interval, format_score),
        *map(_figure, (row.recall, row.mrr, row.err)),
        f"{_figure(row.rbp)}{format_change(row.rbp_residual)}",
        format_percent(row.two_pass),
        "" if row.entity_first is None else _figure(row.entity_first),
        f"{row.milliseconds:.1f}",
    ]


def _figure(value: float) -> str:
    return format_score(value, 3)


def difference_lines(changes: Sequence[GroupDifference]) -> list[str]:
    several = len({row.against for row in changes}) > 1
    lines: list[str] = []
    for name in dict.fromkeys(row.against for row in changes):
        head = ("against " + name, "queries", "judged@10", "nDCG@10", "95 %", "p",
                *(("p (Holm)",) if several else ()), "better", "equal", "worse",
                "R@10", "p")  # fmt: skip
        of_run = [row for row in changes if row.against == name]
        rows = [_difference_cells(row, several=several) for row in of_run]
        lines += ["", *_table(head, rows), _power(of_run[-1].ndcg)]
        lines += vote_lines(of_run[-1].votes)
    return lines


def _difference_cells(row: GroupDifference, *, several: bool) -> list[str]:
    ndcg, recall = row.ndcg, row.recall
    return [
        row.group,
        str(ndcg.queries),
        f"{format_percent(row.judged_before)} > {format_percent(row.judged)}",
        format_change(ndcg.mean),
        _interval(ndcg.interval, partial(format_change, digits=2)),
        format_p(ndcg.p),
        *([format_p(row.ndcg_p_holm)] if several else []),
        *map(str, (ndcg.wins, ndcg.ties, ndcg.losses)),
        format_change(recall.mean),
        format_p(recall.p),
    ]


def vote_lines(votes: Votes) -> list[str]:
    lines = []
    if votes.wins_a + votes.wins_b + votes.neither:
        counts = f"the earlier {votes.wins_a}, this run {votes.wins_b}, neither {votes.neither}"
        test = f"sign test p {format_p(votes.p)}"
        lines.append(f"preferred without knowing which is which: {counts}; {test}")
    if votes.undecided:
        queries = format_count(votes.undecided, "query")
        lines.append(f"preferences on {queries} are about other results and not counted")
    return lines


def _power(difference: PairedDifference) -> str:
    from kbx_tui.evaluation.metrics import NOTICEABLE

    what = f"a difference of {format_score(NOTICEABLE)} in nDCG@10"
    if difference.more_queries is None:
        return f"how many queries would show {what} cannot be estimated from these"
    if not difference.more_queries:
        return f"these queries are enough to see {what}"
    return f"about {difference.more_queries:,} more queries to see {what}"


def _interval(interval: Interval | None, form: Callable[[float], str]) -> str:
    return "" if interval is None else f"{form(interval[0])} to {form(interval[1])}"


def sweep_json(sweep: Sweep) -> dict[str, Any]:
    return {
        "knob": sweep.knob,
        "values": list(sweep.values),
        "ndcg": rounded(dict(sweep.ndcg)),
        "best": {group: sweep.best(group) for group in sweep.ndcg},
        "judged": rounded(sweep.judged),
    }


def sweep_lines(sweep: Sweep) -> list[str]:
    best = [sweep.best(group) for group in sweep.ndcg]
    rows = []
    for value, judged, *means in zip(sweep.values, sweep.judged, *sweep.ndcg.values(), strict=True):
        cells = [
            f"{_figure(mean)}{'*' if value == best_value else ' '}"
            for mean, best_value in zip(means, best, strict=True)
        ]
        rows.append([format_score(value), *cells, format_percent(judged)])
    return _table([sweep.knob, *sweep.ndcg, "judged@10"], rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    cells = [[safe_line(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in cells
    ]


@click.command(name="tune", cls=Command)
@folder_argument
@types_option
@flag("--write", "Write what is offered to kbx.toml; `kbx undo` reverts.")
@flag("--dry-run", "Show the change of kbx.toml, without writing it.")
@json_option
def tune_command(
    folder: Path | None, doc_types: tuple[str, ...], write: bool, dry_run: bool
) -> None:
    """Choose alpha, threshold and the other knobs by judged queries.

    Each query is searched for once; then every setting is measured from what was found. A setting
    is offered only if it is better on queries that did not choose it. Otherwise the advice is to
    keep what you have, with the number of judged queries that would settle it. DIR is a labelled
    folder as in `kbx eval`; without it, your own judgments are used.

    \b
    Examples:
      kbx tune
      kbx tune --write
      kbx tune ~/labelled --type meeting,note --json
    """
    if folder is not None and not global_options().kb:
        global_options().kb = [folder]
    with open_kb() as kb:
        _require_types(kb, doc_types)
        queries = [query for query in kb.judgments.queries(folder) if query.is_measurable]
        if not queries:
            from kbx_tui.evaluation.judgments import HOW_TO_JUDGE

            why = "no query has a document judged relevant, so there is nothing to tune by"
            raise NotFound(f"{why}; {HOW_TO_JUDGE}")
        with show_steps("judged queries") as progress:
            kept = kb.tuner.judged_evidence(queries, doc_types=doc_types, progress=progress)
        with show_steps("knobs") as progress:
            advice = kb.tuner.advise(kept, progress=progress)
        is_dry = dry_run or not write
        written = kb.tuner.save(advice.best, dry_run=is_dry) if advice.wins else None
    print_result(advice_json(advice, written), advice_lines(advice, written))
    if written is not None and not (written.written or wants_json()):
        say("nothing is written yet: `kbx tune --write` writes it")


def advice_json(advice: Advice, written: Written | None) -> dict[str, Any]:
    fields = {name: rounded(value) for name, value in asdict(advice).items()}
    changes = {key: {"current": now, "best": best} for key, (now, best) in advice.changes.items()}
    del fields["current"], fields["best"]
    return {
        "verdict": advice.verdict,
        **fields,
        "changes": changes,
        "written": written is not None and written.written,
        "diff": "" if written is None else written.diff,
    }


def advice_lines(advice: Advice, written: Written | None) -> list[str]:
    lines = [
        advice.verdict,
        f"nDCG@10 {format_score(advice.before, 3)} now on {advice.queries} judged queries, "
        f"judged@10 {format_percent(advice.judged_before)}",
    ]
    if advice.left_out:
        lines.append(f"{advice.left_out} judged queries did not fit in memory")
    if advice.changes:
        lines.append(
            f"nDCG@10 {format_score(advice.after, 3)} with the best setting on the queries that "
            f"chose it, judged@10 {format_percent(advice.judged_after)}:"
        )
        lines += [f"  {key}  {old} -> {new}" for key, (old, new) in advice.changes.items()]
    if written is not None:
        lines += ["", *written.diff.splitlines()]
    return lines


@click.command(name="reranker", cls=Command)
@click.argument("name", required=False, metavar="[NAME]")
@flag("--download", "Download the model NAME of fastembed first.")
@json_option
def reranker_command(name: str | None, download: bool) -> None:
    """Load a reranker and time it on 20 passages.

    NAME is a folder with model.onnx and tokenizer.json, or the name of a cross-encoder that
    fastembed lists; by default it is [search] reranker of kbx.toml. Only --download connects to the
    network: a search never does.

    \b
    Examples:
      kbx reranker
      kbx reranker ~/models/my-cross-encoder
      kbx reranker Xenova/ms-marco-MiniLM-L-6-v2 --download
    """
    with open_kb() as kb:
        trial = kb.try_reranker(name, download=download)
    took = round(trial.milliseconds, 3)
    line = f"{safe_line(trial.model)} works: {trial.passages} passages in {took:.0f} ms"
    data = {"reranker": trial.model, "passages": trial.passages, "milliseconds": took}
    print_result(data, [line])
