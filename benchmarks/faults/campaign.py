"""What every campaign does: ask questions, and judge the answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from kbx_tui import KbxError, KnowledgeBase
from kbx_tui.api import session
from kbx_tui.embedding.local import open_embedder

Campaign = Callable[[Path, int, random.Random], Iterator[list[str]]]
"""Plays a number of tries on a base that it may change; yields what failed in each try."""

QUESTIONS = ("what was said about the budget", "Alice Chen", "how long does the release take")

Answers = list[list[tuple[str, float, str]]]
"""Path, score and snippet of every result of each question."""


class Skipped(Exception):
    """A campaign that cannot be played on this machine; the message says why."""


def keep_model() -> None:
    """Load the model once in this process, not once per try."""
    vars(session)["open_embedder"] = lru_cache(open_embedder)


def ask(base: Path) -> tuple[Answers, list[str]]:
    """Return the answers to all questions, and everything that was said about the index."""
    said: list[str] = []
    with KnowledgeBase(base, notice=said.append) as kb:
        return answers_of(kb, said), said


def answers_of(kb: KnowledgeBase, said: list[str]) -> Answers:
    """Return the answers to all questions up to the first error, and add what was said."""
    answers: Answers = []
    try:
        for question in QUESTIONS:
            response = kb.search(question, limit=20)
            said += response.meta.notes
            answers.append([(r.path, round(r.score, 3), r.snippet) for r in response.results])
    except KbxError as error:
        said.append(str(error))
    return answers


def pages_of(base: Path) -> dict[str, bytes]:
    """Return the content of every page by its path."""
    pages = sorted((base / "memory").rglob("*.md"))
    return {page.relative_to(base).as_posix(): page.read_bytes() for page in pages}


def differences(pages: dict[str, bytes], wanted: dict[str, bytes]) -> str:
    """Return the paths of pages that are not as wanted, empty if all are."""
    paths = sorted(pages.keys() | wanted.keys())
    return ", ".join(path for path in paths if pages.get(path) != wanted.get(path))


def judged(action: Callable[[], Any]) -> str:
    """Return what is wrong with an action that may raise a KbxError but nothing else."""
    try:
        action()
    except KbxError:
        return ""
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{type(error).__name__}: {error}"
    return ""
