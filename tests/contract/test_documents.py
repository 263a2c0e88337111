"""README and docs/ are correct: commands, links, examples, tools and failures."""

import json
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from kbx_tui.tools.answers import ErrorCode, ErrorType
from kbx_tui.tools.methods import METHODS
from tests.command_line import CHECKOUT, CommandLine

README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
PAGES = [
    *(CHECKOUT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
    CHECKOUT / "benchmarks" / "README.md",
    *sorted((CHECKOUT / "docs").rglob("*.md")),
]
DOCS = CHECKOUT / "docs"
PYTHON = re.findall(
    r"```python\n(.*?)```", (DOCS / "python.md").read_text(encoding="utf-8"), flags=re.DOTALL
)
MCP = (DOCS / "mcp.md").read_text(encoding="utf-8")
JSONL = (DOCS / "jsonl.md").read_text(encoding="utf-8")


def read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


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
        "pip install uv && uv run --no-dev kbx-tui demo",
        "pip install uv && uv run pytest",
    ]


def test_every_promise_names_tests_that_exist() -> None:
    page = read(DOCS / "promises.md")
    rows = re.findall(r"^\| [^|]+ \| (`test_.+) \|$", page, flags=re.MULTILINE)
    existing = {
        name
        for file in (CHECKOUT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", read(file))
    }
    assert len(rows) >= 15
    assert set(re.findall(r"`(test_\w+)`", page)) <= existing


def test_every_package_and_extra_says_what_it_is_for() -> None:
    project = tomllib.loads(read(CHECKOUT / "pyproject.toml"))["project"]
    packages = {re.split(r"[^\w-]", package)[0] for package in project["dependencies"]}
    extras = {f"| `{name}` |" for name in project["optional-dependencies"]}
    page = read(DOCS / "installing.md").lower()
    assert [name for name in packages | extras if name not in page] == []


def test_notice_names_every_folder_of_bundled_work() -> None:
    package, notice = CHECKOUT / "kbx_tui", read(CHECKOUT / "NOTICE")
    for file in (*package.rglob("ORIGIN.md"), *package.rglob("MODEL_CARD.md")):
        assert name_of(file.parent) in notice
    for named in re.findall(r"kbx_tui/\S*[A-Za-z]", notice):
        assert (CHECKOUT / named).exists(), named


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


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_python_examples_run(
    demo_copy: Path, capsys: pytest.CaptureFixture[str], code: str
) -> None:
    exec(code.replace('"~/notes"', repr(str(demo_copy))), {})
    assert capsys.readouterr().out.strip()


def test_client_configurations_are_valid(kbx: CommandLine) -> None:
    blocks = re.findall(r"```(json|toml)\n(.*?)```", MCP, flags=re.DOTALL)
    assert len(blocks) >= 5
    for language, text in blocks:
        config = json.loads(text) if language == "json" else tomllib.loads(text)
        ((_, servers),) = config.items()
        for server in servers.values():
            if "args" in server:
                assert server["command"] == "kbx"
                assert kbx(*server["args"], "--help").code == 0


def test_every_tool_method_type_and_code_of_failure_is_documented() -> None:
    for method in METHODS.values():
        assert f"| `{method.tool}` |" in MCP
        assert f"`{method.name}`" in JSONL
        if method.command:
            assert f"`kbx {' '.join(method.command)}` |" in MCP

    for kind in ErrorType.__args__:  # type: ignore[attr-defined]
        assert f"| `{kind}` |" in MCP
    for code in ErrorCode.__args__:  # type: ignore[attr-defined]
        assert f"| `{code}` |" in JSONL


def test_example_lines_are_valid_json() -> None:
    lines = re.findall(r"^    (\{.*\})$", JSONL + MCP, flags=re.MULTILINE)
    assert len(lines) >= 6
    for line in lines:
        json.loads(re.sub(r"(, )?\.\.\.", "", line))
