from kbx_tui.index.index_status import IndexOverview
from kbx_tui.knowledge.records import Problem
from kbx_tui.tui.indexing.panes import file_groups


def test_templates_left_out_on_purpose_are_not_problems() -> None:
    template = Problem("templates", "holds templates; `[index] templates = true` indexes them")
    overview = IndexOverview(templates=(template,))
    (group,) = file_groups(overview, (), ())
    assert group.title == "1 place left out"
    assert [(row.kind, row.place) for row in group.rows] == [("template", "templates")]
