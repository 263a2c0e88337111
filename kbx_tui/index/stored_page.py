"""Pages rebuilt from the index, for a machine that has the index of a base but not its files.

Parts of a page that the index does not keep, such as comments in its frontmatter, may mark text as
redacted. So pages with the word "redacted" are published verbatim, in the file `PAGES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from kbx_tui.config import Settings
from kbx_tui.errors import IndexDamaged
from kbx_tui.index.excluded_files import excluded_files
from kbx_tui.index.store import Store, translate_errors
from kbx_tui.knowledge.decoding import content_hash, decode
from kbx_tui.knowledge.redaction import may_hold_mark
from kbx_tui.knowledge.vault import list_files, read_page
from kbx_tui.state_file import open_regular_file, replace_file

PAGES = "PAGES"
STORED_PAGE_COLUMNS = ("frontmatter", "body", "body_line")
FENCE = "---"


def stored_page(row: Mapping[str, Any]) -> bytes:
    """Return a page with a document's properties, and its body on the same lines as in the file."""
    room, body = int(row["body_line"]) - 3, str(row["body"])
    if room < 1:
        return ("\n" * (room + 2) + body).encode()
    properties = msgspec.json.decode(row["frontmatter"], type=dict[str, Any])
    lines = [f"{_json(name)}: {_json(value)}" for name, value in properties.items()]
    if len(lines) > room:
        lines = [str(row["frontmatter"])]  # JSON is valid YAML
    lines += [""] * (room - len(lines))
    return "\n".join([FENCE, *lines, FENCE, body]).encode()


def write_marked_pages(root: Path, store: Store, settings: Settings) -> None:
    """Write the file `PAGES` of an index: the indexed pages with the word "redacted", by path.

    A page that changed since it was indexed is stored empty. Raises IndexFault.
    """
    files, marked = list_files(root, excluded_files(root, settings.index)), dict[str, bytes]()
    for path, indexed_hash in store.mapping("documents", "path", "content_hash").items():
        data = b""
        with suppress(OSError, KeyError):
            data = read_page(Path(files[path]), path)
        if content_hash(data) != indexed_hash:
            marked[path] = b""
        elif may_hold_mark(decode(data)[0]):
            marked[path] = data
    encoded = msgspec.msgpack.encode(dict(sorted(marked.items())))
    with translate_errors(f"write {PAGES}", store.uri):
        replace_file(Path(store.uri) / PAGES, encoded)


class MarkedPages:
    def __init__(self, store: Store) -> None:
        file = Path(store.uri) / PAGES
        try:
            with open_regular_file(file) as source:
                self.pages = msgspec.msgpack.decode(source.read(), type=dict[str, bytes])
        except (OSError, ValueError, RecursionError) as error:  # one of msgspec is a ValueError
            raise IndexDamaged(f"{file} cannot be read; it is fetched again") from error


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
