"""Elements escape every text and value that is put into them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.safe_text import safe_line
from kbx_tui.sharing.html_elements import Markup, element, joined
from tests.hostile_base import ACTS, controls_in
from tests.parsed_page import ParsedPage

SIGNS = ("<script>", "</p>", '"', "'", "&lt;", "&", "<!--", "-->", "=", ">")
hostile = st.one_of(st.text(), st.lists(st.sampled_from(SIGNS)).map("".join))


@given(hostile, hostile)
def test_any_text_and_value_is_read_back_as_it_is_displayed(text: str, value: str) -> None:
    parsed = ParsedPage(element("p", text, title=value))
    assert parsed.elements == [("p", {"title": safe_line(value)})]
    assert parsed.text == safe_line(text)
    assert parsed.others == []


def test_elements_nest_and_texts_beside_them_are_escaped() -> None:
    inner = element("b", "<i>", class_="x")
    assert element("p", "a & ", inner) == '<p>a &amp; <b class="x">&lt;i&gt;</b></p>'
    assert joined((inner, "<"), "&") == '<b class="x">&lt;i&gt;</b>&amp;&lt;'
    assert element("meta", charset="utf-8") == '<meta charset="utf-8">'
    assert element("p", hidden=None, aria_label="x") == '<p aria-label="x"></p>'


def test_a_slice_of_an_element_is_text_again() -> None:
    assert element("p", element("b", "x")[:3]) == "<p>&lt;b&gt;</p>"
    assert not isinstance(element("b") + "<i>", Markup)


def test_controls_of_terminals_and_writing_direction_are_removed() -> None:
    assert controls_in(element("p", ACTS, title=ACTS)) == set()
