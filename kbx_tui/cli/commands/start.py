"""`kbx init`, `kbx demo`: first steps; `kbx import`, `kbx export`: exchange with other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from kbx_tui.cli.app import compose_headless, run_app
from kbx_tui.cli.base_command import Command, open_kb
from kbx_tui.cli.commands.index import totals
from kbx_tui.cli.options import choice, flag, json_option
from kbx_tui.cli.output import (
    SHOWN,
    first_of,
    print_diff,
    print_json,
    print_result,
    say,
    wants_json,
)
from kbx_tui.cli.write_output import (
    NAMES_SHOWN,
    chose_entities,
    confirmed,
    may_ask,
    writing_options,
)
from kbx_tui.errors import KbxError
from kbx_tui.formatting import format_count
from kbx_tui.importing.imported_document import FORMATS, Format
from kbx_tui.safe_text import safe_line
from kbx_tui.tools.json_output import export_json, import_json

if TYPE_CHECKING:
    from kbx_tui.importing.import_planning import AttendeeQuestion, ImportPlan
    from kbx_tui.knowledge.records import Entity


NOTHING_MORE = (
    "nothing more qualifies; tags on 3 notes, notes that 5 others link to, maps of content, folders"
    " such as Books/ and people named in properties would"
)


@click.command(name="init", cls=Command)
@flag("--yes", "Write what is proposed without asking.")
@flag("--dry-run", "Show what would be written to kbx.toml; write nothing, not even an index.")
@json_option
def init_command(yes: bool, dry_run: bool) -> None:
    """Say what the entities of a base are, propose more, and write them to kbx.toml.

    Pages in people/, projects/ and teams/ are entities. These can be entities as well: tags on at
    least 3 notes, hubs (notes that at least 5 others link to), maps of content, folders such as
    Books/, and who is linked or named in properties such as author, in at least 2 notes. What
    kbx.toml sets in [entities] stays. You are asked once; without a terminal or --yes, nothing is
    written. The words of the notes are indexed; kbx index adds vectors. kbx undo takes the change
    back.

    \b
    Examples:
      kbx init
      kbx init --dry-run
      kbx init --yes --json
      kbx --kb ~/Notes init
    """
    is_used = False
    with open_kb() as kb:
        if not dry_run:
            kb.index(fast=True)
        proposal = kb.entities.proposal(from_files=dry_run)
        entities, lines = sum(proposal.found.values()), [f"found: {proposal.found_sentence}"]
        diff = kb.entities.use(proposal, dry_run=True).diff
        if proposal.counts and not dry_run:
            may = yes or (may_ask() and chose_entities(proposal, kb.root))
            is_used = bool(may and kb.entities.use(proposal).written)
        if is_used:
            report = kb.index(fast=True)
            entities, lines = report.entities, [*lines, totals(report)]
    if not proposal.counts:
        lines.append(f"{format_count(proposal.notes, 'note')}: {NOTHING_MORE}")
    elif is_used:
        lines.append(f"{proposal.sentence}: written to kbx.toml; kbx undo takes it back")
    else:
        lines.append(f"{proposal.sentence}: not used; kbx init --yes writes them to kbx.toml")
        lines += proposal.lines(NAMES_SHOWN)
        lines += diff.splitlines() if dry_run else []
    examples = {
        what: [{"name": name, "notes": count} for name, count in names]
        for what, names in proposal.examples.items()
    }
    answer = {
        "notes": proposal.notes,
        "entities": entities,
        "found": dict(proposal.found),
        "proposed": dict(proposal.counts),
        "settings": dict(proposal.settings),
        "examples": examples,
        "written": is_used,
    }
    print_result(answer, lines)


SMOKE_QUERY = "what did the platform team decide about migration?"


@click.command(name="demo", cls=Command)
@flag("--reset", "Restore the original sample, then exit; changes are kept aside.")
@flag("--smoke", "Index, search and compose the app without a terminal, then exit.")
@flag("--tour", "Show the tour of the first start again.")
def demo_command(reset: bool, smoke: bool, tour: bool) -> None:
    """Explore a sample knowledge base.

    The sample, a fictional company that makes software for ferry lines, is first copied to your
    data folder (KBX_DEMO_DIR names another place), so you may change anything in it. --reset
    restores the sample; a copy in which you changed or added something is kept beside it, under
    another name. The first start shows a tour in six steps, which esc ends.

    \b
    Examples:
      kbx demo
      kbx demo --reset
      kbx demo --tour
    """
    from kbx_tui.demo import install_demo

    root = install_demo(reset=reset, notice=say)
    if smoke:
        click.echo(_smoke_test(root))
    elif reset:
        say(f"restored the original sample in {root}")
    else:
        run_app(root, tour="always" if tour else "first")


def _smoke_test(root: Path) -> str:
    with open_kb(root) as kb:
        report = kb.index()
        response = kb.search(SMOKE_QUERY)
        if not response.results:
            raise KbxError(f"nothing found in {root} for {SMOKE_QUERY!r}")
        widgets = compose_headless(kb.root)
    return (
        f"ok: {report.documents} documents and {report.entities} entities indexed, "
        f"{response.meta.search_mode} search found {response.results[0].path}, "
        f"app composed of {widgets} widgets"
    )


@click.command(name="import", cls=Command)
@click.argument("sources", metavar="FILE|FOLDER...", nargs=-1, required=True, type=Path)
@choice("--format form", FORMATS, "Default: by names and content.")
@flag("--yes", "Ask nothing; uncertain attendees keep their names.")
@flag("--create-people", "Also create pages for attendees who have none.")
@writing_options
def import_command(
    sources: tuple[Path, ...],
    form: str | None,
    yes: bool,
    create_people: bool,
    dry_run: bool,
) -> int:
    """Add the files of other programs as pages.

    Transcripts (WebVTT, SubRip, Otter, Fathom), notes (Granola, Notion, Logseq, Open Knowledge
    Format), conversations (ChatGPT, Claude), calendars, contacts, PDF and Word files; single files,
    folders and zip archives. Nothing is overwritten, what was imported before is left out, and
    `kbx undo` takes back all of it. Attendees become the people who have a page; you are asked
    about those who may be several people.

    \b
    Examples:
      kbx import "GMT20260317-090000_Recording.transcript.vtt"
      kbx import ~/Downloads/chatgpt-export.zip --dry-run
      kbx import contacts.vcf calendar.ics --yes
      kbx import ~/logseq --format logseq
      kbx import "Harbour report.pdf"
    """
    from kbx_tui.importing.import_planning import keep_as_written

    asks = may_ask() and not (yes or wants_json())
    with open_kb() as kb:
        plan = kb.imports.plan(
            sources,
            form=cast("Format | None", form),
            answer=ask_who if asks else keep_as_written,
            create_people=create_people,
        )
        entry, pages = None, format_count(len(plan.edits), "page")
        if not dry_run and plan.edits:
            print_notes(plan, asked=asks)
            if asks and not confirmed(f"write {pages}?"):
                say("nothing was written")
                return 0
            names = ", ".join(source.name for source in sources)
            entry = kb.imports.apply(plan, f"import {names}"[:200])
        if wants_json():
            print_json(import_json(plan, entry))
        elif dry_run:
            print_diff(plan.diff)
            print_notes(plan, asked=asks)
            say(f"would write {pages}")
        elif not plan.edits:
            print_notes(plan, asked=asks)
            say("there is nothing new to import")
        else:
            paths = [safe_line(f"written · {edit.path}") for edit in plan.edits]
            click.echo("\n".join(first_of(paths, "and {} more")))
            say(f"wrote {pages}; `kbx undo {entry}` takes all of it back")
    return 1 if plan.problems and not (plan.edits or plan.present) else 0


def ask_who(question: AttendeeQuestion) -> Entity | None:
    who = question.attendee.name
    say(f"{who}, in {question.title}, may be:")
    for number, person in enumerate(question.candidates, 1):
        role = f", {person.role}" if person.role else ""
        click.echo(safe_line(f"  {number}  {person.name}{role}"), err=True)
    number = click.prompt(
        safe_line(f"Who is {who}? (0: none of them)"),
        type=click.IntRange(0, len(question.candidates)),
        default=0,
        err=True,
    )
    return question.candidates[number - 1] if number else None


def print_notes(plan: ImportPlan, *, asked: bool) -> None:
    problems = [f"{problem.path}: {problem.reason}" for problem in plan.problems]
    kept = [f"{path} holds something else and is kept" for path in plan.differing]
    for line in (
        *first_of(problems, "and {} more problems, see --json"),
        *([f"{plan.present:,} are here already"] if plan.present else []),
        *first_of(kept, "and {} more that are kept, see --json"),
    ):
        say(line)
    if plan.unknown:
        names = ", ".join(who.name for who in plan.unknown[:SHOWN])
        more = f" and {len(plan.unknown) - SHOWN:,} more" if len(plan.unknown) > SHOWN else ""
        say(f"without a page: {names}{more}; --create-people creates pages")
    unsure = [question.attendee.name for question in plan.questions]
    if unsure and not asked:
        say(f"kept as written, they may be several people: {', '.join(unsure[:SHOWN])}")


@click.command(name="export", cls=Command)
@click.argument("folder", metavar="FOLDER", type=Path)
@click.option(
    "--okf",
    is_flag=True,
    expose_value=False,
    help="As Open Knowledge Format v0.1, the only format so far.",
)
@flag("--include-redacted", "Also export what is redacted.")
@json_option
def export_command(folder: Path, include_redacted: bool) -> None:
    """Write all pages to a new folder, in a format that other programs read.

    The Open Knowledge Format is markdown whose frontmatter states a type, with an index.md; a page
    without a type gets a marked line, which `kbx import` takes out again. Redacted pages and lines
    are left out.

    \b
    Examples:
      kbx export ~/larkwater-okf
      kbx export ~/larkwater-okf --include-redacted
    """
    with open_kb() as kb:
        export = kb.imports.export_okf(folder, include_redacted=include_redacted)
    for path in export.reserved:
        say(f"{path} is left out: the format reserves its name")
    if export.withheld:
        say(f"{len(export.withheld):,} pages are left out in full or in part: they are redacted")
    lines = [f"{export.pages:,} pages · {export.folder}"]
    print_result(export_json(export), lines)
