"""Pages to share: elements, and the file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.errors import WriteFault
from kbx_tui.safe_text import safe_line
from kbx_tui.sharing.search_page import Markup, element, joined
from kbx_tui.sharing.shared_search import words_for_name, write_named_page
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


def test_elements_nest_and_texts_beside_them_or_cut_from_them_are_escaped() -> None:
    inner = element("b", "<i>", class_="x")
    assert element("p", "a & ", inner) == '<p>a &amp; <b class="x">&lt;i&gt;</b></p>'
    assert joined((inner, "<"), "&") == '<b class="x">&lt;i&gt;</b>&amp;&lt;'
    assert element("meta", charset="utf-8") == '<meta charset="utf-8">'
    assert element("p", hidden=None, aria_label="x") == '<p aria-label="x"></p>'
    assert element("p", element("b", "x")[:3]) == "<p>&lt;b&gt;</p>"
    assert not isinstance(element("b") + "<i>", Markup)
    assert controls_in(element("p", ACTS, title=ACTS)) == set()


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Rollback plan", "rollback-plan"),
        ("what's Größe in 2026?", "what-s-grosse-in-2026"),
        ("../../etc/passwd", "etc-passwd"),
        ("移行の計画", "search"),
        ("", "search"),
        ("a" * 99, "a" * 40),
        (
            "seven words that are together longer than forty letters",
            "seven-words-that-are-together-longer",
        ),
    ],
)
def test_a_query_becomes_a_part_of_a_file_name(query: str, name: str) -> None:
    assert words_for_name(query) == name


def test_a_second_page_of_a_query_is_numbered(tmp_path: Path) -> None:
    names = [write_named_page(tmp_path, "Tea time", text).name for text in ("one", "two", "three")]
    assert names == [f"kbx-results-tea-time{end}.html" for end in ("", "-2", "-3")]
    assert (tmp_path / names[0]).read_text() == "one"
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(names)


def test_a_dangling_link_of_that_name_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "kbx-results-tea.html").symlink_to(tmp_path / "elsewhere")
    assert write_named_page(tmp_path, "tea", "page").name == "kbx-results-tea-2.html"
    assert not (tmp_path / "elsewhere").exists()


def test_a_page_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(WriteFault, match=r"(?i)no such file"):
        write_named_page(tmp_path / "none", "tea", "page")
