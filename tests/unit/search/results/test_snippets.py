"""A snippet is the best passage on one line, with its matches marked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.knowledge.facts import facts_as_said
from kbx_tui.search.results.snippets import (
    NO_CHUNKS,
    PASSAGE_LENGTH,
    READ_AT_MOST,
    RERANKED_LENGTH,
    PassageSource,
    WantedWords,
    match_spans,
    topic_stems,
    wanted_words,
)
from kbx_tui.search.results.text_words import lower_in_place


@given(st.text(max_size=600), st.text(max_size=60))
def test_snippet_is_one_line_and_contains_its_matches(body: str, query: str) -> None:
    snippet = PassageSource(body, 1, query).snippet()
    assert len(snippet.text) <= PASSAGE_LENGTH
    assert "\n" not in snippet.text
    for start, end in snippet.matches:
        assert 0 <= start < end <= len(snippet.text)
    assert 1 <= snippet.line_start <= snippet.line_end <= body.count("\n") + 1


def test_passage_with_most_words_wins() -> None:
    body = "A budget.\n\n" + "Nothing here. " * 40 + "\n\nThe budget of the migration grew.\n"
    snippet = PassageSource(body, 10, "migration budget").snippet()
    assert snippet.text == "The budget of the migration grew."
    assert snippet.matches == match_spans(snippet.text, "migration budget")
    assert [snippet.text[a:b] for a, b in snippet.matches] == ["budget", "migration"]
    assert snippet.line_start == 14
    assert snippet.terms == (("migration", 1), ("budget", 2))


TRANSCRIPT = """Ann: We decide about the ferry today, and then everybody goes home.

Bob: Fine with me.

## What the platform team decided

- The ferry sails on Thursday.
- Nobody decides about the harbour.

## Follow-ups

