"""Arguments as valid text."""

from __future__ import annotations

from typing import overload


@overload
def plain_text(argument: str) -> str: ...
@overload
def plain_text(argument: None) -> None: ...


def plain_text(argument: str | None) -> str | None:
    """Return an argument as valid text: bytes that are none arrive as lone surrogates."""
    if argument is None:
        return None
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
