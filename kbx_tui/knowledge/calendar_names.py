"""English names of months and weekdays, and their numbers."""

from __future__ import annotations

from types import MappingProxyType

_MONTHS = "january february march april may june july august september october november december"
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"

MONTH_NAMES = tuple(_MONTHS.split())
"""In order, folded."""
MONTH_NUMBERS = MappingProxyType(
    {name: number for number, name in enumerate(MONTH_NAMES, 1)}
    | {name[:3]: number for number, name in enumerate(MONTH_NAMES, 1)}
    | {"sept": 9}
)
"""1 to 12, by name and by abbreviation."""
WEEKDAY_NUMBERS = MappingProxyType({name: n for n, name in enumerate(_WEEKDAYS.split(), 1)})
"""1 (Monday) to 7, by name."""
