"""`kbx tune`: the knobs of `[search]` chosen by judged queries, or the advice to keep them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli.base_command import Command, global_options
from kbx_tui.cli.listings.progress import show_steps
from kbx_tui.cli.open_kb import open_kb
from kbx_tui.cli.options import json_option, types_option
from kbx_tui.cli.output import print_result, say
from kbx_tui.errors import NotFound
from kbx_tui.formatting import format_percent, format_score

if TYPE_CHECKING:
    from kbx_tui.drafting.plans import Written
    from kbx_tui.evaluation.optimise import Advice

DIGITS = 4
"""Decimals of figures in JSON."""


@click.command(name="tune", cls=Command)
@click.argument(
    "folder", required=False, metavar="[DIR]", type=click.Path(path_type=Path, file_okay=False)
)
@types_option
@click.option(
    "--write", is_flag=True, help="Write what is offered to kbx.toml; `kbx undo` reverts."
)
@click.option("--dry-run", is_flag=True, help="Show the change of kbx.toml, without writing it.")
@json_option
def command(
    folder: Path | None, doc_types: tuple[str, ...], write: bool, dry_run: bool, as_json: bool
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
        queries = [query for query in kb.judgments(folder) if query.is_measurable]
        if not queries:
            from kbx_tui.evaluation.judgments import HOW_TO_JUDGE

            raise NotFound(
                "no query has a document judged relevant, so there is nothing to tune by; "
                + HOW_TO_JUDGE
            )
        with show_steps("judged queries") as progress:
            kept = kb.judged_evidence(queries, doc_types=doc_types, progress=progress)
        with show_steps("knobs") as progress:
            advice = kb.tune(kept, progress=progress)
        written = None
        if advice.wins:
            written = kb.save_tuning(advice.best, dry_run=dry_run or not write)
    print_result(advice_json(advice, written), advice_lines(advice, written), as_json=as_json)
    if written is not None and not (written.written or as_json):
        say("nothing is written yet: `kbx tune --write` writes it")


def advice_json(advice: Advice, written: Written | None) -> dict[str, Any]:
    """Return what `--json` prints."""
    fields = {
        name: round(value, DIGITS) if isinstance(value, float) else value
        for name, value in asdict(advice).items()
        if name not in ("current", "best")
    }
    return {
        "verdict": advice.verdict,
        **fields,
        "changes": {
            key: {"current": current, "best": best}
            for key, (current, best) in advice.changes.items()
        },
        "written": written is not None and written.written,
        "diff": "" if written is None else written.diff,
    }


def advice_lines(advice: Advice, written: Written | None) -> list[str]:
    """Return the advice, what it rests on, and the change of kbx.toml."""
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
