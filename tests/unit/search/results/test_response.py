"""How the passage of a result reads on a screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.results.response import as_read


@pytest.mark.parametrize(
    ("source", "word", "shown"),
    [
        ("Leads payroll. ~~Prefers email~~ Prefers Slack.", "Slack", None),
        ("~~Prefers email over Slack~~", "Prefers", "Prefers email over Slack"),
        ("about ~~ 5 ferries", "about", "about  5 ferries"),
        ("calls it *a test* and `deckctl` _twice_.", "twice", "calls it a test and deckctl twice."),
        ("calls it *a test that is cut", "test", "calls it a test that is cut"),
        ("2 * 3, my_own_name, *.py and SELECT * stay", "stay", None),
        ("1. Say it: ```sh deckctl```", "Say", "1. Say it: deckctl"),
        ("agreed[^1] at last", "last", "agreed at last"),
    ],
)
def test_signs_of_markdown_are_left_out_and_the_words_stay_marked(
    source: str, word: str, shown: str | None
) -> None:
    if shown is None:
        shown = source.replace("~~Prefers email~~ ", "")
    read, at = as_read(source), source.index(word)
    ((start, end),) = read.ranges([(at, at + len(word))])
    assert (read.text, read.text[start:end]) == (shown, word)


def test_items_of_a_list_begin_with_their_box_or_a_dot() -> None:
    source = "- Owns the rota - [ ] page budget - [x] ~~old~~ handover - not an item"
    breaks = [source.index(" - [ ]"), source.index(" - [x]")]
    read = as_read(source, breaks)
    assert read.text == "Owns the rota ☐ page budget ☑ handover - not an item"
    assert [read.text[read.places[at] :][:3] for at in breaks] == [" ☐ ", " ☑ "]
    assert as_read("one - two", [3]).text == "one · two"


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (
            ["- [2025-11-20] ~~In Mobile~~", "- [2026-02-02] In Platform, now"],
            "[2026-02-02] In Platform, now",
        ),
        (
            ["- Owns the rota", "- ~~Reads~~ (from: X)", "- Sings in choirs"],
            "Owns the rota · Sings in choirs",
        ),
        (["- Sings well", "- [2026-01-01] ~~Draws~~ maps"], "Sings well · [2026-01-01] maps"),
        (["- [ ] load test the login", "- [x] ~~old page~~"], "☐ load test the login "),
        (["- [2025-11-20] ~~In Mobile~~", "- ~~Draws~~"], "[2025-11-20] In Mobile · Draws"),
    ],
)
def test_an_item_that_is_struck_out_goes_with_its_date_and_notes(
    lines: list[str], shown: str
) -> None:
    source = " ".join(lines)
    assert as_read(source, [source.index(line) - 1 for line in lines[1:]]).text == shown


@given(st.text(alphabet="a *_~`[]x-^1\n", max_size=80))
def test_places_stay_in_order_and_inside(source: str) -> None:
    read = as_read(source, [at for at, letter in enumerate(source) if letter == "\n"])
    places = [read.places[at] for at in range(len(source) + 1)]
    assert places == sorted(places)
    assert places[-1] == len(read.text)
