"""`kbx entity`, `kbx timeline`, `kbx experts` and `kbx person|project|team`: entities, pages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli import options
from kbx_tui.cli.base_command import Command, Group, open_kb, selected_root
from kbx_tui.cli.output import Greyed, padded, print_json, print_result, say, wants_json
from kbx_tui.cli.write_output import confirmed, may_ask, print_written, prints_written
from kbx_tui.errors import NotConfirmed, WriteFault
from kbx_tui.formatting import format_count, format_score
from kbx_tui.knowledge.folding import slug
from kbx_tui.tools.json_output import experts_json, field_json, picked

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.drafts import Written
    from kbx_tui.experts.expert_engine import ExpertRanking, Receipt
    from kbx_tui.knowledge.records import Fact
    from kbx_tui.search.browse import EntityCard, EntityName, Timeline, TimelineEntry


ALL_ENTITIES = 1_000_000


@click.group(name="entity", cls=Group, no_args_is_help=False)
def entity_command() -> None:
    """Look up people, projects and teams.

    List them, show one, or check a field before changing it.

    \b
    Examples:
      kbx entity list --type person
      kbx entity show "Alice Chen"
      kbx entity similar-field "Alice Chen" --field role --value "Engineering Director"
    """


@entity_command.command(name="list")
@options.option(
    "--type kind T",
    "Only this type: person, project, team ...",
    shell_complete=options.complete_type,
)
@options.option(
    "--stale DAYS", "Only those not mentioned for so many days, or never.", click.IntRange(min=1)
)
@options.json_option
@options.format_option
def list_entities(kind: str | None, stale: int | None) -> None:
    """List all entities, those with the most documents first.

    With --stale, each is listed with the date of the newest of its facts and linked documents,
    those never mentioned first, then the oldest.

    \b
    Examples:
      kbx entity list
      kbx entity list --stale 180 --type person
      kbx entity list --type team --json | jq -r '.[].name'
    """
    with open_kb() as kb:
        _require_index(kb)
        entities = kb.entities.find("", ALL_ENTITIES)
        chosen = entities if stale is None else kb.entities.stale(stale)
    wanted = None if kind is None else slug(kind)
    listed = [entity for entity in chosen if wanted in (None, entity.type)]
    types = {entity.type for entity in entities}
    if wanted is not None and types and wanted not in types:
        from kbx_tui.api.documents import unknown_type

        raise unknown_type("entity", wanted, types)
    lines = (
        f"{_last_mentioned(each)}{padded(each.type, 9)} {padded(each.name, 30)} {each.id}"
        for each in listed
    )
    names = "id name type path?" + " last_mentioned?" * (stale is not None)
    print_result([picked(entity, names) for entity in listed], lines)


def _last_mentioned(entity: EntityName) -> str:
    from kbx_tui.search.browse import StaleEntity

    if not isinstance(entity, StaleEntity):
        return ""
    last = "never" if entity.last_mentioned is None else entity.last_mentioned or "undated"
    return padded(last, 11)


@entity_command.command(name="show")
@click.argument("name", metavar="NAME", shell_complete=options.complete_entity)
@options.json_option
def show(name: str) -> None:
    """Show what is known about one entity.

    That is its role, team, facts with their ids, open items and documents. NAME is a name, an
    alias, an id, or the beginning of one that matches a single entity.

    \b
    Examples:
      kbx entity show "Alice Chen"
      kbx entity show person:alice-chen --json | jq .facts
    """
    with open_kb() as kb:
        _require_index(kb)
        card = kb.entities.named(name)
        redacted = {
            text
            for text in (card.role, card.team, *card.aliases)
            if kb.documents.is_redacted(card.path, text)
        }
    print_result(card_json(card), card_lines(card, redacted))


@entity_command.command(name="similar-field")
@click.argument("name", metavar="NAME", shell_complete=options.complete_entity)
@options.option(
    "--field F",
    "role, team, facts, open_items or any key of the page's frontmatter.",
    required=True,
)
@options.option("--value V", "The proposed value.", required=True)
@options.threshold_option
@options.json_option
def similar_field(name: str, field: str, value: str, threshold: float | None) -> None:
    """Check whether a field already says the same as a value.

    \b
    Examples:
      kbx entity similar-field "Alice Chen" --field role --value "Engineering Director"
      kbx entity similar-field "Alice Chen" --field team --value "Platform & Infrastructure" --json
      kbx entity similar-field "Alice Chen" --field open_items --value "check migration status"
    """
    with open_kb() as kb:
        similarity = kb.entity_similar_field(name, field, value, threshold=threshold)
    if wants_json():
        print_json(field_json(similarity))
    else:
        from kbx_tui.cli.text_output import print_field

        print_field(similarity)


def _require_index(kb: KnowledgeBase) -> None:
    if not kb.is_indexed():
        kb.index(fast=True)


def card_json(card: EntityCard) -> dict[str, Any]:
    members = [picked(member, "id name type path?") for member in card.members]
    fields = asdict(card) | {"path": card.path or None, "members": members}
    for row in (*fields["facts"], *fields["open_items"], *fields["documents"]):
        row["date"] = row["date"] or None
    return fields


def card_lines(card: EntityCard, redacted: Collection[str] = ()) -> list[str]:
    lines = [f"{card.name} · {card.type} · {card.id}"]
    fields = [
        ("role", card.role),
        ("team", card.team),
        ("aliases", ", ".join(card.aliases)),
        ("members", ", ".join(member.name for member in card.members)),
        ("page", card.path),
    ]
    public = ", ".join(alias for alias in card.aliases if alias not in redacted)
    for name, value in fields:
        line = f"{name:<9} {value}"
        is_redacted = value in redacted or (name == "aliases" and value != public)
        lines += [Greyed(line) if is_redacted else line] if value else []
    for title, facts in (("facts", card.facts), ("open items", card.open_items)):
        lines += ["", title] if facts else []
        for fact in facts:
            details = (fact.date, fact_state(fact), str(fact.fact_id))
            lines.append(greyed(fact, f"- {fact.text} ({', '.join(filter(None, details))})"))
    lines += ["", "documents"] if card.documents else []
    dated = [((row.date or "")[:10], row) for row in card.documents]
    return lines + [f"{day:<10} {row.path} ({row.reason})" for day, row in dated]


def greyed(fact: Fact, line: str) -> str:
    return Greyed(line) if fact.status == "redacted" else line


def fact_state(fact: Fact) -> str:
    if fact.done:
        return "done"
    return "" if fact.status == "active" else fact.status


Fields = dict[str, Any]
FIELDS: dict[str, tuple[tuple[str, str], ...]] = {
    "person": (
        ("role", "What they do."),
        ("email", "Their address."),
        ("team", "Their team."),
        ("reports-to", "Their manager."),
        ("company", "Their employer."),
    ),
    "project": (
        ("status", "Its status: Active, Paused, Completed."),
        ("lead", "Who leads it."),
        ("team", "The team that works on it."),
        ("started", "When it started, as 2026-03."),
    ),
    "team": (("lead", "Who leads it."), ("role", "What it is responsible for.")),
}

EXAMPLES = {
    "person": 'kbx person {} "Ann Lee" --role "Site reliability engineer" --team Platform',
    "project": 'kbx project {} "Blue Lagoon" --lead "Ann Lee" --status Active',
    "team": 'kbx team {} Harbour --lead "Ann Lee" --alias HRB',
}


@click.command(name="merge", cls=Command)
@click.argument("kept", metavar="KEPT", shell_complete=options.complete_entity)
@click.argument("other", metavar="OTHER", shell_complete=options.complete_entity)
@options.flag("--yes", "Merge without asking.")
@prints_written
def merge_people(kept: str, other: str, yes: bool, dry_run: bool) -> Written:
    """Make two pages of one person one.

    What the page of OTHER says is put into that of KEPT, line by line, and the page of OTHER is
    removed. Its names become aliases, and links follow. The diff is shown first, and you are asked;
    without a terminal or --yes, nothing is written. `kbx undo` reverts all of it.

    \b
    Examples:
      kbx person merge "Ann Lee" "A. Lee" --dry-run
      kbx person merge "Ann Lee" "A. Lee"
    """
    with open_kb() as kb:
        write = partial(kb.pages.merge, kept, other)
        return _previewed(write, "Merge these pages?", dry_run=dry_run, yes=yes)


@click.command(name="correct", cls=Command)
@click.argument("wrong", metavar="WRONG")
@click.argument("right", metavar="RIGHT")
@options.flag("--yes", "Write without asking.")
@prints_written
def correct_name(wrong: str, right: str, dry_run: bool, yes: bool) -> Written:
    """Write a misheard name rightly on all pages.

    WRONG is changed to RIGHT in headings, text, labels of links and properties, where it stands as
    whole words with the same capitals. Targets of links, code, addresses, tags and aliases stay.
    The diff is shown first, and you are asked; without a terminal or --yes, nothing is written.
    `kbx undo` reverts all of it.

    \b
    Examples:
      kbx person correct "Karen Veal" "Karin Wiel" --dry-run
      kbx person correct "Karen Veal" "Karin Wiel"
    """
    with open_kb() as kb:
        write = partial(kb.pages.correct_name, wrong, right)
        return _previewed(write, "Correct these places?", dry_run=dry_run, yes=yes)


def _previewed(
    write: Callable[..., Written], question: str, *, dry_run: bool, yes: bool
) -> Written:
    """Write, without `yes` only on a terminal, once the user has seen the diff and agrees."""
    if dry_run or yes:
        return write(dry_run=dry_run)
    written = write(dry_run=True)
    if wants_json() or not may_ask():
        raise NotConfirmed("nothing was written: look with --dry-run, then say --yes")
    print_written(written, dry_run=True)
    if confirmed(question):
        if write(dry_run=True).diff != written.diff:
            raise WriteFault("the pages have changed meanwhile; nothing was written, try again")
        written = write()
    else:
        say("nothing was written")
    return replace(written, hints=())  # they are printed above


def group_of(kind: str) -> Group:
    examples = "\n".join(f"  {EXAMPLES[kind].format(verb)}" for verb in ("create", "edit"))
    plural = "people" if kind == "person" else f"{kind}s"
    group = Group(
        name=kind,
        help=f"Create and edit pages of {plural}.\n\n\b\nExamples:\n{examples}\n",
        no_args_is_help=False,
    )
    create_help = f"""Create the page of a {kind}.

    It consists of frontmatter and a heading, as kbx writes them."""
    edit_help = f"""Edit fields of a {kind}'s page.

    An empty value removes a field. A message says when a new value means nearly the same as the
    old one."""
    group.add_command(_command(kind, "create", _create, create_help))
    group.add_command(_command(kind, "edit", _edit, edit_help))
    if kind == "person":
        group.add_command(merge_people)
        group.add_command(correct_name)
    return group


def _command(kind: str, verb: str, write: Callable[..., Written], help_text: str) -> click.Command:
    @prints_written
    def callback(
        name: str, alias: tuple[str, ...], meta: tuple[str, ...], dry_run: bool, **given: Any
    ) -> Written:
        named = {key: value for key, value in given.items() if value is not None}
        fields = named | _parse_meta(meta)
        aliases = (*alias, *filter(None, [fields.pop("aliases", "")]))
        return write(kind, name, fields, {"aliases": aliases} if aliases else {}, dry_run=dry_run)

    example = EXAMPLES[kind].format(verb)
    parameters = [
        click.Argument(["name"], metavar="NAME"),
        *(click.Option([f"--{field}"], metavar="V", help=text) for field, text in FIELDS[kind]),
        click.Option(["--alias", "--codename"], multiple=True, metavar="A", help="Another name."),
        click.Option(["--meta"], multiple=True, metavar="K=V", help="Any other field."),
        *reversed(getattr(callback, "__click_params__", [])),
    ]
    return Command(
        name=verb,
        callback=callback,
        params=parameters,
        help=f"{cleandoc(help_text)}\n\n\b\nExamples:\n  {example}\n  {example} --dry-run\n",
    )


def _create(kind: str, name: str, fields: Fields, aliases: Fields, *, dry_run: bool) -> Written:
    with open_kb() as kb:
        return kb.pages.create(name, kind, aliases | fields, dry_run=dry_run)


def _edit(kind: str, name: str, fields: Fields, aliases: Fields, *, dry_run: bool) -> Written:
    values = {field: value or None for field, value in fields.items()} | aliases
    if not values:
        raise click.UsageError("nothing to change; give a field, for example --role")
    with open_kb() as kb:
        return kb.pages.edit(name, values, kind=kind, dry_run=dry_run)


def _parse_meta(assignments: Sequence[str]) -> dict[str, str]:
    fields = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not (equals and key.strip()):
            raise click.UsageError(f"--meta {assignment!r} is not a field; use key=value")
        fields[key.strip()] = value.strip()
    return fields


RECEIPTS_SHOWN = 3


@click.command(name="experts", cls=Command)
@options.text_argument(
    "topic", "TOPIC...", "the topic is empty; name what the experts should know about"
)
@options.count_option("--limit", 10, "Maximum number of experts.")
@options.count_option("--min-claims", 1, "Leave out entities with fewer facts.")
@options.option(
    "--weight W",
    "count, recency, citation or relevance; anything else means count.",
    default="count",
)
@options.flag("--people", "Rank only people, no projects and teams.")
@options.json_option
def experts_command(topic: str, limit: int, min_claims: int, weight: str, people: bool) -> None:
    """Rank people, projects and teams as experts on a topic.

    A fact counts when it contains a word of the topic or is about an entity that the topic names;
    if it holds only some of the words, by their share. Superseded, archived and redacted facts do
    not count. The score of an expert is the sum over these facts; those with a fact on the whole
    topic come first.

    \b
    Examples:
      kbx experts migration
      kbx experts "database rollback" --weight recency --limit 5
      kbx experts "ferry timetable" --people
      kbx experts migration --weight citation --min-claims 2 --json | jq '.experts[0]'
    """
    with open_kb(selected_root(may_be_empty=wants_json())) as kb:
        ranking = kb.experts(topic, limit, min_claims=min_claims, weight=weight, people=people)
    lines = experts_lines(ranking)
    if not people and ranking.experts and ranking.experts[0].type != "person":
        lines.append("--people ranks people alone")
    print_result(experts_json(ranking), lines, notes=ranking.notes)


def experts_lines(ranking: ExpertRanking) -> list[str]:
    if not ranking.experts:
        return [f"no experts found on {ranking.topic}"]
    lines = []
    for rank, expert in enumerate(ranking.experts, 1):
        sources = format_count(expert.citation_count, "source")
        head = f"{rank:>2}. {expert.name}  {format_score(expert.score)}"
        partly = "" if expert.full_claim_count else ", on a part of the topic"
        lines.append(f"{head} · {expert.counted}, {sources}{partly} · {expert.entity_id}")
        lines += [_receipt_line(receipt) for receipt in expert.receipts[:RECEIPTS_SHOWN]]
    return lines


def _receipt_line(receipt: Receipt) -> str:
    remarks = [
        receipt.date + ", of the file" * receipt.has_file_date if receipt.date else "",
        receipt.why,
        f"{receipt.share:.0%} of the topic" if receipt.is_partial else "",
    ]
    shown = ", ".join(filter(None, remarks))
    return f"      {format_score(receipt.contribution)}  {receipt.text}" + (
        f" ({shown})" if shown else ""
    )


@click.command(name="timeline", cls=Command)
@click.argument("name", metavar="NAME", shell_complete=options.complete_entity)
@options.option("--as-of DATE", "What was known on this day, or at the end of this month or year.")
@options.count_option("--limit", 50, "Maximum number of entries.")
@options.json_option
@options.format_option
def timeline_command(name: str, as_of: str | None, limit: int) -> None:
    """List the facts, meetings and other documents of an entity by date.

    The newest come first. NAME is a name, an alias or an id, with or without an @. A fact that was
    superseded after the day of --as-of is shown as it was then, if its line states when.

    \b
    Examples:
      kbx timeline @alice
      kbx timeline "Alice Chen" --as-of 2026-03-01
      kbx timeline project:migration --limit 200 --format csv
    """
    with open_kb() as kb:
        found = kb.entities.timeline(name, as_of=as_of, limit=limit)
    if found.later:
        say(f"{format_count(found.later, 'entry')} dated later, or undated, left out")
    if found.more:
        say(f"{format_count(found.more, 'older entry')} left out; --limit shows more")
    entries = [timeline_json(entry) for entry in found.entries]
    head = {"entity": picked(found.entity, "id name type path?"), "as_of": found.as_of or None}
    counts = picked(found, "more later")
    data: Any = {**head, "entries": entries, **counts}
    print_result(data, timeline_lines(found), rows=entries)


def timeline_json(entry: TimelineEntry) -> dict[str, Any]:
    names = "date? kind text path line fact_id status? superseded? reason?"
    return picked(entry, names)


def timeline_lines(found: Timeline) -> Iterator[str]:
    entity = found.entity
    as_of = f" · as of {found.as_of}" if found.as_of else ""
    yield f"{entity.name} · {entity.type} · {entity.id}{as_of}"
    for entry in found.entries:
        status = "" if entry.status in ("", "active") else entry.status
        since = f" on {entry.superseded}" if status == "superseded" and entry.superseded else ""
        place = "" if entry.fact_id is not None else entry.path
        remarks = ", ".join(filter(None, (f"{status}{since}", entry.reason, place)))
        kind = entry.kind.replace("_", " ")
        shown = f"  ({remarks})" if remarks else ""
        yield f"{entry.date[:10]:<10}  {padded(kind, 9)}  {entry.text}{shown}"
