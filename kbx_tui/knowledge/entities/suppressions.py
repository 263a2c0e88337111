"""Links that the user has suppressed, in the ``entity-suppressions.json`` of kbx."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

from kbx_tui.knowledge.parsing.decoding import decode
from kbx_tui.knowledge.parsing.fields import texts_of

SUPPRESSION_FILES = ("memory/.kbx/entity-suppressions.json", ".kbx/entity-suppressions.json")


def load_suppressions(root: Path) -> dict[str, tuple[str, ...]]:
    """Return names or ids of entities, by the path of the document not to link to them.

    A missing or invalid file is ignored.
    """
    suppressed: dict[str, tuple[str, ...]] = {}
    for name in SUPPRESSION_FILES:
        try:
            loaded = json.loads(decode((root / name).read_bytes())[0])
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(loaded, dict):
            for path, names in loaded.items():
                key = unicodedata.normalize("NFC", path)
                suppressed[key] = (*suppressed.get(key, ()), *texts_of(names))
    return suppressed
