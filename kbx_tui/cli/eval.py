"""`kbx eval`: how good the search is, measured on judged queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli import output
from kbx_tui.cli.opening import open_kb
from kbx_tui.cli.running import Command, say, session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbx_tui.evaluation.measure import Sweep
    from kbx_tui.evaluation.runs import Run

DIGITS = 4


@click.command(name="eval", cls=Command, short_help="Measure the search on judged queries.")
@click.argument(
    "folder", required=False, metavar="[DIR]", type=click.Path(path_type=Path, file_okay=False)
)
@click.option(
    "--mode",
    type=click.Choice(["auto", "flat", "two_pass", "fast"]),
    default="auto",
    show_default=True,
    help="As searches go, or one way for every query.",
)
@click.option("--preset", type=click.Choice(["default", "seed"]), help="Instead of kbx.toml's.")
@click.option("--type", "types", multiple=True, metavar="T,...", help="Only these kinds count.")
@click.option(
    "--sweep", "knob", type=click.Choice(["alpha", "threshold"]), help="Try 21 values of a knob."
)
@click.option(
    "--save", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Keep the run."
)
@click.option(
    "--compare",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Tell what is better than in a kept run, and whether by more than chance.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON; docs/cli.md has the fields.")
def command(
    folder: Path | None,
    mode: str,
    preset: str | None,
    types: tuple[str, ...],
    knob: str | None,
    save: Path | None,
    compare: Path | None,
    as_json: bool,
) -> None:
    """Measure the search on judged queries: nDCG@10, recall@10, MRR, and pass 1.

    DIR is a knowledge base that also holds queries.jsonl, qrels.tsv and perhaps entities.tsv;
    with --kb only these are read from DIR. Without DIR, your own judgments of this base are used,
    .kbx/judgments.jsonl. The base is indexed first when it is not yet.

    \b
    Examples:
      kbx eval ~/labelled --type meeting,note
      kbx eval ~/labelled --save before.json
      kbx eval ~/labelled --compare before.json
      kbx eval --sweep alpha
    """
    if knob and (save or compare or mode != "auto"):
        raise click.UsageError("--sweep goes with none of --mode, --save and --compare")
    if folder is not None and session().kb is None:
        session().kb = folder
    kinds = [name.strip() for name in ",".join(types).split(",") if name.strip()]
    from kbx_tui.evaluation.runs import read_run, save_run

    earlier = read_run(compare) if compare else None
    with open_kb() as kb:
        queries = kb.judgments(folder)
        if knob:
            swept = kb.sweep(queries, knob, preset=preset, doc_types=kinds)  # type: ignore[arg-type]
            _show(sweep_json(swept), sweep_text(swept), as_json)
            return
        run = kb.evaluate(queries, mode=mode, preset=preset, doc_types=kinds)  # type: ignore[arg-type]
    if mode != "fast" and run.vector_share < 1.0:
        say(f"meaning {run.vector_share:.0%}: `kbx index` makes the vectors that are missing")
    if run.skipped:
        say(f"{run.skipped} queries have no document judged relevant and are left out")
    if save:
        save_run(run, save)
    _show(run_json(run, earlier), run_text(run, earlier), as_json)


def run_json(run: Run, earlier: Run | None = None) -> dict[str, Any]:
    """Return what `--json` prints."""
    from dataclasses import asdict

    import msgspec

    from kbx_tui.evaluation.runs import compare, figures

    found: dict[str, Any] = {
        "base": run.base,
        "mode": run.mode,
        "preset": run.preset,
        "doc_types": list(run.doc_types),
        "skipped": run.skipped,
        "vector_share": run.vector_share,
        "groups": [_rounded(asdict(row)) for row in figures(run)],
        "queries": [_rounded(msgspec.to_builtins(one)) for one in run.results],
    }
    if earlier is not None:
        found["compared"] = [_rounded(asdict(row)) for row in compare(earlier, run)]
    return found


def run_text(run: Run, earlier: Run | None = None) -> str:
    """Return the figures as a table, and what is better than `earlier`."""
    from kbx_tui.evaluation.runs import compare, figures

    rows = [("", "queries", "nDCG@10", "R@10", "MRR", "two-pass", "named first", "ms")]
    for row in figures(run):
        first = "" if row.entity_first is None else f"{row.entity_first:.3f}"
        rows.append(
            (row.group, str(row.queries), f"{row.ndcg:.3f}", f"{row.recall:.3f}", f"{row.mrr:.3f}",
             f"{row.two_pass:.0%}", first, f"{row.milliseconds:.1f}")
        )  # fmt: skip
    table = _table(rows)
    if earlier is None:
        return table
    head = ("against", "queries", "nDCG@10", "p", "R@10", "p", "better", "worse")
    changes = [
        (one.group, str(one.queries), f"{one.ndcg:+.3f}", f"{one.ndcg_p:.3f}",
         f"{one.recall:+.3f}", f"{one.recall_p:.3f}", str(one.better), str(one.worse))
        for one in compare(earlier, run)
    ]  # fmt: skip
    changes.insert(0, head)
    return f"{table}\n\n{_table(changes)}"


def sweep_json(swept: Sweep) -> dict[str, Any]:
    """Return what `--sweep ... --json` prints."""
    return {
        "knob": swept.knob,
        "values": list(swept.values),
        "ndcg": {
            group: [round(figure, DIGITS) for figure in row] for group, row in swept.ndcg.items()
        },
        "best": {group: swept.best(group) for group in swept.ndcg},
    }


def sweep_text(swept: Sweep) -> str:
    """Return nDCG@10 by value and group, the best of each group marked."""
    rows = [(swept.knob, *swept.ndcg)]
    for at, value in enumerate(swept.values):
        cells = [
            f"{row[at]:.3f}{'*' if value == swept.best(group) else ' '}"
            for group, row in swept.ndcg.items()
        ]
        rows.append((f"{value:.2f}", *cells))
    return _table(rows)


def _show(data: dict[str, Any], text: str, as_json: bool) -> None:
    if as_json:
        output.print_json(data)
    else:
        click.echo(text)


def _table(rows: Sequence[Sequence[str]]) -> str:
    from kbx_tui.safe_text import visible

    clean = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*clean, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in clean
    )


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: round(value, DIGITS) if isinstance(value, float) else value
        for name, value in row.items()
    }
