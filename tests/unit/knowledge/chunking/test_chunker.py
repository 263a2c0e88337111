import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbx_tui.knowledge.chunking.chunker import CountTokens, split_chunks, split_many
from tests.unit.knowledge.building import (
    count_quarters,
    count_squares,
    count_words,
    markdown_bodies,
    page,
)

counters = st.sampled_from([count_words, count_quarters, count_squares])
limits = st.integers(min_value=1, max_value=60)


def texts(body: str, limit: int = 8, count: CountTokens = count_words) -> list[str]:
    return [chunk.text for chunk in split_chunks(page(body), count, limit)]


@given(markdown_bodies, counters, limits)
@settings(max_examples=300)
def test_no_character_is_lost_and_no_chunk_is_blank_or_too_long(
    body: str, count: CountTokens, limit: int
) -> None:
    document = page(body)
    chunks = split_chunks(document, count, limit)
    if document.body.strip():
        assert "".join(chunk.text for chunk in chunks) == document.body
    else:
        assert chunks == ()
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        assert chunk.text.strip()
        assert count([chunk.text])[0] <= limit or len(chunk.text.strip()) == 1


@given(markdown_bodies, counters, limits)
def test_lines_are_those_of_the_file(body: str, count: CountTokens, limit: int) -> None:
    text = f"---\ntitle: T\n---\n{body}"
    document = page(text)
    lines = [*document.body.split("\n")]
    for chunk in split_chunks(document, count, limit):
        first, last = (
            lines[line - document.body_line] for line in (chunk.line_start, chunk.line_end)
        )
        inked = chunk.text.strip()
        assert inked.split("\n")[0].rstrip() in first
        assert inked.split("\n")[-1].strip() in last


@given(st.lists(markdown_bodies, max_size=6), counters, limits)
def test_documents_split_together_as_they_split_alone(
    bodies: list[str], count: CountTokens, limit: int
) -> None:
    documents = [page(body) for body in bodies]
    assert split_many(documents, count, limit) == [
        split_chunks(document, count, limit) for document in documents
    ]


@pytest.mark.parametrize("body", ["", "\n", " \t\n \n", "\u00a0\n"])
def test_a_blank_body_has_no_chunks(body: str) -> None:
    assert texts(body) == []


def test_whole_paragraphs_are_packed_while_they_fit() -> None:
    assert texts("a b c\n\nd e f\n\ng h i\n") == ["a b c\n\nd e f\n\n", "g h i\n"]


def test_sections_are_not_mixed() -> None:
    assert texts("# A\n\na b c\n\n## B\n\nd e f\n", 12) == ["# A\n\na b c\n\n", "## B\n\nd e f\n"]


def test_tiny_sections_share_a_chunk() -> None:
    body = "# A\n\na\n\n## B\n\nb\n\n## C\n\nc\n"
    assert texts(body, 20) == ["# A\n\na\n\n## B\n\nb\n\n", "## C\n\nc\n"]


def test_what_says_next_to_nothing_joins_its_neighbour() -> None:
    long = "word " * 60
    assert texts(f"---\n\n# A\n\n{long}\n\n## End\n", 100) == [f"---\n\n# A\n\n{long}\n\n## End\n"]


def test_deeper_headings_do_not_part_a_section() -> None:
    assert texts("# A\n\na b\n\n#### B\n\nd e\n", 12) == ["# A\n\na b\n\n#### B\n\nd e\n"]


def test_a_heading_stays_with_what_follows_it() -> None:
    assert texts("a b c d e\n\n#### H\n\nf g h\n") == ["a b c d e\n\n", "#### H\n\nf g h\n"]


def test_a_paragraph_is_cut_when_its_heading_would_not_fit() -> None:
    assert texts("# H\n\na b c d. e f g h.\n") == ["# H\n\na b c d. ", "e f g h.\n"]


def test_a_heading_without_text_goes_with_the_next_section() -> None:
    assert texts("# A\n\n## B\n\na b c\n", 12) == ["# A\n\n## B\n\na b c\n"]


@pytest.mark.parametrize("turn", ["**Maria:** ", "**Maria**: "])
def test_speakers_turns_are_kept_whole(turn: str) -> None:
    body = f"{turn}a b c\n{turn}d e f\n{turn}g h i\n"
    assert texts(body) == [f"{turn}a b c\n{turn}d e f\n", f"{turn}g h i\n"]


def test_a_long_paragraph_is_cut_after_sentences_then_between_words() -> None:
    body = "One two three. Four five! " + " ".join("abcdefghijkl") + ".\n"
    assert texts(body, 5) == [
        "One two three. Four five! ",
        "a b c d e ",
        "f g h i j ",
        "k l.\n",
    ]


def test_a_long_word_is_cut_at_characters_and_counted_again() -> None:
    pieces = texts("x" * 100, 5, count_quarters)
    assert "".join(pieces) == "x" * 100
    assert max(map(len, pieces)) <= 20
    assert len(pieces) <= 8


def test_sentences_without_spaces_are_joined_again() -> None:
    pieces = texts("漢字。" * 40, 12, lambda found: [len(text) for text in found])
    assert "".join(pieces) == "漢字。" * 40
    assert all(len(piece) == 12 for piece in pieces)


def test_a_word_unknown_to_the_vocabulary_does_not_make_an_endless_chunk() -> None:
    pieces = texts("data " + "x" * 100_000, 10, lambda found: [len(t.split()) for t in found])
    assert max(map(len, pieces)) <= 165


def test_headings_above_a_chunk_are_told() -> None:
    body = "intro " * 5 + "\n\n# A\n\n" + "a " * 5 + "\n\n## B [x](y)\n\n" + "b " * 5
    chunks = split_chunks(page(body), count_words, 8)
    assert [chunk.heading for chunk in chunks] == ["", "A", "A > B x"]


def test_a_chunk_of_two_sections_is_under_what_they_share() -> None:
    (chunk,) = split_chunks(page("# A\n## B\n\nb\n\n## C\n\nc\n"), count_words, 40)
    assert chunk.heading == "A"


def test_all_documents_are_counted_together() -> None:
    calls = []

    def counting(found: object) -> list[int]:
        calls.append(found)
        return count_words(list(found))  # type: ignore[call-overload]

    split_many([page("a b\n\nc d\n"), page("e f\n"), page("")], counting, 8)
    assert len(calls) == 1


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="max_tokens"):
        texts("a", 0)


@pytest.mark.parametrize(
    "body",
    ["x" * 2_000_000, "word " * 200_000, "a\n\n" * 100_000, "# h\n" * 50_000, " " * 1_000_000 + "x",
     "x" + " " * 1_000_000 + "y", "。" * 100_000, "**A:** b\n" * 50_000],
    ids=lambda body: repr(body[:6]),
)  # fmt: skip
def test_extreme_bodies_are_split_within_seconds(body: str) -> None:
    started = time.process_time()
    assert "".join(texts(body, 254, count_quarters)) == body
    assert time.process_time() - started < 20
