"""A page of results in a new file named after its query."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path

from kbx_tui.editing.output_file import not_written
from kbx_tui.editing.state_files import write_new
from kbx_tui.knowledge.folding import fold

SLUG_LENGTH = 40
_NO_LETTERS = re.compile(r"[^a-z0-9]+")


def write_named_page(folder: Path, query: str, page: str) -> Path:
    """Write a page to a new file in `folder`, and return its path. Raises WriteFault.

    The file is named after the query: `kbx-results-rollback-plan.html`, or if that exists
    `kbx-results-rollback-plan-2.html`.
    """
    name = f"kbx-results-{words_for_name(query)}"
    for number in count(1):
        target = folder / f"{name}{'' if number == 1 else f'-{number}'}.html"
        try:
            write_new(target, page.encode())
        except FileExistsError:
            continue
        except OSError as error:
            raise not_written(target, error) from error
        break
    return target


def words_for_name(query: str) -> str:
    """Return the words of a query for a file name: `rollback-plan`."""
    words = _NO_LETTERS.sub("-", fold(query)).strip("-")
    if len(words) > SLUG_LENGTH:
        words = words[: SLUG_LENGTH + 1].rpartition("-")[0] or words[:SLUG_LENGTH]
    return words or "search"
