"""Words, numbers and signs that mean the same in the app and on the command line. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

FLAT_REASONS: Mapping[str, str] = {
    "disabled": "entities switched off",
    "fast": "",
    "no_entities": "no entity named",
    "below_threshold": "entities below the threshold",
    "too_broad": "too many similar entities",
    "nothing_linked": "nothing linked in scope",
}
"""For each reason of a flat search, what a person reads."""

STATE_SIGNS: Mapping[str, str] = {
    "new": "+",
    "exact": "=",
    "near": "≈",
    "conflict": "!",
    "repeated": "⧉",
}
"""For each state of a draft, its sign."""


def mode_name(search_mode: str, reason: str) -> str:
    """Return `two-pass`, `flat` or `fast`."""
    if search_mode == "two_pass":
        return "two-pass"
    return "fast" if reason == "fast" else "flat"


def join_words(words: Sequence[str], joint: str = ", ", most: int = 3) -> str:
    """Return `words` joined; beyond `most`, how many more there are."""
    shown = list(words[:most])
    if len(words) > most:
        shown.append(f"{len(words) - most} more")
    return joint.join(shown)


def duration_words(seconds: float) -> str:
    """Return `26 s` or `3 min`."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def score_text(score: float) -> str:
    """Return two decimals without the leading zero: `.86`, `1.00`."""
    return f"{score:.2f}".removeprefix("0")


def stacked_bar(document: float, entity: float, width: int) -> tuple[str, str]:
    """Return the two parts of a score as blocks; together they take `width` cells at score 1."""
    total = min(round((document + entity) * width), width)
    first = min(round(document * width), total)
    return "█" * first, "▒" * (total - first)


def count_words(count: int, one: str) -> str:
    """Return `1 chunk` or `1,204 entities`."""
    many = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    return f"{count:,} {one if count == 1 else many}"


def size_words(size: int) -> str:
    """Return `1.8 MB`, in powers of 1,000 as file managers count."""
    number = float(size)
    for unit in ("B", "kB", "MB"):
        if number < 999.5:
            return (
                f"{number:.0f} {unit}" if unit == "B" or number >= 99.5 else f"{number:.1f} {unit}"
            )
        number /= 1000
    return f"{number:.1f} GB"
