"""Uses of a word as a name and as an ordinary word, counted in running text."""

import pytest

from kbx_tui.knowledge.entity_names import READ_AT_MOST, NameUseCounter
from tests.unit.knowledge.building import page, person, project, team

COUNTER = NameUseCounter(
    [
        person("Bill Blair"),
        person("A. Young"),
        person("Jérôme Côté", "Jay"),
        person("Ángel Στέφανος"),
        person("李 小龙"),
        team("Treasury"),
        project("Night Ferry", "Ferry"),
    ]
)


def uses(text: str) -> dict[str, tuple[int, int]]:
    """Return the uses as a name and as a word by word, without those of other parts of names."""
    found = COUNTER.uses(page(f"{text}\n"))
    return {use.word: (use.as_name, use.as_word) for use in found}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Then we asked Bill about it.", "bill"),
        ("Bill Blair said so.", "bill"),
        ("bill blair said so", "bill"),
        ("- they asked bill blair, i think. Then more.", "bill"),
        ("BILL BLAIR", "bill"),
        ("Bill\nBlair said so.", "blair"),
        ("Thanks to Mr. Bill for it.", "bill"),
        ("Thanks to mr bill for it.", "bill"),
        ("It was A. Young who came.", "young"),
        ("They asked Jerome about it.", "jerome"),
        ("They asked Jérôme about it.", "jerome"),
        ("They asked JÉRÔME CÔTÉ about it.", "cote"),
        ("They asked Στέφανος about it.", "στεφανοσ"),
        ("They asked Jay about it.", "jay"),
        ("We asked Treasury about it.", "treasury"),
    ],
)
def test_counts_as_the_name(text: str, word: str) -> None:
    assert uses(text)[word][0] == 1
    assert uses(text)[word][1] == 0


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("They paid the bill.", "bill"),
        ("They read this Bill aloud.", "bill"),
        ("A young person came.", "young"),
        ("Such a Young person came.", "young"),
        ("They passed Bill C-6 at last.", "bill"),
        ("They passed Bill 21 at last.", "bill"),
        ("They paid (bill and tip).", "bill"),
        ("They took the ferry.", "ferry"),
        ("this bill in small letters", "bill"),
    ],
)
def test_counts_as_a_word(text: str, word: str) -> None:
    assert uses(text) == {word: (0, 1)}


@pytest.mark.parametrize(
    "text",
    [
        "It came from A. Blair in May.",
        "Bill passed. Bill passed again.",
        "# Bill\n\n- Bill\n\n| Bill |",
        "They asked Senator Bill Smith.",  # between capitals
        "They asked BILL for it.",
        "They asked bill-payers, x@bill.org, docs/bill.md and #bill for it.",
        "See [[bill-blair]] and [[bill]].",
        "all small letters here. they paid bill. and more",
        "They asked the Treasury about it.",
        "They told Ada.\n\nBlair",
        "They thanked bill blair for it.",
        "Then I saw it. i saw bill had a hand up. And more.",
        "They met. Now i saw bill had a hand up.",
        "They met.\n\n- sync with bill on Monday",
        "Ada: yes, that is what bill asked for.",
        "They met and " + "then they met " * 60 + "bill and that was all.",
        "I met a. young",
        "They asked 李小龙 about it.",
        "",
    ],
)
def test_tells_nothing(text: str) -> None:
    assert uses(text) == {} or set(uses(text)) == {"young"}


def test_small_letter_beside_the_rest_of_a_name_makes_no_name() -> None:
    """Someone is called Night Watch, and the page writes of a night watch."""
    counter = NameUseCounter([person("Night Watch")])
    assert counter.uses(page("They kept a night watch. Night watch ended.\n")) == ()
    (night, watch) = counter.uses(page("They asked Night Watch.\n"))
    assert (night.as_name, watch.as_name) == (1, 1)


def test_sentence_that_ends_with_the_rest_of_the_name_is_not_beside_it() -> None:
    assert uses("They thanked Blair. Bill came.") == {"blair": (1, 0)}


def test_words_are_sorted_and_counted_in_one_document() -> None:
    found = COUNTER.uses(page("They paid the bill. Then Bill Blair paid a bill.\n"))
    assert [(use.word, use.as_name, use.as_word) for use in found] == [
        ("bill", 1, 2),
        ("blair", 1, 0),
    ]
    assert {use.path for use in found} == {"memory/notes/page.md"}


def test_only_the_beginning_of_a_document_and_names_of_the_base_are_read() -> None:
    assert not uses("Nothing here. " * (READ_AT_MOST // 14 + 1) + "They paid the bill.")
    assert NameUseCounter([]).uses(page("They paid the bill.\n")) == ()
