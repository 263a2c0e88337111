"""Every model and every file made elsewhere is the one that its ORIGIN.md or card describes."""

import hashlib
import re
from pathlib import Path

import pytest

from scripts.build_release import CARDS, ROOT, bundled_files

SCRIPTS = {
    "kbx_tui/embedding/bundled": ("build_model.py", r"\b[0-9a-f]{64}\b"),
    "kbx_tui/web/page/vendor": ("build_web_page.py", r"@xterm/[a-z0-9-]+@[0-9.]+"),
}
"""The script that made each folder, and how it names what it was made from."""


def test_each_file_is_listed_with_its_digest() -> None:
    listed = bundled_files()
    assert listed == {
        file.relative_to(ROOT).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for folder in {(ROOT / path).parent for path in listed}
        for file in folder.iterdir()
        if file.name not in CARDS
    }


def test_no_model_font_or_library_of_the_package_is_without_a_card() -> None:
    kinds = {Path(path).suffix for path in bundled_files()} - {"", ".json", ".css", ".txt"}
    assert kinds >= {".onnx", ".woff2", ".mjs"}
    files = (file for kind in kinds for file in (ROOT / "kbx_tui").rglob(f"*{kind}"))
    assert {file.relative_to(ROOT).as_posix() for file in files} <= bundled_files().keys()


@pytest.mark.parametrize("folder", SCRIPTS)
def test_origin_names_the_script_and_all_that_it_was_given(folder: str) -> None:
    script, pattern = SCRIPTS[folder]
    origin = (ROOT / folder / "ORIGIN.md").read_text("utf-8")
    sources = re.findall(pattern, (ROOT / "scripts" / script).read_text("utf-8"))
    assert f"`scripts/{script}` made this folder" in origin
    assert sources
    for source in sources:
        package, at, version = source.rpartition("@")
        assert (f"`{package}` {version}" if at else source) in origin
