"""`kbx links`: links to and from a document, and broken links; `kbx related`: documents like it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kbx_tui.cli import options
from kbx_tui.cli.base_command import Command, Group, open_kb
from kbx_tui.cli.output import console, print_result
from kbx_tui.formatting import format_count, format_score
from kbx_tui.safe_text import safe_line
from kbx_tui.search.link_records import NOTHING_RELATED
from kbx_tui.tools.json_output import broken_json, links_json, picked, related_json

if TYPE_CHECKING:
    from kbx_tui.search.link_records import (
        BrokenLink,
        DocumentLinks,
        LinkOverview,
        RelatedDocuments,
    )


@click.command(name="related", cls=Command)
@options.text_argument(
    "document",
    "DOC...",
    "say to which document: its path, id or title",
    options.complete_path,
)
@options.count_option("--limit", 10, "Maximum number of documents.")
@options.json_option
def related_command(document: str, limit: int) -> None:
    """List the documents related to one, each with the reason.

    DOC is a path, id, title, file name or alias. Related is what says the same, what links to it or
    to the same pages, and what shares its people and projects.

    \b
    Examples:
      kbx related "Rollback plan"
      kbx related memory/people/alice-chen.md --limit 5
      kbx related "Rollback plan" --json | jq -r '.related[].path'
    """
    with open_kb() as kb:
        found = kb.related(document, limit)
    print_result(related_json(found), related_lines(found), notes=found.notes)


def related_lines(found: RelatedDocuments) -> Iterator[str]:
    from rich.text import Text

    from kbx_tui.cli.text_output import indented, shortened

    width, indent = console().width, " " * 7
    yield shortened(safe_line(found.title), width)
    yield found.path
    for each in found.related:
        title = shortened(safe_line(each.title), width - len(indent))
        yield f"{format_score(each.score):>5}  {title}"
        yield f"{indent}{each.path}"
        reason = Text(safe_line(each.reason))
        yield from (line.plain for line in indented(reason, width, rank_width=1))
    if not found.related:
        yield NOTHING_RELATED


EXIT_BROKEN, EXIT_WITHOUT_PART = 1, 10


class LinksGroup(Group):
    """A group that passes its arguments to `show` unless the first one names a command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return super().resolve_command(ctx, args if args[0] in self.commands else ["show", *args])


@click.group(name="links", cls=LinksGroup, invoke_without_command=True, no_args_is_help=False)
@click.pass_context
def links_command(context: click.Context) -> None:
    """Show the links of a document, or of the whole base, and check them.

    Without a document: how many links there are, and which documents are linked most.

    \b
    Examples:
      kbx links
      kbx links "Rollback plan"
      kbx links show memory/notes/plan.md --json | jq '.backlinks[].path'
      kbx links orphans
      kbx links check
    """
    if context.invoked_subcommand is None:
        with open_kb() as kb:
            overview = kb.links.overview()
        print_result(None, overview_lines(overview))


@links_command.command(name="show")
@click.argument("document", metavar="DOC", shell_complete=options.complete_path)
@options.json_option
def show_links(document: str) -> None:
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
    print_result(links_json(links, notes), links_lines(links), notes=notes)


@links_command.command(name="orphans")
@click.argument("path", metavar="[PATH]", required=False, shell_complete=options.complete_path)
@options.json_option
def orphans(path: str | None) -> None:
    """List the documents to which no other one links.

    PATH is a folder, file or glob; by default all. A name in plain text does not count: `kbx links
    DOC` lists where a document is mentioned.

    \b
    Examples:
      kbx links orphans
      kbx links orphans memory/notes
      kbx links orphans --json | jq -r '.pages[] | select(.date < "2026") | .path'
    """
    with open_kb() as kb:
        found, notes = kb.links.orphans(path or ""), kb.notes()
    pages = [picked(page, "id path title type date?") for page in found.pages]
    lines = [f"{page.path}  {page.title}" for page in found.pages]
    lines.append(f"{format_count(len(found.paths), 'document')} without a link to them")
    print_result({"pages": pages, "total": len(found.paths)}, lines, notes=notes)


@links_command.command(name="check")
@click.argument("path", metavar="[PATH]", required=False, shell_complete=options.complete_path)
@options.choice(
    "--format shown_as",
    ["text", "github"],
    "github: as annotations of GitHub Actions.",
    default="text",
)
@options.json_option
def check_links(path: str | None, shown_as: str) -> None:
    """List the links that lead to nothing, with the documents that may be meant.

    PATH is a folder, file or glob; by default all. Any existing file or folder of the base is
    found; a path out of the base is not checked. The exit code is 1 if a page or file is missing,
    10 if only headings or blocks are.

    \b
    Examples:
      kbx links check
      kbx links check memory/notes
      kbx links check --format github
      kbx links check --json | jq -r '.broken[] | select(.kind == "page") | .target'
    """
    with open_kb() as kb:
        broken, root = kb.links.check(path), kb.root
    data = {
        "broken": [{"path": link.path, **broken_json(link), "kind": link.kind} for link in broken]
    }
    lines = map(partial(annotation, root), broken) if shown_as == "github" else broken_lines(broken)
    print_result(data, lines)
    if broken:
        has_missing_page = any(link.kind == "page" for link in broken)
        code = EXIT_BROKEN if has_missing_page else EXIT_WITHOUT_PART
        click.get_current_context().exit(code)


def overview_lines(overview: LinkOverview) -> Iterator[str]:
    broken = format_count(overview.broken, "broken link")
    if overview.broken:
        broken += " (`kbx links check` lists them)"
    yield f"{format_count(overview.links, 'link')} between documents, {broken}"
    hint = " (`kbx links orphans` lists them)" if overview.unlinked else ""
    yield f"{format_count(overview.unlinked, 'document')} without a link to them{hint}"
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
    without_part = sum(link.kind != "page" for link in broken)
    counts = [format_count(len(broken) - without_part, "broken link")]
    if without_part:
        counts.append(format_count(without_part, "link") + " to a missing heading or block")
    yield (
        f"{' and '.join(counts)} in {format_count(documents, 'document')}"
        if broken
        else "no broken link"
    )


def annotation(root: Path, link: BrokenLink) -> str:
    """Return a broken link as a workflow command of GitHub Actions."""
    level = "error" if link.kind == "page" else "warning"
    file, here = (root / link.path).resolve(), Path.cwd()
    shown = file.relative_to(here).as_posix() if file.is_relative_to(here) else link.path
    place = [f"file={_escaped(shown, ':,')}", f"line={link.line or 1}"]
    return f"::{level} {','.join(place)}::{_escaped(_broken(link))}"


def _escaped(text: str, more: str = "") -> str:
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _group(noun: str, rows: list[tuple[str, str]]) -> Iterator[str]:
    yield f"{format_count(len(rows), noun)}{':' * bool(rows)}"
    yield from (f"  {place}  {text}".rstrip() for place, text in rows)


def _place(path: str, line: int) -> str:
    if not path:
        return f"line {line}" if line else "property"
    return f"{path}:{line}" if line else path


def _broken(link: BrokenLink) -> str:
    is_path = link.target.startswith(("./", "../", "/"))
    target = link.target.removeprefix("./") if is_path else f"[[{link.target}]]"
    if link.kind != "page":
        part = link.target.partition("#")[2]
        return f"{target}: {link.suggestions[0]} has no {link.kind} {part}"
    may_be = f"; did you mean {' or '.join(link.suggestions)}?" if link.suggestions else ""
    return f"{target} leads to nothing{may_be}"
