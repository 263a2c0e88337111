"""Errors as programs receive them: one of five types, one sentence, no traceback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from kbx_tui import errors
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.tools.contracts.answers import ErrorCode, ErrorType

KINDS: dict[type[errors.KbxError], tuple[ErrorType, ErrorCode]] = {
    errors.EmbeddingAuth: ("AUTH", "permission_denied"),
    errors.EmbeddingRateLimited: ("RATE_LIMIT", "internal_error"),
    errors.EmbeddingUnavailable: ("TRANSIENT", "internal_error"),
    errors.EmbeddingError: ("INTERNAL", "internal_error"),
    errors.IndexForeign: ("INTERNAL", "internal_error"),
    errors.IndexDamaged: ("INTERNAL", "internal_error"),
    errors.IndexFault: ("TRANSIENT", "internal_error"),
    errors.FileChanged: ("TRANSIENT", "internal_error"),
    errors.WriteFault: ("INTERNAL", "internal_error"),
    errors.ConfigError: ("VALIDATION", "invalid_request"),
    errors.NotConfirmed: ("VALIDATION", "permission_denied"),
    errors.NotTrusted: ("VALIDATION", "permission_denied"),
    errors.NotFound: ("VALIDATION", "invalid_request"),
    errors.KbxError: ("INTERNAL", "internal_error"),
}
"""An error not listed here has the type and code of its nearest listed base class."""

RETRYABLE: frozenset[ErrorType] = frozenset({"RATE_LIMIT", "TRANSIENT"})
MESSAGE_LENGTH = 500
"""Longest message, in characters: it may quote a long argument."""
_UNION_TAGS = ("constrained-str", "constrained-int")
"""Added by pydantic to the place of an argument that may be a text or a number."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed call."""

    type: ErrorType
    code: ErrorCode
    message: str
    is_bug: bool = False
    """True for an exception that is not a KbxError, which is logged."""
    retry_after_seconds: float | None = None
    """When to try again; None if that is unknown, or if it does not help."""

    @property
    def retryable(self) -> bool:
        return self.type in RETRYABLE

    def error_json(self) -> dict[str, Any]:
        """Return the `error` object of every surface."""
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
        return Failure(*KINDS[kind], one_line(str(error)), retry_after_seconds=wait)
    message = f"internal error ({type(error).__name__}); this is a bug"
    return Failure("INTERNAL", "internal_error", message, is_bug=True)


def _invalid_arguments(
    error: ValidationError, arguments_schema: Callable[[], dict[str, Any]]
) -> Failure:
    """Return a failure for the first missing argument, else for the first problem."""
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
    """Return the valid names beside the unknown one at `location`."""
    for part in location[:-1]:
        schema = schema.get("properties", {}).get(part, {})
    return list(schema.get("properties", ()))


def one_line(text: str) -> str:
    """Return a message as one line of valid, limited text."""
    line = " ".join(replace_surrogates(text).split())
    return line if len(line) <= MESSAGE_LENGTH else f"{line[: MESSAGE_LENGTH - 1]}…"
