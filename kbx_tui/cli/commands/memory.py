"""`kbx memory`, `kbx dedup`, `kbx undo`: facts, open items, drafts, duplicates; writes reverted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli import options
from kbx_tui.cli.app import has_terminal, run_app
from kbx_tui.cli.base_command import (
    Command,
    Group,
    gc_disabled,
    open_kb,
    selected_root,
    warn_if_outdated,
)
from kbx_tui.cli.commands.entities import ALL_ENTITIES, fact_state, greyed
from kbx_tui.cli.output import SHOWN, print_json, print_result, say, show_steps, wants_json
from kbx_tui.cli.write_output import (
    confirmed,
    may_ask,
    print_versions,
    prints_written,
    report_written,
    writing_options,
)
from kbx_tui.errors import Ambiguous, FileChanged, NotFound, RecordDamaged, WriteFault
from kbx_tui.formatting import format_minute
from kbx_tui.tools.json_output import (
    check_json,
    dedup_json,
    entry_json,
    fact_json,
    proposal_json,
    scan_json,
)

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.drafts import Choice, Draft, Verdict, Written
    from kbx_tui.drafting.inbox import Proposal
    from kbx_tui.knowledge.records import Fact


@click.group(name="memory", cls=Group, no_args_is_help=False)
def memory_command() -> None:
    """Find, list, add and change facts.

    \b
    Examples:
      kbx memory similar "prefers async communication" --entity "Alice Chen"
      kbx memory add "Prefers async Slack over email" --entity "Alice Chen"
      kbx memory list --entity "Alice Chen"
    """


@memory_command.command(name="similar")
@options.text_argument("text", "TEXT...", "the text is empty; give the text you are about to write")
@options.entity_option
@options.option(
    "--path P",
    "Only below this path; includes passages of the documents there.",
    shell_complete=options.complete_path,
)
@options.flag("--chunks", "Include passages of all documents.")
@options.threshold_option
@options.count_option("--limit", 5, "Maximum number of matches.")
@options.json_option
def similar(text: str, **scope: Any) -> None:
    """Find facts and open items that say the same as a text.

    The best match comes first. A match that contradicts TEXT in a number, date, name or negation
    is a conflict, not a duplicate.

    \b
    Examples:
      kbx memory similar "prefers async communication" --entity "Alice Chen"
      kbx memory similar "deployment rollback procedure" --threshold 0.80 --json
      kbx memory similar "blocked by auth" --path memory/projects --json | jq .has_similar
    """
    with gc_disabled(), open_kb() as kb:
        (check,) = kb.similarity.check([text], **scope)
        kb.documents.require_scope(path=scope["path"])
        if wants_json():
            print_json(check_json(check))
        else:
            from kbx_tui.cli.text_output import print_check

            print_check(check, kb.documents.is_redacted)


@memory_command.command(name="add")
@options.text_argument("text", "TEXT...", "the text is empty; give the text to write")
@options.option(
    "--entity NAME",
    "Entity of the fact: name, alias or id; default: the one that TEXT names first.",
    shell_complete=options.complete_entity,
)
@options.option("--date D", "Date of the fact, as 2026-03-17; default: today.")
@options.option("--source S", "Source of the fact: a path, a link, a title.")
@options.choice(
    "--kind",
    ["fact", "open_item"],
    "Write to Recent Facts (fact) or Open Items (open_item).",
    default="fact",
)
@options.flag("--force", "Write even a known or contradicting fact.")
@options.flag("--create", "Create the page if there is none.")
@writing_options
def add_fact(
    text: str, entity: str | None, force: bool, create: bool, dry_run: bool, **fact: Any
) -> int:
    """Add a fact to the page of an entity, unless it is known.

    If a known fact says the same or contradicts it, you are asked on a terminal; elsewhere nothing
    is written and the exit code is 3.

    \b
    Examples:
      kbx memory add "Prefers async Slack over email" --entity "Alice Chen"
      kbx memory add "send the plan" --entity Migration --kind open_item --source Kickoff
      kbx memory add "Alice Chen speaks Catalan" --dry-run
    """
    with open_kb() as kb:
        if entity is None:
            entity, text = _named_in(text, kb)
        add = partial(kb.memory_add, text, entity=entity, **fact)
        report = partial(report_written, kb=kb, force=force, dry_run=dry_run)
        try:
            return report(partial(add, create=create))
        except Ambiguous:
            raise
        except NotFound as error:
            if create or not may_ask() or wants_json():
                raise
            say(str(error))
            if not confirmed("create a page?"):
                return NotFound.exit_code
            return report(partial(add, create=True))


def _named_in(text: str, kb: KnowledgeBase) -> tuple[str, str]:
    """Return the id of the entity that a fact names, as drafts do, and the fact without the name.

    A message says which entity. Raises click.UsageError unless the text names one.
    """
    from kbx_tui.drafting.drafts import new_draft

    (check,) = kb.drafts.check([new_draft(text)])
    guess = check.entity
    if guess is None or not guess.is_named:
        names = " or ".join(repr(each.name) for each in check.candidates[:3])
        message = "the text names no single entity; say whose fact it is with --entity"
        raise click.UsageError(f"{message}, perhaps {names}" if names else message)
    say(f"a fact of {guess.name}: {guess.reason}; --entity names another")
    return guess.id, check.written


@memory_command.command(name="list")
@options.entity_option
@options.option("--since D", "Only facts since a date, as 2026-03-17, or of the last D days.")
@options.json_option
@options.format_option
def list_facts(entity: str | None, since: str | None) -> None:
    """List facts and open items with their ids.

    The newest come first, and facts of every status are listed.

    \b
    Examples:
      kbx memory list --entity "Alice Chen"
      kbx memory list --since 7 --json | jq '.[].fact_id'
      kbx memory list --since 30 --format csv > facts.csv
    """
    if since and since.isdigit() and len(since) <= 5:
        since = (date.today() - timedelta(days=int(since))).isoformat()
    with open_kb() as kb:
        facts = kb.entities.facts(entity=entity, since=since)
        names = {known.id: known.name for known in kb.entities.find("", ALL_ENTITIES)}
    rows = [(fact, names.get(fact.entity_id, "")) for fact in facts]
    lines = (
        greyed(fact, f"{fact.date:<10}  {fact.text}  ({_details(fact, name)})")
        for fact, name in rows
    )
    print_result([fact_json(fact, name) for fact, name in rows], lines)


def _details(fact: Fact, entity_name: str) -> str:
    kind = "open item" if fact.kind == "open_item" else ""
    return ", ".join(filter(None, (entity_name, kind, fact_state(fact), str(fact.fact_id))))


fact_id_argument = click.argument("fact_id", type=int, metavar="ID")


@memory_command.command(name="edit-fact")
@fact_id_argument
@options.text_argument("words", "[TEXT...]")
@options.option("--text T", "The new text, instead of TEXT.")
@options.option("--date D", "The new date; unchanged by default.")
@options.flag("--force", "Write even a known or contradicting fact.")
@writing_options
def edit_fact(
    fact_id: int, words: str, text: str | None, date: str | None, force: bool, dry_run: bool
) -> int:
    """Change the text of a fact.

    Its date, sources and position stay the same. Its id depends on the text and changes with it.
    If another known fact says the same or contradicts it, you are asked, as by `memory add`.

    \b
    Examples:
      kbx memory edit-fact 8895505749491051 "Prefers async Slack, never email"
      kbx memory edit-fact 8895505749491051 --text "Prefers Slack" --dry-run
    """
    new_text = text or words
    if not new_text.strip() and may_ask():
        new_text = click.prompt("new text", err=True)
    if not new_text.strip():
        raise click.UsageError("the text is empty; give the new text of the fact")
    with open_kb() as kb:
        reword = partial(kb.pages.reword_fact, fact_id, new_text, date=date)
        return report_written(reword, kb, force=force, dry_run=dry_run)


@memory_command.command(name="delete-fact")
@fact_id_argument
@prints_written
def delete_fact(fact_id: int, dry_run: bool) -> Written:
    """Delete the line of a fact or open item.

    `kbx undo` restores it.

    \b
    Examples:
      kbx memory delete-fact 8895505749491051
      kbx memory delete-fact 8895505749491051 --dry-run
    """
    with open_kb() as kb:
        return kb.pages.delete_fact(fact_id, dry_run=dry_run)


@memory_command.command(name="supersede")
@fact_id_argument
@options.text_argument("text", "[TEXT...]")
@options.option("--date D", "Date since which TEXT is true; default: today.")
@options.option("--source S", "Source of TEXT.")
@options.flag("--force", "Write even a known or contradicting fact.")
@writing_options
def supersede(fact_id: int, force: bool, dry_run: bool, **fact: Any) -> int:
    """Strike out a fact that is no longer true.

    TEXT, if given, is added as the fact that replaces it. The struck fact stays readable. If
    another known fact says the same as TEXT or contradicts it, you are asked, as by `memory add`.

    \b
    Examples:
      kbx memory supersede 4087265596440608 "Six people share the on-call rota"
      kbx memory supersede 4087265596440608 --dry-run
    """
    with open_kb() as kb:
        strike = partial(kb.pages.supersede_fact, fact_id, **fact)
        return report_written(strike, kb, force=force, dry_run=dry_run)


STDIN = "-"


@click.command(name="dedup", cls=Command)
@click.argument("file", required=False, type=click.UNPROCESSED, metavar="[FILE]")
@options.flag("--apply", "Write the drafts that need no decision.")
@options.flag("--scan", "Search the knowledge base instead of a file.")
@options.option(
    "--entity NAME",
    "Entity of drafts without one; with --scan, only facts of this entity.",
    shell_complete=options.complete_entity,
)
@options.option(
    "--path P",
    "With --scan, only facts on pages below this path.",
    shell_complete=options.complete_path,
)
@options.flag("--explain", "Show both texts with the words that differ in brackets.")
@options.flag("--kept", "With --scan, list only what you decided to keep.")
@options.threshold_option
@options.json_option
def dedup_command(
    file: str | None,
    apply: bool,
    scan: bool,
    entity: str | None,
    path: str | None,
    explain: bool,
    kept: bool,
    threshold: float | None,
) -> int:
    """Find duplicate facts and check drafts.

    FILE holds one draft per line; a heading names the entity of the lines below it. Each draft is
    compared with known facts and with the other drafts. On a terminal the app opens with them; with
    an option or in a pipe they are listed. Nothing is written without --apply.

    --scan lists clusters of duplicate facts in the knowledge base, then pairs that contradict each
    other, that with the newest fact first.

    \b
    Examples:
      kbx dedup drafts.txt
      kbx dedup drafts.txt --apply --json
      kbx dedup --scan --entity "Alice Chen"
    """
    if scan and apply:
        raise click.UsageError("--scan only searches; --apply needs a file of drafts")
    if path and not scan:
        raise click.UsageError("--path requires --scan")
    if explain and scan:
        raise click.UsageError("--explain needs a file of drafts")
    if kept and not scan:
        raise click.UsageError("--kept requires --scan")
    if scan and file:
        raise click.UsageError("--scan searches the knowledge base and takes no file of drafts")
    if not (scan or file):
        raise click.UsageError(
            "name a file with a draft on each line, as `kbx dedup drafts.txt`, or search the "
            "knowledge base with `kbx dedup --scan`"
        )
    is_plain = not (apply or explain or wants_json() or entity) and threshold is None
    if file and file != STDIN and has_terminal() and is_plain:
        run_app(selected_root(), drafts=Path(file).expanduser().absolute())
        return 0
    with gc_disabled(), open_kb() as kb:
        if file is None:
            with show_steps("comparing") as step:
                duplicates = kb.drafts.scan_duplicates(
                    entity=entity, path=path, threshold=threshold, kept=kept, progress=step
                )
            kb.documents.require_scope(path=path)
            warn_if_outdated(kb)
            if wants_json():
                print_json(scan_json(duplicates))
            else:
                from kbx_tui.cli.text_output import print_scan

                print_scan(duplicates, kb.documents.is_redacted, kept=kept)
            return 0
        drafts = _read_drafts(kb, file, entity or "")
        # A draft without a choice stays undecided.
        return _review(
            kb,
            drafts,
            lambda draft, verdict: verdict.proposal if verdict.is_sure else None,
            threshold=threshold,
            apply=apply,
            explain=explain,
        )


def _review(
    kb: KnowledgeBase,
    drafts: Sequence[Draft],
    choose: Callable[[Draft, Verdict], Choice | None],
    *,
    threshold: float | None = None,
    apply: bool,
    explain: bool = False,
) -> int:
    """Print drafts as checked, write what is chosen if `apply`, and return the exit code."""
    from kbx_tui.drafting.deciding import decide

    checks = [(check, decide(check, threshold)) for check in kb.drafts.check(drafts)]
    chosen = [replace(each.draft, choice=choose(each.draft, verdict)) for each, verdict in checks]
    plan = kb.drafts.plan(chosen)
    applied = kb.drafts.apply(plan) if apply else None
    warn_if_outdated(kb)
    if wants_json():
        print_json(dedup_json(checks, plan, applied))
    else:
        from kbx_tui.cli.text_output import print_drafts

        print_drafts(checks, plan, applied, explain=explain)
    return WriteFault.exit_code if applied and applied.failed else 0


ALL = "all"


@click.command(name="inbox", cls=Command)
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=options.complete_proposal)
@options.flag("--accept", "Write these proposals as shown.")
@options.flag("--refuse", "Do not write these proposals; their agents can ask.")
@options.flag("--decided", "List what became of earlier proposals instead.")
@options.json_option
def inbox_command(ids: tuple[str, ...], accept: bool, refuse: bool, decided: bool) -> int:
    """Review what agents propose to write.

    Lists what waits, each compared with known facts as by `kbx dedup`, and who proposed it when.
    --accept writes the named proposals, or `all`, as shown. In the app, F2 shows them too.

    \b
    Examples:
      kbx inbox
      kbx inbox 29dfc9d89b8b --accept
      kbx inbox all --refuse
      kbx inbox --decided --json
    """
    if (accept and refuse) or (decided and (ids or accept or refuse)):
        raise click.UsageError("--accept, --refuse and --decided exclude each other")
    if (accept or refuse) and not ids:
        raise click.UsageError("name the proposals to decide, or say `all`")
    with gc_disabled(), open_kb() as kb:
        if decided:
            rows = [each for each in kb.drafts.proposals() if each.outcome != "waiting"]
            print_result(list(map(proposal_json, rows)), map(_proposal_line, rows))
            return 0
        drafts, named = kb.drafts.inbox(), {each.removeprefix("proposal:") for each in ids}
        if unknown := named - {draft.id for draft in drafts} - {ALL}:
            raise NotFound(f"no proposal {min(unknown)} waits; `kbx inbox` lists those that do")
        if named and ALL not in named:
            drafts = tuple(draft for draft in drafts if draft.id in named)
        if not drafts and not wants_json():
            print_result([], ["nothing waits"])
            return 0
        from kbx_tui.drafting.drafts import Choice

        def choose(draft: Draft, verdict: Verdict) -> Choice:
            return Choice("skip") if refuse else draft.choice or verdict.proposal

        return _review(kb, drafts, choose, apply=accept or refuse)


def _proposal_line(proposal: Proposal) -> str:
    draft, at = proposal.draft, format_minute(proposal.decided_at or 0.0)
    by = draft.asked.by if draft.asked else ""
    written = f" → {proposal.written}" if proposal.written else ""
    return f"{at}  {proposal.outcome:<8}  {draft.text}{written}  ({by})"


def _read_drafts(kb: KnowledgeBase, file: str, default_entity: str) -> list[Draft]:
    from kbx_tui.drafting.drafts import drafts_from_text

    drafts = drafts_from_text(sys.stdin.read()) if file == STDIN else kb.drafts.in_file(file)
    return [replace(draft, entity_name=draft.entity_name or default_entity) for draft in drafts]


@click.command(name="undo", cls=Command)
@click.argument("number", type=click.IntRange(min=1), required=False, metavar="[NUMBER]")
@options.flag("--list listing", "List the last writes with their numbers.")
@options.json_option
def undo_command(number: int | None, listing: bool) -> None:
    """Undo the last write.

    NUMBER names an earlier write. A batch is undone as a whole. A file edited since the write is
    left alone, and a diff shows what to revert by hand. A write whose record is damaged is not
    undone; a diff shows what the record would have restored.

    \b
    Examples:
      kbx undo
      kbx undo --list
    """
    with open_kb() as kb:
        if listing:
            entries = kb.undoable()
            lines = (
                f"{one.number:>5}  {one.written_at}  {one.description}{'  (undone)' * one.undone}"
                for one in entries
            )
            print_result([entry_json(entry) for entry in entries], lines)
            return
        try:
            entry = kb.undo(number)
        except FileChanged as error:
            names = (f"{error.path} with write", f"{error.path} without it")
            print_versions(error.expected, error.replaced, names)
            raise
        except RecordDamaged as error:
            names = (f"{error.path} now", f"{error.path} as the record would restore it")
            print_versions(error.current, error.restored, names)
            raise
    paths = [change.path for change in entry.changes]
    more = f" and {len(paths) - SHOWN:,} more" if len(paths) > SHOWN else ""
    line = f"undone: {entry.description} ({', '.join(paths[:SHOWN])}{more})"
    print_result(entry_json(entry), [line])
