"""Writes killed at random moments: add, edit, batch, undo and index, as calls and as commands.

Each operation is first played whole on a copy. After a kill every page is as before or as after,
all of them once the interrupted write is finished, the journal agrees, undo restores the bytes,
and the index ends with the same answers.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.faults.campaign import Answers, ask, differences, pages_of
from benchmarks.faults.victims import Ending, Kill, run_command, run_forked
from kbx_tui import KnowledgeBase, program
from kbx_tui.drafting.drafts import Choice, drafts_from_text, new_draft
from kbx_tui.editing.journal import entries
from tests.trusting import copy_base

EDITED = "Prefers mornings for the budget"
ADDED = "Plays the cello in the evening"
BATCH = (
    "# Alice Chen\n- Climbs on Sundays\n# Bob Okafor\n- Grows roses\n# Carla Diaz\n- Sings bass\n"
)
BATCH_FILE = "batch.txt"
PYTHON = [sys.executable, "-m", "kbx_tui"]
MOST_CHANGES = 100
"""More changes of files than any operation makes; fewer once one has ended before that."""
WHOLE = 2
"""Runs that are not killed, of which the faster one counts."""
ATTEMPTS = 20
"""Runs of which one must still be running when it is to be killed."""


@dataclass(frozen=True)
class Operation:
    """One thing to kill, as a call and as the arguments of a command."""

    call: Callable[[KnowledgeBase], object]
    command: Callable[[KnowledgeBase], list[str]]
    writes: bool = True
    """Whether it changes pages."""


def _fact(kb: KnowledgeBase) -> int:
    return next(int(fact.fact_id) for fact in kb.entities.facts() if EDITED in fact.text)


def _apply_batch(kb: KnowledgeBase) -> None:
    drafts = [replace(draft, choice=Choice("create")) for draft in drafts_from_text(BATCH)]
    checks = kb.drafts.check(drafts)
    kb.drafts.apply(kb.drafts.plan([check.draft for check in checks]))


OPERATIONS: dict[str, Operation] = {
    "add": Operation(
        lambda kb: kb.memory_add(ADDED, entity="Alice Chen", force=True),
        lambda kb: ["memory", "add", ADDED, "--entity", "Alice Chen", "--force"],
    ),
    "edit": Operation(
        lambda kb: kb.edit_fact(_fact(kb), "Prefers evenings"),
        lambda kb: ["memory", "edit-fact", str(_fact(kb)), "Prefers evenings", "--force"],
    ),
    "page edit": Operation(
        lambda kb: kb.pages.edit("Bob Okafor", {"role": "Lead"}),
        lambda kb: ["person", "edit", "Bob Okafor", "--role", "Lead"],
    ),
    "new page": Operation(
        lambda kb: kb.pages.create("Dora Ek"),
        lambda kb: ["person", "create", "Dora Ek"],
    ),
    "batch": Operation(_apply_batch, lambda kb: ["dedup", BATCH_FILE, "--apply"]),
    "undo": Operation(lambda kb: kb.undo(), lambda kb: ["undo"]),
    "index": Operation(lambda kb: kb.index(), lambda kb: ["index"], writes=False),
    "index --full": Operation(
        lambda kb: kb.index(full=True), lambda kb: ["index", "--full"], writes=False
    ),
}


@dataclass(frozen=True)
class Outcome:
    """What an operation leads to when it is not killed."""

    pages: dict[str, bytes]
    answers: Answers
    seconds: float


def kill_calls(base: Path, tries: int, chance: random.Random) -> Iterator[list[str]]:
    """Kill calls."""

    def play(root: Path, name: str, kill: Kill | None) -> Ending:
        return run_forked(_call, (str(root), name), kill)

    yield from _play(base, tries, chance, play)


def _call(ready: Callable[[], None], root: str, name: str) -> None:
    """Open the base, load model and index, and play an operation: the process that is killed."""
    with KnowledgeBase(root) as kb:
        kb.warm()
        ready()
        OPERATIONS[name].call(kb)


def kill_commands(base: Path, tries: int, chance: random.Random) -> Iterator[list[str]]:
    """Kill the command line, in forked processes."""

    def play(root: Path, name: str, kill: Kill | None) -> Ending:
        return run_forked(_command, (str(root), _arguments(root, name)), kill)

    yield from _play(base, tries, chance, play)


def _command(ready: Callable[[], None], root: str, arguments: list[str]) -> None:
    """Run a command without output: the process that is killed."""
    os.chdir(root)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        for descriptor in (1, 2):
            os.dup2(nowhere.fileno(), descriptor)
    sys.argv = ["kbx", *arguments]
    ready()
    program.main()


def kill_processes(base: Path, tries: int, chance: random.Random) -> Iterator[list[str]]:
    """Kill the command line, in processes of its own from their start."""

    def play(root: Path, name: str, kill: Kill | None) -> Ending:
        return run_command([*PYTHON, *_arguments(root, name)], root, kill)

    yield from _play(base, tries, chance, play, at_changes=False)


def _arguments(root: Path, name: str) -> list[str]:
    with KnowledgeBase(root) as kb:
        return ["--kb", str(root), *OPERATIONS[name].command(kb)]


def _play(
    base: Path,
    tries: int,
    chance: random.Random,
    play: Callable[[Path, str, Kill | None], Ending],
    *,
    at_changes: bool = True,
) -> Iterator[list[str]]:
    """Kill every operation in turn; `play` runs one, up to a kill or to its end.

    Half of the kills come just before a change of a file, if `at_changes`: a write is over so soon
    that a moment hardly ever falls into it.
    """
    (base / BATCH_FILE).write_text(BATCH, encoding="utf-8")
    with KnowledgeBase(base) as kb:
        kb.index()
        kb.memory_add("Swims in the lake", entity="Carla Diaz", force=True)  # for undo
        kb.drafts.save([new_draft("likes tea")])
        kb.drafts.label("left", "right", same=True)
        kb.documents.opened("memory/notes/on-budget.md")
        kb.index()
    before, copy = pages_of(base), base.with_name("copy")
    outcomes: dict[str, Outcome] = {}
    for name in OPERATIONS:
        whole = []
        for _ in range(WHOLE):
            root = _fresh(base, copy, name)
            whole.append(play(root, name, None).seconds)
        with KnowledgeBase(root) as kb:
            kb.index()
        outcomes[name] = Outcome(pages_of(root), ask(root)[0], min(whole))
        if OPERATIONS[name].writes and outcomes[name].pages == before:
            raise RuntimeError(f"{name} wrote nothing")
        print(f"  {name}: {min(whole):.2f} s", flush=True)
    usual, most = ask(base)[0], dict.fromkeys(OPERATIONS, MOST_CHANGES)
    seconds = {name: outcome.seconds for name, outcome in outcomes.items()}
    names = list(OPERATIONS)
    for number in range(tries):
        name = names[number % len(names)]
        for _ in range(ATTEMPTS):  # until it is killed before it has ended
            root = _fresh(base, copy, name)
            started = before if OPERATIONS[name].writes else pages_of(root)
            kill = Kill(seconds=chance.uniform(0.0, seconds[name]))
            if at_changes and number // len(names) % 2 == 0:
                kill = Kill(change=chance.randint(1, most[name]))
            ending = play(root, name, kill)
            if ending.was_killed:
                break
            if kill.change:
                most[name] = kill.change
            else:
                seconds[name] = ending.seconds  # the machine is less busy than before
        else:
            raise RuntimeError(f"{name} always ends before it is killed")
        found = _wrong(root, base, name, started, outcomes[name], usual)
        yield [f"{name} {kill}: {wrong}" for wrong in found]
    shutil.rmtree(copy)


def _fresh(base: Path, copy: Path, name: str) -> Path:
    """Return a new copy of the base; for an index run with something to index."""
    shutil.rmtree(copy, ignore_errors=True)
    copy_base(base, copy)
    if not OPERATIONS[name].writes:
        (copy / "memory/notes/late.md").write_text("# Late\n\nAlice Chen came late.\n")
    return copy


def _wrong(
    root: Path, base: Path, name: str, before: dict[str, bytes], whole: Outcome, usual: Answers
) -> list[str]:
    wrong = []
    for path, data in pages_of(root).items():
        if data not in (before.get(path), whole.pages.get(path)):
            wrong.append(f"{path} is neither as before nor as after")
    try:
        with KnowledgeBase(root) as kb:  # finishes an interrupted write
            pages = pages_of(root)
            if pages not in (before, whole.pages):
                return [*wrong, f"a part was written: {differences(pages, whole.pages)}"]
            kb.index()
            answers = whole.answers if pages == whole.pages else usual
            if ask(root)[0] != answers:
                wrong.append("other answers than without the kill")
            wrong += _wrong_state(root, base)
            if OPERATIONS[name].writes:
                wrong += _wrong_journal(kb, base, pages == whole.pages, before, name)
    except Exception as error:  # whatever it is, the campaign has found it
        wrong.append(f"{type(error).__name__}: {error}")
    return wrong


def _wrong_state(root: Path, base: Path) -> list[str]:
    """Return what is wrong with the user's state, and what was left behind."""
    kept = ("drafts.jsonl", "labels.jsonl", "usage.jsonl")
    wrong = [
        f"{name} changed"
        for name in kept
        if (root / ".kbx" / name).read_bytes() != (base / ".kbx" / name).read_bytes()
    ]
    left = [path.name for path in root.rglob("*.kbx-edit")]
    left += [path.name for path in (root / ".kbx").iterdir() if path.name.startswith("index.")]
    return [*wrong, *(f"left behind: {name}" for name in left)]


def _wrong_journal(
    kb: KnowledgeBase, base: Path, is_written: bool, before: dict[str, bytes], name: str
) -> list[str]:
    root = kb.root
    said: list[str] = []
    records, earlier = entries(root, said.append), entries(base)
    wrong = [*said]
    if len(records) != len(earlier) + is_written:
        wrong.append(f"{len(records)} records in the journal, {len(earlier)} before")
    if is_written and name != "undo":
        kb.undo()
        if changed := differences(pages_of(root), before):
            wrong.append(f"undo did not restore {changed}")
    return wrong
