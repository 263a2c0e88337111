"""Calls a method by name: arguments validated, the answer or the failure as JSON."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from kbx_tui.errors import EmbeddingError, IndexFault, KbxError, NotFound
from kbx_tui.tools.contracts.failures import Failure, failure_of, one_line
from kbx_tui.tools.servers.method_table import Method, available_methods, find_method
from kbx_tui.tools.servers.schemas import input_schema

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase

UNVERIFIED = "it failed, for a reason that could not be checked for what is redacted; see the log"

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
    arguments = method.arguments.model_validate(params)
    from kbx_tui.tools.redaction.passing_on import pass_on  # loads the engine: not before a call
    from kbx_tui.tools.servers.handlers import HANDLERS

    def answer() -> dict[str, Any]:
        with kb.noting() as notices:
            made = HANDLERS[method.name](kb, arguments)
        _add_notes(made, notices)
        if method.name == "kb.capabilities":
            names = [available.name for available in available_methods(allow_writes=allow_writes)]
            made |= {"methods": names, "writes": allow_writes}
        return made

    return pass_on(kb, method.answer, answer, params, writes=method.writes)


def _add_notes(answer: dict[str, Any], notices: Sequence[str]) -> None:
    """Add what a person would have read meanwhile to the notes of an answer, or to its hints."""
    places = [part for part in (answer, answer.get("data"), answer.get("meta")) if part]
    lists = [part[key] for key in ("notes", "hints") for part in places if key in part]
    for notes in lists[:1]:
        notes += [notice for notice in notices if notice not in notes]


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
    kb = None
    try:
        kb = open_kb()
        return Answer(method.tool, call(kb, name, params, allow_writes=allow_writes))
    except Exception as error:
        failure = failure_of(error, partial(input_schema, method))
        if failure.is_bug:
            log.exception("call of %s failed", method.tool, exc_info=error)
        elif kb is not None and isinstance(error, KbxError):
            failure = replace(failure, message=public_error(kb, error, params))
        return failed_answer(name, failure)


def public_error(kb: KnowledgeBase, error: KbxError, arguments: Any) -> str:
    """Return the message of an error as one line without what is redacted."""
    if isinstance(error, IndexFault | EmbeddingError):
        return one_line(str(error))  # about the index or the model, never about a page
    from kbx_tui.tools.redaction.passing_on import public_message  # loads the engine

    try:
        return one_line(public_message(kb, error, arguments))
    except Exception:  # what cannot be verified is not passed on, the index being broken for one
        log.exception("the message of an error could not be verified")
        return UNVERIFIED


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
        available = available_methods(allow_writes=allow_writes)
        if "." in name:
            what, names = "method", [method.name for method in available]
        else:
            what, names = "tool", [method.tool for method in available]
        message = f"there is no {what} {name[:100]!r}; the {what}s are: {', '.join(names)}"
        return Failure("VALIDATION", "method_not_found", message)
    if method.writes and not allow_writes:
        message = f"{method.name} writes, which is off; start the server with --allow-writes"
        return Failure("VALIDATION", "permission_denied", message)
    return method
