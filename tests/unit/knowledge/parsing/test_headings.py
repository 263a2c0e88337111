from hypothesis import example, given

from kbx_tui.knowledge.markdown import outline, scan_headings
from tests.unit.knowledge.building import markdown_bodies


@given(markdown_bodies)
@example("a\n=\n\n=\n")
@example("<a>\n```\n\n# x\n```\n")
@example("- x\n ```\n# y\n```\n# z\n")
@example("```\n ~~~\n```\n# x")
@example("# x\n---\ny\n---")
def test_scanned_headings_are_those_of_the_parser(body: str) -> None:
    scanned = scan_headings(body)
    assert scanned is None or scanned == outline(body).headings
