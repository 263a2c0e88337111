"""`kbx index`, `kbx status`, `kbx check` and `kbx store`: building and checking the index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from threading import Event
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli.base_command import EXIT_INTERRUPTED, Command, Group, open_kb
from kbx_tui.cli.options import choice, flag, json_option, option
from kbx_tui.cli.output import first_of, print_result, say, show_progress, show_steps
from kbx_tui.cli.write_output import chose_entities, confirmed, may_ask
from kbx_tui.ending import on_signal
from kbx_tui.errors import ConfigError, IndexFault, IndexLocked, NotConfirmed, StoreFault
from kbx_tui.formatting import format_count, format_percent, format_size
from kbx_tui.safe_text import safe_line
from kbx_tui.user_files import log_path

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.bulk.ray_workers import RayEngine
    from kbx_tui.index.build.progress import IndexReport
    from kbx_tui.index.check_index import CheckReport
    from kbx_tui.index.index_status import Status
    from kbx_tui.knowledge.records import Problem
    from kbx_tui.object_store.object_client import StoreCheck
    from kbx_tui.object_store.publish import PublishReport


INTERRUPTED = "interrupted; what is indexed is searchable, and the next run continues from there"


@click.command(name="index", cls=Command)
@flag("--full", "Rebuild everything; vectors of unchanged texts are reused.")
@flag("--fast", "Index text and entities only, no vectors.")
@flag("--yes", "Do not ask before very many files or a system folder.")
@flag("--no-wait", "Fail if another process is indexing.")
@choice(
    "--engine",
    ["local", "ray"],
    "Where to parse, chunk and embed: in this process, or in those of Ray.",
    default="local",
)
@option(
    "--ray-address ADDRESS",
    "Cluster for --engine ray, HOST:PORT or auto.  [default: start Ray on this machine]",
)
@option(
    "--ray-workers N",
    "Worker processes of --engine ray.  [default: one per processor]",
    click.IntRange(min=1),
)
@json_option
def index_command(
    full: bool,
    fast: bool,
    yes: bool,
    no_wait: bool,
    engine: str,
    ray_address: str | None,
    ray_workers: int | None,
) -> None:
    """Bring the index up to date with the files.

    Only changed files are read and embedded again. Text and entities come first and are searchable
    while vectors are computed. You may stop at any time; the next run continues from there. Your
    files are only read, and .kbx/index can be deleted without losing anything.

    After a first run that found hardly any people, projects or teams, you are asked whether tags,
    notes that many others link to and similar topics are to be entities, as kbx init does.

    Where [index] uri names an object store, the index is published there afterwards, for any number
    of other machines to search.

    With --engine ray, worker processes parse, chunk and embed, one per processor, on this machine
    or on a cluster. The index is the same. Needs the extra kbx-tui[ray].

    Before more than 2,000 new files, and before the first run in a folder of the system such as
    /tmp, you are asked. Without a terminal, a first run stops there instead, unless --yes is given.

    \b
    Examples:
      kbx index
      kbx index --fast             words only, ready in seconds
      kbx index --yes              in a script, whatever the number of files
      kbx index --engine ray       one worker per processor of this machine
      kbx index --engine ray --ray-address 10.0.0.5:6379
      kbx index --json | jq .seconds
    """
    workers = _ray_engine(engine, ray_address, ray_workers)
    stopped = Event()
    try:
        with (
            on_signal(stopped.set, INTERRUPTED),
            open_kb() as kb,
            kb.publishing() as publication,
        ):
            if not yes:
                _confirm(kb)
            with show_progress() as listener:
                report = kb.index(
                    listener,
                    fast=fast,
                    full=full,
                    cancelled=stopped.is_set,
                    wait=not no_wait,
                    engine=workers,
                )
            is_first = report.documents == report.added > 0 and not stopped.is_set()
            if is_first and not yes and may_ask() and _chose_entities(kb):
                report = kb.index(fast=True)
            published = None
            if publication is not None and not stopped.is_set():
                with show_steps("upload in kB") as step:
                    published = publication.publish(
                        lambda done, total: step(done // 1000, total // 1000),
                        cancelled=stopped.is_set,
                    )
    except KeyboardInterrupt:  # Windows
        stopped.set()
    except IndexLocked:
        if not stopped.is_set():
            raise
    if stopped.is_set():
        say(INTERRUPTED)
        click.get_current_context().exit(EXIT_INTERRUPTED)
    seconds = {stage: round(spent, 3) for stage, spent in report.seconds.items()}
    data, lines = asdict(report) | {"seconds": seconds}, report_lines(report)
    if published is not None:
        data["published"] = asdict(published)
        lines.append(_published(published))
    print_result(data, lines)


def _ray_engine(engine: str, address: str | None, workers: int | None) -> RayEngine | None:
    if engine == "ray":
        from kbx_tui.bulk.ray_workers import RayEngine

        return RayEngine(address, workers)
    if address is not None or workers is not None:
        raise ConfigError("--ray-address and --ray-workers need --engine ray")
    return None


def _chose_entities(kb: KnowledgeBase) -> bool:
    proposal = kb.entities.offer()
    if proposal is None or not chose_entities(proposal, kb.root, once=True):
        return False
    return kb.entities.use(proposal).written


def _confirm(kb: KnowledgeBase) -> None:
    """Ask before indexing a very large number of files or a system folder.

    Without a terminal, an update runs unasked. Raises NotConfirmed.
    """
    from kbx_tui.index.index_status import refusal_to_index

    question = kb.index_question()
    if question is not None and may_ask():
        if not confirmed(f"{question.sentence}. Index them?"):
            raise NotConfirmed("nothing was indexed")
    elif question is not None and question.is_first:
        raise refusal_to_index(question)


def report_lines(report: IndexReport) -> list[str]:
    counts = (report.added, report.changed, report.moved, report.deleted)
    names = ("new", "changed", "moved", "deleted")
    parts = [f"{count:,} {name}" for name, count in zip(names, counts, strict=True) if count]
    spent = {stage: each for stage, each in report.seconds.items() if each >= 0.05}
    stages = ", ".join(f"{stage} {each:.1f}" for stage, each in spent.items() if stage != "total")
    lines = [
        f"{totals(report)}; {format_size(report.size_bytes)}",
        f"{', '.join(parts) or 'no file changed'}; {report.embedded:,} texts embedded, "
        f"{report.reused:,} reused",
        f"{report.seconds['total']:.1f} s" + (f" ({stages})" if stages else ""),
        *report.repaired,
    ]
    for head, rows in problem_rows(report.problems):
        lines += [f"{head}:", *(f"  {line}" for line in rows)] if rows else []
    return lines


def _published(report: PublishReport) -> str:
    uploaded = f"{format_count(report.uploaded, 'file')} uploaded"
    sizes = f"{format_size(report.uploaded_bytes)} of {format_size(report.size_bytes)}"
    return f"published as version {report.version} of {report.uri}: {uploaded} ({sizes})"


Rows = list[tuple[str, str]]
"""Labels and values; an empty label continues the row above."""


@click.command(name="status", cls=Command)
@json_option
def status_command() -> None:
    """Show what is indexed and what is out of date.

    Files that could not be read completely are listed too; --json lists all of them.

    \b
    Examples:
      kbx status
      kbx status --json | jq .stale
    """
    with open_kb() as kb:
        status = kb.status()
    print_result(status_json(status), status_lines(status))


def status_json(status: Status) -> dict[str, Any]:
    return asdict(status) | {
        "root": str(status.root),
        "log": str(log_path()),
        "vector_share": round(status.vector_share, 4),
        "stale": [{"path": path, "change": change} for path, change in status.stale],
    }


def status_lines(status: Status) -> Iterator[str]:
    rows: Rows = [("root", str(status.root))]
    if status.indexed:
        rows += [
            ("index", f"{status.index_path}, {format_size(status.size_bytes)}"),
            *([("published", status.published)] if status.published else []),
            ("indexed", status.indexed_at.replace("T", " ") or "not finished yet"),
            ("holds", totals(status)),
            ("meaning", _vector_coverage(status)),
            ("model", status.model),
        ]
    elif not status.damage:
        rows.append(("index", "none yet; `kbx index` or the first search builds it"))
    rows += [("damage" if row == 0 else "", line) for row, line in enumerate(status.damage)]
    if status.entities_outdated:
        rows.append(("entities", "[entities] in kbx.toml changed; `kbx index` applies it"))
    rows += [*_stale_rows(status), *_problem_rows(status), ("log", str(log_path()))]
    return (f"{name:<9} {value}".rstrip() for name, value in rows)


def _vector_coverage(status: Status) -> str:
    coverage = f"{format_percent(status.vector_share)}, {status.vectors:,} vectors"
    if not status.without_vector:
        return coverage
    missing = format_count(status.without_vector, "text")
    return f"{coverage}; {missing} without one, `kbx index` computes the rest"


def _stale_rows(status: Status) -> Rows:
    if not status.indexed:
        return [("files", f"{format_count(len(status.stale), 'document')} to index")]
    if not status.stale:
        return [("stale", "nothing")]
    lines = first_lines([f"{change} {path}" for path, change in status.stale])
    head = f"{format_count(len(status.stale), 'file')}; `kbx index` updates the index"
    return [("stale", head), *(("", line) for line in lines)]


def _problem_rows(status: Status) -> Rows:
    (_, faults), (_, left_out) = problem_rows(status.problems)
    count = sum(not problem.on_purpose for problem in status.problems)
    rows = [("problems", f"{count:,}" if faults else "none"), *(("", line) for line in faults)]
    return [*rows, *(("left out" * (not row), line) for row, line in enumerate(left_out))]


@click.command(name="check", cls=Command)
@flag("--read-data", "Read and compare every byte and every row.")
@json_option
def check_command(read_data: bool) -> None:
    """Check that index and state files are what was written.

    Compares structure, versions and the digests of files that changed; --read-data compares
    everything again. It only reads. The exit code is 5 if there is a fault, and each line says what
    mends it. Lines of pages that look like a redaction mark, but are not one, are listed too.

    \b
    Examples:
      kbx check
      kbx check --read-data        after a crash of the system or the disk
    """
    with open_kb() as kb:
        report = kb.check(read_data=read_data)
    print_result(asdict(report), check_lines(report))
    if not report.sound:
        click.get_current_context().exit(IndexFault.exit_code)


def check_lines(report: CheckReport) -> Iterator[str]:
    for fault in report.faults:
        yield f"{fault.where}: {fault.what}; mended by: {fault.remedy}"
    yield from map(safe_line, report.near_marks)
    compared = f"{format_count(report.files, 'file')} and {format_count(report.rows, 'row')}"
    found = format_count(len(report.faults), "fault") if report.faults else "no fault"
    yield f"{found} in {compared}, {report.seconds:.1f} s"


@click.group(name="store", cls=Group)
def store_command() -> None:
    """Object stores to which an index can be published.

    \b
    Examples:
      kbx store check s3://bucket/base
    """


@store_command.command(name="check", cls=Command)
@click.argument("uri", metavar="URI")
@json_option
def check_store_command(uri: str) -> None:
    """Check that an object store loses no write.

    Lets 32 conditional writes race several times, to create and to replace an object, and measures
    how long requests take. A store where not exactly one of them wins is refused with exit code 5:
    two machines that publish to it could overwrite each other. Writes below URI/check, and
    deletes that again. Credentials come from the environment.

    \b
    Examples:
      kbx store check s3://bucket/base
      kbx store check az://container/base --json
    """
    from kbx_tui.object_store.object_client import ObjectClient, check_store
    from kbx_tui.object_store.store_uri import parse_store_uri

    report = check_store(ObjectClient(parse_store_uri(uri), retries=0))
    print_result(asdict(report) | {"is_fit": report.is_fit}, _store_lines(report))
    if not report.is_fit:
        click.get_current_context().exit(StoreFault.exit_code)


def _store_lines(report: StoreCheck) -> Iterator[str]:
    yield from report.faults
    verdict = "loses no write" if report.is_fit else "is not fit for an index: writes may be lost"
    yield f"{report.uri} {verdict} ({report.writes} conditional writes)"
    yield (
        f"median request: read {report.read_ms:.1f} ms, write {report.write_ms:.1f} ms, "
        f"list {report.list_ms:.1f} ms"
    )


def totals(index: IndexReport | Status) -> str:
    """Return `63 documents, 317 chunks, ...`."""
    counts = {
        "document": index.documents,
        "chunk": index.chunks,
        "entity": index.entities,
        "fact": index.facts,
        "entity link": index.links,  # links between documents are counted by `kbx links`
    }
    return ", ".join(format_count(count, noun) for noun, count in counts.items())


def problem_rows(problems: Sequence[Problem]) -> list[tuple[str, list[str]]]:
    """Return (heading with count, lines) for problems, then for files left out on purpose."""
    faults = [_problem_line(problem) for problem in problems if not problem.on_purpose]
    left_out = [f"{each.path}: {each.reason}" for each in problems if each.on_purpose]
    return [
        (format_count(len(faults), "problem") if faults else "", first_lines(faults)),
        (f"{len(left_out):,} left out on purpose" if left_out else "", first_lines(left_out)),
    ]


def first_lines(lines: Sequence[str]) -> list[str]:
    return first_of(lines, "and {} more; `kbx status --json` lists all")


def _problem_line(problem: Problem) -> str:
    line = f":{problem.line}" if problem.line else ""
    return f"{problem.path}{line}: {problem.reason}{' (not indexed)' * problem.skipped}"
