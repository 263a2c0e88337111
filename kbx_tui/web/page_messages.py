"""The messages that pages and processes may exchange, checked in both directions.

A page sends JSON arrays in text frames, as pages of textual-serve do: `["stdin", TEXT]`,
`["resize", {"width": N, "height": N}]`, `["focus"]`, `["blur"]`, `["query", TEXT]`,
`["scheme", "light" | "dark"]`, `["ping"]`. Its first message is
`["open", {"width", "height", "session", "scheme", "query"}]`.
It receives text for its terminal in binary frames, and arrays `[TYPE, {...}]` in text frames.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from kbx_tui.safe_text import safe_line

Scheme = Literal["light", "dark"]
SCHEMES = ("light", "dark")
WIDEST, HIGHEST = 600, 300
TEXT_LENGTH = 2_000
"""Maximum length of a query, title or address that is passed on."""
NAME_LENGTH = 200
"""Maximum length of the name of a file offered for download."""
REPORT_LENGTH = 64
"""Number of earlier characters searched for a report; Textual recognises only shorter ones."""
_SIZE_REPORT = re.compile(r"\x1b\[48;[^t\x1b]{0,58}t")
"""A report of the window size, as some terminals send it; pages send `resize` messages instead."""
SESSION_ID = re.compile(r"[A-Za-z0-9_-]{43}")


class BadMessage(ValueError):
    """A page sent a message that the protocol does not allow."""


@dataclass(frozen=True, slots=True)
class Opening:
    """The first message of a page."""

    width: int
    height: int
    session: str | None
    """The session that the page had before, if any."""
    scheme: Scheme | None
    query: str


def parse_message(text: str) -> tuple[str, Any]:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadMessage("a message that is not JSON") from error
    match message:
        case [str(kind)]:
            return kind, None
        case [str(kind), value]:
            return kind, value
    raise BadMessage("a message that is not an array of a type and a value")


def parse_opening(text: str) -> Opening:
    match parse_message(text):
        case ("open", {"width": width, "height": height, **rest}):
            session, scheme, query = rest.get("session"), rest.get("scheme"), rest.get("query")
            known = isinstance(session, str) and SESSION_ID.fullmatch(session)
            return Opening(
                *_size(width, height),
                session=cast(str, session) if known else None,
                scheme=cast(Scheme, scheme) if scheme in SCHEMES else None,
                query=safe_line(query[:TEXT_LENGTH]) if isinstance(query, str) else "",
            )
    raise BadMessage("a first message that does not open a session")


def without_size_reports(before: str, text: str) -> str:
    """Return typed text without size reports, which Textual would believe.

    `before` is the text just before it, in which a report may begin.
    """
    while match := _SIZE_REPORT.search(before + text):
        start, end = max(match.start() - len(before), 0), match.end() - len(before)
        text = text[:start] + text[end:]
    return text


def message_for_app(kind: str, value: Any) -> dict[str, Any]:
    """Return the message for the app for one of the page, except keys. Raises BadMessage."""
    match kind, value:
        case "resize", {"width": width, "height": height}:
            width, height = _size(width, height)
            return {"type": "resize", "width": width, "height": height}
        case (("focus" | "blur"), None):
            return {"type": kind}
        case "query", str(query):
            return {"type": "kbx_query", "query": safe_line(query[:TEXT_LENGTH])}
        case "scheme", ("light" | "dark"):
            return {"type": "kbx_scheme", "scheme": value}
    raise BadMessage("a message of an unknown type")


def message_for_page(payload: bytes) -> str | None:
    """Return the text frame for a message of the app; None if the page may not receive it."""
    try:
        message = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    match message:
        case {"type": "kbx_page", "title": str(title), "query": str(query)}:
            return encode_for_page("page", title=_line(title), query=_line(query))
        case {"type": "kbx_copy", "text": str(text)}:
            return encode_for_page("copy", text=text)
        case {"type": "kbx_file", "name": str(name), "text": str(text)}:
            return encode_for_page("file", name=_file_name(name), text=text)
        case {"type": "open_url", "url": str(url)} if _is_web_address(url):
            return encode_for_page("link", url=url)
    return None


def encode_for_page(kind: str, **fields: Any) -> str:
    return json.dumps([kind, fields])


def _size(width: Any, height: Any) -> tuple[int, int]:
    if type(width) is int and type(height) is int and width > 0 and height > 0:
        return min(width, WIDEST), min(height, HIGHEST)
    raise BadMessage("a size that is not two positive numbers")


def _line(text: str) -> str:
    return safe_line(text)[:TEXT_LENGTH]


def _file_name(name: str) -> str:
    """Return a safe file name, without a path and not hidden."""
    return re.sub(r'[/\\:*?"<>|]', "_", safe_line(name)[:NAME_LENGTH]).lstrip(".") or "kbx"


def _is_web_address(url: str) -> bool:
    """Return whether the page may open a link: only http and https, without a user name."""
    if len(url) > TEXT_LENGTH or safe_line(url) != url or re.search(r"\s|\\", url):
        return False
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        )
    except ValueError:
        return False
