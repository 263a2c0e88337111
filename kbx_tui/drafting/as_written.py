"""What matches look like in their files: a merge begins from that, not from what it reads like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from kbx_tui.drafting.checks import DraftCheck, DraftMatch
from kbx_tui.editing.fact_edits import texts_as_written
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.facts.fact_line import read_fact_line


def with_written(
    checks: Sequence[DraftCheck], read: Callable[[str], bytes | None]
) -> list[DraftCheck]:
    """Return checks whose matches on the page of their own entity have `written` filled in.

    `read` tells what a file holds. A page that is gone or cannot be read leaves it empty.
    """
    pages: dict[str, dict[tuple[int, str], str]] = {}

    def look(match: DraftMatch) -> DraftMatch:
        known = match.known
        if not match.is_own or known.fact_id is None:
            return match
        if known.source_path not in pages:
            pages[known.source_path] = _texts(known.source_path, read)
        text = pages[known.source_path].get((known.line, known.text), "")
        return replace(match, written=text if read_fact_line(text).text == known.text else "")

    return [replace(one, matches=tuple(map(look, one.matches))) for one in checks]


def _texts(path: str, read: Callable[[str], bytes | None]) -> dict[tuple[int, str], str]:
    try:
        data = read(path)
        return texts_as_written(path, data) if data is not None else {}
    except WriteFault:
        return {}
