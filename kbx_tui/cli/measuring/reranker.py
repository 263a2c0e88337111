"""`kbx reranker`: download a reranker, and see whether it works."""

from __future__ import annotations

import click

from kbx_tui.cli.base_command import Command
from kbx_tui.cli.open_kb import open_kb
from kbx_tui.cli.options import json_option
from kbx_tui.cli.output import print_result
from kbx_tui.safe_text import safe_line


@click.command(name="reranker", cls=Command)
@click.argument("name", required=False, metavar="[NAME]")
@click.option("--download", is_flag=True, help="Download the model NAME of fastembed first.")
@json_option
def command(name: str | None, download: bool, as_json: bool) -> None:
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
    line = (
        f"{safe_line(trial.model)} works: {trial.passages} passages in {trial.milliseconds:.0f} ms"
    )
    data = {
        "reranker": trial.model,
        "passages": trial.passages,
        "milliseconds": round(trial.milliseconds, 3),
    }
    print_result(data, [line], as_json=as_json)
