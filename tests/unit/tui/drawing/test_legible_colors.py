"""Text of every shipped theme has a contrast of at least 4.5 to 1."""

from __future__ import annotations

import pytest
from textual.color import BLACK, WHITE, Color
from textual.theme import BUILTIN_THEMES, Theme

from kbx_tui.tui.drawing.legible_colors import (
    CURSOR_SHARE,
    LEAST_CONTRAST,
    TEXT_COLORS,
    contrast,
    legible,
)

THEMES = [theme for name, theme in BUILTIN_THEMES.items() if not name.startswith("ansi")]


def test_contrast_is_that_of_wcag() -> None:
    assert contrast(BLACK, WHITE) == pytest.approx(21.0)
    assert contrast(Color.parse("#777777"), WHITE) == pytest.approx(4.48, abs=0.01)
    assert contrast(WHITE, WHITE) == 1.0


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


def test_legible_theme_keeps_its_colours() -> None:
    colors = BUILTIN_THEMES["textual-dark"].to_color_system().generate()
    changed = {name for name, value in legible(colors).items() if colors[name] != value}
    assert changed <= set(TEXT_COLORS)


@pytest.mark.parametrize("name", ["ansi-dark", "ansi-light"])
def test_colours_of_the_terminal_are_left_alone(name: str) -> None:
    colors = BUILTIN_THEMES[name].to_color_system().generate()
    assert legible(colors) == colors
