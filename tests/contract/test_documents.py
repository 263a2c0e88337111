"""README and docs/ are correct: commands, links and the Python example."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.command_line import CHECKOUT

README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
PAGES = [CHECKOUT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
PAGES += sorted((CHECKOUT / "docs").glob("*.md"))


def test_quick_start_is_two_commands() -> None:
    section = README.partition("## Quick start\n")[2].partition("\n## ")[0]
    commands = [line.strip() for line in section.splitlines() if line.startswith("    ")]
    assert commands == [
        "pip install uv && uv run kbx-tui demo",
        "pip install uv && uv run pytest",
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_point_to_existing_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


def test_the_readme_names_every_package_and_every_document() -> None:
    packages = {f"kbx_tui/{file.parent.name}/" for file in CHECKOUT.glob("kbx_tui/*/__init__.py")}
    assert sorted(package for package in packages if f"`{package}`" not in README) == []
    documents = {f"docs/{page.name}" for page in PAGES if page.parent.name == "docs"}
    assert sorted(page for page in documents if f"]({page})" not in README) == []


def test_python_example_of_the_readme_runs(
    demo_kb_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(code.replace('"~/notes"', repr(str(demo_kb_path))), {})
    mode, *results = capsys.readouterr().out.splitlines()
    assert mode.startswith("two_pass ['Alice Chen', 'Migration'")
    assert len(results) == 5 + 3


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_mentions_a_local_path_or_a_package_index(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"/home/|/root/|/Users/|index-url|/simple/?\b", text)
