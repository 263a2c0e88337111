"""What is said where nothing like a text is known."""

from __future__ import annotations

import pytest

from kbx_tui.cli.similarity_listing import print_check
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
    ("score", "said"),
    [
        (0.8, "the nearest scores .80 where .90 is needed:"),
        (0.95, "the nearest scores .95 and shares no word with it:"),
    ],
)
def test_the_nearest_is_told_with_what_keeps_it_from_being_a_match(
    capsys: pytest.CaptureFixture[str], score: float, said: str
) -> None:
    print_check(check(Nearest(TEXT, score, 0.9, "fact", "a.md", 3)))
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"nothing like it is known; {said}"
    assert second.strip() == TEXT


@pytest.mark.parametrize("nearest", [(), (Nearest(TEXT, 0.0, 0.9, "fact", "a.md", 3),)])
def test_nothing_to_compare_with_is_said_in_one_line(
    capsys: pytest.CaptureFixture[str], nearest: tuple[Nearest, ...]
) -> None:
    print_check(check(*nearest))
    assert capsys.readouterr().out.splitlines() == ["nothing like it is known"]
