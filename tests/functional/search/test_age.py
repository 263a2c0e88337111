"""Age as a weak prior: off by default, never above a document that answers clearly better."""

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui import KnowledgeBase, OutOfRange
from kbx_tui.search.retrieval.asked import AGE_WEIGHT, age_factors
from tests.functional.vaults import index_vault

TODAY = date(2026, 6, 1)
PAGE = "---\ntitle: {title}\ndate: {day}\n---\n\n{text}\n"
TEXT = "The winch of the ferry is oiled every spring."
FILES = {
    "notes/old.md": PAGE.format(title="Winch care", day="2016-06-01", text=TEXT),
    "notes/new.md": PAGE.format(title="Winch care", day="2026-05-31", text=TEXT),
    "notes/undated.md": f"# Winch care\n\n{TEXT}\n",
    "notes/other.md": PAGE.format(title="Lunch", day="2026-05-31", text="Soup, and a ferry."),
    "notes/odd.md": PAGE.format(title="Odd", day="9999-12-31", text="A winch of the future."),
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    return KnowledgeBase(index_vault(tmp_path_factory.mktemp("base"), FILES))


def scores(kb: KnowledgeBase, query: str = "oiled winch ferry", **options: Any) -> dict[str, float]:
    found = kb.search(query, limit=10, today=TODAY, **options).results
    return {Path(result.path).stem: result.score for result in found}


def test_age_counts_only_where_a_half_life_is_set(kb: KnowledgeBase) -> None:
    plain = scores(kb)
    assert plain["old"] == plain["new"]
    aged = scores(kb, age_half_life=365)
    assert aged["new"] > aged["undated"] > aged["old"]
    assert aged["old"] == pytest.approx(plain["old"] * (1 - AGE_WEIGHT), abs=2e-3)
    assert scores(kb, age_half_life=365, preset="seed") == scores(kb, preset="seed")
    dated = "oiled winch ferry in 2016"
    assert scores(kb, dated, age_half_life=365) == scores(kb, dated)


def test_setting_turns_it_on_and_why_shows_the_factor(tmp_path: Path) -> None:
    base = index_vault(tmp_path, FILES)
    (base / "kbx.toml").write_text("[search]\nage_half_life = 365\n", encoding="utf-8")
    with KnowledgeBase(base) as kb:
        answer = kb.search("oiled winch ferry", today=TODAY, explain=True)
    reasons = {Path(one.path).stem: (one.explain or {})["lowered_reason"] for one in answer.results}
    assert reasons["old"] == "age (dated 2016-06-01): × .90"
    assert reasons["undated"] == "age (undated): × .95"


@pytest.mark.parametrize("half_life", [-1.0, float("nan"), float("inf")])
def test_half_life_out_of_range_is_refused(kb: KnowledgeBase, half_life: float) -> None:
    with pytest.raises(OutOfRange, match="age_half_life must be within"):
        kb.search("winch", age_half_life=half_life)


days = st.dates().map(str) | st.sampled_from(["", "2026", "2026-03", "9999-12-31", "0000", "x"])


@given(st.lists(days, min_size=1), st.floats(1e-3, 1e6), st.lists(st.floats(0, 1), min_size=2))
def test_document_passes_none_that_scores_clearly_more(
    dates: list[str], half_life: float, before: list[float]
) -> None:
    factors = age_factors(dates, half_life, TODAY)
    assert factors is not None
    assert ((factors >= 1 - AGE_WEIGHT) & (factors <= 1.0)).all()
    after = np.array(before) * np.resize(factors, len(before))
    for one, other in zip(range(len(before)), range(1, len(before)), strict=False):
        if before[one] * (1 - AGE_WEIGHT) > before[other]:
            assert after[one] > after[other]


def test_half_life_halves_what_age_takes() -> None:
    factors = age_factors(["2026-06-01", "2026-05-02", ""], 30.0, TODAY)
    np.testing.assert_allclose(factors, [1.0, 1 - AGE_WEIGHT / 2, 1 - AGE_WEIGHT / 2])  # type: ignore[arg-type]
