"""The stages of a run, as lines."""

from __future__ import annotations

from kbx_tui.index.build.progress import Progress
from kbx_tui.tui.drawing.lines import Line
from kbx_tui.tui.engine.index_run import IndexRun
from kbx_tui.tui.indexing.panes import stage_lines


def text_of(line: Line) -> str:
    return "".join(span.text for span in line)


def test_stage_shows_a_bar_count_rate_and_time_left() -> None:
    run = IndexRun().in_state("counting")
    run = run.with_progress(Progress("reading", 100, 100, 50.0, 0.0, False))
    run = run.with_progress(Progress("vectors", 300, 1200, 40.0, 22.5, True))
    lines = [text_of(line) for line in stage_lines(run, 80)]
    assert "100  done" in lines[0]
    assert "300 of 1,200  40/s  22 s left" in lines[-1]
    assert lines[-1].count("█") * 3 == lines[-1].count("░")
    assert [text_of(line) for line in stage_lines(run, 80, few=True)] == lines[-1:]
    assert all(len(line) <= 80 for line in lines)


def test_run_ends_with_all_stages_over_but_a_stopped_one_keeps_its_place() -> None:
    run = IndexRun().with_progress(Progress("vectors", 300, 1200, 40.0, 22.5, True))
    assert all(stage.is_over for stage in run.in_state("idle").stages)
    stopped = run.in_state("stopped")
    assert stopped.stages == run.stages
    assert stopped.current is None
