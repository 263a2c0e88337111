"""Example pairs of the original proposal, scored with the bundled model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """A base without an index, which scoring a pair does not need."""
    with KnowledgeBase(tmp_path_factory.mktemp("empty")) as opened:
        yield opened


@pytest.mark.parametrize(
    ("left", "right", "least"),
    [
        ("prefers async Slack over email", "favours asynchronous communication via Slack", 0.90),
        ("Engineering Director", "Director of Engineering", 0.85),
        ("check migration schedule status", "follow up on migration timeline", 0.80),
    ],
)
def test_paraphrases_reach_their_threshold(
    kb: KnowledgeBase, left: str, right: str, least: float
) -> None:
    (found,) = kb.similarity.pairs([(left, right)])
    assert found.score >= least
    assert found.relation != "conflict"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Platform", "Platform & Infrastructure"),
        ("deployment rollback procedure", "lunch menu"),
        ("Product Manager", "Senior Product Manager"),
    ],
)
def test_different_texts_stay_below_the_threshold(kb: KnowledgeBase, left: str, right: str) -> None:
    (found,) = kb.similarity.pairs([(left, right)])
    assert found.score < 0.85


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        ("ships 5 releases a year", "ships 3 releases a year", ("5", "3")),
        ("A cow is eating grass", "A cow is not eating grass", ("eating", "not eating")),
    ],
)
def test_a_contradiction_is_a_conflict_that_quotes_the_words(
    kb: KnowledgeBase, left: str, right: str, words: tuple[str, str]
) -> None:
    (found,) = kb.similarity.pairs([(left, right)])
    assert found.relation == "conflict"
    assert [(conflict.left, conflict.right) for conflict in found.conflicts] == [words]


def test_swapping_the_texts_keeps_the_score(kb: KnowledgeBase) -> None:
    pairs = [("runs the on-call rota", "The rota is run by her"), ("SRE", "Site Reliability")]
    forward = kb.similarity.pairs(pairs)
    backward = kb.similarity.pairs([(right, left) for left, right in pairs])
    assert [pair.score for pair in forward] == [pair.score for pair in backward]


def test_scoring_a_pair_creates_no_index(kb: KnowledgeBase) -> None:
    assert not (Path(kb.root) / ".kbx").exists()
