"""Braille cells: dots, paths, signs and rules."""

from __future__ import annotations

from kbx_tui.tui.drawing.braille import BrailleCanvas


def text(canvas: BrailleCanvas) -> list[str]:
    return ["".join(span.text for span in line) for line in canvas.lines()]


def test_each_dot_of_a_cell_has_its_bit() -> None:
    canvas = BrailleCanvas(1, 1)
    for x in range(2):
        for y in range(4):
            canvas.dot(x, y, "text")
    assert text(canvas) == ["⣿"]


def test_dots_outside_are_ignored() -> None:
    canvas = BrailleCanvas(2, 1)
    for point in ((-1, 0), (4, 0), (0, -1), (0, 4)):
        canvas.dot(*point, "text")
        canvas.sign(*point, "●", "text")
    assert text(canvas) == ["  "]


def test_a_path_connects_its_points_without_a_gap() -> None:
    canvas = BrailleCanvas(4, 2)
    canvas.path([(0, 7), (7, 0)], "document")
    assert text(canvas) == ["  ⡠⠊", "⡠⠊  "]


def test_a_sign_replaces_dots_and_a_rule_only_fills_empty_cells() -> None:
    canvas = BrailleCanvas(3, 3)
    canvas.path([(0, 5), (5, 5)], "document")
    canvas.rule(2, "┊", "rule")
    canvas.sign(4, 5, "●", "accent")
    assert text(canvas) == [" ┊ ", "⠒⠒●", " ┊ "]
    assert [span.look for span in canvas.lines()[1]] == ["document", "accent"]
