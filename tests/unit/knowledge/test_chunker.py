import time
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kbx_tui.knowledge import chunker, markdown
from kbx_tui.knowledge.chunker import CountTokens, split_documents
from kbx_tui.knowledge.records import Chunk, Document
from tests.unit.knowledge.building import (
    count_quarters,
    count_squares,
    count_words,
    markdown_bodies,
    page,
)

counters = st.sampled_from([count_words, count_quarters, count_squares])
limits = st.integers(min_value=1, max_value=60)


def split(document: Document, count: CountTokens, limit: int) -> tuple[Chunk, ...]:
    return split_documents([document], count, limit)[0]


def texts(body: str, limit: int = 8, count: CountTokens = count_words) -> list[str]:
    return [chunk.text for chunk in split(page(body), count, limit)]


@given(markdown_bodies, counters, limits)
@settings(max_examples=50)
def test_chunks_join_to_the_body_and_none_is_blank_or_too_long(
    body: str, count: CountTokens, limit: int
) -> None:
    document = page(body)
    chunks = split(document, count, limit)
    if document.body.strip():
        assert "".join(chunk.text for chunk in chunks) == document.body
    else:
        assert chunks == ()
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        assert chunk.text.strip()
        assert count([chunk.text])[0] <= limit or len(chunk.text.strip()) == 1


@given(markdown_bodies, counters, limits)
def test_chunk_lines_are_lines_of_the_file(body: str, count: CountTokens, limit: int) -> None:
    text = f"---\ntitle: T\n---\n{body}"
    document = page(text)
    lines = [*document.body.split("\n")]
    for chunk in split(document, count, limit):
        first, last = (
            lines[line - document.body_line] for line in (chunk.line_start, chunk.line_end)
        )
        text = chunk.text.strip()
        assert text.split("\n")[0].rstrip() in first
        assert text.split("\n")[-1].strip() in last


@given(st.lists(markdown_bodies, max_size=6), counters, limits)
def test_documents_have_the_same_chunks_split_together_or_one_by_one(
    bodies: list[str], count: CountTokens, limit: int
) -> None:
    documents = [page(body) for body in bodies]
    assert split_documents(documents, count, limit) == [
        split(document, count, limit) for document in documents
    ]


@given(markdown_bodies, counters, limits)
@example("---\n---\n\xa0", count_words, 1)  # blank below its front matter
def test_chunks_of_a_large_body_join_to_it_and_none_is_too_long(
    body: str, count: CountTokens, limit: int
) -> None:
    document = page(body)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunker, "LARGE", 0)
        patch.setattr(markdown, "MAX_LINES", 5)
        chunks = split(document, count, limit)
    expected = document.body if document.body.strip() else ""
    assert "".join(chunk.text for chunk in chunks) == expected
    for chunk in chunks:
        assert count([chunk.text])[0] <= limit or len(chunk.text.strip()) == 1


@pytest.mark.parametrize("unit", ["- x y\n", "a\n\n", "A b. ", "**A:** b\n"])
def test_large_body_is_split_into_few_segments(unit: str) -> None:
    counted = 0

    def counting(texts: Sequence[str]) -> list[int]:
        nonlocal counted
        counted += len(texts)
        return count_words(texts)

    body = "\n" * markdown.MAX_LINES + unit * (chunker.LARGE // len(unit))
    assert "".join(chunk.text for chunk in split(page(body), counting, 254)) == body
    assert counted < chunker.LARGE / 50


@pytest.mark.parametrize("body", ["", "\n", " \t\n \n", "\u00a0\n"])
def test_blank_body_has_no_chunks(body: str) -> None:
    assert texts(body) == []


LONG = "word " * 60


@pytest.mark.parametrize(
    ("limit", "chunks"),
    [
        (8, ["a b c\n\nd e f\n\n", "g h i\n"]),
        (12, ["# A\n\na b c\n\n", "## B\n\nd e f\n"]),
        (20, ["# A\n\na\n\n## B\n\nb\n\n", "## C\n\nc\n"]),
        (100, [f"---\n\n# A\n\n{LONG}\n\n## End\n"]),
        (12, ["# A\n\na b\n\n#### B\n\nd e\n"]),
        (8, ["a b c d e\n\n", "#### H\n\nf g h\n"]),
        (8, ["# H\n\na b c d. ", "e f g h.\n"]),
        (12, ["# A\n\n## B\n\na b c\n"]),
        (5, ["One two three. Four five! ", "a b c d e ", "f g h i j ", "k l.\n"]),
    ],
    ids=[
        "whole paragraphs are packed while they fit",
        "sections do not share a chunk",
        "tiny sections share a chunk",
        "negligible text joins the neighbouring chunk",
        "a heading of level four does not start a section",
        "a heading stays with the text below it",
        "a paragraph is split if it does not fit with its heading",
        "a heading without text joins the next section",
        "a long paragraph is split after sentences, then between words",
    ],
)
def test_text_is_cut_where_its_parts_begin(limit: int, chunks: list[str]) -> None:
    assert texts("".join(chunks), limit) == chunks


@pytest.mark.parametrize("turn", ["**Maria:** ", "**Maria**: "])
def test_speaker_turns_are_not_split(turn: str) -> None:
    body = f"{turn}a b c\n{turn}d e f\n{turn}g h i\n"
    assert texts(body) == [f"{turn}a b c\n{turn}d e f\n", f"{turn}g h i\n"]


def test_long_words_and_sentences_without_spaces_are_split_inside() -> None:
    chunks = texts("x" * 100, 5, count_quarters)
    assert "".join(chunks) == "x" * 100
    assert max(map(len, chunks)) <= 20
    assert len(chunks) <= 8

    chunks = texts("漢字。" * 40, 12, lambda counted: [len(text) for text in counted])
    assert "".join(chunks) == "漢字。" * 40
    assert all(len(chunk) == 12 for chunk in chunks)

    chunks = texts("data " + "x" * 100_000, 10, count_words)
    assert max(map(len, chunks)) <= 165


def test_chunk_heading_is_the_common_path_of_headings_above_it() -> None:
    body = "intro " * 5 + "\n\n# A\n\n" + "a " * 5 + "\n\n## B [x](y)\n\n" + "b " * 5
    chunks = split(page(body), count_words, 8)
    assert [chunk.heading for chunk in chunks] == ["", "A", "A > B x"]

    (chunk,) = split(page("# A\n## B\n\nb\n\n## C\n\nc\n"), count_words, 40)
    assert chunk.heading == "A"


def test_tokens_of_all_documents_are_counted_in_one_call() -> None:
    calls = []

    def counting(counted: Sequence[str]) -> list[int]:
        calls.append(counted)
        return count_words(counted)

    split_documents([page("a b\n\nc d\n"), page("e f\n"), page("")], counting, 8)
    assert len(calls) == 1


def test_max_tokens_below_one_raises_value_error() -> None:
    with pytest.raises(ValueError, match="max_tokens"):
        texts("a", 0)


@pytest.mark.parametrize(
    "body",
    ["x" * 500_000, "word " * 50_000, "a\n\n" * 20_000, "# h\n" * 20_000, " " * 500_000 + "x",
     "x" + " " * 500_000 + "y", "。" * 20_000, "**A:** b\n" * 20_000],
    ids=lambda body: repr(body[:6]),
)  # fmt: skip
def test_extreme_bodies_are_split_within_seconds(body: str) -> None:
    started = time.process_time()
    assert "".join(texts(body, 254, count_quarters)) == body
    assert time.process_time() - started < 5
