"""Calls a method by name: arguments validated, the answer or the failure as JSON.

A failure is one of five types, one sentence, no traceback. Loads no engine before a call.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from kbx_tui import errors
from kbx_tui.errors import NotFound
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.tools.answers import ErrorCode, ErrorType, notes_of
from kbx_tui.tools.methods import Method, available_methods, find_method, input_schema

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.drafts import Draft


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    json: dict[str, Any]
    """The answer of the tool, or the envelope of the failure."""
    failure: Failure | None = None


def call(
    kb: KnowledgeBase,
    name: str,
    params: Mapping[str, Any],
    *,
    allow_writes: bool = False,
    proposer: str | None = None,
) -> dict[str, Any]:
    """Call a method by name, `kb.search` or `kb_search`, and return its answer.

    With a `proposer`, the name of an agent, a write is not made but put in the inbox. The answer is
    the same as from every other surface. Raises KbxError, and pydantic's ValidationError for
    invalid arguments.
    """
    method = callable_method(name, allow_writes=allow_writes)
    if isinstance(method, Failure):
        raise NotFound(method.message)
    arguments = given = method.arguments.model_validate(params)
    reviews = method.writes and proposer is not None
    if reviews:
        given = arguments.model_copy(update={"dry_run": True})
    drafts: list[Draft] = []
    from kbx_tui.tools.handlers import HANDLERS, propose, proposed_draft
    from kbx_tui.tools.public_answers import answer_publicly  # loads the engine: not before a call

    def answer(public: KnowledgeBase) -> dict[str, Any]:
        with public.noting() as notices:
            made = HANDLERS[method.name](public, given)
            if reviews:
                drafts[:] = [proposed_draft(public, arguments, proposer or "")]
        _add_notes(made, notices)
        if method.name == "kb.capabilities":
            names = [available.name for available in available_methods(allow_writes=allow_writes)]
            made |= {"methods": names, "writes": allow_writes}
            made["review_gated"] = proposer is not None
        return made

    made = answer_publicly(kb, answer, dict(params))
    if reviews and not getattr(arguments, "dry_run", False):
        again = getattr(arguments, "force", False)
        known = [match["relation"] for match in made["matches"]]  # the user decides of the others
        if again or not {"exact", "duplicate"} & set(known):
            made["proposal"], said = propose(kb, drafts[0], again=again)
        else:
            said = "known, so not proposed: see matches; force proposes it anyway"
        made["hints"].append(said)
    for notes in notes_of(made):
        notes[:] = map(in_words_of_tools, notes)
    return made


def _add_notes(answer: dict[str, Any], notices: Sequence[str]) -> None:
    """Add what a person would have read meanwhile to the notes of an answer, or to its hints."""
    for notes in notes_of(answer)[:1]:
        notes += [notice for notice in notices if notice not in notes]


_COMMANDS = (
    (r"`kbx experts`", "kb_experts"),
    (r"; `kbx search --exact`[^;]*", ""),  # no tool that is listed does so
    (r"`kbx entity list`", "kb_search"),
    (r"`kbx memory list` shows.*", "kbx_memory_similar finds ids"),
    (r"`kbx status` shows.*", "kb_capabilities says what is indexed"),
    (r"; `kbx index` (updates|adds|applies)[^;]*", ""),  # a server does so by itself
    (r"(run )?`kbx index --full`[^;]*", "ask the user to rebuild the index"),
    (r"(run )?`kbx index`[^;]*", "ask the user to update the index"),
    (r"(run )?`kbx trust`[^;]*", "ask the user to trust the base"),
    (r"(run )?`kbx [^`]*`[^;]*", "ask the user"),
)
"""Patterns of what a message tells a person to run, and what it tells an agent instead."""


def in_words_of_tools(message: str) -> str:
    """Return a message with tools instead of commands, which an agent may not be able to run."""
    if "`kbx " not in message:
        return message
    for command, tool in _COMMANDS:
        message = re.sub(command, tool, message)
    return message


def answer_call(
    open_kb: Callable[[], KnowledgeBase],
    name: str,
    params: Mapping[str, Any],
    *,
    allow_writes: bool = False,
    proposer: str | None = None,
) -> Answer:
    method = callable_method(name, allow_writes=allow_writes)
    if isinstance(method, Failure):
        return failed_answer(name, method)
    try:
        return Answer(call(open_kb(), name, params, allow_writes=allow_writes, proposer=proposer))
    except Exception as error:
        failure = failure_of(error, partial(input_schema, method))
        if failure.is_bug:
            log.exception("call of %s failed", method.tool, exc_info=error)
        return failed_answer(name, failure)


def failed_answer(name: str, failure: Failure) -> Answer:
    method = find_method(name)
    meta = {"tool": method.tool if method else name}
    return Answer({"ok": False, "error": failure.error_json(), "meta": meta}, failure)


def callable_method(name: str, *, allow_writes: bool) -> Method | Failure:
    method = find_method(name)
    if method is None:
        available = available_methods(allow_writes=allow_writes)
        what = "method" if "." in name else "tool"
        names = ", ".join(each.name if what == "method" else each.tool for each in available)
        message = f"there is no {what} {name[:100]!r}; the {what}s are: {names}"
        return Failure("VALIDATION", "method_not_found", message)
    if method.writes and not allow_writes:
        message = f"{method.name} writes, which is off; start the server with --allow-writes"
        return Failure("VALIDATION", "permission_denied", message)
    return method


KINDS: dict[type[errors.KbxError], tuple[ErrorType, ErrorCode]] = {
    errors.EmbeddingAuth: ("AUTH", "permission_denied"),
    errors.EmbeddingRateLimited: ("RATE_LIMIT", "internal_error"),
    errors.EmbeddingUnavailable: ("TRANSIENT", "internal_error"),
    errors.EmbeddingError: ("INTERNAL", "internal_error"),
    errors.IndexForeign: ("INTERNAL", "internal_error"),
    errors.IndexDamaged: ("INTERNAL", "internal_error"),
    errors.IndexFault: ("TRANSIENT", "internal_error"),
    errors.FileChanged: ("TRANSIENT", "internal_error"),
    errors.UnfitText: ("VALIDATION", "invalid_request"),
    errors.WriteFault: ("INTERNAL", "internal_error"),
    errors.ConfigError: ("VALIDATION", "invalid_request"),
    errors.NotConfirmed: ("VALIDATION", "permission_denied"),
    errors.NotTrusted: ("VALIDATION", "permission_denied"),
    errors.NotFound: ("VALIDATION", "invalid_request"),
    errors.KbxError: ("INTERNAL", "internal_error"),
}
"""An error not listed here has the type and code of its nearest listed base class."""

MESSAGE_LENGTH = 500
_UNION_TAGS = ("constrained-str", "constrained-int")
"""Added by pydantic to the place of an argument that may be a text or a number."""


@dataclass(frozen=True, slots=True)
class Failure:
    type: ErrorType
    code: ErrorCode
    message: str
    is_bug: bool = False
    """True for an exception that is not a KbxError, which is logged."""
    retry_after_seconds: float | None = None
    """When to try again; None if that is unknown, or if it does not help."""

    @property
    def retryable(self) -> bool:
        return self.type in ("RATE_LIMIT", "TRANSIENT")

    def error_json(self) -> dict[str, Any]:
        return {
            "type": self.type,
            "code": self.code,
            "message": self.message,
            "retryable": self.retryable,
            "retry_after_seconds": self.retry_after_seconds,
        }


def failure_of(error: Exception, arguments_schema: Callable[[], dict[str, Any]] = dict) -> Failure:
    """Return the failure for an exception; `arguments_schema` makes the schema of the arguments."""
    if isinstance(error, ValidationError):
        return _invalid_arguments(error, arguments_schema)
    if isinstance(error, errors.KbxError):
        kind = next(base for base in type(error).__mro__ if base in KINDS)
        wait = getattr(error, "retry_after_seconds", None)
        message = one_line(in_words_of_tools(str(error)))
        return Failure(*KINDS[kind], message, retry_after_seconds=wait)
    message = f"internal error ({type(error).__name__}); this is a bug"
    return Failure("INTERNAL", "internal_error", message, is_bug=True)


def _invalid_arguments(
    error: ValidationError, arguments_schema: Callable[[], dict[str, Any]]
) -> Failure:
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    missing = next((problem for problem in problems if problem["type"] == "missing"), None)
    problem = missing or problems[0]
    parts = [str(part) for part in problem["loc"] if part not in _UNION_TAGS]
    location = ".".join(parts) or "the arguments"
    if missing:
        return Failure("VALIDATION", "missing_param", one_line(f"{location} is missing"))
    if problem["type"] == "extra_forbidden":
        names = ", ".join(_valid_names(arguments_schema(), problem["loc"]))
        reason = "is not an argument of this tool" + (f"; valid: {names}" if names else "")
    else:
        reason = problem["msg"].removeprefix("Input ").removeprefix("Value error, ")
    message = one_line(f"{location} {reason[:1].lower()}{reason[1:]}")
    return Failure("VALIDATION", "invalid_request", message)


def _valid_names(schema: dict[str, Any], location: Sequence[int | str]) -> list[str]:
    for part in location[:-1]:
        schema = schema.get("properties", {}).get(part, {})
    return list(schema.get("properties", ()))


def one_line(text: str) -> str:
    line = " ".join(replace_surrogates(text).split())
    return line if len(line) <= MESSAGE_LENGTH else f"{line[: MESSAGE_LENGTH - 1]}…"
