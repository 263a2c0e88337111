"""README and docs/ are correct: commands, links and the Python example."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.command_line import CHECKOUT

README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
PAGES = [
    *(CHECKOUT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    CHECKOUT / "benchmarks" / "README.md",
    *sorted((CHECKOUT / "docs").rglob("*.md")),
]


def name_of(page: Path) -> str:
    return page.relative_to(CHECKOUT).as_posix()


@cache
def links(page: Path) -> list[tuple[Path, str]]:
    """Return the targets of the relative links of a page, each with its anchor, "" for none."""
    found = re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", page.read_text(encoding="utf-8"))
    return [
        ((page.parent / path).resolve() if path else page, anchor)
        for path, anchor in found
        if "://" not in path
    ]


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub makes of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_quick_start_is_two_commands() -> None:
    section = README.partition("## Quick start\n")[2].partition("\n## ")[0]
    commands = [line.strip() for line in section.splitlines() if line.startswith("    ")]
    assert commands == [
        "pip install uv && uv run kbx-tui demo",
        "pip install uv && uv run pytest",
    ]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_relative_links_lead_to_existing_files_and_headings(page: Path) -> None:
    missing = [
        f"{target}#{anchor}"
        for target, anchor in links(page)
        if not target.exists() or (anchor and anchor not in anchors(target))
    ]
    assert missing == []


@pytest.mark.parametrize("folder", ["docs", "docs/decisions"])
def test_the_index_of_a_folder_links_every_page_in_it(folder: str) -> None:
    index = CHECKOUT / folder / "README.md"
    linked = {target for target, _ in links(index)}
    unlinked = set((CHECKOUT / folder).glob("*.md")) - linked - {index}
    assert sorted(map(name_of, unlinked)) == []


def test_python_example_of_the_readme_runs(
    demo_kb_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(code.replace('"~/notes"', repr(str(demo_kb_path))), {})
    paths = capsys.readouterr().out
    assert paths.count(".md") == 5


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_page_mentions_a_local_path_or_a_package_index(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"/home/|/root/|/Users/|index-url|/simple/?\b", text)
