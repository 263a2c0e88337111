"""Times that lie: a clock set back or forward, and a rewrite with the size and time of before."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks.faults.campaign import ask
from kbx_tui import KnowledgeBase

DAY = 86_400.0
PAGE = "memory/notes/on-budget.md"
FIRST, SECOND = "# Notes on the budget\n\nA zebra.\n", "# Notes on the budget\n\nA koala.\n"


def set_clock_back(base: Path, tries: int, chance: random.Random) -> Iterator[list[str]]:
    """Move the times of pages, index and state by up to ten years either way.

    A changed page is noticed and indexed, however old or new it claims to be, and a page with
    another time but the old content is not reported as newer.
    """
    with KnowledgeBase(base) as kb:
        kb.index()
    usual = ask(base)[0]
    files = [path for path in base.rglob("*") if path.is_file()]
    for number in range(tries):
        wrong = []
        for file in chance.sample(files, len(files) // 2):
            if file.exists():
                moment = file.stat().st_mtime + chance.uniform(-3650, 3650) * DAY
                os.utime(file, (moment, moment))
        with KnowledgeBase(base) as kb:
            if newer := kb.count_newer_files():
                wrong.append(f"{newer} files reported as newer, none was changed")
            if ask(base)[0] != usual:
                wrong.append("other answers")
            kb.index()
            word = f"quokka{number}"
            page = base / f"memory/notes/on-{chance.choice(('hiring', 'kitchen'))}.md"
            content, status = page.read_bytes(), page.stat()
            page.write_bytes(content + f"\nThe {word}.\n".encode())
            moment = status.st_mtime + chance.uniform(-3650, 3650) * DAY
            os.utime(page, (moment, moment))
            wrong += _unnoticed(kb, word)
            page.write_bytes(content)
            os.utime(page, ns=(status.st_atime_ns, status.st_mtime_ns))
            kb.index(fast=True)
        yield wrong


def rewrite_with_same_stamp(base: Path, tries: int, _: random.Random) -> Iterator[list[str]]:
    """Rewrite a page with the same size and modification time, in place or by a rename."""
    page = base / PAGE
    page.write_text(FIRST, encoding="utf-8")
    with KnowledgeBase(base) as kb:
        kb.index()
        for number in range(tries):
            text = SECOND if number % 2 == 0 else FIRST
            status = page.stat()
            target = page if number % 4 < 2 else page.with_suffix(".new")
            target.write_text(text, encoding="utf-8")
            os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
            target.replace(page)
            yield _unnoticed(kb, "koala" if text == SECOND else "zebra")


def _unnoticed(kb: KnowledgeBase, word: str) -> list[str]:
    """Return whether a changed page is not counted as newer, or not found by its new word."""
    wrong = []
    if (newer := kb.count_newer_files()) != 1:
        wrong.append(f"{newer} files reported as newer, one was changed")
    kb.index(fast=True)
    kb.refresh()
    if not any(word in result.snippet for result in kb.search(word, fast=True).results):
        wrong.append(f"{word} is not found after a run")
    if kb.count_newer_files():
        wrong.append("still reported as newer after a run")
    return wrong
