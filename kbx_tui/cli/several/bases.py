"""`kbx bases`: the knowledge bases known on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from kbx_tui.cli.base_command import Command
from kbx_tui.cli.options import json_option
from kbx_tui.cli.output import print_result


@click.command(name="bases", cls=Command)
@json_option
def command(as_json: bool) -> None:
    """List the knowledge bases that the app has opened, the most recent first.

    Several are searched together by giving --kb more than once, in the app too.

    \b
    Examples:
      kbx bases
      kbx bases --json | jq -r '.[].path'
      kbx --kb ~/notes --kb ~/work                   open the app on both
      kbx --kb ~/notes --kb ~/work search rollback
    """
    from kbx_tui.api.several_bases import base_names
    from kbx_tui.tui.app_state import AppState

    bases = [
        {"name": name, "path": str(root), "exists": root.is_dir()}
        for name, root in base_names([Path(root) for root in AppState().user.bases]).items()
    ]
    lines = [
        f"{base['name']}  {base['path']}{'' if base['exists'] else '  (not there)'}"
        for base in bases
    ]
    print_result(bases, lines or ["the app has opened no knowledge base yet"], as_json=as_json)
