"""Paths are completed as in a shell: one level at a time, folders first."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.path_filter import complete
from tests.unit.index.paths.reference_globs import trees

ROOT = Path("/base")
TREE = sorted(
    [
        "memory/README.md",
        "memory/meetings/2026/01/a.md",
        "memory/meetings/2026/03/b.md",
        "memory/mentors.md",
        "memory/notes[1]/a.md",
        "memory/people-ops/x.md",
        "memory/people/alice.md",
        "memory/people/bob.md",
        "top.md",
    ]
)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("", ["memory/", "top.md"]),
        ("m", ["memory/"]),
        ("memory", ["memory/"]),
        ("memory/me", ["memory/meetings/", "memory/mentors.md"]),
        ("memory/people", ["memory/people-ops/", "memory/people/"]),
        ("memory/people/", ["memory/people/alice.md", "memory/people/bob.md"]),
        ("memory/meetings/2026/", ["memory/meetings/2026/01/", "memory/meetings/2026/03/"]),
        ("./memory/n", ["./memory/notes[1]/"]),
        ("/base/t", ["/base/top.md"]),
        ("memory/x/../people/a", ["memory/x/../people/alice.md"]),
        ("memory/notes[1]/", ["memory/notes[1]/a.md"]),
        ("nowhere/", []),
        ("Memory", []),
        ("../", []),
        ("/elsewhere/", []),
    ],
)
def test_a_typed_path_is_completed_by_one_level(typed: str, expected: list[str]) -> None:
    assert complete(TREE, typed, ROOT, 20) == tuple(expected)


def test_completions_are_limited() -> None:
    assert complete(TREE, "memory/", ROOT, 3) == (
        "memory/meetings/", "memory/notes[1]/", "memory/people-ops/",
    )  # fmt: skip


@given(trees, st.data())
def test_any_prefix_of_a_path_has_a_completion(tree: list[str], data: st.DataObject) -> None:
    tree = [path for path in tree if path == path.strip() and "//" not in path]
    if not tree:
        return
    path = data.draw(st.sampled_from(tree))
    typed = path[: data.draw(st.integers(0, len(path)))]
    completions = complete(tree, typed, ROOT, 100)
    assert all(text.startswith(typed) for text in completions)
    assert any(
        path == text or (text.endswith("/") and path.startswith(text)) for text in completions
    )
    assert all("/" not in text[len(typed) :].rstrip("/") for text in completions)
