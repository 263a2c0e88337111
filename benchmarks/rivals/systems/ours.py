"""The project: two passes as shipped, `flat`, `fast` (words only), `seed` (the plain formula)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kbx_tui import KnowledgeBase

DEPTH = 10
MODES: Mapping[str, Mapping[str, Any]] = {
    "": {},
    "flat": {"hierarchy": False},
    "fast": {"fast": True},
    "seed": {"preset": "seed"},
}


def answer(folder: Path, queries: list[Any], mode: str) -> Iterator[list[str]]:
    with KnowledgeBase(folder) as kb:
        kb.index()
        kb.warm()
        yield []
        for query in queries:
            found = kb.search(
                query["text"],
                limit=DEPTH,
                doc_types=("meeting", "note"),
                explain=False,
                **MODES[mode],
            )
            yield [result.path for result in found.results]
