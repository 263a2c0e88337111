"""Word-by-word differences and conflicts of two texts."""

import time

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.drafting.texts import Piece, difference
from kbx_tui.similarity.conflict_guard import find_conflicts


def test_differing_and_conflicting_words_are_marked_on_their_side() -> None:
    pieces = difference("favours async Slack", "Prefers async Slack over email")
    assert pieces.left == (Piece("favours", "differs"), Piece(" async Slack", "same"))
    assert pieces.right[-1] == Piece("over email", "differs")

    left, right = "Ships 3 releases a year", "ships 5 releases a year"
    pieces = difference(left, right, find_conflicts(left, right))
    assert [piece for piece in pieces.left if piece.mark != "same"] == [Piece("3", "conflict")]
    assert [piece for piece in pieces.right if piece.mark != "same"] == [Piece("5", "conflict")]


def test_long_texts_are_compared_by_their_words_in_little_time() -> None:
    words = [f"w{number}" for number in range(1000)]
    pieces = difference(" ".join(words), " ".join([*words[:500], "new", *words[500:]]))
    assert [piece for piece in pieces.right if piece.mark != "same"] == [Piece("new", "differs")]

    started = time.process_time()
    difference("a " * 30_000, "a a b " * 12_000)
    assert time.process_time() - started < 5


words = st.lists(
    st.sampled_from(["a", "b", "5", "not", "Alice,", "Ärger.", "x-y", "('z')"]), max_size=8
)


@given(words.map(" ".join), words.map("  ".join))
def test_pieces_join_to_the_original_texts(left: str, right: str) -> None:
    pieces = difference(left, right)
    assert "".join(piece.text for piece in pieces.left) == left
    assert "".join(piece.text for piece in pieces.right) == right
    if left.split() == right.split():
        assert {piece.mark for piece in (*pieces.left, *pieces.right)} <= {"same"}
