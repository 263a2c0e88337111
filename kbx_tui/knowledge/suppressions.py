"""Links that the user has suppressed, in the ``entity-suppressions.json`` of kbx.

Apart from `linking`, as watching files and reading the state of an index need no more than this.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kbx_tui.knowledge.decoding import decode
from kbx_tui.knowledge.fields import texts_of
from kbx_tui.knowledge.records import Problem
from kbx_tui.state_file import decode_json, read_regular_file

SUPPRESSION_FILES = ("memory/.kbx/entity-suppressions.json", ".kbx/entity-suppressions.json")


def load_suppressions(root: Path) -> dict[str, tuple[str, ...]]:
    """Return names or ids of entities, by the path of the document not to link to them.

    A missing or invalid file is left out; `suppression_problems` names it.
    """
    suppressed: dict[str, tuple[str, ...]] = {}
    for _, loaded in _read_files(root):
        if not isinstance(loaded, ValueError):
            for path, names in loaded.items():
                key = unicodedata.normalize("NFC", path)
                suppressed[key] = (*suppressed.get(key, ()), *texts_of(names))
    return suppressed


def suppression_problems(root: Path) -> list[Problem]:
    return [
        Problem(name, f"cannot be read: {loaded}", skipped=True)
        for name, loaded in _read_files(root)
        if isinstance(loaded, ValueError)
    ]


def _read_files(root: Path) -> Iterator[tuple[str, dict[str, Any] | ValueError]]:
    for name in SUPPRESSION_FILES:
        try:
            data = read_regular_file(root / name, follow_links=True)
            yield name, decode_json(decode(data)[0], dict[str, Any])
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            yield name, ValueError(error.strerror or error)
        except ValueError as error:
            yield name, error
