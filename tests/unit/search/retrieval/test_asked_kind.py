import numpy as np
import pytest

from kbx_tui.search.retrieval.asked_kind import OLDEST, DocumentKinds, asked_kind
from tests.unit.search.snapshots import snapshot_of


def test_the_newest_may_have_a_month_or_year_as_date() -> None:
    dates = ("2020", "2022-01", "2022-01-01", "2026-03-17", "")
    paths = [f"{row}.md" for row in range(len(dates))]
    base = snapshot_of(paths, titles=paths, dates=dates)
    found = asked_kind("latest news", DocumentKinds(base), np.arange(len(dates)))
    assert found is not None
    oldest, month, day, newest, undated = found.factors.tolist()
    assert pytest.approx(oldest) == OLDEST
    assert oldest < month == day < newest == undated == 1.0
    in_2020 = asked_kind("news of 2020", DocumentKinds(base), np.arange(5), for_time=True)
    assert in_2020 is None
