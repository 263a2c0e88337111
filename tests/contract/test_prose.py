"""Prose is plain English: sources, documents and help contain none of the words in prose_rules."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from kbx_tui.cli.main import kbx
from tests.command_line import CHECKOUT
from tests.contract.prose_rules import MEASUREMENT, RULES

FOLDERS = ("kbx_tui", "tests", "benchmarks", "scripts")
SOURCES = sorted(file for folder in FOLDERS for file in (CHECKOUT / folder).rglob("*.py"))
PAGES = sorted(
    page
    for page in (*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").rglob("*.md"),
                 *(CHECKOUT / "benchmarks").glob("*.md"))
)  # fmt: skip
EXEMPT = {"prose_rules.py"}
CODE = re.compile(r"``[^`]*``|`[^`]*`")

_RULES = [(re.compile(pattern, re.IGNORECASE), better) for pattern, better in RULES]
_MEASUREMENT = re.compile(MEASUREMENT)


def find_faults(lines: Iterable[tuple[int, str]]) -> list[str]:
    """Return a sentence for each forbidden word in numbered lines; inline code is skipped."""
    faults = []
    for number, line in lines:
        text = CODE.sub("x", line)
        for pattern, better in _RULES:
            if match := pattern.search(text):
                faults.append(f"line {number}: {match.group()!r}; better: {better}")
    return faults


@cache
def docstrings_and_comments(file: Path) -> list[tuple[int, str]]:
    """Return (line number, line) of all docstrings and comments of a module."""
    source, found = file.read_text("utf-8"), list[tuple[int, str]]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            text = node.value.value
            if isinstance(text, str):
                found += enumerate(text.splitlines(), node.value.lineno)
    if "#" in source:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                found.append((token.start[0], token.string))
    return found


def prose_of_page(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line number, line) of a markdown page, without code blocks."""
    in_fence = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            in_fence = not in_fence
        elif not in_fence and not line.startswith("    "):
            yield number, line


def help_of(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    """Yield (command, help text) of a command, its options and its subcommands."""
    yield name, command.help or ""
    yield name, command.short_help or ""
    for parameter in command.params:
        yield name, getattr(parameter, "help", None) or ""
    for child, sub in getattr(command, "commands", {}).items():
        yield from help_of(sub, f"{name} {child}")


def name_of(file: Path) -> str:
    return file.relative_to(CHECKOUT).as_posix()


def test_sources_use_plain_english() -> None:
    faults = {
        name_of(file): found
        for file in SOURCES
        if file.name not in EXEMPT and (found := find_faults(docstrings_and_comments(file)))
    }
    assert faults == {}


def test_no_docstring_or_comment_of_the_package_holds_a_measurement() -> None:
    faults = [
        f"{name_of(file)}:{number}: {line.strip()}"
        for file in SOURCES
        if file.is_relative_to(CHECKOUT / "kbx_tui")
        for number, line in docstrings_and_comments(file)
        if _MEASUREMENT.search(CODE.sub("x", line))
    ]
    assert faults == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages_use_plain_english(page: Path) -> None:
    assert find_faults(prose_of_page(page.read_text("utf-8"))) == []


def test_help_uses_plain_english() -> None:
    faults = {
        name: found
        for name, text in help_of(kbx, "kbx")
        if (found := find_faults(enumerate(text.splitlines(), 1)))
    }
    assert faults == {}


def test_test_names_use_plain_english() -> None:
    faults = [
        f"{name_of(file)}: {name}: {better}"
        for file in SOURCES
        if file.name.startswith("test_")
        for name in re.findall(r"def (test_\w+)", file.read_text("utf-8"))
        for pattern, better in _RULES
        if pattern.search(name.replace("_", " "))
    ]
    assert faults == []


def test_every_experiment_named_in_a_docstring_is_a_row_of_the_quality_page() -> None:
    page = (CHECKOUT / "docs/quality.md").read_text("utf-8")
    rows = {line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")}
    named = {
        name
        for file in SOURCES
        if file.is_relative_to(CHECKOUT / "kbx_tui")
        for phrase in re.findall(
            r'experiments?\s((?:"[^"]+"(?:,| and)?\s?)+)', " ".join(file.read_text("utf-8").split())
        )
        for name in re.findall(r'"([^"]+)"', phrase)
    }
    assert named <= rows, sorted(named - rows)
