"""Errors as programs hear of them: five kinds, whether to try again, one sentence. No traceback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import ValidationError

from kbx_tui import errors
from kbx_tui.tools.contracts.answers import ErrorCode, ErrorType

KINDS: dict[type[errors.KbxError], tuple[ErrorType, ErrorCode]] = {
    errors.EmbeddingAuth: ("AUTH", "permission_denied"),
    errors.EmbeddingRateLimited: ("RATE_LIMIT", "internal_error"),
    errors.EmbeddingUnavailable: ("TRANSIENT", "internal_error"),
    errors.EmbeddingError: ("INTERNAL", "internal_error"),
    errors.IndexForeign: ("INTERNAL", "internal_error"),
    errors.IndexFault: ("TRANSIENT", "internal_error"),
    errors.FileChanged: ("TRANSIENT", "internal_error"),
    errors.WriteFault: ("INTERNAL", "internal_error"),
    errors.ConfigError: ("VALIDATION", "invalid_request"),
    errors.NotFound: ("VALIDATION", "invalid_request"),
    errors.KbxError: ("INTERNAL", "internal_error"),
}
"""The nearest ancestor of an error decides."""

RETRYABLE: frozenset[ErrorType] = frozenset({"RATE_LIMIT", "TRANSIENT"})
LONGEST = 500
"""Characters of a message: an argument it quotes may be long."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed call."""

    type: ErrorType
    code: ErrorCode
    message: str

    @property
    def retryable(self) -> bool:
        return self.type in RETRYABLE

    def error_json(self) -> dict[str, Any]:
        """Return the `error` of every surface."""
        return {**asdict(self), "retryable": self.retryable}

    def envelope(self, tool: str) -> dict[str, Any]:
        """Return what a tool answers instead of data."""
        return {"ok": False, "error": self.error_json(), "meta": {"tool": tool}}


def failure_of(error: Exception, takes: Callable[[], dict[str, Any]] = dict) -> Failure:
    """Return what to tell about an error; `takes` returns the schema of the arguments."""
    if isinstance(error, ValidationError):
        return _invalid(error, takes)
    if isinstance(error, errors.KbxError):
        known = next(kind for kind in type(error).__mro__ if kind in KINDS)
        return Failure(*KINDS[known], message=_short(str(error)))
    return Failure(
        "INTERNAL", "internal_error", f"internal error ({type(error).__name__}); this is a bug"
    )


def _invalid(error: ValidationError, takes: Callable[[], dict[str, Any]]) -> Failure:
    """Return the first problem of the arguments; a missing one rules."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    missing = next((problem for problem in problems if problem["type"] == "missing"), None)
    problem = missing or problems[0]
    where = ".".join(map(str, problem["loc"])) or "the arguments"
    if missing:
        return Failure("VALIDATION", "missing_param", _short(f"{where} is missing"))
    if problem["type"] == "extra_forbidden":
        known = ", ".join(_names(takes(), problem["loc"]))
        reason = "is no argument of this tool" + (f"; there are {known}" if known else "")
    else:
        reason = problem["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return Failure(
        "VALIDATION", "invalid_request", _short(f"{where} {reason[:1].lower()}{reason[1:]}")
    )


def _names(schema: dict[str, Any], place: Sequence[int | str]) -> list[str]:
    """Return what is known at the place of a name that is not."""
    for part in place[:-1]:
        schema = schema.get("properties", {}).get(part, {})
    return list(schema.get("properties", ()))


def _short(text: str) -> str:
    """Return a message in one line that is safe to pass on as JSON."""
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
