"""`kbx links`: what links to a document and from it, and links that lead to nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from kbx_tui.cli.base_command import Group, open_kb
from kbx_tui.cli.options import json_option
from kbx_tui.cli.output import print_result, say, wants_json
from kbx_tui.formatting import format_count
from kbx_tui.tools.json_output import broken_json, links_json

if TYPE_CHECKING:
    from kbx_tui.search.link_records import BrokenLink, DocumentLinks, LinkOverview

EXIT_BROKEN = 1


class LinksGroup(Group):
    """A group whose arguments are those of `show`, unless they begin with another command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return super().resolve_command(ctx, args if args[0] in self.commands else ["show", *args])


@click.group(name="links", cls=LinksGroup, invoke_without_command=True, no_args_is_help=False)
@click.pass_context
def command(context: click.Context) -> None:
    """Show the links of a document, or of the whole base, and check them.

    Without a document: how many links there are, and which documents are linked most.

    \b
    Examples:
      kbx links
      kbx links "Rollback plan"
      kbx links show memory/notes/plan.md --json | jq '.backlinks[].path'
      kbx links check
    """
    if context.invoked_subcommand is None:
        with open_kb() as kb:
            overview = kb.links.overview()
        print_result(None, overview_lines(overview))


@command.command(name="show")
@click.argument("document", metavar="DOC")
@json_option
def show(document: str) -> None:
    """Show what links to a document, and where it links itself.

    DOC is a path, id, title, file name or alias. Listed are links to it, mentions of its names
    without a link, its own links, and those of them that lead to nothing. `show` may be left out.

    \b
    Examples:
      kbx links show "Alice Chen"
      kbx links show memory/notes/plan.md --json | jq '.mentions[].path'
    """
    with open_kb() as kb:
        links, notes = kb.links.of(document), kb.notes()
    for note in () if wants_json() else notes:
        say(note)
    print_result(links_json(links, notes), links_lines(links))


@command.command(name="check")
@click.argument("path", metavar="[PATH]", required=False)
@json_option
def check(path: str | None) -> None:
    """List the links that lead to nothing, with the documents that may be meant.

    PATH is a folder, file or glob; by default all. Files that are not markdown count as well. The
    exit code is 1 if a link is broken.

    \b
    Examples:
      kbx links check
      kbx links check memory/notes
      kbx links check --json | jq -r '.broken[].target'
    """
    with open_kb() as kb:
        broken = kb.links.check(path)
    data = {"broken": [{"path": link.path, **broken_json(link)} for link in broken]}
    print_result(data, broken_lines(broken))
    if broken:
        click.get_current_context().exit(EXIT_BROKEN)


def overview_lines(overview: LinkOverview) -> Iterator[str]:
    broken = format_count(overview.broken, "broken link")
    if overview.broken:
        broken += " (`kbx links check` lists them)"
    yield f"{format_count(overview.links, 'link')} between documents, {broken}"
    yield f"{format_count(overview.unlinked, 'document')} without a link to them"
    for linked in overview.most_linked:
        yield f"{linked.count:>5}  {linked.title}  {linked.path}"


def links_lines(links: DocumentLinks) -> Iterator[str]:
    yield f"{links.title}  {links.path}"
    yield from _group(
        "backlink", [(_place(e.path, e.line), e.text or "(in a property)") for e in links.backlinks]
    )
    mentions = [(_place(mention.path, mention.line), mention.text) for mention in links.mentions]
    yield from _group("unlinked mention", mentions)
    outgoing = [(_place("", link.line), f"{link.title}  {link.path}") for link in links.outgoing]
    yield from _group("outgoing link", outgoing)
    broken = [(_place("", link.line), _broken(link)) for link in links.broken]
    yield from _group("broken link", broken)


def broken_lines(broken: tuple[BrokenLink, ...]) -> Iterator[str]:
    for link in broken:
        yield f"{_place(link.path, link.line)}: {_broken(link)}"
    documents = len({link.path for link in broken})
    yield (
        f"{format_count(len(broken), 'broken link')} in {format_count(documents, 'document')}"
        if broken
        else "no broken link"
    )


def _group(noun: str, rows: list[tuple[str, str]]) -> Iterator[str]:
    yield f"{format_count(len(rows), noun)}{':' * bool(rows)}"
    yield from (f"  {place}  {text}".rstrip() for place, text in rows)


def _place(path: str, line: int) -> str:
    if not path:
        return f"line {line}" if line else "property"
    return f"{path}:{line}" if line else path


def _broken(link: BrokenLink) -> str:
    may_be = f"; did you mean {' or '.join(link.suggestions)}?" if link.suggestions else ""
    return f"[[{link.target}]] leads to nothing{may_be}"
