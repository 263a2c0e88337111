"""`kbx search` in several knowledge bases: opens them, and prints what they answer together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kbx_tui.cli.base_command import global_options
from kbx_tui.cli.output import console, print_json, say
from kbx_tui.safe_text import safe_line

if TYPE_CHECKING:
    from kbx_tui.api.several_bases import SeveralResponse
    from kbx_tui.cli.result_page import PageTarget
    from kbx_tui.search.request import SearchRequest


def search_several(
    folders: Sequence[Path],
    request: SearchRequest,
    *,
    explain: bool,
    as_json: bool,
    page: PageTarget | None,
) -> None:
    """Search the bases in some folders, and print the results or write `page`. Raises KbxError."""
    from kbx_tui.api.several_bases import SeveralBases
    from kbx_tui.base_discovery import find_base

    roots = [find_base(folder) for folder in folders]
    with SeveralBases(roots, notice=say, trust=global_options().trust) as bases:
        if page is not None:
            from kbx_tui.sharing.shared_search import share_several

            page.write(share_several(bases, request))
            return
        response = bases.search(request)
        if as_json:
            print_json(several_json(response, bases.roots))
        else:
            print_several(response, explain=explain)


def several_json(response: SeveralResponse, roots: Mapping[str, Path]) -> dict[str, Any]:
    """Return the JSON: results with the name of their `base`, and the `meta` of every base."""
    from kbx_tui.tools.json.search_json import search_json

    answers = {name: search_json(answer) for name, answer in response.responses.items()}
    by_path = {
        (name, result["path"]): result
        for name, answer in answers.items()
        for result in answer["results"]
    }
    return {
        "query": response.query,
        "results": [
            {
                "base": own.base,
                **by_path[own.base, own.result.path],
                "explain": own.result.explain,
            }
            for own in response.results
        ],
        "bases": {
            name: {"path": str(roots[name]), "meta": answer["meta"]}
            for name, answer in answers.items()
        },
        "notes": list(response.notes),
    }


def print_several(response: SeveralResponse, *, explain: bool) -> None:
    """Print the results, each with the name of its base, and the notes on stderr."""
    from rich.text import Text

    from kbx_tui.cli.listings import search_listing as listing

    for note in response.notes:
        say(note)
    if not response.results:
        return
    out = console()
    width = min(out.width, listing.MAX_WIDTH)
    rank_width = len(str(len(response.results)))
    lines: list[Text] = []
    for name, answer in response.responses.items():
        lines.append(Text.assemble((safe_line(name), "bold"), " · ", listing.heading(answer)))
        if answer.meta.pass1_entities:
            lines.append(listing.entity_line(answer.meta, width))
    for rank, own in enumerate(response.results, 1):
        first, place, *snippet = listing.result_lines(rank, own.result, width, rank_width)
        indent = len(place.plain) - len(place.plain.lstrip())
        owned = Text(" " * indent).append(f"{safe_line(own.base)}  ", listing.ENTITY)
        lines += [Text(), first, owned.append(place.plain.lstrip(), listing.DIM), *snippet]
        if explain:
            fast = response.responses[own.base].meta.search_mode_reason == "fast"
            lines += listing.reason_lines(own.result, width, rank_width, fast=fast)
    out.print(*lines, sep="\n")
