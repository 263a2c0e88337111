"""`kbx search`, in one base or several; `kbx bases`, `kbx context`; `kbx history` of queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from kbx_tui.cli import options
from kbx_tui.cli.base_command import (
    Command,
    Group,
    gc_disabled,
    global_options,
    open_kb,
    selected_folders,
)
from kbx_tui.cli.output import (
    padded,
    print_json,
    print_result,
    print_table,
    prints_table,
    say,
    wants_json,
)
from kbx_tui.errors import ConfigError
from kbx_tui.formatting import format_count, local_datetime
from kbx_tui.search.query_history import MAX_NAME
from kbx_tui.tools.json_output import digest_json, meta_json, picked, result_json, search_json

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.api.several_bases import SeveralResponse
    from kbx_tui.search.request import SearchRequest
    from kbx_tui.search.results.response import SearchResponse, SearchResult
    from kbx_tui.sharing.shared_search import SharedSearch


STDOUT = "-"


@click.command(name="search", cls=Command)
@options.text_argument("query", "[QUERY...]")
@options.option(
    "--saved NAME",
    "Run the query saved by this name in the app, with its settings; options given beside it"
    " replace those.",
    shell_complete=options.complete_saved_query,
)
@options.option(
    "--path P",
    "Only documents in this folder, this file, or matching this glob.",
    shell_complete=options.complete_path,
)
@options.types_option
@options.option(
    "--from since DATE",
    "Only documents from this day, month or year on: 2026-03-17, 2026-03, 2026.",
)
@options.option("--to until DATE", "Only documents up to and including DATE.")
@options.list_option(
    "--tag tags T,...", "Only documents with one of these tags.", options.complete_tag
)
@options.list_option(
    "--entity entities NAME,...",
    "Only documents linked to one of these entities: name, alias or id.",
    options.complete_entity,
)
@options.list_option(
    "--said said NAME,...",
    "Only meetings in which one of these people speaks, with what they say as the passage.",
    options.complete_entity,
)
@options.count_option("--limit", 10, "Maximum number of results.")
@options.choice("--sort", ["score", "date"], "date lists the best 50 results newest first.")
@options.list_option(
    "--pin pinned NAME,...",
    "Entities that count whatever their score: name, alias or id.",
    options.complete_entity,
)
@options.list_option(
    "--mute muted NAME,...", "Entities to ignore: name, alias or id.", options.complete_entity
)
@click.option(
    "--no-hierarchy",
    "hierarchy",
    flag_value=False,
    default=True,
    help="Search flat: rank by document relevance alone.",
)
@options.choice(
    "--preset",
    ["default", "seed"],
    "seed ranks by the formula of the two-pass proposal, for comparison.",
)
@options.unit_option(
    "--hierarchy-alpha alpha", "Weight of the document: 1 = document alone, 0 = entity alone."
)
@options.unit_option(
    "--hierarchy-threshold threshold",
    "Score an entity needs to be kept; if none is kept, the search is flat.",
)
@options.option("--max-entities N", "Maximum number of entities to keep.", click.IntRange(1, 20))
@options.choice(
    "--gate", ["soft", "hard"], "soft keeps documents without a linked entity, hard drops them."
)
@options.choice(
    "--parent",
    ["coverage", "max"],
    "Entity part of a score: mean over the named entities, or the best one.",
)
@options.unit_option(
    "--hotness hotness", "Weight of how often and how recently a document was opened; 0 by default."
)
@options.reranker_options
@options.choice(
    "--dates",
    ["prefer", "filter", "off"],
    "What date words do: prefer documents of that time, filter, or nothing.",
)
@options.flag("--no-dates", "Date words are words: the same as --dates off.")
@options.flag("--as-typed", "Search for misspelt words as typed, instead of correcting them.")
@options.flag("--fast", "Search by words only: flat, without loading a model.")
@options.flag(
    "--exact", "Compare every chunk in scope in meaning, even in a scope of more than a million."
)
@options.flag("--explain", "Show how each score is computed.")
@options.json_option
@options.format_option
@options.option(
    "--html FILE",
    "Write the results and their explanations to a page to share, without what is redacted;"
    " - is stdout.",
    click.Path(),
)
@options.flag("--force", "Let --html replace a file.")
def search_command(
    query: str,
    saved: str | None,
    explain: bool,
    html: str | None,
    force: bool,
    dates: str | None,
    no_dates: bool,
    **fields: Any,
) -> None:
    """Find documents, entities first.

    The people, projects and teams that the query names come first, then the documents linked to
    them. Date words such as "in March" prefer documents of that time. If no entity matches well
    enough, the search is flat, and the output says why. Defaults come from kbx.toml. A query may
    be any text, with or without quotes; put -- before one that starts with a dash.

    Filters may be part of the query: type:meeting tag:ops from:2026-03 to:2026-05 in:memory/notes
    @alice said:@alice title:budget -word "exact words", and any property of the pages:
    status:active priority>2 due<2026-12 -status:done. A comma means "or": type:meeting,note. They
    narrow what the options allow.

    With --kb given more than once, those bases are searched together, each result with its base.

    \b
    Examples:
      kbx search "what did the platform team decide about migration?"
      kbx search grace tully rollout --type meeting --path memory/meetings/2026
      kbx search "what did alice do in march 2026"
      kbx search rollback type:meeting from:2026-03 @alice
      kbx search "what did Marek say about the rehearsal"
      kbx search pricing --said hana
      kbx search "error code 5032" --fast
      kbx search migration --pin "Grace Tully" --mute platform --sort date
      kbx search alice migration --hierarchy-alpha 0.7 --explain
      kbx search "rollback plan" --json | jq -r '.results[].path'
      kbx search --saved "open incidents" --limit 5
      kbx search rollback --kb ~/notes --kb ~/work
      kbx search status:active --format paths
      kbx search "rollback plan" --limit 20 --html rollback.html
      kbx search -- --no-hierarchy
    """
    if saved is None and not query.strip():
        raise click.UsageError("the query is empty; say what to look for")
    if saved is not None and query.strip():
        raise click.UsageError("--saved NAME has its own query; leave out one of the two")
    is_data = prints_table() or wants_json()
    if html is not None and is_data:
        name = "--json" if wants_json() else "--format"
        raise click.UsageError(f"--html and {name} are two outputs; leave out one of the two")
    if html is None and force:
        raise click.UsageError("--force lets --html FILE replace a file; give --html, too")
    if html not in (None, STDOUT):
        from kbx_tui.editing.file_edits import require_free

        require_free(Path(html), overwrite=force)  # fail before searching
    given = {**fields, "dates": "off" if no_dates else dates}
    if len(folders := selected_folders()) > 1:
        if saved is not None:
            raise click.UsageError("--saved NAME is a query of one base; give --kb once")
        request = replace(_request(query, given), explain=explain or not is_data)
        with gc_disabled():
            search_several(folders, request, explain=explain, html=html, force=force)
        return
    with gc_disabled(), open_kb() as kb:
        request = _request(query, given) if saved is None else _saved_request(kb, saved, given)
        if html is not None:
            from kbx_tui.sharing.shared_search import share_search

            shared = share_search(kb, request)
            _require_scope(kb, request)
            _write_page(html, shared, overwrite=force)
            return
        response = kb.search(replace(request, explain=explain or not is_data))
        _require_scope(kb, request)
        if wants_json():
            print_json(search_json(response))
            return
        named = [("", result) for result in response.results]
        _print_found(named, {"": response}, response.meta.notes, {"": kb}, explain=explain)


def _print_found(
    results: Sequence[tuple[str, SearchResult]],
    responses: Mapping[str, SearchResponse],
    notes: Iterable[str],
    bases: Mapping[str, KnowledgeBase],
    *,
    explain: bool,
) -> None:
    """Print results as a table or as text, each with the name of its base; empty for one alone."""
    for note in notes:
        say(note)
    if prints_table():
        columns = "path line title date? doc_type score snippet"
        named = [({"base": base} if base else {}, result) for base, result in results]
        print_table([{**base, **picked(result, columns)} for base, result in named])
        return
    from kbx_tui.cli.text_output import print_results

    print_results(results, responses, bases, explain=explain)


def _require_scope(kb: KnowledgeBase, request: SearchRequest) -> None:
    if request.doc_types or request.path:  # else what reads documents is not loaded
        kb.documents.require_scope(request.doc_types, request.path)


def _request(query: str, fields: Mapping[str, Any]) -> SearchRequest:
    from kbx_tui.search.request import SearchRequest

    return SearchRequest(query, **fields)


def _saved_request(kb: KnowledgeBase, name: str, fields: Mapping[str, Any]) -> SearchRequest:
    """Return the request of a saved query; options given on the command line take precedence.

    Raises NotFound, and ConfigError for settings from a newer or damaged file.
    """
    from kbx_tui.tui.explore.search_state import state_of

    query = kb.queries.find(name)
    state = state_of(query.query, query.settings)
    if state is None:
        raise ConfigError(
            f"the settings of {query.name!r} cannot be read; save it again in the app"
        )
    context = click.get_current_context()
    given = {
        field: value
        for field, value in fields.items()
        if field != "limit" and context.get_parameter_source(field) is not ParameterSource.DEFAULT
    }
    if context.params["no_dates"]:
        given["dates"] = "off"
    return replace(state.request(), limit=fields["limit"], **given)


def search_several(
    folders: Sequence[Path], request: SearchRequest, *, explain: bool, html: str | None, force: bool
) -> None:
    from kbx_tui.api.several_bases import SeveralBases
    from kbx_tui.base_discovery import find_base

    roots = [find_base(folder) for folder in folders]
    with SeveralBases(roots, notice=say, trust=global_options().trust) as bases:
        if html is not None:
            from kbx_tui.sharing.shared_search import share_several

            _write_page(html, share_several(bases, request), overwrite=force)
            return
        response = bases.search(request)
        if wants_json():
            print_json(several_json(response, bases.roots))
            return
        named = [(own.base, own.result) for own in response.results]
        _print_found(named, response.responses, response.notes, bases.bases, explain=explain)


def several_json(response: SeveralResponse, roots: Mapping[str, Path]) -> dict[str, Any]:
    return {
        "query": response.query,
        "results": [{"base": own.base, **result_json(own.result)} for own in response.results],
        "bases": {
            name: {"path": str(roots[name]), "meta": meta_json(answer.meta)}
            for name, answer in response.responses.items()
        },
        "notes": list(response.notes),
    }


def _write_page(name: str, shared: SharedSearch, *, overwrite: bool) -> None:
    """Write the page to a file, or to stdout for `-`, and print notes. Raises WriteFault."""
    from kbx_tui.editing.file_edits import write_output
    from kbx_tui.sharing.search_page import search_page

    for note in shared.answer.notes:
        say(note)
    page = search_page(shared)
    if name == STDOUT:
        click.echo(page.encode())
        return
    write_output(Path(name), page.encode(), overwrite=overwrite)
    say(f"{format_count(len(shared.answer.results), 'result')} written to {name}")


@click.command(name="bases", cls=Command)
@options.json_option
@options.format_option
def bases_command() -> None:
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
    print_result(bases, lines or ["the app has opened no knowledge base yet"])


@click.command(name="context", cls=Command)
@options.count_option("--tokens", 2000, "Length of the digest; a token is four bytes.")
@options.json_option
def context_command(tokens: int) -> None:
    """Print a digest: people, projects, teams, open items, what is new.

    It is for an agent, or a person, who begins to work with the base. Each line ends with an id or
    a place, by which `kbx search` and the tools find more.

    \b
    Examples:
      kbx context
      kbx context --tokens 500 --json | jq -r .text
    """
    with open_kb() as kb:
        digest = kb.context(tokens)
    print_result(digest_json(digest), digest.text.split("\n"))


@click.group(name="history", cls=Group, no_args_is_help=False)
def history_command() -> None:
    """List or clear the queries asked in the app, and those saved by name.

    The last 1,000 are in .kbx/queries.jsonl, with their settings and what they found. `up` in the
    query line recalls them, `ctrl+r` searches them, and the tune mode shows what another threshold
    would have done with them. `y s` in the app saves a query by name.

    \b
    Examples:
      kbx history list
      kbx history saved
      kbx history clear
    """


@history_command.command(name="list")
@options.json_option
def list_queries() -> None:
    """List the queries asked in the app, the most recent first.

    \b
    Examples:
      kbx history list
      kbx history list --json | jq -r '.[].query'
    """
    with open_kb() as kb:
        past = kb.queries.asked()
    if not past:
        say("no query has been asked in the app yet")
    names = "query when found first settings"
    data = [picked(asked, names, when=_when(asked.at)) for asked in past]
    lines = (f"{row['when'] or '':<19}  {_count(row['found']):>7}  {row['query']}" for row in data)
    print_result(data, lines)


@history_command.command(name="clear")
@options.flag("--dry-run", "Only count the queries.")
@options.json_option
def clear_queries(dry_run: bool) -> None:
    """Forget the queries asked in the app. Judgments stay.

    An app that is open still recalls those that it has read, until it ends.

    \b
    Examples:
      kbx history clear
      kbx history clear --dry-run --json
    """
    with open_kb() as kb:
        count = kb.queries.forget(dry_run=dry_run)
    line = f"{'would forget' if dry_run else 'forgot'} {format_count(count, 'query')}"
    print_result({"queries": count, "cleared": not dry_run}, [line])


@history_command.command(name="saved")
@options.json_option
def list_saved() -> None:
    """List the queries saved by name, with `y s` in the app.

    `ctrl+r` in the app runs one with its settings and lists what is new since it was last opened.

    \b
    Examples:
      kbx history saved
      kbx history saved --json | jq -r '.[].name'
    """
    from rich.cells import cell_len

    with open_kb() as kb:
        saved = kb.queries.saved()
    if not saved:
        say("no query is saved yet; `y s` in the app saves one")
    names = "name query opened documents settings"
    data = [
        picked(query, names, opened=_when(query.at), documents=len(query.documents))
        for query in saved
    ]
    width = min(max((cell_len(query.name) for query in saved), default=0), MAX_NAME)
    lines = (
        f"{padded(row['name'], width)}  {row['opened'] or '':<19}  {row['query']}" for row in data
    )
    print_result(data, lines)


@history_command.command(name="remove")
@options.text_argument("name", "NAME...", "the name is empty; `kbx history saved` lists them")
@options.json_option
def remove_saved(name: str) -> None:
    """Remove a saved query. Its documents and judgments stay.

    \b
    Examples:
      kbx history remove open incidents
      kbx history remove "open incidents" --json
    """
    with open_kb() as kb:
        saved = kb.queries.remove(name)
    line = f"removed {saved.name}: {saved.query}"
    print_result(picked(saved, "name query"), [line])


def _count(found: int | None) -> str:
    return "" if found is None else f"{found:,}"


def _when(at: float) -> str | None:
    """Return a time as `2026-03-17T09:41:05`, in local time; None if unknown."""
    return local_datetime(at).isoformat(timespec="seconds") if at else None
