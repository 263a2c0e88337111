"""Calls a method of the table: arguments checked, the answer or the failure as JSON."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from kbx_tui.errors import NotFound
from kbx_tui.tools.contracts.failures import Failure, failure_of
from kbx_tui.tools.contracts.schemas import input_schema
from kbx_tui.tools.servers.methods import BY_TOOL, METHODS, Method, offered

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase

log = logging.getLogger(__name__)

PATIENCE = 60.0
"""Seconds after which a caller is told to try again; the work goes on."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a call."""

    tool: str
    json: dict[str, Any]
    """What the tool answers, or the envelope of the failure."""
    failure: Failure | None = None


def call(
    kb: KnowledgeBase, name: str, params: Mapping[str, Any], *, allow_writes: bool = False
) -> dict[str, Any]:
    """Call a method by its name, `kb.search` or `kb_search`, and return its answer.

    The same answer as every other surface gives. Raises KbxError and pydantic's ValidationError.
    """
    method = find_method(name, allow_writes=allow_writes)
    if isinstance(method, Failure):
        raise NotFound(method.message)
    given = method.arguments.model_validate(params)
    answer = method.run(kb, given)
    if method.name == "kb.capabilities":
        names = [one.name for one in offered(allow_writes=allow_writes)]
        answer |= {"methods": names, "writes": allow_writes}
    return answer


def answered(
    open_kb: Callable[[], KnowledgeBase],
    name: str,
    params: Mapping[str, Any],
    *,
    allow_writes: bool = False,
) -> Answer:
    """Call a method and return its answer or its failure; nothing is raised."""
    method = find_method(name, allow_writes=allow_writes)
    if isinstance(method, Failure):
        tool = METHODS[name].tool if name in METHODS else name
        return Answer(tool, method.envelope(tool), method)
    try:
        return Answer(method.tool, call(open_kb(), name, params, allow_writes=allow_writes))
    except Exception as error:
        return failed(method, error)


def failed(method: Method, error: Exception) -> Answer:
    """Return the answer that tells of an error."""
    tool, failure = method.tool, failure_of(error, partial(input_schema, method))
    if failure.message.startswith("internal error"):
        log.exception("call of %s failed", tool, exc_info=error)
    return Answer(tool, failure.envelope(tool), failure)


class Workplace:
    """A knowledge base on a thread of its own, opened with the first call that needs it.

    Calls from any number of clients are answered one after the other.
    """

    def __init__(
        self,
        open_kb: Callable[[], KnowledgeBase],
        *,
        allow_writes: bool = False,
        patience: float = PATIENCE,
    ) -> None:
        self._open, self.allow_writes, self.patience = open_kb, allow_writes, patience
        self._kb: KnowledgeBase | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="kbx-tools")

    def start(self, name: str, params: Mapping[str, Any]) -> Future[Answer]:
        """Begin a call; its answer tells of failures too."""
        return self._thread.submit(
            answered, self._opened, name, params, allow_writes=self.allow_writes
        )

    def do(self, action: Callable[[KnowledgeBase], Any]) -> Future[Any]:
        """Begin something else that needs the knowledge base."""
        return self._thread.submit(lambda: action(self._opened()))

    def answer(self, name: str, params: Mapping[str, Any]) -> Answer:
        """Call a method and wait for its answer, as long as patience goes."""
        try:
            return self.start(name, params).result(self.patience)
        except TookTooLong:
            return self.too_late(METHODS[name].tool if name in METHODS else name)

    def too_late(self, tool: str) -> Answer:
        """Return the answer for a call that takes too long."""
        text = f"no answer within {self.patience:g} seconds; it is worked on, try again"
        failure = Failure("TRANSIENT", "internal_error", text)
        return Answer(tool, failure.envelope(tool), failure)

    def close(self) -> None:
        """Close the knowledge base once what was begun is done."""
        self._thread.submit(self._close)
        self._thread.shutdown(wait=True, cancel_futures=False)

    def _opened(self) -> KnowledgeBase:
        if self._kb is None:
            self._kb = self._open()
        return self._kb

    def _close(self) -> None:
        if self._kb is not None:
            self._kb.close()


def find_method(name: str, *, allow_writes: bool) -> Method | Failure:
    """Return the method of this name, or why it cannot be called."""
    method = METHODS.get(name) or BY_TOOL.get(name)
    if method is None:
        known = ", ".join(one.name for one in offered(allow_writes=allow_writes))
        text = f"there is no method {name[:100]!r}; these are: {known}"
        return Failure("VALIDATION", "method_not_found", text)
    if method.writes and not allow_writes:
        text = f"{method.name} writes, which is off; start the server with --allow-writes"
        return Failure("VALIDATION", "permission_denied", text)
    return method
