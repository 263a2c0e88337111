"""What is asked about a base: whether to trust it, to index so much, and to use its topics."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App

from kbx_tui.errors import KbxError
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.bases import Bases
from kbx_tui.tui.navigator import Navigator

if TYPE_CHECKING:
    from kbx_tui.index.build.new_files import IndexQuestion
    from kbx_tui.trust.trust_requests import TrustRequest


class BaseQuestions:
    """Shows the questions over the app, and acts on the answers."""

    def __init__(
        self,
        app: App[Any],
        navigator: Navigator,
        bases: Bases,
        *,
        show_error: Callable[[str], object],
        on_trust: Callable[[Path], Awaitable[object]],
    ) -> None:
        """`on_trust` is called with the root of a base that the user has come to trust."""
        self._app, self._navigator, self._bases = app, navigator, bases
        self._show_error, self._on_trust = show_error, on_trust

    async def ask_for_trust(self, root: Path) -> None:
        """Ask whether the base at `root` may do what its kbx.toml asks for, if it asks."""
        if requests := await asyncio.to_thread(self._bases.questions, root):
            from kbx_tui.tui.shell.trust_screen import TrustQuestion

            question = TrustQuestion(str(root), requests, self._navigator)
            self._app.push_screen(question, partial(self._take_trust, root, requests))

    def ask_to_index(self, question: IndexQuestion, answer: Callable[[bool], object]) -> None:
        """Ask whether to index that much; `answer` receives whether the user says so."""
        from kbx_tui.tui.indexing.index_question_screen import ConfirmIndexing

        def take(confirmed: bool | None) -> None:
            answer(bool(confirmed))

        screen = ConfirmIndexing(question, self._navigator)
        self._app.call_later(self._app.push_screen, screen, take)

    def ask_for_entities(
        self, sentence: str, names: Sequence[str], answer: Callable[[bool], object]
    ) -> None:
        """Ask whether to use as entities what `sentence` counts; `answer` receives the answer.

        `names` are lines with the most frequent ones.
        """
        from kbx_tui.tui.shell.entities_screen import EntitiesQuestion

        def take(wanted: bool | None) -> None:
            answer(bool(wanted))

        screen = EntitiesQuestion(sentence, names, self._navigator)
        self._app.call_later(self._app.push_screen, screen, take)

    async def _take_trust(
        self, root: Path, requests: Sequence[TrustRequest], allowed: bool | None
    ) -> None:
        try:
            await asyncio.to_thread(self._bases.answer, root, requests, allowed=bool(allowed))
        except KbxError as error:
            self._show_error(safe_line(str(error)))
        else:
            if allowed:
                await self._on_trust(root)
