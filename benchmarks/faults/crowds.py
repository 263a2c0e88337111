"""Many at once: four writers of one page, and 200 files renamed under open programs."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.faults.campaign import differences, pages_of
from benchmarks.faults.victims import forked
from kbx_tui import KbxError, KnowledgeBase
from kbx_tui.editing.journal import entries
from tests.terminal.terminal import terminal

WRITERS, FACTS = 4, 5
"""Processes, and facts that each adds."""
RENAMED = 200
KBX = [sys.executable, "-m", "kbx_tui", "--kb"]
SECONDS = 90.0
"""Longest wait until renamed files are found."""


def write_at_once(base: Path, tries: int, _: random.Random) -> Iterator[list[str]]:
    """Let four processes add facts to one page: all are there, and undone they leave no trace."""
    with KnowledgeBase(base) as kb:
        kb.index()
    context = forked()
    page, before = "memory/people/alice-chen.md", pages_of(base)
    for number in range(tries):
        wrong, recorded = [], len(entries(base))
        names = [f"{number}-{writer}" for writer in range(WRITERS)]
        writers = [context.Process(target=_add, args=(str(base), name)) for name in names]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
            if writer.exitcode:
                wrong.append(f"a writer ended with {writer.exitcode}")
        text = (base / page).read_text(encoding="utf-8")
        lost = [fact for name in names for fact in _facts(name) if text.count(fact) != 1]
        wrong += [f"not once on the page: {fact}" for fact in lost]
        said: list[str] = []
        records = entries(base, said.append)
        wrong += said
        if len(records) - recorded != WRITERS * FACTS:
            wrong.append(f"{len(records) - recorded} new records of {WRITERS * FACTS} writes")
        with KnowledgeBase(base) as kb:
            kb.index()
            missing = [f for name in names for f in _facts(name) if not _is_known(kb, f)]
            wrong += [f"not indexed: {fact}" for fact in missing]
            for _record in range(WRITERS * FACTS):
                try:
                    kb.undo()
                except KbxError as error:
                    wrong.append(f"undo: {error}")
                    break
        if changed := differences(pages_of(base), before):
            wrong.append(f"undo did not restore {changed}")
        yield wrong


def _facts(name: str) -> list[str]:
    return [f"Owns the boat {name}-{number} of the harbour" for number in range(FACTS)]


def _add(root: str, name: str) -> None:
    with KnowledgeBase(root) as kb:
        for fact in _facts(name):
            kb.memory_add(fact, entity="Alice Chen", force=True)


def _is_known(kb: KnowledgeBase, text: str) -> bool:
    return any(fact.text == text for fact in kb.entities.facts(entity="Alice Chen"))


def rename_many(base: Path, tries: int, chance: random.Random) -> Iterator[list[str]]:
    """Rename 200 files at once while the app and `kbx jsonl` are open: both find the new names."""
    folder = base / "memory" / "many"
    folder.mkdir()
    for number in range(RENAMED):
        (folder / f"start-{number}.md").write_text(f"The quokka{number} sleeps.\n")
    quiet = subprocess.DEVNULL
    # In a process of its own: this one forks, and threads do not survive that.
    subprocess.run([*KBX, str(base), "index"], check=True, stdout=quiet, stderr=quiet)
    server = subprocess.Popen(
        [*KBX, str(base), "jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=quiet
    )
    try:
        with terminal([*KBX, str(base)], size=(140, 40)) as app:
            app.wait_for(" notes, ")  # it has started, and says what the base holds
            for number in range(tries):
                for file in sorted(folder.iterdir()):
                    page = file.stem.rpartition("-")[2]
                    file.rename(folder / f"turn{number}-{page}.md")
                page = str(chance.randrange(RENAMED))
                wanted = f"memory/many/turn{number}-{page}.md"
                wrong = _unknown_to_server(server, f"quokka{page}", wanted)
                app.press("escape", "/")
                seen = len(app.written)
                app.type(f"\x15quokka{page}")
                try:
                    app.wait_for(f"turn{number}", after=seen)
                except AssertionError as error:
                    wrong.append(f"the app does not show {wanted}: {str(error)[-300:]}")
                if app.process.poll() is not None or "Traceback" in app.text:
                    wrong.append("the app ended")
                yield wrong
            app.press("escape", "escape", "ctrl+q")
    finally:
        server.kill()
        server.communicate()
    with KnowledgeBase(base) as kb:
        kb.index()
        if kb.index().deleted or kb.count_newer_files():
            yield ["the index is not as the files"]


def _unknown_to_server(server: subprocess.Popen[bytes], word: str, wanted: str) -> list[str]:
    """Return whether the server does not find a page under its new name in time."""
    deadline = time.monotonic() + SECONDS
    found: list[str] = []
    while time.monotonic() < deadline:
        answer = _request(server, word)
        found = [hit["metadata"]["file_path"] for hit in answer["result"]["data"]["results"]]
        if wanted in found and not any("many/" in path and path != wanted for path in found[:1]):
            return []
        time.sleep(0.2)
    return [f"the server finds {found[:2]} instead of {wanted}"]


def _request(server: subprocess.Popen[bytes], word: str) -> dict[str, Any]:
    if server.stdin is None or server.stdout is None:
        raise RuntimeError("the server has no pipes")
    request = {"id": 1, "method": "kb.search", "params": {"query": word}}
    server.stdin.write(json.dumps(request).encode() + b"\n")
    server.stdin.flush()
    answer: dict[str, Any] = json.loads(server.stdout.readline())
    return answer
