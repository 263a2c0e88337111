"""The rows of files that need attention."""

from rich.cells import cell_len

from kbx_tui.index.index_status import IndexOverview
from kbx_tui.knowledge.records import Problem
from kbx_tui.tui.drawing.lines import width_of
from kbx_tui.tui.indexing.screen import FileRow, file_line, file_rows


def test_a_name_of_wide_characters_keeps_its_end_and_moves_no_column() -> None:
    wide = file_line(FileRow("problem", "メモ/東京の庭園計画.md", 12, "odd"), "odd", " ", 16)
    plain = file_line(FileRow("problem", "notes/plan.md", 12, "odd"), "odd", " ", 16)
    assert wide[2].text.rstrip().endswith("計画.md:12")
    assert cell_len(wide[2].text) == cell_len(plain[2].text) == 16
    assert width_of(wide) == width_of(plain)


def test_templates_left_out_on_purpose_are_not_problems() -> None:
    template = Problem("templates", "holds templates; `[index] templates = true` indexes them")
    overview = IndexOverview(templates=(template,))
    rows = file_rows(overview, (), ())
    assert [(row.kind, row.place) for row in rows] == [("template", "templates")]
