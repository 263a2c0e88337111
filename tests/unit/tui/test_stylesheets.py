"""Stylesheets are found in a checkout and in a wheel, and use theme colours only."""

import re
from pathlib import Path

import pytest

from kbx_tui.tui.terminal_app import styles_folder, stylesheets


def test_stylesheets_are_beside_the_package_in_a_checkout(tmp_path: Path) -> None:
    assert styles_folder(tmp_path / "kbx_tui") == tmp_path / "styles"


def test_stylesheets_are_inside_the_package_in_a_wheel(tmp_path: Path) -> None:
    (tmp_path / "kbx_tui" / "styles").mkdir(parents=True)
    assert styles_folder(tmp_path / "kbx_tui") == tmp_path / "kbx_tui" / "styles"


@pytest.mark.parametrize("sheet", stylesheets(), ids=lambda sheet: Path(sheet).name)
def test_colours_are_theme_variables_only(sheet: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", Path(sheet).read_text(encoding="utf-8"), flags=re.DOTALL)
    for rule, value in re.findall(
        r"((?:[a-z-]+-)?(?:color|background)(?:-tint)?):\s*([^;]+);", text
    ):
        assert value.startswith("$"), f"{rule}: {value}"
    assert not re.search(r"#[0-9a-fA-F]{3,8}\s*;|rgb|hsl", text)
