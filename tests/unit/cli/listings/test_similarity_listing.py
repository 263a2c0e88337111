"""The listing of a similarity check without matches."""

import pytest

from kbx_tui.cli.text_output import print_check
from kbx_tui.similarity.pair_score import SimilarityCheck, SimilarityMatch
from tests.unit.similarity.building import make_pair

TEXT = "Wrote the [rollback] plan"


def nothing_redacted(path: str, text: str) -> bool:
    return False


def near(score: float) -> SimilarityMatch:
    return SimilarityMatch(TEXT, make_pair(score), 0.9, "fact", "a.md", 3)


def check(*nearest: SimilarityMatch) -> SimilarityCheck:
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


def test_nearest_fact_is_shown_with_the_reason_why_it_does_not_match(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_check(check(near(0.8)), nothing_redacted)
    first, second = capsys.readouterr().out.splitlines()
    reason = "the nearest scores .80, below the threshold of .90:"
    assert first == f"no similar fact is known; {reason}"
    assert second.strip() == TEXT


@pytest.mark.parametrize("nearest", [(), (near(0.0),)])
def test_check_with_nothing_to_compare_prints_one_line(
    capsys: pytest.CaptureFixture[str], nearest: tuple[SimilarityMatch, ...]
) -> None:
    print_check(check(*nearest), nothing_redacted)
    assert capsys.readouterr().out.splitlines() == ["no similar fact is known"]
