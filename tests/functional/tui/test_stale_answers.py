"""The search model with a gated engine: a stale answer never replaces a newer one."""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from hypothesis import example, given, settings
from hypothesis import strategies as st

from kbx_tui.api import KnowledgeBase
from kbx_tui.config import Settings
from kbx_tui.index.build.progress import IndexReport
from kbx_tui.search.evidence.evidence import Evidence, Scope
from kbx_tui.search.ranking.rank import Ranking, rank
from kbx_tui.search.request import Filters, SearchRequest, Tuning
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.explore.search_state import MODES, PRESETS, SearchState
from kbx_tui.tui.explore.view import ExploreView
from tests.session_host import RecordingHost
from tests.unit.search.building import components, evidence
from tests.waiting import until

Step = tuple[str, Any]
STEPS = st.one_of(
    st.tuples(st.just("query"), st.sampled_from(["a", "ab", "abc", "x", ""])),
    st.tuples(st.just("path"), st.sampled_from(["", "m", "n"])),
    st.tuples(st.just("mode"), st.sampled_from(MODES)),
    st.tuples(st.just("preset"), st.sampled_from(PRESETS)),
    st.tuples(st.just("alpha"), st.sampled_from([0.1, 0.5, 0.9])),
    st.tuples(st.just("undo"), st.none()),
    st.tuples(st.just("grow"), st.none()),
    st.tuples(st.just("begin"), st.none()),
    st.tuples(st.just("answer"), st.none()),
)


class GatedEngine:
    """Answers a retrieval only when the gate is opened for it."""

    root = Path("/kb")
    settings = Settings()
    untrusted = ()

    def __init__(self) -> None:
        self.gate = threading.Semaphore(0)
        self.waiting = threading.Event()
        """Set while a retrieval waits at the gate."""
        self.answered = self.version = self.read = 0

    def tuning(self, preset: str | None = None, **changes: Any) -> Tuning:
        return replace(Tuning.seed() if preset == "seed" else Tuning(), **changes)

    def is_indexed(self) -> bool:
        return True

    def reread_settings(self) -> None:
        pass

    def refresh(self) -> None:
        """Read the newest version of the index: a search alone may read an older one."""
        self.read = self.version

    def index(self, *_: object, **__: object) -> IndexReport:
        return cast(IndexReport, None)

    def watch(self, changed: object, *, stopped: threading.Event) -> None:
        pass

    def warm(self) -> None:
        pass

    def judgments(self) -> tuple[()]:
        return ()

    def count_scope(self, path: str) -> tuple[int, int]:
        return 0, 0

    def status(self) -> Any:
        class Counts:
            documents, entities, vector_share = 2, 0, 1.0
            stale, entities_outdated = (), False

        return Counts()

    def contents(self) -> Any:
        return SimpleNamespace(summary="", queries=(), busiest=())

    def retrieve(self, request: SearchRequest) -> Evidence:
        version = self.read
        self.waiting.set()
        self.gate.acquire()
        self.waiting.clear()
        answer = evidence(components([3.0, 1.0], [0.5, 0.4], request.query), fast=request.fast)
        self.answered += 1
        scope = Scope(request.path or "", Filters(), 2, 2)
        return replace(answer, scope=scope, generation=version)

    def rank(self, evidence: Evidence, tuning: Tuning) -> Ranking:
        return rank(evidence, tuning)

    def alpha_note(self, ranking: Ranking, limit: int) -> str:
        return ""

    def next_changes(self, ranking: Ranking, limit: int) -> tuple[None, None]:
        return None, None

    def close(self) -> None:
        pass


class StrictHost(RecordingHost):
    """Raises the errors that a session reports."""

    def show_error(self, text: str) -> None:
        raise AssertionError(text)


async def play(steps: Sequence[Step]) -> None:
    engine = GatedEngine()
    session = BaseSession(lambda: cast(KnowledgeBase, engine), StrictHost(), debounce=0.0)
    model = session.explore
    shown: list[tuple[ExploreView, SearchState]] = []
    """What a screen would show, and the search state at that moment."""

    def receive(is_new: bool) -> None:
        assert model.displayed.view is not None
        shown.append((model.displayed.view, model.state))

    async def reach_the_gate() -> None:
        """Wait until a retrieval, if one is to come, waits at the gate."""
        await until(lambda: engine.waiting.is_set() or not model.is_searching)

    model.on_answer = receive
    session.start()
    for name, value in steps:
        if name == "begin":
            await reach_the_gate()
        elif name == "answer":
            await reach_the_gate()
            if engine.waiting.is_set():
                answered = engine.answered
                engine.gate.release()
                await until(lambda count=answered: engine.answered > count)  # type: ignore[misc]
                await reach_the_gate()  # the answer has arrived, another retrieval may be due
        elif name == "grow":
            engine.version += 1
            session.refresh()
        elif name == "noted":
            await until(lambda: model.is_searching)
        elif name == "undo":
            model.undo()
        else:
            model.update(**{name: value})
        await asyncio.sleep(0)
    wanted = model.state
    engine.gate.release(1_000)
    for _ in range(4):  # until what followed from the last change of the index has begun
        await session.client.run(lambda engine: None)
    await until(lambda: not model.is_searching)
    found = model.displayed.evidence
    await session.stop()
    assert all(answers(view, state) for view, state in shown)
    # In the end, the answer to the last state is on the screen.
    assert not wanted.query or answers(shown[-1][0], wanted)
    assert found is None or found.generation == engine.version  # of the newest index


def answers(view: ExploreView, state: SearchState) -> bool:
    asked = (state.query, state.path, state.mode == "fast", state.preset)
    return asked == (view.query, view.scope.path, view.mode.name == "fast", view.mode.preset)


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
@example([("query", "a"), ("answer", None), ("grow", None)])
@example(
    [
        ("query", "a"),
        ("answer", None),
        ("grow", None),
        ("noted", None),
        ("query", "ab"),
        ("query", "a"),
    ]
)
@given(st.lists(STEPS, max_size=14))
def test_a_stale_answer_never_replaces_a_newer_one(steps: list[Step]) -> None:
    asyncio.run(play(steps))
