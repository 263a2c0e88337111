"""Lines break without losing anything, and every piece fits."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, get_character_cell_size

from kbx_tui.tui.drawing.wrapping import _NARROW, pieces, shorten_start

texts = st.text(alphabet="ab /-é港🛳\u200d\ufe0f\u0301☀5", max_size=60)


@given(texts, st.integers(4, 24), st.integers(0, 2))
def test_every_piece_fits_and_only_spaces_are_in_none(text: str, width: int, indent: int) -> None:
    found = pieces(text, width, indent)
    assert all(cell_len(text[start:end]) <= width - indent for start, end in found[1:])
    assert cell_len(text[slice(*found[0])]) <= width
    edges = [0, *(edge for piece in found for edge in piece), len(text)]
    gaps = [text[end:start] for end, start in zip(edges[::2], edges[1::2], strict=True)]
    assert not "".join(gaps).strip(" ")
    assert edges == sorted(edges)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one two three", ["one two", "three"]),
        ("memory/notes/plan.md", ["memory/", "notes/", "plan.md"]),
        ("indivisible", ["indivisi", "ble"]),
        ("港のキオスク", ["港のキオ", "スク"]),
        ("see 港のキオスク", ["see 港の", "キオスク"]),
        ("one      two", ["one", "two"]),
        ("        deep", ["", "deep"]),
        ("", [""]),
    ],
)
def test_lines_break_where_a_person_would(text: str, shown: list[str]) -> None:
    assert [text[start:end] for start, end in pieces(text, 8)] == shown


def test_what_counts_as_narrow_is_narrow() -> None:
    narrow = [chr(code) for code in range(0x3000) if _NARROW.fullmatch(chr(code))]
    assert {get_character_cell_size(character) for character in narrow} == {1}


@given(texts, st.integers(1, 20))
def test_the_end_of_a_path_is_what_is_kept(text: str, width: int) -> None:
    shown = shorten_start(text, width)
    assert cell_len(re.sub("[\u200d\ufe0f]", "", shown)) <= width
    assert text.endswith(shown.removeprefix("…"))
