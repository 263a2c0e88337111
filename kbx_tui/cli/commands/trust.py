"""`kbx trust`: allow a knowledge base what its kbx.toml asks for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli.base_command import Command
from kbx_tui.cli.open_kb import selected_folder
from kbx_tui.cli.options import json_option
from kbx_tui.cli.output import print_result
from kbx_tui.errors import NotFound

if TYPE_CHECKING:
    from kbx_tui.trust.trust_requests import TrustRequest


@click.command(name="trust", cls=Command)
@click.argument("path", required=False, type=click.Path(path_type=Path), metavar="[PATH]")
@click.option("--list", "as_list", is_flag=True, help="List what is allowed; change nothing.")
@click.option("--remove", is_flag=True, help="Allow the knowledge base nothing any more.")
@json_option
def command(path: Path | None, as_list: bool, remove: bool, as_json: bool) -> None:
    """Allow a knowledge base what its kbx.toml asks for.

    A knowledge base that you did not make here may not keep its index outside itself, use another
    model, or commit with git, before you have allowed it. What is allowed is shown, and holds until
    kbx.toml asks for something else.

    \b
    Examples:
      kbx trust
      kbx trust ~/clones/team-notes
      kbx trust --list
      kbx trust ~/clones/team-notes --remove
    """
    folder = path or selected_folder()
    if as_list:
        bases = _all_bases()
        print_result(bases, _base_lines(bases), as_json=as_json)
    elif remove:
        removed = _remove(folder)
        line = f"{removed} is not trusted any more"
        print_result({"root": str(removed), "removed": True}, [line], as_json=as_json)
    else:
        root, granted = _grant(folder)
        data = {"root": str(root), "granted": [_request_json(request) for request in granted]}
        print_result(data, _granted_lines(root, granted), as_json=as_json)


def _grant(folder: Path | None) -> tuple[Path, tuple[TrustRequest, ...]]:
    from kbx_tui.base_discovery import find_base
    from kbx_tui.settings_file import load_settings
    from kbx_tui.trust.trust_requests import requests_of
    from kbx_tui.trust.trust_store import grant

    root = find_base(folder)
    requests = requests_of(root, load_settings(root))
    if requests:
        grant(root, requests)
    return root, requests


def _remove(folder: Path | None) -> str:
    from kbx_tui.knowledge.vault import find_root
    from kbx_tui.trust.trust_store import revoke

    # A base that is gone can be removed too.
    root = folder.expanduser().absolute() if folder else find_root(explicit=None)
    if not revoke(root):
        raise NotFound(f"nothing is allowed for {root}; `kbx trust --list` lists what is")
    return str(root)


def _all_bases() -> list[dict[str, Any]]:
    from kbx_tui.trust.trust_store import trusted_bases

    return [
        {"root": root, "made_here": base.made_here, "granted": base.granted}
        for root, base in sorted(trusted_bases().items())
        if base.made_here or base.granted
    ]


def _request_json(request: TrustRequest) -> dict[str, str]:
    return {"key": request.key, "value": request.value, "effect": request.effect}


def _granted_lines(root: Path, granted: tuple[TrustRequest, ...]) -> Iterator[str]:
    if not granted:
        yield f"{root} asks for nothing that needs trust"
        return
    yield f"{root} is trusted with"
    for request in granted:
        yield f"  {request.wish}"
        yield f"    it {request.effect}"


def _base_lines(bases: list[dict[str, Any]]) -> Iterator[str]:
    for base in bases:
        yield f"{base['root']}{' (made here: everything)' if base['made_here'] else ''}"
        yield from (f"  {key} = {value}" for key, value in base["granted"].items())
    if not bases:
        yield "no knowledge base needed trust so far"
