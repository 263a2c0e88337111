"""The signs that the program draws exist in the usual fonts of terminals."""

import ast
from pathlib import Path

from tests.command_line import CHECKOUT

ALLOWED = frozenset(
    "·×–“”•…›←↑→↓−≈≠"
    "─━│┃┄┊└┤┴"  # box drawing
    "▁▂▃▄▅▆▇█▏▎▍▌▋▊▉░▒"  # block elements
    "▲▸▼▾◆○●☐☑✓✕✗"
)
"""Signs that DejaVu Sans Mono and Menlo both have. A new one belongs here once that is checked.

Braille (U+2800 to U+28FF), of which curves are drawn, is computed. Terminals draw it themselves or
take it from another font.
"""
NOT_DRAWN = ("result_list.py",)
"""Modules whose signs are bounds of patterns."""


def drawn_signs(file: Path) -> set[str]:
    """Return the characters outside ASCII in the texts of a module, docstrings aside."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    texts = (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in docstrings
    )
    return {c for text in texts if isinstance(text, str) for c in text if not c.isascii()}


def test_signs_on_the_screen_exist_in_dejavu_sans_mono_and_menlo() -> None:
    package = CHECKOUT / "kbx_tui"
    files = [*package.glob("tui/**/*.py"), package / "formatting.py"]
    rare = {
        file.name: unknown
        for file in files
        if file.name not in NOT_DRAWN and (unknown := drawn_signs(file) - ALLOWED)
    }
    assert rare == {}
