import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.safe_text import safe_line, safe_lines


@given(st.text(st.characters()))
def test_safe_line_contains_no_terminal_controls(text: str) -> None:
    shown = safe_line(text)
    kinds = {unicodedata.category(character) for character in shown} - {"Cf"}
    assert kinds.isdisjoint({"Cc", "Cs", "Zl", "Zp"})
    assert {c for c in shown if unicodedata.category(c) == "Cf"} <= {"\u200c", "\u200d"}
    assert safe_line(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words, café, 移行 🚢", "plain words, café, 移行 🚢"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;https://example.com\x07link\x1b]8;;\x07", "link"),
        ("\x1b]0;title never ended", ""),
        ("\x9b31mred", "red"),
        ("tab\tand\nbreak", "tab and break"),
        ("\u202etxt.exe\u202c", "txt.exe"),
        ("bell\x07 back\x08", "bell\ufffd back\ufffd"),
        ("👩\u200d🔬", "👩\u200d🔬"),
    ],
    ids=["plain", "colour", "link", "open-end", "8-bit", "blanks", "bidi", "controls", "joiner"],
)
def test_safe_line_removes_or_replaces_controls(text: str, shown: str) -> None:
    assert safe_line(text) == shown


def test_safe_lines_keep_their_line_numbers() -> None:
    assert safe_lines("one\r\ntwo\rthree\n\tfour\x0cstill four") == [
        "one",
        "two",
        "three",
        "    four still four",
    ]
