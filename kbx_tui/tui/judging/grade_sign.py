"""How a grade is shown: one cell, which differs from no grade without colour. Pure."""

from __future__ import annotations

from collections.abc import Mapping

UNSURE, NO_GRADE = "?", " "


def grade_sign(grades: Mapping[str, int | None], path: str) -> str:
    """Return `0` to `3`, `?` for not sure, or a blank for a document without a grade."""
    if path not in grades:
        return NO_GRADE
    grade = grades[path]
    return UNSURE if grade is None else str(grade)
