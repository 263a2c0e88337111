"""`kbx index`: bring the index up to date with the files."""

from __future__ import annotations

from dataclasses import asdict
from threading import Event
from typing import TYPE_CHECKING

import click

from kbx_tui.cli.asking import chose_entities, confirmed, may_ask
from kbx_tui.cli.base_command import Command
from kbx_tui.cli.listings.index_listing import problem_rows, totals
from kbx_tui.cli.open_kb import open_kb
from kbx_tui.cli.options import json_option
from kbx_tui.cli.output import print_result, say
from kbx_tui.cli.runner import EXIT_INTERRUPTED
from kbx_tui.ending import on_signal
from kbx_tui.errors import ConfigError, IndexLocked, NotConfirmed
from kbx_tui.formatting import format_count, format_size

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.bulk.ray_workers import RayEngine
    from kbx_tui.index.build.progress import IndexReport
    from kbx_tui.object_store.publish import PublishReport

INTERRUPTED = "interrupted; what is indexed is searchable, and the next run continues from there"


@click.command(name="index", cls=Command)
@click.option(
    "--full", is_flag=True, help="Rebuild everything; vectors of unchanged texts are reused."
)
@click.option("--fast", is_flag=True, help="Index text and entities only, no vectors.")
@click.option("--yes", is_flag=True, help="Do not ask before very many files or a system folder.")
@click.option("--no-wait", is_flag=True, help="Fail if another process is indexing.")
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Where to parse, chunk and embed: in this process, or in those of Ray.",
)
@click.option(
    "--ray-address",
    metavar="ADDRESS",
    help="Cluster for --engine ray, HOST:PORT or auto.  [default: start Ray on this machine]",
)
@click.option(
    "--ray-workers",
    metavar="N",
    type=click.IntRange(min=1),
    help="Worker processes of --engine ray.  [default: one per processor]",
)
@json_option
def command(
    full: bool,
    fast: bool,
    yes: bool,
    no_wait: bool,
    engine: str,
    ray_address: str | None,
    ray_workers: int | None,
    as_json: bool,
) -> None:
    """Bring the index up to date with the files.

    Only changed files are read and embedded again. Text and entities come first and are searchable
    while vectors are computed. You may stop at any time; the next run continues from there. Your
    files are only read, and .kbx/index can be deleted without losing anything.

    After a first run that found no people, projects or teams, you are asked whether tags, notes
    that many others link to and similar topics are to be entities, as kbx init does.

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
    from kbx_tui.cli.listings.progress import show_progress, show_steps

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
    print_result(data, lines, as_json=as_json)


def _ray_engine(engine: str, address: str | None, workers: int | None) -> RayEngine | None:
    """Return what the options mean; None for this process. Raises ConfigError."""
    if engine == "ray":
        from kbx_tui.bulk.ray_workers import RayEngine

        return RayEngine(address, workers)
    if address is not None or workers is not None:
        raise ConfigError("--ray-address and --ray-workers need --engine ray")
    return None


def _chose_entities(kb: KnowledgeBase) -> bool:
    """Ask once what the entities of a base without any are; return whether it was written."""
    proposal = kb.entity_proposal()
    if proposal is None or not chose_entities(proposal, kb.root, once=True):
        return False
    return kb.use_entities(proposal).written


def _confirm(kb: KnowledgeBase) -> None:
    """Ask before indexing very many files or a folder of the system.

    Where nobody can be asked, an update goes on and a first run raises NotConfirmed. Raises Abort
    if the answer is no.
    """
    from kbx_tui.index.build.new_files import refusal_to_index

    question = kb.index_question()
    if question is None or not (may_ask() or question.is_first):
        return
    if not may_ask():
        raise refusal_to_index(question)
    if not confirmed(f"{question.sentence}. Index them?"):
        raise NotConfirmed("nothing was indexed")


def report_lines(report: IndexReport) -> list[str]:
    """Return the report as lines of text: totals, changes, seconds, problems."""
    size = format_size(report.size_bytes)
    lines = [f"{totals(report)}; {size}", _changes(report), _seconds(report)]
    lines += report.repaired
    for head, rows in problem_rows(report.problems):
        lines += [f"{head}:", *(f"  {line}" for line in rows)] if rows else []
    return lines


def _published(report: PublishReport) -> str:
    uploaded = f"{format_count(report.uploaded, 'file')} uploaded"
    return (
        f"published as version {report.version} of {report.uri}: {uploaded} "
        f"({format_size(report.uploaded_bytes)} of {format_size(report.size_bytes)})"
    )


def _changes(report: IndexReport) -> str:
    changes = {
        "new": report.added,
        "changed": report.changed,
        "moved": report.moved,
        "deleted": report.deleted,
    }
    parts = [f"{count:,} {name}" for name, count in changes.items() if count]
    embedded = f"{report.embedded:,} texts embedded, {report.reused:,} reused"
    return f"{', '.join(parts) or 'no file changed'}; {embedded}"


def _seconds(report: IndexReport) -> str:
    stages = [
        f"{stage} {spent:.1f}"
        for stage, spent in report.seconds.items()
        if stage != "total" and spent >= 0.05
    ]
    detail = f" ({', '.join(stages)})" if stages else ""
    return f"{report.seconds['total']:.1f} s{detail}"
