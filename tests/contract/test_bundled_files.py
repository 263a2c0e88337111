"""Every bundled file that was made elsewhere is the one that its ORIGIN.md describes."""

import hashlib
import re

import pytest

from scripts.build_release import BUNDLED, ROOT, bundled_files

SCRIPTS = {
    "kbx_tui/embedding/bundled": ("build_model.py", r"\b[0-9a-f]{64}\b"),
    "kbx_tui/web/page/vendor": ("build_web_page.py", r"@xterm/[a-z0-9-]+@[0-9.]+"),
}
"""The script that made each folder, and how it names what it was made from."""


def test_each_file_is_listed_with_its_digest() -> None:
    assert bundled_files() == {
        file.relative_to(ROOT).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for folder in BUNDLED
        for file in (ROOT / folder).iterdir()
        if file.name != "ORIGIN.md"
    }


@pytest.mark.parametrize("folder", BUNDLED)
def test_origin_names_the_script_and_all_that_it_was_given(folder: str) -> None:
    script, pattern = SCRIPTS[folder]
    origin = (ROOT / folder / "ORIGIN.md").read_text("utf-8")
    sources = re.findall(pattern, (ROOT / "scripts" / script).read_text("utf-8"))
    assert f"`scripts/{script}` made this folder" in origin
    assert sources
    for source in sources:
        package, at, version = source.rpartition("@")
        assert (f"`{package}` {version}" if at else source) in origin
