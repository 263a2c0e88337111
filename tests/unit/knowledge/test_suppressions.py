import json
import unicodedata
from pathlib import Path

import pytest

from kbx_tui.knowledge.vault import load_suppressions, suppression_problems
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


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"private": '{"a": 1, "a": 2}', "memory/.kbx/x": ""})
    link = tmp_path / "memory/.kbx/entity-suppressions.json"
    link.symlink_to(tmp_path / "private")
    assert load_suppressions(tmp_path) == {}
    (problem,) = suppression_problems(tmp_path)
    assert problem.reason == "cannot be read: it is a symbolic link, not a regular file"
