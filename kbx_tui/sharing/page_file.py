"""Writing a page of results to a given file, or to a new one named after the query."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from stat import S_ISREG

from kbx_tui.editing.state_files import write_atomically, write_new
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.folding import fold

SLUG_LENGTH = 40
_NO_LETTERS = re.compile(r"[^a-z0-9]+")


def require_free(target: Path, *, overwrite: bool) -> None:
    """Raise WriteFault if `write_page` would refuse to write; for a check before searching."""
    try:
        kind = target.stat().st_mode
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise WriteFault(
                f"{target} was not written: there is no folder {target.parent}"
            ) from None
        return
    except OSError as error:
        raise _not_written(target, error) from error
    if not S_ISREG(kind):
        raise WriteFault(f"{target} is not a file; name a file for the page, or - for stdout")
    if not overwrite:
        raise _exists(target)


def write_page(target: Path, page: str, *, overwrite: bool) -> None:
    """Write a page atomically; without `overwrite`, only to a new file. Raises WriteFault."""
    require_free(target, overwrite=overwrite)
    try:
        if overwrite:
            write_atomically(target, page.encode())
        else:
            write_new(target, page.encode())
    except FileExistsError as error:
        raise _exists(target) from error
    except OSError as error:
        raise _not_written(target, error) from error


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
            raise _not_written(target, error) from error
        break
    return target


def words_for_name(query: str) -> str:
    """Return the words of a query for a file name: `rollback-plan`."""
    words = _NO_LETTERS.sub("-", fold(query)).strip("-")
    if len(words) > SLUG_LENGTH:
        words = words[: SLUG_LENGTH + 1].rpartition("-")[0] or words[:SLUG_LENGTH]
    return words or "search"


def _exists(target: Path) -> WriteFault:
    return WriteFault(f"{target} exists and was left as it is; --force replaces it")


def _not_written(target: Path, error: OSError) -> WriteFault:
    return WriteFault(f"{target} was not written: {error.strerror or error}")
