"""`kbx eval`: search quality, measured on judged queries."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli.base_command import Command, global_options
from kbx_tui.cli.open_kb import open_kb
from kbx_tui.cli.options import json_option, reranker_options, types_option
from kbx_tui.cli.output import print_result, say
from kbx_tui.safe_text import safe_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kbx_tui.evaluation.measure import Sweep
    from kbx_tui.evaluation.runs import GroupDifference, Run

DIGITS = 4
"""Decimals of figures in JSON."""
RUN_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(name="eval", cls=Command)
@click.argument(
    "folder", required=False, metavar="[DIR]", type=click.Path(path_type=Path, file_okay=False)
)
@click.option(
    "--mode",
    type=click.Choice(["auto", "flat", "two_pass", "fast"]),
    default="auto",
    show_default=True,
    help="auto: as in a normal search; otherwise the mode of every query.",
)
@click.option(
    "--preset", type=click.Choice(["default", "seed"]), help="Ranking preset; default: kbx.toml."
)
@types_option
@reranker_options
@click.option(
    "--sweep",
    "knob",
    type=click.Choice(["alpha", "threshold"]),
    help="Measure 21 values of a knob.",
)
@click.option("--save", type=RUN_FILE, metavar="FILE", help="Save the run.")
@click.option(
    "--compare",
    type=RUN_FILE,
    metavar="FILE",
    help="Compare with a saved run, with a test of significance.",
)
@json_option
def command(
    folder: Path | None,
    mode: str,
    preset: str | None,
    doc_types: tuple[str, ...],
    reranker: str | None,
    rerank: bool,
    knob: str | None,
    save: Path | None,
    compare: Path | None,
    as_json: bool,
) -> None:
    """Measure search quality on judged queries.

    The measures are nDCG@10, recall@10, MRR, and how often pass 1 ranks a named entity first. DIR
    is a knowledge base that also contains queries.jsonl, qrels.tsv and optionally entities.tsv;
    with --kb, only these files are read from DIR. Without DIR, your own judgments in
    .kbx/judgments.jsonl are used. A knowledge base without an index is indexed first.

    \b
    Examples:
      kbx eval ~/labelled --type meeting,note
      kbx eval ~/labelled --save before.json
      kbx eval ~/labelled --compare before.json
      kbx eval --sweep alpha
      kbx eval --reranker ~/models/my-cross-encoder
    """
    if knob and (save or compare or mode != "auto"):
        raise click.UsageError("--sweep cannot be combined with --mode, --save or --compare")
    if folder is not None and global_options().kb is None:
        global_options().kb = folder
    from kbx_tui.evaluation.runs import compare_runs, read_run, save_run

    earlier = read_run(compare) if compare else None
    with open_kb() as kb:
        queries = kb.judgments(folder)
        if knob:
            sweep = kb.sweep(queries, knob, preset=preset, doc_types=doc_types)  # type: ignore[arg-type]
            print_result(sweep_json(sweep), sweep_lines(sweep), as_json=as_json)
            return
        run = kb.evaluate(
            queries,
            mode=mode,  # type: ignore[arg-type]
            preset=preset,
            doc_types=doc_types,
            reranker=reranker if rerank else "",
        )
    if mode != "fast" and run.vector_share < 1.0:
        say(f"only {run.vector_share:.0%} of the texts have vectors; `kbx index` computes the rest")
    if run.skipped:
        say(f"left out {run.skipped} queries without a document judged relevant")
    if save:
        save_run(run, save)
    changes = None if earlier is None else compare_runs(earlier, run)
    print_result(run_json(run, changes), run_lines(run, changes), as_json=as_json)


def run_json(run: Run, changes: Sequence[GroupDifference] | None) -> dict[str, Any]:
    """Return what `--json` prints."""
    import msgspec

    from kbx_tui.evaluation.runs import group_metrics

    fields: dict[str, Any] = {
        "base": run.base,
        "mode": run.mode,
        "preset": run.preset,
        "doc_types": list(run.doc_types),
        "skipped": run.skipped,
        "vector_share": run.vector_share,
        "groups": [_rounded(asdict(row)) for row in group_metrics(run)],
        "queries": [_rounded(msgspec.to_builtins(result)) for result in run.results],
    }
    if changes is not None:
        fields["compared"] = [_rounded(asdict(row)) for row in changes]
    return fields


def run_lines(run: Run, changes: Sequence[GroupDifference] | None) -> list[str]:
    """Return the metrics as a table, then the differences from an earlier run."""
    from kbx_tui.evaluation.runs import group_metrics

    head = ("", "queries", "nDCG@10", "R@10", "MRR", "two-pass", "named first", "ms")
    rows = [
        (row.group, str(row.queries), f"{row.ndcg:.3f}", f"{row.recall:.3f}", f"{row.mrr:.3f}",
         f"{row.two_pass:.0%}", "" if row.entity_first is None else f"{row.entity_first:.3f}",
         f"{row.milliseconds:.1f}")
        for row in group_metrics(run)
    ]  # fmt: skip
    lines = _table(head, rows)
    if changes is not None:
        head = ("against", "queries", "nDCG@10", "p", "R@10", "p", "better", "worse")
        rows = [
            (row.group, str(row.queries), f"{row.ndcg:+.3f}", f"{row.ndcg_p:.3f}",
             f"{row.recall:+.3f}", f"{row.recall_p:.3f}", str(row.better), str(row.worse))
            for row in changes
        ]  # fmt: skip
        lines += ["", *_table(head, rows)]
    return lines


def sweep_json(sweep: Sweep) -> dict[str, Any]:
    """Return what `--sweep ... --json` prints."""
    return {
        "knob": sweep.knob,
        "values": list(sweep.values),
        "ndcg": {
            group: [round(figure, DIGITS) for figure in row] for group, row in sweep.ndcg.items()
        },
        "best": {group: sweep.best(group) for group in sweep.ndcg},
    }


def sweep_lines(sweep: Sweep) -> list[str]:
    """Return nDCG@10 by value and group, with the best value of each group marked."""
    best = [sweep.best(group) for group in sweep.ndcg]
    rows = []
    for value, *means in zip(sweep.values, *sweep.ndcg.values(), strict=True):
        marks = ["*" if value == best_value else " " for best_value in best]
        rows.append(
            [
                f"{value:.2f}",
                *(f"{mean:.3f}{mark}" for mean, mark in zip(means, marks, strict=True)),
            ]
        )
    return _table([sweep.knob, *sweep.ndcg], rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    cells = [[safe_line(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in cells
    ]


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: round(value, DIGITS) if isinstance(value, float) else value
        for name, value in row.items()
    }
