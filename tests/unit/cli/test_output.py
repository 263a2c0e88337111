from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.cli.output import json_text, padded

CONTROLS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F))]


@given(st.text(st.characters()))
def test_json_round_trips(text: str) -> None:
    assert json.loads(json_text([text])) == [text]


@pytest.mark.parametrize("character", CONTROLS, ids=lambda character: f"U+{ord(character):04X}")
def test_json_escapes_terminal_controls(character: str) -> None:
    shown = json_text({"snippet": f"a{character}b"})
    assert character not in shown.replace("\n", "")
    assert json.loads(shown) == {"snippet": f"a{character}b"}


def test_json_leaves_letters_of_all_scripts_unescaped() -> None:
    assert "Jérôme 移行 🚢" in json_text(["Jérôme 移行 🚢"])


def test_json_prints_a_span_on_one_line() -> None:
    data = {"matches": [[2, 6], [61, 65]], "snippet": "[\n  1,\n  2\n]"}
    assert '"matches": [\n    [2, 6],\n    [61, 65]\n  ]' in json_text(data)
    assert json.loads(json_text(data)) == data


def test_json_with_a_lone_surrogate_can_be_encoded() -> None:
    json_text(["\udc80"]).encode("utf-8")


def test_wide_characters_are_padded_by_cells() -> None:
    assert [padded(text, 6) for text in ("Mira", "田中", "Alexander")] == [
        "Mira  ",
        "田中  ",
        "Alexander",
    ]