- Ring the harbour.
"""


@pytest.mark.parametrize(
    ("query", "typed", "shown"),
    [
        ("what was decided about the ferry?", "", "The ferry sails"),
        ("decided", "", "The ferry sails"),
        ("what did decide about the ferry?", "what did the platform team decide?", "The ferry"),
        ("follow-ups", "", "Ring the harbour"),
        ("who goes home", "Ann goes home", "Ann: We decide"),
    ],
    ids=["word-and-heading", "heading", "name-in-heading", "follow-ups", "name-in-text"],
)
def test_the_heading_above_a_passage_counts_for_it(query: str, typed: str, shown: str) -> None:
    wanted = wanted_words(query, typed or query, idf=lambda word: 1.0)
    snippet = PassageSource(TRANSCRIPT, 1, query, wanted=wanted).snippet()
    assert snippet.text.removeprefix("- ").startswith(shown)
    assert TRANSCRIPT.split("\n")[snippet.line_start - 1].removeprefix("- ").startswith(shown)


def test_rare_words_and_meaning_choose_the_passage() -> None:
    body = f"The ferry and the crew.\n\n{'x' * 250}\n\nThe manifest of the ferry.\n"
    rarity = {"ferri": 0.5, "crew": 1.0, "manifest": 4.0}
    wanted = wanted_words("ferry crew manifest", "", rarity.__getitem__)
    assert PassageSource(body, 1, "ferry crew manifest", wanted=wanted).snippet().line_start == 5
    likely = [1, 5], [0.9, 0.1]
    near = PassageSource(body, 1, "ferry crew manifest", wanted=wanted, cosines=likely).snippet()
    assert near.line_start == 1

    body = "Nothing.\n\nThe ferry.\n"
    wanted = WantedWords({"ferri": 0.01, "crew": 9.0})
    snippet = PassageSource(
        body, 1, "ferry crew", wanted=wanted, cosines=([1, 3], [0.3, -0.4])
    ).snippet()
    assert snippet.line_start == 3


def test_the_best_passage_is_found_in_whatever_section_it_is() -> None:
    parts = [f"## Part {n}\n\nThe ferry {'and the crew ' * (n == 3)}sails.\n" for n in range(6)]
    lines, cosines = [1, 4, 7, 10, 13, 16], [0.1, 0.2, 0.3, 0.4, 0.9, 0.2]
    for read in ("ferry", "crew", "ferry crew"):
        wanted = WantedWords(dict.fromkeys(topic_stems(read), 1.0))
        found = PassageSource(
            "".join(parts), 1, read, wanted=wanted, cosines=(lines, cosines)
        ).snippet()
        assert found.line_start == (15 if read == "ferry" else 12)


def test_the_text_below_a_heading_or_title_is_preferred_to_it() -> None:
    body = "# Ferry rollback\n\nFirst of all.\n\n## Plan\n\nThen.\n\nThe rollback takes a day.\n"
    assert PassageSource(body, 1, "rollback").snippet().text == "The rollback takes a day."

    body = "# Ferry plan\n\nThe plan of the ferry.\n\n## Ferry plan B\n\nThe ferry plan again.\n"
    assert PassageSource(body, 1, "ferry plan").snippet().line_start == 3

    body = "# Harbour\n\nText.\n\n## Ferry\n"
    assert PassageSource(body, 1, "ferry").snippet().line_start == 5

    assert PassageSource("# About Gardens\n", 1, "gardens").snippet().heading == "About Gardens"

    snippet = PassageSource("# Rollbacks\n\nA rollback puts it back.\n", 1, "rollback").snippet()
    assert (snippet.heading, snippet.text) == ("Rollbacks", "A rollback puts it back.")


@pytest.mark.parametrize(
    ("body", "query", "marked"),
    [
        ("They were migrating databases.", "database migration", ["migrating", "databases"]),
        ("The pricing is hoped for.", "price hope", ["pricing", "hoped"]),
        ("Visibility was poor.", "visible", ["Visibility"]),
    ],
)
def test_inflected_words_match(body: str, query: str, marked: list[str]) -> None:
    snippet = PassageSource(body, 1, query).snippet()
    assert [snippet.text[a:b] for a, b in snippet.matches] == marked
    assert sorted(snippet.forms) == sorted(marked)


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("## Error codes\n\n| Code | Meaning |\n|---|---|\n| 5032 | stale |\n", "5032 | stale"),
        ("**Alice:** The [[Migration]] is a go.", "Alice: The Migration is a go."),
        ("> quoted migration", "quoted migration"),
        ("> migration\n>\n> quoted", "migration quoted"),
        ("| migration |\n\n| b |\n", "migration b"),
    ],
)
def test_markup_is_left_out(body: str, shown: str) -> None:
    assert PassageSource(body, 1, "5032 migration").snippet().text == shown


@pytest.mark.parametrize(
    ("body", "is_cut"),
    [
        ("migration " + "extraordinary " * 40, True),
        ("The migration is over.", False),
        ("migration without a full stop", False),
        ("migration without a full stop\n\n  \n", False),
        ("migration " * 19 + "ends.\n\nConsiderably more text follows.", False),
        ('"migration ' + "ends " * 36 + 'now." ' + "More text follows here.", False),
    ],
    ids=["cut", "sentence", "line", "blank-rest", "ends-with-sentence", "ends-with-quote"],
)
def test_a_snippet_knows_whether_it_ends_within_a_sentence(body: str, is_cut: bool) -> None:
    snippet = PassageSource(body, 1, "migration").snippet()
    assert snippet.is_cut == is_cut
    assert snippet.text.endswith(" extraordinary") or not is_cut  # its last word is complete


@pytest.mark.parametrize(
    ("query", "cosines"),
    [("anchorage", NO_CHUNKS), ("mooring", ((1, 150), (0.1, 0.9)))],
    ids=["word", "meaning"],
)
def test_a_passage_far_down_a_long_text_is_found(
    query: str, cosines: tuple[tuple[int, ...], tuple[float, ...]]
) -> None:
    filler = "## p. 1\n\nOf yachts and quays.\n\n" + f"{'Of silt and quays. ' * 40}\n" * 145
    assert len(filler) > READ_AT_MOST
    body = f"{filler}\nAnchorage is 14 euros a night.\n\n{filler}"
    snippet = PassageSource(body, 1, query, cosines=cosines).snippet()
    assert snippet.text.startswith("Anchorage is 14 euros a night.")
    assert snippet.line_start == body[: body.index("Anchorage")].count("\n") + 1
    reranked = PassageSource(body, 1, query, cosines=cosines).to_rerank("Harbour")
    assert "Anchorage is 14 euros a night." in reranked


def test_the_best_chunk_is_shown_if_no_word_matches() -> None:
    body = "# Title\n\nFirst.\n\nSecond.\n"
    chunks = [5, 9, 99], [0.2, 0.4, 0.9]  # the last one begins behind what is read
    assert PassageSource(body, 5, "zzz", cosines=chunks).snippet().text.startswith("Second.")
    assert PassageSource(body, 5, "zzz").snippet().text.startswith("First.")
    assert PassageSource("", 1, "zzz").snippet().text == ""


@pytest.mark.parametrize(
    ("word", "query"),
    [
        ("Dvořák", "dvorak"),
        ("studies", "study"),
        ("UPPER", "upper"),
        ("会議", "会議"),
        ("ΛΟΓΟΣ", "λογος"),
        ("λογος", "ΛΟΓΟΣ"),
        ("ΑΒΓΔΕΖΗΘ Ο ΛΟΓΟΣ", "λογος"),
    ],
)
def test_word_matches_regardless_of_spelling(word: str, query: str) -> None:
    snippet = PassageSource(f"About {word} here.", 1, query).snippet()
    assert snippet.matches


@given(st.text(max_size=300), st.text(max_size=60))
def test_spans_are_ordered_and_disjoint(text: str, query: str) -> None:
    ends = [0, *(end for span in match_spans(text, query) for end in span), len(text)]
    assert ends == sorted(ends)
    assert all(start < end for start, end in match_spans(text, query))


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Migrations migrated; a migrant.", "migration", ["Migrations", "migrated"]),
        ("Dvořák and DVORAK", "dvořák", ["Dvořák", "DVORAK"]),
        ("what did they decide", "what did alice decide", ["decide"]),
        ("says who works on fees", "what did Ada say about fees", ["fees"]),
        ("premigration migration_plan migration", "migration", ["migration"]),
        ("東京の会議で", "会議", ["会", "議"]),
        ("API会議API", "api", ["API", "API"]),
        ("nothing", "the of and", []),
        ("", "migration", []),
    ],
)
def test_all_words_of_the_query_are_marked(text: str, query: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in match_spans(text, query)] == marked


LETTERS = st.text(st.sampled_from("aAzZ ÄäÖÉéØøßẞİıſΣσςΛλόΌЖжДдǅǈ会“”😀\u0301\ud800"), max_size=60)


@given(LETTERS, st.sampled_from(["", "aeo", "σz"]))
def test_lower_case_does_not_depend_on_the_number_of_capitals(text: str, letters: str) -> None:
    capitals = "ÁÀÂÃÅÆÇÈÊËÌÍ"  # too many to be replaced one by one
    few, many = (
        lower_in_place(text, frozenset(letters)),
        lower_in_place(text + capitals, frozenset(letters)),
    )
    assert many[: len(text)] == few
    assert (len(few), len(many)) == (len(text), len(text) + len(capitals))


def test_lower_case_equals_str_lower_for_any_letters() -> None:
    for first in range(0x80, 0x3000, 64):
        letters = "".join(map(chr, range(first, first + 64)))
        lowered = lower_in_place(f"A{letters}Z", frozenset())
        assert lowered == f"A{letters}Z".replace("\u0130", "I").lower(), hex(first)


def test_a_reranker_reads_title_heading_and_the_best_passage_up_to_a_limit() -> None:
    body = (
        "# Herons\n\n" + "Nothing here. " * 200 + "\n\n## Winter\n\nThe blue heron keeps its nest."
    )
    wanted = WantedWords({"blue": 1.0, "nest": 1.0})
    text = PassageSource(body, 3, "blue nest", wanted).to_rerank("All herons")
    assert text == "All herons\nWinter\nThe blue heron keeps its nest."

    wanted = WantedWords({"word": 1.0})
    text = PassageSource("word " * 10_000, 1, "word", wanted).to_rerank("")
    assert 900 < len(text) <= RERANKED_LENGTH
    assert PassageSource("", 1, "word", wanted).to_rerank("Gone") == "Gone"


def test_links_are_shown_by_their_labels() -> None:
    body = (
        "See [[notes/plan|the launch plan]], ![[Costs]], [[Budget#^a1]], "
        "[budget sheet](../files/budget.md) and [[launch]] for the launch."
    )
    snippet = PassageSource(body, 1, "launch notes budget").snippet()
    assert snippet.text == (
        "See the launch plan, Costs, Budget, budget sheet and launch for the launch."
    )
    marked = [snippet.text[start:end] for start, end in snippet.matches]
    assert marked == ["launch", "Budget", "budget", "launch", "launch"]


@pytest.mark.parametrize(
    ("body", "query", "shown"),
    [
        ("#garden #soil\n\nWorms dig.\n", "garden", "Worms dig."),
        ("Worms dig.\n\n- #garden, #soil\n", "garden", "Worms dig. - #garden, #soil"),
        ("tags: #garden\n\nThe garden is wet.\n", "garden", "The garden is wet."),
        ("# Soil\n#garden\n\n## Worms\nThey dig.\n", "soil", "They dig."),
        ("stage:: garden\nOur garden is wet.\n", "garden", "Our garden is wet."),
        ("stage:: dormant\nOur garden is wet.\n", "dormant", "stage:: dormant Our garden is wet."),
        ("stage:: dormant\nOur garden is wet.\n", "worms", "Our garden is wet."),
        ("#garden #soil\n", "garden", "#garden #soil"),
        ("stage:: dormant\n#garden\n", "garden", "#garden"),
        ("The #garden is wet.\n", "garden", "The #garden is wet."),
        ("use std::vector\n", "vector", "use std::vector"),
    ],
)
def test_tags_and_properties_are_shown_only_where_nothing_is_better(
    body: str, query: str, shown: str
) -> None:
    assert PassageSource(body, 1, query).snippet().text == shown


def test_a_link_that_ends_a_text_is_shown_with_the_sentence_before() -> None:
    body = "# Kimchi\n\nNapa cabbage. Five days at room temperature. [[Fermentation]].\n"
    snippet = PassageSource(body, 1, "fermentation").snippet()
    assert snippet.text == "Five days at room temperature. Fermentation."
    assert [snippet.text[start:end] for start, end in snippet.matches] == ["Fermentation"]
    assert PassageSource("Worms dig.\n- [[Soil]]\n", 1, "soil").snippet().text == "- Soil"


def test_what_is_new_is_answered_by_the_newest_item_that_still_holds() -> None:
    body = (
        "# Ada\n\n- [2026-01-02] Reads maps\n- [2026-03-04] Draws maps\n- [2026-03-04] Sells maps\n"
        "- [2026-05-06] ~~Burns maps~~ (superseded: 2026-06-01)\n"
    )
    assert PassageSource(body, 1, "Ada", is_for_news=True).snippet().line_start == 4
    assert (
        PassageSource("# Ada\n\nReads maps.\n", 1, "Ada", is_for_news=True).snippet().line_start
        == 3
    )


FACTS = (
    "# Ada Lund\n\n## Facts\n- [2026-06-07] Leads sales (status: superseded)\n"
    "- [2026-01-02] Reads maps (from: Sync)\n- [2026-03-04] Draws maps\n"
)


@pytest.mark.parametrize(
    ("query", "line", "shown", "terms"),
    [
        ("sales", 5, "- Reads maps - Draws maps", (("sales", 1),)),
        ("maps", 5, "- Reads maps - Draws maps", (("maps", 2),)),
        ("draws", 6, "- Draws maps", (("draws", 1),)),
        ("sync", 5, "- Reads maps - Draws maps", (("sync", 1),)),
    ],
)
def test_a_passage_shows_only_what_holds_but_all_words_count(
    query: str, line: int, shown: str, terms: tuple[tuple[str, int], ...]
) -> None:
    source = PassageSource(FACTS, 1, query, as_said=facts_as_said(FACTS))
    for cosines in (NO_CHUNKS, ([1, 4], [0.1, 0.9])):
        snippet = source._replace(cosines=cosines).snippet()
        assert (snippet.line_start, snippet.text, snippet.terms) == (line, shown, terms)
        assert snippet.forms == (query,) or snippet.forms[0].lower() == query
        assert all(snippet.text[at + 1] == "-" for at in snippet.line_breaks)
        assert [snippet.text[a:b].lower() for a, b in snippet.matches] == [
            word for word in shown.lower().split() if word == query
        ]
    assert source._replace(is_for_news=True).snippet().text == "- Draws maps"


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("# Ada\n\nAda rows.\n\n## Open items\n- [ ] swim\n", "Ada rows."),
        ("# Ada\n\n## Facts\n- Ada rows\n\n## Open items\n- [x] sail\n- [ ] swim\n", "- [ ] swim"),
        ("# Ada\n\n## Facts\n- Rows\n- Ada swims\n", "- Rows - Ada swims"),
    ],
)
def test_a_page_that_is_named_says_what_it_is_about_or_what_is_open(body: str, shown: str) -> None:
    assert PassageSource(body, 1, "Ada", is_named=True).snippet().text == shown


@pytest.mark.parametrize(
    ("body", "query", "heading", "line", "shown"),
    [
        (
            "The ferry leaves the harbour early on all\nafternoons in winter. Tickets are cheap.\n",
            "afternoons",
            "",
            1,
            "The ferry leaves the harbour early on all afternoons in winter. Tickets are cheap.",
        ),
        (
            "Crew\n- Ask the crew who of them is on board on\n  Thursday\n- Ring Ada\n",
            "Thursday",
            "",
            2,
            "- Ask the crew who of them is on board on Thursday - Ring Ada",
        ),
        ("## Decision\n\nSail on Thursday.\n", "decision", "Decision", 3, "Sail on Thursday."),
        (
            "We meet in the afternoons\n\n## Open items\n\nNone.\n",
            "meet",
            "",
            1,
            "We meet in the afternoons",
        ),
        ("# Sync\n\n## Notes\n\nAll is well.\n", "sync", "Notes", 5, "All is well."),
        ("## Sync\n\n## Notes\n\nAll is well.\n", "sync", "Sync", 1, "Sync"),
        ("Ada: yes\nBob: a ferry\n", "ferry", "", 2, "Bob: a ferry"),
    ],
    ids=["line", "item", "heading", "next", "subheading", "empty", "turn"],
)
def test_a_passage_begins_at_a_sentence_or_item_and_holds_no_heading(
    body: str, query: str, heading: str, line: int, shown: str
) -> None:
    snippet = PassageSource(body, 1, query).snippet()
    assert (snippet.heading, snippet.text, snippet.is_cut) == (heading, shown, False)
    assert snippet.line_start == line
