"""Text in terminal cells: fitted, shortened and wrapped."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, get_character_cell_size

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.lines import fit, is_narrow, shorten, shorten_start, wrap, wrap_ranges

words = st.text(alphabet="abc /·é港🛳", max_size=40)
widths = st.integers(2, 30)


@given(words, widths)
def test_fitted_text_takes_exactly_its_width(text: str, width: int) -> None:
    assert cell_len(fit(text, width)) == width


@given(words, widths)
def test_shortened_text_is_never_wider_than_requested(text: str, width: int) -> None:
    assert cell_len(shorten(text, width)) <= width


@given(words, widths)
def test_wrapped_lines_fit_and_lose_no_letters(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_a_path_breaks_after_a_slash_and_escape_sequences_are_blank() -> None:
    assert wrap("memory/meetings/2026-03-17-go-no-go.md", 30) == [
        "memory/meetings/",
        "2026-03-17-go-no-go.md",
    ]
    assert wrap("notes/2026-03-17-go-no-go.transcript.md", 18) == [
        "notes/",
        "2026-03-17-go-no-",
        "go.transcript.md",
    ]
    assert wrap("transcription.txt", 15) == ["transcription", ".txt"]
    assert fit(safe_line("\x1b[31m"), 4) == "    "


texts = st.text(alphabet="ab /-é港🛳\u200d\ufe0f\u0301☀5", max_size=60)


@given(texts, st.integers(4, 24), st.integers(0, 2))
def test_every_range_fits_and_gaps_hold_only_spaces(text: str, width: int, indent: int) -> None:
    ranges = wrap_ranges(text, width, indent)
    assert all(cell_len(text[start:end]) <= width - indent for start, end in ranges[1:])
    assert cell_len(text[slice(*ranges[0])]) <= width
    edges = [0, *(edge for text_range in ranges for edge in text_range), len(text)]
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
def test_lines_break_at_spaces_slashes_and_wide_characters(text: str, shown: list[str]) -> None:
    assert [text[start:end] for start, end in wrap_ranges(text, 8)] == shown


def test_narrow_characters_take_one_cell() -> None:
    printable = [chr(code) for code in range(0x20, 0x3000) if code != 0x7F]
    narrow = list(filter(is_narrow, printable))
    assert {get_character_cell_size(character) for character in narrow} == {1}


@given(texts, st.integers(1, 20))
def test_shortening_the_start_keeps_the_end(text: str, width: int) -> None:
    shown = shorten_start(text, width)
    assert cell_len(re.sub("[\u200d\ufe0f]", "", shown)) <= width
    assert text.endswith(shown.removeprefix("…"))
