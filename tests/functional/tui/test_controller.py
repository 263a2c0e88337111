"""The controller alone: whatever happens when, a stale answer never replaces a newer one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from hypothesis import example, given, settings
from hypothesis import strategies as st
from textual.message import Message

from kbx_tui.config import Settings
from kbx_tui.index.build.progress import IndexReport
from kbx_tui.search.evidence.evidence import Evidence, Scope
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.ranking.rank import Ranking, rank
from kbx_tui.tui.controller import Controller
from kbx_tui.tui.engine.engine import Engine
from kbx_tui.tui.explore.search_state import MODES, Asking
from kbx_tui.tui.explore.view import ExploreView
from kbx_tui.tui.messages import Ranked
from tests.unit.search.building import components, evidence

Step = tuple[str, Any]
STEPS = st.one_of(
    st.tuples(st.just("query"), st.sampled_from(["a", "ab", "abc", "x", ""])),
    st.tuples(st.just("path"), st.sampled_from(["", "m", "n"])),
    st.tuples(st.just("mode"), st.sampled_from(MODES)),
    st.tuples(st.just("alpha"), st.sampled_from([0.1, 0.5, 0.9])),
    st.tuples(st.just("undo"), st.none()),
    st.tuples(st.just("grow"), st.none()),
    st.tuples(st.just("begin"), st.none()),
    st.tuples(st.just("answer"), st.none()),
)


PATIENCE = 2_000
"""Milliseconds after which something that must happen counts as lost."""


class GatedEngine:
    """Answers a retrieval only when it is let."""

    root = Path("/kb")
    settings = Settings()

    def __init__(self) -> None:
        self.gate = threading.Semaphore(0)
        self.waiting = threading.Event()
        """Set while a retrieval waits at the gate."""
        self.answered = 0

    async def answer(self) -> None:
        """Let the retrieval at the gate go on, and its answer reach the event loop."""
        before = self.answered
        self.gate.release()
        while self.answered == before:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.002)

    def tuning(self) -> Tuning:
        return Tuning()

    def is_indexed(self) -> bool:
        return True

    def index(self, *_: object, **__: object) -> IndexReport:
        return cast(IndexReport, None)

    def watch(self, changed: object, *, stopped: threading.Event) -> None:
        pass

    def warm(self) -> None:
        pass

    def count_scope(self, path: str) -> tuple[int, int]:
        return 0, 0

    def status(self) -> Any:
        class Counts:
            documents, entities, vector_share = 2, 0, 1.0
            stale: tuple[()] = ()

        return Counts()

    def retrieve(
        self, query: str, *, path: str | None, fast: bool, pinned: Sequence[str]
    ) -> Evidence:
        self.waiting.set()
        self.gate.acquire()
        self.waiting.clear()
        found = evidence(components([3.0, 1.0], [0.5, 0.4], query), fast=fast)
        found = replace(found, scope=Scope(path or "", (), 2, 2, ""))
        self.answered += 1
        return found

    def rank(self, evidence: Evidence, tuning: Tuning) -> Ranking:
        return rank(evidence, tuning)

    def alpha_note(self, ranking: Ranking, limit: int) -> str:
        return ""

    def next_changes(self, ranking: Ranking, limit: int) -> tuple[None, None]:
        return None, None

    def close(self) -> None:
        pass


async def play(steps: Sequence[Step]) -> None:
    engine = GatedEngine()
    shown: list[tuple[ExploreView, Asking]] = []
    """What a screen would show, and what was asked for at that moment."""

    def hear(message: Message) -> None:
        if isinstance(message, Ranked) and message.generation == controller.generation:
            shown.append((message.view, controller.asking))

    async def begun() -> None:
        """Wait until the retrieval that is due, if any, stands at the gate."""
        for _ in range(PATIENCE):
            due = controller._timer is not None or controller._retrieving
            if not due or engine.waiting.is_set():
                return
            await asyncio.sleep(0.001)
        raise TimeoutError("a retrieval that was due never began")

    controller = Controller(lambda: cast(Engine, engine), hear, debounce=0.0)
    controller.start()
    for name, value in steps:
        if name == "begin":
            await begun()
        elif name == "answer":
            await begun()
            if engine.waiting.is_set():
                await engine.answer()
        elif name == "grow":
            controller._grown(frozenset())
        elif name == "undo":
            controller.undo()
        else:
            controller.ask(**{name: value})
        await asyncio.sleep(0)
    engine.gate.release(1_000)
    wanted = controller.asking
    for _ in range(PATIENCE):
        if not controller._retrieving and controller._timer is None:
            break
        await asyncio.sleep(0.001)
    await controller._thread.ask(lambda: None)  # whatever the engine still had to do is done
    await asyncio.sleep(0.002)
    await controller.stop()
    assert all(answers(view, asking) for view, asking in shown)
    # In the end, what was asked last is on the screen.
    assert not wanted.query or answers(shown[-1][0], wanted)


def answers(view: ExploreView, asking: Asking) -> bool:
    asked = (asking.query, asking.path, asking.mode == "fast")
    return asked == (view.query, view.scope.path, view.mode.name == "fast")


@settings(max_examples=60)
@example(
    [
        ("query", "a"),
        ("answer", None),
        ("query", "ab"),
        ("begin", None),
        ("query", "a"),
        ("answer", None),
    ]
)
@example(
    [
        ("query", "a"),
        ("answer", None),
        ("mode", "fast"),
        ("begin", None),
        ("mode", "two-pass"),
        ("answer", None),
    ]
)
@given(st.lists(STEPS, max_size=14))
def test_a_stale_answer_never_replaces_a_newer_one(steps: list[Step]) -> None:
    asyncio.run(play(steps))
