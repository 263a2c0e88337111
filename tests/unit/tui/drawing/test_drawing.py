"""Braille, lines, and legible colours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.color import BLACK, WHITE, Color
from textual.theme import BUILTIN_THEMES, Theme

from kbx_tui.tui.drawing.lines import (
    Span,
    fit_line,
    highlight,
    key_lines,
    move_text,
    rank_moves,
    shared_lengths,
    slice_line,
    title_spans,
    width_of,
)
from kbx_tui.tui.terminal_app import (
    CURSOR_SHARE,
    KBX,
    LEAST_CONTRAST,
    TEXT_COLORS,
    contrast,
    legible,
)
from kbx_tui.tui.tune.curve import BrailleCanvas


def text(canvas: BrailleCanvas) -> list[str]:
    return ["".join(span.text for span in line) for line in canvas.lines()]


def test_each_dot_of_a_cell_has_its_bit_and_those_outside_are_ignored() -> None:
    canvas = BrailleCanvas(1, 1)
    for x in range(2):
        for y in range(4):
            canvas.dot(x, y, "text")
    assert text(canvas) == ["⣿"]

    canvas = BrailleCanvas(2, 1)
    for point in ((-1, 0), (4, 0), (0, -1), (0, 4)):
        canvas.dot(*point, "text")
        canvas.sign(*point, "●", "text")
    assert text(canvas) == ["  "]


def test_a_path_has_no_gap_a_sign_replaces_dots_and_a_rule_fills_empty_cells() -> None:
    canvas = BrailleCanvas(4, 2)
    canvas.path([(0, 7), (7, 0)], "document")
    assert text(canvas) == ["  ⡠⠊", "⡠⠊  "]

    canvas = BrailleCanvas(3, 3)
    canvas.path([(0, 5), (5, 5)], "document")
    canvas.rule(2, "┊", "rule")
    canvas.sign(4, 5, "●", "accent")
    assert text(canvas) == [" ┊ ", "⠒⠒●", " ┊ "]
    assert [span.look for span in canvas.lines()[1]] == ["document", "accent"]


THEMES = [KBX, *(theme for name, theme in BUILTIN_THEMES.items() if not name.startswith("ansi"))]


def test_contrast_is_that_of_wcag_and_a_legible_theme_keeps_its_colours() -> None:
    assert contrast(BLACK, WHITE) == pytest.approx(21.0)
    assert contrast(Color.parse("#777777"), WHITE) == pytest.approx(4.48, abs=0.01)
    assert contrast(WHITE, WHITE) == 1.0

    colors = BUILTIN_THEMES["textual-dark"].to_color_system().generate()
    changed = {name for name, value in legible(colors).items() if colors[name] != value}
    assert changed <= set(TEXT_COLORS)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_text_is_legible_on_every_background(theme: Theme) -> None:
    colors = legible(theme.to_color_system().generate())
    foreground = Color.parse(colors["foreground"])
    for name in ("background", "surface"):
        plain = Color.parse(colors[name])
        palette = plain.blend(foreground, 0.14)  # the row under its cursor
        assert contrast(foreground, palette) >= LEAST_CONTRAST, name
        for shade in (plain, plain.blend(foreground, CURSOR_SHARE)):
            for text in TEXT_COLORS:
                assert contrast(Color.parse(colors[text]), shade) >= LEAST_CONTRAST, (name, text)
        muted = colors["text-muted"]  # black or white, with a share of the background
        share = int(muted.removeprefix("auto ").removesuffix("%")) / 100
        assert contrast(plain.blend(plain.get_contrast_text(1.0), share), plain) >= LEAST_CONTRAST


@pytest.mark.parametrize(
    "theme", [each for each in THEMES if not each.dark], ids=lambda theme: theme.name
)
def test_boxes_of_a_light_theme_are_set_off_from_the_page(theme: Theme) -> None:
    colors = legible(theme.to_color_system().generate())
    assert contrast(Color.parse(colors["surface"]), Color.parse(colors["background"])) >= 1.2


@pytest.mark.parametrize("name", ["ansi-dark", "ansi-light"])
def test_colours_of_the_terminal_are_left_alone(name: str) -> None:
    colors = BUILTIN_THEMES[name].to_color_system().generate()
    assert legible(colors) == colors


texts = st.text(alphabet="abc é港🛳", max_size=60)


@given(st.lists(texts, max_size=5), st.integers(1, 40))
def test_a_line_is_cut_to_its_width(spans: list[str], width: int) -> None:
    line = tuple(Span(text, "dim") for text in spans)
    assert width_of(fit_line(line, width)) <= width


def test_matches_of_a_snippet_are_strong_and_a_slice_keeps_the_styles() -> None:
    line = highlight("go with the migration now", ((12, 21),))
    assert [(span.text, span.look) for span in line] == [
        ("go with the ", "dim"),
        ("migration", "strong"),
        (" now", "dim"),
    ]

    line = (Span("Alice ", "dim"), Span("Chen", "strong"))
    assert slice_line(line, 3, 8) == (Span("ce ", "dim"), Span("Ch", "strong"))


@given(st.lists(texts, max_size=5), st.integers(0, 60), st.integers(0, 60))
def test_slices_put_together_are_the_whole_text(spans: list[str], start: int, length: int) -> None:
    line, end = tuple(Span(text, "dim") for text in spans), start + length
    parts = (slice_line(line, 0, start), slice_line(line, start, end), slice_line(line, end))
    shown = ["".join(span.text for span in part) for part in parts]
    assert shown[1] == "".join(spans)[start:end]
    assert "".join(shown) == "".join(spans)


def test_moves_leave_out_new_and_unmoved_documents_and_have_a_direction() -> None:
    before = {"a": 1, "b": 2, "c": 3, "same": 5}
    now = {"c": 1, "a": 2, "b": 3, "new": 4, "same": 5}
    assert rank_moves(before, now) == {"c": 2, "a": -1, "b": -1}
    assert [move_text(move) for move in (2, 0, -1)] == [" ▲2", "", " ▼1"]


MEETINGS = [f"Technical Steering Committee (TSC) Meeting 2023-0{month}-04" for month in (1, 2, 3)]
SHARED = len("Technical Steering Committee (TSC) Meeting ")


def test_words_shared_with_neighbours_are_dimmed_and_cut_first_but_no_whole_title() -> None:
    assert shared_lengths([*MEETINGS, "Rollback plan"]) == [SHARED, SHARED, SHARED, 0]
    assert shared_lengths(["Migration plans one", "Migration plansheet"]) == [0, 0]
    assert shared_lengths(["The plan", "The road"]) == [0, 0]  # too little to be in the way
    assert shared_lengths([]) == []

    titles = ["Weekly notes of May", "Weekly notes of May"]
    assert shared_lengths(titles) == [len("Weekly notes of ")] * 2
    assert shared_lengths(["Weekly notes of May", "Weekly notes of"]) == [13, 13]

    dim, strong = title_spans(MEETINGS[0], SHARED, 60)
    assert (dim.look, strong.look) == ("dim", "strong")
    shown = ["".join(span.text for span in title_spans(title, SHARED, 24)) for title in MEETINGS]
    assert shown == [f"Technical Ste…2023-0{month}-04" for month in (1, 2, 3)]


titles = st.text(alphabet="abc é港🛳", max_size=60)


@given(titles, st.integers(0, 60), st.integers(0, 60))
def test_title_fills_its_width(title: str, shared: int, width: int) -> None:
    assert width_of(title_spans(title, min(shared, len(title)), width)) == width


def test_keys_of_a_hint_look_like_keys_and_a_hint_without_keys_is_plain() -> None:
    assert key_lines([("esc f", "loads a file of drafts"), ("", "type a fact")], 24) == [
        (Span("  "), Span("esc f", "accent"), Span(" loads a file of", "dim")),
        (Span("  "), Span("drafts", "dim")),
        (Span("  "), Span("type a fact", "dim")),
    ]
