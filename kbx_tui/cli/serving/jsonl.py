"""`kbx jsonl`: the tools for programs, one JSON object per line."""

from __future__ import annotations

import click

from kbx_tui.cli.base_command import Command
from kbx_tui.cli.open_kb import open_worker
from kbx_tui.cli.options import allow_writes_option, warm_option
from kbx_tui.cli.runner import EXIT_OK
from kbx_tui.ending import end_soon


@click.command(name="jsonl", cls=Command)
@allow_writes_option("Offer the methods that add and change facts.")
@warm_option
def command(allow_writes: bool, warm: bool) -> None:
    """Serve programs, one JSON object per line.

    Each request line on stdin is answered by one line on stdout. While no call is running, the
    index follows the files.

    \b
    Examples:
      kbx jsonl
      kbx jsonl < requests.jsonl > responses.jsonl
      kbx --kb ~/notes jsonl --allow-writes
    """
    from kbx_tui.tools.servers.jsonl_server import serve_stdio

    worker = open_worker(allow_writes=allow_writes, warm=warm)
    serve_stdio(worker)
    end_soon(EXIT_OK)  # for a longer call, nobody waits any more
    worker.close()
