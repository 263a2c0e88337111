"""Keys by which a query names a document in full: its path, id, title and date. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Literal

from kbx_tui.knowledge.folding import fold, name_key

ItemKind = Literal["path", "id", "title", "date"]

KINDS: tuple[ItemKind, ...] = ("path", "id", "title", "date", "title", "title")
"""What a key of each number is: of the last two, the number before a title, `INC-0117: the
outage`, and the words of a title without punctuation."""

EXTRA = 4
"""Number from which keys are further ones of a title."""


def item_key(text: str) -> str:
    """Return the key of a path, id, title or date; empty for text that names nothing."""
    return " ".join(fold(text).split()).strip("/")


def item_keys(path: str, document_id: str, title: str, date: str) -> Iterator[tuple[int, str]]:
    """Yield the keys of a document, each with its number in `KINDS`."""
    of_title = item_key(title)
    keys = (item_key(path), item_key(document_id), of_title, item_key(date))
    yield from ((number, key) for number, key in enumerate(keys) if key)
    before, colon, _ = title.partition(": ")
    if colon and any(map(str.isdigit, before)):
        yield EXTRA, item_key(before)
    words = name_key(title)  # `Plan: an evening` is found by `plan an evening`
    if " " in words and words != of_title:
        yield EXTRA + 1, words


def key_hash(key: str) -> int:
    """Return a 64-bit hash of a key: five million keys collide with probability 1e-6."""
    return int.from_bytes(blake2b(key.encode("utf-8", "replace"), digest_size=8).digest(), "little")
