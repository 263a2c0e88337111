"""Calls a method by name: arguments validated, the answer or the failure as JSON."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from kbx_tui.errors import NotFound
from kbx_tui.tools.contracts.failures import Failure, failure_of
from kbx_tui.tools.servers.method_table import Method, available_methods, find_method
from kbx_tui.tools.servers.schemas import input_schema

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a call."""

    tool: str
    json: dict[str, Any]
    """The answer of the tool, or the envelope of the failure."""
    failure: Failure | None = None


def call(
    kb: KnowledgeBase, name: str, params: Mapping[str, Any], *, allow_writes: bool = False
) -> dict[str, Any]:
    """Call a method by name, `kb.search` or `kb_search`, and return its answer.

    The answer is the same as from every other surface. Raises KbxError, and pydantic's
    ValidationError for invalid arguments.
    """
    method = callable_method(name, allow_writes=allow_writes)
    if isinstance(method, Failure):
        raise NotFound(method.message)
    from kbx_tui.tools.servers.handlers import HANDLERS  # loads the engine: not before a call

    answer = HANDLERS[method.name](kb, method.arguments.model_validate(params))
    if method.name == "kb.capabilities":
        names = [available.name for available in available_methods(allow_writes=allow_writes)]
        answer |= {"methods": names, "writes": allow_writes}
    return answer


def answer_call(
    open_kb: Callable[[], KnowledgeBase],
    name: str,
    params: Mapping[str, Any],
    *,
    allow_writes: bool = False,
) -> Answer:
    """Call a method and return its answer or its failure; raises nothing."""
    method = callable_method(name, allow_writes=allow_writes)
    if isinstance(method, Failure):
        return failed_answer(name, method)
    try:
        return Answer(method.tool, call(open_kb(), name, params, allow_writes=allow_writes))
    except Exception as error:
        failure = failure_of(error, partial(input_schema, method))
        if failure.is_bug:
            log.exception("call of %s failed", method.tool, exc_info=error)
        return failed_answer(name, failure)


def failed_answer(name: str, failure: Failure) -> Answer:
    """Return the answer of a method or tool for a failed call."""
    method = find_method(name)
    tool = method.tool if method else name
    envelope = {"ok": False, "error": failure.error_json(), "meta": {"tool": tool}}
    return Answer(tool, envelope, failure)


def callable_method(name: str, *, allow_writes: bool) -> Method | Failure:
    """Return the method with this name, or why it cannot be called."""
    method = find_method(name)
    if method is None:
        names = ", ".join(method.name for method in available_methods(allow_writes=allow_writes))
        message = f"there is no method {name[:100]!r}; the methods are: {names}"
        return Failure("VALIDATION", "method_not_found", message)
    if method.writes and not allow_writes:
        message = f"{method.name} writes, which is off; start the server with --allow-writes"
        return Failure("VALIDATION", "permission_denied", message)
    return method
