"""Documents that turn up for too many queries."""

from __future__ import annotations

from kbx_tui.evaluation.past_queries import find_over_retrieved

HUB = "memory/notes/template.md"
TITLES = {HUB: "Weekly template", **{f"d{number}.md": f"Page {number}" for number in range(400)}}


def asked(queries: int, with_hub: int, word: str = "") -> dict[str, tuple[str, ...]]:
    """Return the first ten results of some queries, the hub among those of the first few."""
    return {
        f"question{number} {word}": (
            *((HUB,) if number < with_hub else ()),
            *(f"d{(number * 9 + place) % 400}.md" for place in range(9)),
        )
        for number in range(queries)
    }


def test_document_found_by_a_fifth_of_the_queries_turns_up_too_often() -> None:
    (found,) = find_over_retrieved(asked(40, 8), TITLES, 401)
    assert (found.path, found.occurrences, found.queries) == (HUB, 8, 40)
    assert find_over_retrieved(asked(40, 7), TITLES, 401) == ()


def test_few_queries_say_nothing() -> None:
    assert find_over_retrieved(asked(9, 9), TITLES, 401) == ()
    assert find_over_retrieved(asked(12, 4), TITLES, 401) == ()


def test_query_with_a_word_of_the_title_asks_for_the_document() -> None:
    assert find_over_retrieved(asked(40, 40, "templates"), TITLES, 401) == ()


def test_chance_is_taken_into_account_in_a_small_base() -> None:
    assert find_over_retrieved(asked(40, 12), TITLES, 60) == ()
    assert find_over_retrieved(asked(40, 20), TITLES, 60)
    assert find_over_retrieved(asked(40, 40), TITLES, 10) == ()
