"""Preferences between result lists as JSON and as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kbx_tui.evaluation.preferences.preference import Preference


def preference_json(preference: Preference) -> dict[str, Any]:
    """Return a preference as it is printed: the two lists, and which one was preferred."""
    return {
        "query": preference.query,
        "better": preference.better,
        "when": preference.when,
        "generation": preference.generation,
        "first": {"paths": list(preference.first.paths), "knobs": dict(preference.first.knobs)},
        "second": {"paths": list(preference.second.paths), "knobs": dict(preference.second.knobs)},
    }


def preference_line(preference: Preference) -> str:
    """Return `2026-03-17 09:41  rollback plan: alpha 0.4, not 0.5`."""
    when = preference.when[:16].replace("T", " ")
    other = preference.second if preference.better == "first" else preference.first
    better = preference.first if preference.better == "first" else preference.second
    differing = {
        name: (value, other.knobs.get(name))
        for name, value in better.knobs.items()
        if value != other.knobs.get(name)
    }
    is_decided = preference.better != "neither"
    between = ", not {}" if is_decided else " as good as {}"
    words = ", ".join(
        f"{name} {value}{between.format(than)}" for name, (value, than) in differing.items()
    )
    return f"{when:<16}  {preference.query}: {words or 'two lists of the same settings'}"
