"""What a base says about a word that is also a name."""

import pytest

from kbx_tui.index.snapshot import NameVotes
from kbx_tui.search.query.name_index import COMMON, UNCOMMON, NamePriors


def priors(as_name: float, as_word: float) -> NamePriors:
    votes = NameVotes(as_name, as_word)
    return NamePriors({"bains": votes, "mark": votes})


def test_word_that_no_document_uses_has_the_prior_of_english() -> None:
    none = NamePriors({})
    for word, probability in (("bains", UNCOMMON), ("mark", COMMON), ("record", COMMON)):
        assert none.probability(word) == probability
        assert not none.is_name(word)
        assert not none.is_word(word)
        assert none.explain(word) == ""

    assert NamePriors({}).is_likelier_word("record")
    assert not NamePriors({}).is_likelier_word("bains")


@pytest.mark.parametrize(
    ("as_name", "as_word", "word", "decision"),
    [
        (1, 0, "bains", "name"),
        (1, 0, "mark", ""),
        (2, 0, "mark", ""),
        (3, 0, "mark", "name"),
        (0, 1, "mark", "word"),
        (0, 1, "bains", ""),
        (0, 2, "bains", "word"),
        (5, 5, "mark", "word"),
        (6, 5, "mark", ""),
        (1, 1, "mark", ""),
        (2, 3, "bains", "word"),
        (87, 12, "bains", ""),
        (87, 1, "bains", "name"),
        (99, 1, "mark", "name"),
        (1, 99, "bains", "word"),
    ],
)
def test_base_decides_from_enough_documents(
    as_name: float, as_word: float, word: str, decision: str
) -> None:
    found = priors(as_name, as_word)
    assert (found.is_name(word), found.is_word(word)) == (decision == "name", decision == "word")


@pytest.mark.parametrize(
    ("as_name", "as_word", "word", "likelier"),
    [(6, 4, "mark", False), (4, 6, "mark", True), (4, 6, "bains", True)],
)
def test_likelier_reading_is_that_of_more_documents(
    as_name: float, as_word: float, word: str, *, likelier: bool
) -> None:
    assert priors(as_name, as_word).is_likelier_word(word) is likelier


def test_probability_and_explanation_are_those_of_the_documents_and_one_pseudo_count() -> None:
    assert priors(3, 1).probability("mark") == pytest.approx((3 + COMMON) / 5)
    assert priors(3, 1).probability("bains") == pytest.approx((3 + UNCOMMON) / 5)

    assert priors(99, 0).explain("mark") == "a name here, 99 %"
    assert priors(0, 99).explain("mark") == "a word here, 99 %"
    assert priors(6, 5).explain("mark") == ""
