"""The session of one open base, on a fake engine."""

import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from kbx_tui.api import KnowledgeBase
from kbx_tui.config import Settings
from kbx_tui.errors import ConfigError
from kbx_tui.search.request import SearchRequest, Tuning
from kbx_tui.tui.base_session import BaseSession
from tests.session_host import RecordingHost
from tests.waiting import until


class UncountableEngine:
    """An engine that can index and search, but not count; all connections share `base`."""

    root = Path("base")
    settings = Settings()
    untrusted = ()

    def __init__(self, base: SimpleNamespace) -> None:
        self._base = base

    def tuning(self, preset: str | None = None, **changes: Any) -> Tuning:
        return replace(Tuning(), **changes)

    def reread_settings(self) -> None:
        pass

    def judgments(self) -> tuple[()]:
        return ()

    def is_indexed(self) -> bool:
        return bool(self._base.is_indexed)

    def index(self, *_: object, **options: Any) -> object:
        self._base.is_indexed = True
        return SimpleNamespace(repaired=())

    def refresh(self) -> bool:
        return True

    def index_question(self) -> None:
        return None

    def status(self) -> object:
        raise OSError("a folder cannot be listed")

    def retrieve(self, request: SearchRequest) -> object:
        self._base.retrieved.append(request.query)
        raise OSError("no evidence here")

    def watch(self, *_: object, **options: Any) -> None:
        pass

    def close(self) -> None:
        pass


class RefusingEngine(UncountableEngine):
    """An engine that refuses every query, and says only later whether there is an index."""

    def is_indexed(self) -> bool:
        self._base.asked.set()
        return bool(self._base.may_answer.wait(60))

    def retrieve(self, request: SearchRequest) -> object:
        raise ConfigError(f"no {request.query}")


async def test_an_error_of_a_query_that_has_been_replaced_is_not_shown() -> None:
    base = SimpleNamespace(asked=threading.Event(), may_answer=threading.Event())
    host = RecordingHost()
    session = BaseSession(lambda: cast(KnowledgeBase, RefusingEngine(base)), host, debounce=0.0)
    base.may_answer.set()
    session.start()
    await until(lambda: session.explore.summary or host.errors)
    session.explore.set_searchable(True)
    host.errors.clear()
    base.may_answer.clear()
    base.asked.clear()
    session.explore.update(query="alice")
    await until(base.asked.is_set)
    session.explore.update(query="bob")
    base.may_answer.set()
    await until(lambda: "no bob" in host.errors)
    await session.stop()
    assert "no alice" not in host.errors


async def test_new_index_is_searched_even_if_it_cannot_be_counted() -> None:
    base, host = SimpleNamespace(is_indexed=False, retrieved=[]), RecordingHost()
    session = BaseSession(lambda: cast(KnowledgeBase, UncountableEngine(base)), host, debounce=0.0)
    session.start()
    await until(lambda: session.explore.summary)
    session.explore.update(query="alice")
    await until(lambda: base.retrieved)
    await session.stop()
    assert "OSError: a folder cannot be listed" in host.errors
