from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.cli.output import json_text

ACTING = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F))]


@given(st.text(st.characters()))
def test_json_gives_back_what_went_in(text: str) -> None:
    assert json.loads(json_text([text])) == [text]


@pytest.mark.parametrize("sign", ACTING, ids=lambda sign: f"U+{ord(sign):04X}")
def test_json_holds_nothing_that_acts_on_a_terminal(sign: str) -> None:
    shown = json_text({"snippet": f"a{sign}b"})
    assert sign not in shown.replace("\n", "")
    assert json.loads(shown) == {"snippet": f"a{sign}b"}


def test_json_keeps_letters_of_all_scripts_readable() -> None:
    assert "Jérôme 移行 🚢" in json_text(["Jérôme 移行 🚢"])


def test_a_span_takes_one_line_and_stays_what_it_is() -> None:
    data = {"matches": [[2, 6], [61, 65]], "snippet": "[\n  1,\n  2\n]"}
    assert '"matches": [\n    [2, 6],\n    [61, 65]\n  ]' in json_text(data)
    assert json.loads(json_text(data)) == data


def test_json_takes_a_lone_surrogate() -> None:
    json_text(["\udc80"]).encode("utf-8")
