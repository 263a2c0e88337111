"""The reranker in the app: the plain ranking shows first, and nothing waits for the model."""

from pathlib import Path

import pytest

from kbx_tui.tui.explore.inputs import ModeBadge
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.widgets.footer import StatusLine
from tests.cross_encoder_folder import write_cross_encoder
from tests.functional.tui.driving import QUESTION, WIDE, Driver, running
from tests.functional.tui.watched import Watched
from tests.trusting import configure_trusted


@pytest.fixture
def base(demo_copy: Path, tmp_path: Path) -> Path:
    """The demo with a reranker."""
    model = write_cross_encoder(tmp_path / "model")
    configure_trusted(demo_copy, f'[search]\nreranker = "{model.as_posix()}"\n')
    return demo_copy


def is_reranked(driver: Driver) -> bool:
    ranking = driver.explore.model.displayed.ranking
    return (
        ranking is not None
        and ranking.is_reranked
        and not driver.explore.model._reranking.is_running
    )


def scored_paths(driver: Driver) -> list[str]:
    return [result.path for result in driver.results.rows if result.reranker_part > 0.0]


async def test_the_plain_ranking_is_shown_until_the_reranker_is_ready(base: Path) -> None:
    watched = Watched()
    watched.reranking.clear()
    async with running(base, WIDE, watched=watched, asked=QUESTION) as driver:
        await driver.until(lambda: watched.calls["passages"])
        plain = driver.paths
        assert plain
        assert scored_paths(driver) == []
        watched.reranking.set()
        await driver.until(lambda: scored_paths(driver))
        assert driver.paths != plain
        assert set(driver.paths[:20]) == set(plain[:20])
        assert driver.paths[20:] == plain[20:]
        assert watched.calls["retrieve"] == 1


async def test_a_key_is_answered_while_the_model_runs(base: Path) -> None:
    watched = Watched()
    watched.reranking.clear()
    async with running(base, WIDE, watched=watched, asked="rollback") as driver:
        await driver.until(lambda: watched.calls["passages"])
        await driver.ask("rollback plan")  # shown although the first model run never ended
        await driver.until(lambda: watched.calls["reranking cancelled"] == 1)
        await driver.until_shown(ResultList, "Rollback plan")


async def test_sliders_run_the_model_only_for_documents_without_a_score(base: Path) -> None:
    watched = Watched()
    async with running(base, WIDE, watched=watched, asked=QUESTION, measured=True) as driver:
        await driver.until(lambda: is_reranked(driver))
        await driver.until_shown(WhyPane, "┄ reranker .79", " reranker", "added")
        await driver.until_shown(ModeBadge, " ms + reranker ")
        ranking = driver.explore.model.displayed.ranking
        assert ranking is not None
        known = set(ranking.rows_to_rerank)
        assert watched.calls["passages"] == len(known)
        await driver.press("down", *["right_square_bracket"] * 8)
        await driver.until(
            lambda: driver.alpha == 0.9 and not driver.explore.model._reranking.is_running
        )
        ranking = driver.explore.model.displayed.ranking
        assert ranking is not None
        assert watched.calls["passages"] == len(known | set(ranking.rows_to_rerank))
        assert set(ranking.reranker_scores) == set(ranking.rows_to_rerank)
        passages = watched.calls["passages"]
        await driver.press(*["left_square_bracket"] * 8)
        await driver.until(
            lambda: driver.alpha == 0.5 and not driver.explore.model._reranking.is_running
        )
        assert watched.calls["passages"] == passages  # back to documents that all have a score
        assert watched.calls["retrieve"] == 1


async def test_a_document_that_enters_the_first_20_is_scored_after_it_is_shown(base: Path) -> None:
    watched = Watched()
    async with running(base, WIDE, watched=watched, asked=QUESTION) as driver:
        await driver.until(lambda: is_reranked(driver))
        watched.reranking.clear()
        await driver.press("down", "m")  # a flat ranking has other documents in front
        await driver.until(lambda: driver.view.mode.name == "flat")
        ranking = driver.explore.model.displayed.ranking
        assert ranking is not None
        new = set(ranking.rows_to_rerank) - set(ranking.reranker_scores)
        assert new  # ranked at once, without a part of the reranker
        watched.reranking.set()
        await driver.until(lambda: is_reranked(driver))
        ranking = driver.explore.model.displayed.ranking
        assert ranking is not None
        assert new <= set(ranking.reranker_scores)


async def test_a_broken_reranker_is_one_note_and_the_plain_ranking(
    base: Path, tmp_path: Path
) -> None:
    (tmp_path / "model" / "model.onnx").write_bytes(b"not a model")
    async with running(base, WIDE, asked=QUESTION) as driver:
        await driver.until_shown(StatusLine, "not reranked: ")
        assert driver.paths
        assert scored_paths(driver) == []
        assert driver.watched.calls["begin_reranking"] < 4  # it is not tried for ever


async def test_without_a_reranker_the_engine_is_not_asked_for_one(demo_kb_path: Path) -> None:
    async with running(demo_kb_path, WIDE, asked=QUESTION) as driver:
        await driver.press("down", *["right_square_bracket"] * 3)
        await driver.until(lambda: driver.alpha == 0.65)
        assert driver.watched.calls["begin_reranking"] == 0
        assert "reranker" not in driver.screen_text()
