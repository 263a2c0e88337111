"""Words, numbers and signs as both the app and the command line display them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import floor

FLAT_REASONS: Mapping[str, str] = {
    "disabled": "entities switched off",
    "fast": "",
    "no_entities": "no entity named",
    "below_threshold": "no sure entity",
    "too_broad": "too many similar entities",
    "nothing_linked": "nothing linked in scope",
}
"""Reason of a flat search -> text for display."""

STATE_SIGNS: Mapping[str, str] = {
    "new": "+", "exact": "=", "near": "≈", "conflict": "!", "repeated": '"',
}  # fmt: skip
"""State of a draft -> its sign."""


PLURALS: Mapping[str, str] = {"person": "people", "match": "matches", "day": "days"}


def mode_name(search_mode: str, reason: str) -> str:
    """Return `two-pass`, `flat` or `fast`."""
    if search_mode == "two_pass":
        return "two-pass"
    return "fast" if reason == "fast" else "flat"


def kept_words(search_mode: str, reason: str, kept: Sequence[str]) -> str:
    """Return the names of the kept entities for which the second pass ran, or why it did not."""
    if search_mode == "two_pass":
        return join_limited(kept, " + ", limit=2)
    return FLAT_REASONS.get(reason, reason)


def join_limited(items: Sequence[str], separator: str = ", ", limit: int = 3) -> str:
    """Return the first `limit` items joined, then the number of further ones."""
    more = [f"{len(items) - limit} more"] if len(items) > limit else []
    return separator.join([*items[:limit], *more])


def listed(words: Sequence[str]) -> str:
    """Return `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


LAST_SECOND = 32_503_680_000.0
"""The beginning of the year 3000, the last that Windows knows."""


def local_datetime(seconds: float) -> datetime:
    """Return seconds since 1970 as local time, or the nearest that there is.

    State files may come from elsewhere, and name any time.
    """
    return datetime.fromtimestamp(min(max(seconds, 0.0), LAST_SECOND))


def format_minute(seconds: float) -> str:
    """Return seconds since 1970 as local time: `2026-11-25 14:02`."""
    return local_datetime(seconds).strftime("%Y-%m-%d %H:%M")


def format_duration(seconds: float) -> str:
    """Return seconds as `26 s` or, from 100 on, as minutes: `3 min`."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def format_age(seconds: float) -> str:
    """Return how long ago something was: `just now`, `2 min ago`, `3 h ago`, `4 days ago`."""
    minutes = int(seconds / 60)
    if minutes < 60:
        return f"{minutes} min ago" if minutes > 0 else "just now"
    hours = minutes // 60
    return f"{hours} h ago" if hours < 24 else f"{format_count(hours // 24, 'day')} ago"


def format_percent(share: float) -> str:
    """Return a share of 0..1 as `92 %`, rounded down: 100 % means all."""
    return f"{int(share * 100 + 1e-9)} %"


def format_score(score: float, digits: int = 2) -> str:
    """Return a score of 0..1 rounded to `digits` decimals, no leading zero: `.86`, `1.00`."""
    return f"{score:.{digits}f}".removeprefix("0")


def format_change(change: float, digits: int = 3) -> str:
    """Return a change with its sign: `+.060`, `-.019`; `.000` where it rounds to nothing."""
    amount = format_score(abs(change), digits)
    if not float(amount):
        return amount
    return f"{'-' if change < 0 else '+'}{amount}"


def format_p(p: float) -> str:
    """Return a p-value: `.008`, `<.001`."""
    return format_score(p, 3) if p >= 0.0005 else "<.001"


def answer_words(relevance: float, full_relevance: float) -> str:
    """Return `relevance .26, 87 % of a full answer`."""
    words = f"relevance {format_score(relevance)}"
    if relevance >= full_relevance:
        return f"{words}: a full answer, from {format_score(full_relevance)} on"
    return f"{words}, {format_percent(relevance / full_relevance)} of a full answer"


def share_words(
    reason: str, answered: float | None, *, weight: float | None = None, linked: bool = True
) -> str:
    """Return what makes up the share of an entity: `.54 × attendee × .61 answered`.

    `weight` and `answered` are left out where they are None or the document is not `linked`, and
    `answered` where it is 1.00.
    """
    if not linked:
        return reason
    factors = [reason]
    if weight is not None:
        factors.insert(0, format_score(weight))
    if answered is not None and (share := format_score(answered)) != format_score(1.0):
        factors.append(f"{share} answered")
    return " × ".join(factors)


def stacked_bar(
    document: float, entity: float, width: int, *, reranker: float = 0.0
) -> tuple[str, str, str]:
    """Return the parts of a score as bars that fill `width` cells at score 1.

    These are lines, because blocks of adjacent rows would merge; without colours their weight
    distinguishes the parts.
    """
    total = min(round((document + entity + reranker) * width), width)
    first = min(round(document * width), total)
    second = min(round((document + entity) * width), total) - first
    return "━" * first, "─" * second, "┄" * (total - first - second)


def format_count(count: int, singular: str) -> str:
    """Return a count with its noun: `1 chunk`, `1,204 entities`."""
    plural = PLURALS.get(singular) or (
        f"{singular[:-1]}ies" if singular.endswith("y") else f"{singular}s"
    )
    return f"{count:,} {singular if count == 1 else plural}"


def format_size(size: int) -> str:
    """Return bytes as `1.8 MB`, in SI units as in file managers."""
    number = float(size)
    for unit in ("B", "kB", "MB"):
        if number < 999.5:
            digits = 0 if unit == "B" or number >= 99.5 else 1
            return f"{number:.{digits}f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def rounded_parts(total: float, parts: Sequence[float], digits: int = 2) -> list[float]:
    """Round `parts` so that they sum to `total` rounded, each off by less than one last digit.

    The largest-remainder method of apportionment (Hamilton): round down, then give the missing
    units to the parts that lost most.
    """
    unit = 10**digits
    units = [floor(part * unit + 1e-9) for part in parts]
    shown = float(f"{total:.{digits}f}")  # as printed: halves round to even
    missing = round(shown * unit) - sum(units)
    by_loss = sorted(range(len(parts)), key=lambda i: units[i] - parts[i] * unit)
    for index in by_loss[: max(missing, 0)]:
        units[index] += 1
    for index in reversed(by_loss[missing:] if missing < 0 else []):
        units[index] -= 1
    return [count / unit for count in units]
