"""The next document to judge is one on whose rank the two settings disagree most."""

from __future__ import annotations

from kbx_tui.tui.judging.grades import judging_order


def test_equal_rankings_are_judged_from_the_top() -> None:
    assert judging_order("abc", "abc", judged=set()) == ["a", "b", "c"]


def test_judged_documents_are_left_out() -> None:
    assert judging_order("abc", "abc", judged={"a", "c"}) == ["b"]


def test_document_that_only_one_ranking_has_comes_before_one_that_moved() -> None:
    assert judging_order("abx", "bay", judged=set()) == ["x", "y", "a", "b"]


def test_higher_ranks_weigh_more() -> None:
    assert judging_order("xbcdef", "bcdefx", judged=set())[0] == "x"
    assert judging_order("abcdef", "abcdfe", judged=set())[:2] == ["e", "f"]


def test_only_the_first_ten_of_either_count() -> None:
    now, start = [f"n{rank}" for rank in range(20)], [f"s{rank}" for rank in range(20)]
    assert len(judging_order(now, start, judged=set())) == 20


def test_nothing_is_left_when_all_are_judged() -> None:
    assert judging_order("ab", "ba", judged={"a", "b"}) == []
