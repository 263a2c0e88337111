"""Damage to the files under `.kbx` outside the index: journal, drafts, labels, judgments, caches.

Afterwards every command goes on, every page has a content it had before, and nothing of the user's
is dropped: each line of a damaged file is still in it or in the file it was set aside as.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from benchmarks.faults.campaign import Answers, ask, judged, pages_of
from benchmarks.faults.file_damage import KINDS
from kbx_tui import KbxError, KnowledgeBase
from kbx_tui.drafting.drafts import new_draft
from kbx_tui.editing.journal import JournalEntry, begin, next_number, smallest_change
from kbx_tui.search.query_history import PastQuery
from kbx_tui.tui.app_state import AppState

CACHES = ("file-hashes.json", "writer.json")
"""Files that hold nothing of the user's."""
PENDING_PAGE = "memory/notes/on-network.md"
ADDED = "Plays the cello"
FULL_EVERY = 10
"""Tries of which one ends with a full run of the index, which reads little of these files."""


def damage_state(base: Path, tries: int, chance: random.Random) -> Iterator[list[str]]:
    """Damage each file in turn, in every way."""
    _fill(base)
    state, intact = base / ".kbx", base.with_name("intact")
    shutil.copytree(base, intact)
    pages = pages_of(base)
    with KnowledgeBase(intact) as kb:  # finishes the pending write
        allowed = {name: {data, pages_of(intact)[name]} for name, data in pages.items()}
        kb.index(full=True)  # the index of a copy is put aside
    usual = ask(intact)[0]
    shutil.rmtree(intact)
    shutil.copytree(base, intact)
    files = sorted(
        path.relative_to(state)
        for path in state.rglob("*")
        if path.is_file() and path.relative_to(state).parts[0] != "index"
    )
    kinds = list(KINDS)
    for number in range(tries):
        shutil.rmtree(base)
        shutil.copytree(intact, base)
        name, kind = files[number % len(files)], kinds[number // len(files) % len(kinds)]
        done = KINDS[kind](state / name, chance)
        damaged = (state / name).read_bytes() if (state / name).exists() else b""
        wrong = [*_unusable(base), *_wrong_pages(base, allowed)]
        wrong += _dropped(state, name, damaged)
        if number % FULL_EVERY == 0:
            wrong += _wrong_answers(base, usual)
        yield [f"{name.as_posix()}, {done}: {one}" for one in wrong]
    shutil.rmtree(intact)


def _fill(base: Path) -> None:
    """Write every file of state: three writes, one of them undone and one pending, and lines."""
    with KnowledgeBase(base) as kb:
        kb.index()
        kb.memory_add("Swims in the lake", entity="Carla Diaz", force=True)
        kb.pages.create("Dora Ek")
        kb.undo()
        kb.memory_add("Runs at dawn", entity="Bob Okafor", force=True)
        kb.drafts.save([new_draft("likes tea"), new_draft("plays chess")])
        kb.drafts.label("left", "right", same=True)
        kb.drafts.label("left", "wrong", same=False)
        kb.judgments.add("budget", "memory/notes/on-budget.md", 1)
        for name in ("budget", "release", "kitchen"):
            kb.documents.opened(f"memory/notes/on-{name}.md")
        kb.index()
    hidden = json.dumps({"memory/notes/on-budget.md": ["Nobody"]})
    (base / ".kbx/entity-suppressions.json").write_text(hidden, encoding="utf-8")
    app = AppState()
    app.open_base(base)
    app.remember_query(PastQuery("budget"))
    app.save_base()
    holder = json.dumps({"pid": 1, "host": "here", "since": 1.0})
    (base / ".kbx/writer.json").write_text(holder, encoding="utf-8")
    before = (base / PENDING_PAGE).read_bytes()
    change = smallest_change(PENDING_PAGE, before, before + b"\nOne line more.\n")
    begin(base, JournalEntry(next_number(base), "2026-03-17 09:41:05", "pending", (change,)))


def _unusable(base: Path) -> list[str]:
    """Use everything; return what failed. Only undo may refuse a damaged file."""
    with KnowledgeBase(base) as kb:
        needed: dict[str, Callable[[], object]] = {
            "status": kb.status,
            "search": lambda: kb.search("budget"),
            "drafts": kb.drafts.stored,
            "labels": kb.drafts.labelled,
            "judgments": kb.judgments.queries,
            "judging": lambda: kb.judgments.add("release", "memory/notes/on-budget.md", 2),
            "writes": kb.undoable,
            "opening": lambda: kb.documents.opened("memory/notes/on-budget.md"),
            "saving drafts": lambda: kb.drafts.save(
                [*kb.drafts.stored(), new_draft("grows roses")]
            ),
            "labelling": lambda: kb.drafts.label("one", "other", same=True),
            "app state": lambda: _use_app_state(base),
            "index": kb.index,
            "check": kb.check,
            "adding": lambda: kb.memory_add(ADDED, entity="Alice Chen", force=True),
            "undo": kb.undo,
        }
        wrong = []
        for name, action in needed.items():
            try:
                action()
            except KbxError as error:
                wrong.append(f"{name} was refused: {error}")
            except Exception as error:  # whatever it is, the campaign has found it
                wrong.append(f"{name} failed with {type(error).__name__}: {error}")
        wrong += filter(None, [judged(lambda: kb.undo(1))])
        with suppress(KbxError):
            kb.undo()  # of the write before, or of the pending one
    return wrong


def _use_app_state(base: Path) -> None:
    app = AppState()
    app.open_base(base)
    app.remember_query(PastQuery("release"))
    app.save_base()


def _wrong_pages(base: Path, allowed: dict[str, set[bytes]]) -> list[str]:
    """Return the pages that have a content they never had, or are gone, or new."""
    undone = _earlier(allowed)
    pages = pages_of(base)
    wrong = [
        f"{path} has a content it never had"
        for path in pages.keys() & allowed.keys()
        if pages[path] not in allowed[path] and pages[path] not in undone.get(path, ())
    ]
    if changed := sorted(pages.keys() ^ allowed.keys()):
        wrong.append(f"pages that came or went: {', '.join(changed)}")
    return wrong


def _earlier(allowed: dict[str, set[bytes]]) -> dict[str, set[bytes]]:
    """Return the contents that undo may restore: pages without the facts that were added."""
    facts = ("Swims in the lake", "Runs at dawn", ADDED)
    return {
        path: {_without(data, fact) for data in contents for fact in facts}
        for path, contents in allowed.items()
    }


def _without(data: bytes, fact: str) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join(line for line in lines if fact.encode() not in line)


def _dropped(state: Path, name: Path, damaged: bytes) -> list[str]:
    """Return whether anything of a damaged file is gone."""
    if name.name in CACHES or name.suffix == ".lock" or not damaged:
        return []
    file = state / name
    kept = [file, *file.parent.glob(f"{file.stem}.*.unreadable")]
    contents = [path.read_bytes() for path in kept if path.is_file()]
    if name.suffix == ".jsonl":
        lines = {line for content in contents for line in content.split(b"\n")}
        lost = [line for line in damaged.split(b"\n") if line.strip() and line not in lines]
        return [f"a line was dropped: {lost[0][:80]!r}"] if lost else []
    is_ours = name.name in ("begun.json", "app.json") and _is_whole(damaged)
    if damaged not in contents and not is_ours:
        return ["its content is gone"]
    return []


def _is_whole(data: bytes) -> bool:
    """Return whether a file could be used, and then was replaced or finished."""
    return not judged(lambda: json.loads(data))


def _wrong_answers(base: Path, usual: Answers) -> list[str]:
    """Return whether a full run fails, or the pages, as they were, give other answers."""
    try:
        with KnowledgeBase(base) as kb:
            kb.index(full=True)
        found = [[path for path, _, _ in answer] for answer in ask(base)[0]]
    except Exception as error:  # as above
        return [f"a full run failed with {type(error).__name__}: {error}"]
    wanted = [[path for path, _, _ in answer] for answer in usual]
    return [] if list(map(set, found)) == list(map(set, wanted)) else ["other documents are found"]
