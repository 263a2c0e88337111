"""The listing of a similarity check without matches."""

from __future__ import annotations

import pytest

from kbx_tui.cli.listings.similarity_listing import print_check
from kbx_tui.similarity.matches import Nearest, SimilarityCheck

TEXT = "Wrote the [rollback] plan"


def check(*nearest: Nearest) -> SimilarityCheck:
    return SimilarityCheck(
        query="q",
        scope={},
        threshold=0.85,
        matches=(),
        has_similar=False,
        best_score=nearest[0].score if nearest else 0.0,
        nearest=nearest,
        model="m",
        is_calibrated=True,
        notes=(),
    )


@pytest.mark.parametrize(
    ("score", "explanation"),
    [
        (0.8, "the nearest scores .80, below the threshold of .90:"),
        (0.95, "the nearest scores .95, but shares no word with it:"),
    ],
)
def test_nearest_fact_is_shown_with_the_reason_why_it_does_not_match(
    capsys: pytest.CaptureFixture[str], score: float, explanation: str
) -> None:
    print_check(check(Nearest(TEXT, score, 0.9, "fact", "a.md", 3)))
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"no similar fact is known; {explanation}"
    assert second.strip() == TEXT


@pytest.mark.parametrize("nearest", [(), (Nearest(TEXT, 0.0, 0.9, "fact", "a.md", 3),)])
def test_check_with_nothing_to_compare_prints_one_line(
    capsys: pytest.CaptureFixture[str], nearest: tuple[Nearest, ...]
) -> None:
    print_check(check(*nearest))
    assert capsys.readouterr().out.splitlines() == ["no similar fact is known"]
