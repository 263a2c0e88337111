"""Blind preferences between two result lists of a query, stored in `.kbx/preferences.jsonl`.

    {"query": "rollback plan", "first": {"paths": ["memory/notes/plan.md", ...], "knobs": {...}},
     "second": {...}, "better": "second", "when": "2026-03-17T09:41:05Z", "generation": 41}

A preference is about two lists, not about the settings that produced them: it counts for every pair
of settings whose first results are these two lists. `better` is "first", "second" or "neither". The
last line for a query and two lists counts. As with judgments, lines are only appended; undoing
appends the line again with `"undo": true`. Unreadable lines are reported and skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from kbx_tui.editing.state_files import Log
from kbx_tui.errors import ConfigError, WriteFault
from kbx_tui.evaluation.judgments import log_line, query_key
from kbx_tui.evaluation.metrics import sign_test_p
from kbx_tui.knowledge.folding import normalized
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.state_file import Notice

DEPTH = 5

Better = Literal["first", "second", "neither"]
Paths = tuple[str, ...]
Lists = tuple[Paths, Paths]


@dataclass(frozen=True, slots=True)
class ShownList:
    paths: Paths
    knobs: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Preference:
    """The list that the user preferred for a query, without knowing which settings gave it."""

    query: str
    first: ShownList
    second: ShownList
    better: Better
    when: str = ""
    """UTC, `2026-03-17T09:41:05Z`; empty if unknown."""
    generation: int | None = None
    undo: bool = False
    """Whether this line of the log takes back the one before it on the same two lists."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "query", query_key(self.query))
        for name in ("first", "second"):
            shown: ShownList = getattr(self, name)
            object.__setattr__(self, name, ShownList(stored_paths(shown.paths), shown.knobs))
        if not self.query:
            raise ConfigError("a preference needs a query")
        if self.first.paths == self.second.paths:
            raise ConfigError("a preference needs two lists that differ")

    @property
    def key(self) -> tuple[str, frozenset[Paths]]:
        return preference_key(self.query, (self.first.paths, self.second.paths))

    @property
    def preferred(self) -> Paths | None:
        if self.better == "neither":
            return None
        return self.first.paths if self.better == "first" else self.second.paths


@dataclass(frozen=True, slots=True)
class Votes:
    """How often each of two settings was preferred, over the queries on which they differ."""

    wins_a: int
    wins_b: int
    neither: int
    undecided: int
    """Queries with preferences only for lists other than the current ones of A and B."""

    @property
    def p(self) -> float:
        return sign_test_p(self.wins_a, self.wins_b)


def preference_key(query: str, lists: Lists) -> tuple[str, frozenset[Paths]]:
    return query_key(query), frozenset(map(stored_paths, lists))


def stored_paths(paths: Sequence[str]) -> Paths:
    return tuple(normalized("NFC", replace_surrogates(path)) for path in paths[:DEPTH])


def count_votes(preferences: Iterable[Preference], lists: Mapping[str, Lists]) -> Votes:
    """Return the votes for two settings, A and B, given their lists by query.

    A query whose two lists are equal has no vote.
    """
    known = {preference.key: preference for preference in preferences}
    asked = {query for query, _ in known}
    wins_a = wins_b = neither = undecided = 0
    for query, (of_a, of_b) in lists.items():
        of_a, of_b = stored_paths(of_a), stored_paths(of_b)
        if of_a == of_b:
            continue
        preference = known.get(preference_key(query, (of_a, of_b)))
        if preference is None:
            undecided += query_key(query) in asked
        elif preference.preferred is None:
            neither += 1
        else:
            wins_a += preference.preferred == of_a
            wins_b += preference.preferred == of_b
    return Votes(wins_a, wins_b, neither, undecided)


class PreferenceLog:
    def __init__(self, root: Path, notice: Notice) -> None:
        self._log = Log(root, "preferences.jsonl", Preference, notice)

    def read(self) -> tuple[Preference, ...]:
        standing: dict[object, Preference] = {}
        for preference in self._log.records():
            standing.pop(preference.key, None)
            if not preference.undo:
                standing[preference.key] = preference
        return tuple(standing.values())

    def add(self, preference: Preference) -> None:
        with self._log.locked():
            self._log.append([log_line(preference)])

    def undo(self, preference: Preference | None = None) -> Preference:
        """Undo a preference, by default the last one, and return it.

        Raises WriteFault if there is none, or if it has been replaced or undone since.
        """
        with self._log.locked():
            standing = self.read()
            if preference is None:
                if not standing:
                    raise WriteFault("there is no preference to undo")
                preference = standing[-1]
            elif preference not in standing:
                raise WriteFault(
                    f"the preference for “{preference.query}” was replaced or taken back since"
                )
            self._log.append([log_line(preference, undo=True)])
        return preference
