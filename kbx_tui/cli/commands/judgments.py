"""`kbx judgments`: the user's own relevance judgments, and preferences between result lists."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli.base_command import Group, open_kb
from kbx_tui.cli.options import FILE, choice, flag, json_option, option
from kbx_tui.cli.output import first_of, print_result, say
from kbx_tui.formatting import format_count
from kbx_tui.tools.json_output import picked

if TYPE_CHECKING:
    from kbx_tui.evaluation.blind_preferences import Preference
    from kbx_tui.evaluation.exchange import JudgmentImport
    from kbx_tui.evaluation.judgments import JudgedQuery


FORMATS = ("qrels", "quepid", "opensearch")
GRADES = ("0", "1", "2", "3", "unsure")
MORE = "  and {} more, see --json"


@click.group(name="judgments", cls=Group, no_args_is_help=False)
def command() -> None:
    """Grade documents for queries, so that `kbx eval` can measure.

    The grades are in .kbx/judgments.jsonl: 0 not relevant, 1 slightly, 2 relevant, 3 just what was
    wanted, or unsure.

    \b
    Examples:
      kbx judgments add "rollback plan" memory/notes/2026-01-30-rollback-plan.md 3
      kbx judgments list
      kbx judgments import judgments.qrels --dry-run
      kbx judgments export judgments.csv --format quepid
    """


@command.command(name="list")
@click.argument("query", required=False, metavar="[QUERY]")
@flag("--preferences", "List the preferences between results instead of grades.")
@json_option
def list_judgments(query: str | None, preferences: bool) -> None:
    """List the judged queries with their number of grades, or the grades of one.

    A preference says which of two result lists answers a query better; `g b` in the app asks for it
    without saying which settings gave which.

    \b
    Examples:
      kbx judgments list
      kbx judgments list "rollback plan"
      kbx judgments list --preferences
      kbx judgments list --json | jq -r '.[].query'
    """
    with open_kb() as kb:
        given = kb.preferences.read()
        if preferences:
            from kbx_tui.evaluation.judgments import query_key

            chosen = [one for one in given if query is None or one.query == query_key(query)]
            if not chosen:
                say("there is no such preference yet; in the app, `g b` asks for some")
            rows = [preference_json(one) for one in chosen]
            print_result(rows, map(preference_line, chosen))
            return
        if query is not None:
            found = kb.judgments.grades(query).items()
            grades = sorted(found, key=lambda each: (1 if each[1] is None else -each[1], each[0]))
            rows = [{"path": path, "grade": shown(grade)} for path, grade in grades]
            print_result(rows, [f"{row['grade']!s:<6}  {row['path']}" for row in rows])
            return
        queries = kb.judgments.queries()
    if not queries and not given:
        say("there are no judgments yet; `kbx judgments --help` says how to begin")
    lines = list(map(query_line, queries))
    if given:
        lines.append(f"{format_count(len(given), 'preference')}, see --preferences")
    print_result([query_json(one) for one in queries], lines)


@command.command(name="add")
@click.argument("query", metavar="QUERY")
@click.argument("path", metavar="PATH")
@click.argument("grade", type=click.Choice(GRADES), metavar="GRADE")
@json_option
def add(query: str, path: str, grade: str) -> None:
    """Grade a document for a query: 0, 1, 2, 3 or unsure.

    PATH is the path as a search lists it. A newer grade of the same query and path counts.

    \b
    Examples:
      kbx judgments add "rollback plan" memory/notes/2026-01-30-rollback-plan.md 3
      kbx judgments add "rollback plan" memory/people/alice-chen.md unsure
    """
    with open_kb() as kb:
        judgment = kb.judgments.add(query, path, None if grade == "unsure" else int(grade))
    data = {"query": judgment.query, "path": judgment.path, "grade": shown(judgment.grade)}
    print_result(data, [f"{data['grade']}  {judgment.path}"])


@command.command(name="undo")
@flag("--preference", "Undo the last preference instead.")
@json_option
def undo(preference: bool) -> None:
    """Undo the last grade; the one before counts again.

    \b
    Examples:
      kbx judgments undo
      kbx judgments undo --preference
    """
    with open_kb() as kb:
        if preference:
            taken_back = kb.preferences.undo()
            line = f"undone: {preference_line(taken_back)}"
            print_result(preference_json(taken_back), [line])
            return
        undone = kb.judgments.undo()
    restored = None if undone.restored is None else shown(undone.restored.grade)
    data = {
        "query": undone.undone.query,
        "path": undone.undone.path,
        "undone": shown(undone.undone.grade),
        "grade": restored,
    }
    now = "not judged" if restored is None else restored
    print_result(data, [f"{now}  {undone.undone.path}, for {undone.undone.query}"])


@command.command(name="import")
@click.argument("file", metavar="FILE", type=FILE)
@choice("--format form", FORMATS, "Default: by the content.")
@option("--topics FILE", "Texts of the query ids in qrels.", FILE)
@option(
    "--scale N",
    "The highest rating in FILE, mapped to 3.",
    click.FloatRange(min=0.0, min_open=True),
)
@flag("--replace", "Overwrite grades that differ.")
@flag("--dry-run", "Only show what would change.")
@json_option
def import_file(
    file: Path,
    form: str | None,
    topics: Path | None,
    scale: float | None,
    replace: bool,
    dry_run: bool,
) -> None:
    """Add the judgments of another tool's file.

    TREC qrels, Quepid's CSV or OpenSearch's JSON. A grade that differs from yours is listed and
    changes nothing, except with --replace. A line that cannot be read is named; all others count.

    \b
    Examples:
      kbx judgments import judgments.qrels --topics topics.jsonl
      kbx judgments import book.csv --scale 10 --dry-run
      kbx judgments import opensearch.json --replace
    """
    with open_kb() as kb:
        imported = kb.judgments.import_file(
            file,
            form=form,  # type: ignore[arg-type]
            topics=topics,
            scale=scale,
            replace=replace,
            dry_run=dry_run,
        )
    for problem in imported.problems:
        say(f"{file}: {problem}")
    data = import_json(imported, replaced=replace, dry_run=dry_run)
    print_result(data, import_lines(imported, replaced=replace, dry_run=dry_run))


@command.command(name="export")
@click.argument("file", metavar="FILE", type=FILE)
@choice("--format form", FORMATS, "Format of FILE.", default="qrels")  # fmt: skip
@option("--topics FILE", "Also write the queries and their ids.", FILE)
@flag("--force", "Replace files that exist.")
@json_option
def export_file(file: Path, form: str, topics: Path | None, force: bool) -> None:
    """Write the judgments for another tool.

    Those that say "not sure" are left out: no other format has them. A run for TREC tools is
    written by `kbx eval --save FILE.run`.

    \b
    Examples:
      kbx judgments export judgments.qrels --topics topics.jsonl
      kbx judgments export judgments.csv --format quepid
    """
    with open_kb() as kb:
        count = kb.judgments.export_file(
            file,
            form,  # type: ignore[arg-type]
            topics=topics,
            overwrite=force,
        )
        unsure = sum(len(query.unsure) for query in kb.judgments.queries())
    if unsure:
        say(f"left out {unsure} judged not sure")
    print_result({"judgments": count, "unsure": unsure}, [f"{count} judgments"])


def shown(grade: int | None) -> int | str:
    return "unsure" if grade is None else grade


def query_json(query: JudgedQuery) -> dict[str, Any]:
    grades = list(query.grades.values())
    counts = {str(grade): grades.count(grade) for grade in range(4)}
    return {"query": query.text, "grades": counts | {"unsure": len(query.unsure)}}


def query_line(query: JudgedQuery) -> str:
    counts = query_json(query)["grades"]
    graded = "  ".join(f"{counts[str(grade)]:>3} x {grade}" for grade in (3, 2, 1, 0))
    return f"{graded}  {counts['unsure']:>3} unsure   {query.text}"


def import_json(imported: JudgmentImport, *, replaced: bool, dry_run: bool) -> dict[str, Any]:
    return {
        "added": len(imported.added),
        "unchanged": imported.unchanged,
        "conflicts": [
            picked(one.judgment, "query path grade", grade=shown(one.judgment.grade))
            | {"in_file": one.grade, "place": one.place}
            for one in imported.conflicts
        ],
        "missing": list(imported.missing),
        "problems": list(imported.problems),
        "replaced": replaced and not dry_run,
        "written": not dry_run,
    }


def import_lines(imported: JudgmentImport, *, replaced: bool, dry_run: bool) -> list[str]:
    what = "replaced" if replaced else "kept as they are, --replace overwrites them"
    lines = [
        f"{'would add' if dry_run else 'added'} {len(imported.added)}, "
        f"{imported.unchanged} are the same here"
    ]
    if imported.conflicts:
        lines.append(f"{len(imported.conflicts)} differ from yours ({what}):")
        conflicts = [
            f"  {one.place}: {one.grade}, yours {shown(one.judgment.grade)}  "
            f"{one.judgment.path}, for {one.judgment.query}"
            for one in imported.conflicts
        ]
        lines += first_of(conflicts, MORE)
    if imported.missing:
        lines.append(f"{len(imported.missing)} paths name no document of this base:")
        lines += first_of([f"  {path}" for path in imported.missing], MORE)
    return lines


def preference_json(preference: Preference) -> dict[str, Any]:
    first, second = (picked(each, "paths knobs") for each in (preference.first, preference.second))
    names = "query better when generation first second"
    return picked(preference, names, first=first, second=second)


def preference_line(preference: Preference) -> str:
    """Return `2026-03-17 09:41  rollback plan: alpha 0.4, not 0.5`."""
    when = preference.when[:16].replace("T", " ")
    better, other = preference.second, preference.first
    if preference.better == "first":
        better, other = other, better
    between = " as good as" if preference.better == "neither" else ", not"
    words = ", ".join(
        f"{name} {value}{between} {other.knobs.get(name)}"
        for name, value in better.knobs.items()
        if value != other.knobs.get(name)
    )
    return f"{when:<16}  {preference.query}: {words or 'two lists of the same settings'}"
