"""Legible text colours for a theme: at least 4.5 to 1 contrast on its backgrounds. Pure.

The boxes of a light theme are set off from the page they lie on, which many hardly are.

The contrast is that of WCAG 2: (L1 + .05) / (L2 + .05) of the relative luminances.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from textual.color import BLACK, WHITE, Color

LEAST_CONTRAST = 4.5
LEAST_OF_SURFACES = 1.2
CURSOR_SHARE = 0.14
"""Share of the foreground in the background of the row under the cursor, as in `styles/`."""
STEP = 0.05
TEXT_COLORS = (
    "foreground",
    "text-primary",
    "text-secondary",
    "text-accent",
    "text-success",
    "text-warning",
    "text-error",
)
"""The theme variables that `styles/` uses for text, except those computed from these."""


def legible(variables: Mapping[str, str]) -> dict[str, str]:
    """Return theme variables with legible text colours; terminal colours are left unchanged."""
    changed = dict(variables)
    colors = {
        name: Color.parse(variables[name]) for name in ("background", "surface", "foreground")
    }
    if any(color.ansi is not None for color in colors.values()):
        return changed
    foreground = colors.pop("foreground")
    is_dark = luminance(colors["background"]) < luminance(foreground)
    pole = WHITE if is_dark else BLACK
    if not is_dark:
        colors["surface"] = set_off(colors["surface"], colors["background"])
        changed["surface"] = colors["surface"].hex
    for name in TEXT_COLORS:
        color = Color.parse(variables[name])
        while least_contrast(color, foreground, colors.values()) < LEAST_CONTRAST:
            color = color.blend(pole, STEP)
            foreground = color if name == "foreground" else foreground
        changed[name] = color.hex
    return changed


def set_off(surface: Color, background: Color) -> Color:
    """Return a surface with contrast to the background: lighter, else darker."""
    pole = WHITE if contrast(WHITE, background) >= LEAST_OF_SURFACES else BLACK
    shades = (surface.blend(pole, step * STEP) for step in range(round(1 / STEP) + 1))
    return next(shade for shade in shades if contrast(shade, background) >= LEAST_OF_SURFACES)


def least_contrast(color: Color, foreground: Color, backgrounds: Iterable[Color]) -> float:
    shades = [(plain, plain.blend(foreground, CURSOR_SHARE)) for plain in backgrounds]
    return min(contrast(color, shade) for pair in shades for shade in pair)


def contrast(one: Color, other: Color) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(color: Color) -> float:
    red, green, blue = (
        value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4
        for value in color.normalized
    )
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)
