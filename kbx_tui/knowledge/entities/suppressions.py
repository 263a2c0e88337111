"""Links a person has ruled out: ``entity-suppressions.json`` as kbx writes it."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

from kbx_tui.knowledge.parsing.decoding import decode
from kbx_tui.knowledge.parsing.fields import texts_of

PLACES = ("memory/.kbx/entity-suppressions.json", ".kbx/entity-suppressions.json")


def load_suppressions(root: Path) -> dict[str, tuple[str, ...]]:
    """Return names of entities by the path of the document they are not to be linked to.

    A missing or broken file rules out nothing.
    """
    suppressed: dict[str, tuple[str, ...]] = {}
    for place in PLACES:
        try:
            loaded = json.loads(decode((root / place).read_bytes())[0])
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(loaded, dict):
            for path, names in loaded.items():
                key = unicodedata.normalize("NFC", path)
                suppressed[key] = (*suppressed.get(key, ()), *texts_of(names))
    return suppressed
