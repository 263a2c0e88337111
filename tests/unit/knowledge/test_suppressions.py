import json
import unicodedata
from pathlib import Path

import pytest

from kbx_tui.knowledge.vault import load_suppressions
from tests.unit.knowledge.building import write


def test_suppressions_file_of_kbx_is_read(tmp_path: Path) -> None:
    path = unicodedata.normalize("NFD", "memory/café.md")
    stored = json.dumps({path: ["Maria Novak", 5], "b.md": "Tom Reed", "c.md": None})
    write(tmp_path, {"memory/.kbx/entity-suppressions.json": stored})
    assert load_suppressions(tmp_path) == {
        "memory/café.md": ("Maria Novak", "5"),
        "b.md": ("Tom Reed",),
        "c.md": (),
    }


@pytest.mark.parametrize("stored", ["", "[1]", "{", "[" * 100_000, "\x00"])
def test_invalid_suppressions_file_is_ignored(tmp_path: Path, stored: str) -> None:
    write(tmp_path, {"memory/.kbx/entity-suppressions.json": stored})
    assert load_suppressions(tmp_path) == {}
