"""Writers of the index killed at random moments of first, later and full runs."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.common import copy_of, row
from benchmarks.faults.victims import Kill, run_forked
from kbx_tui import KnowledgeBase
from kbx_tui.index.index_folder import index_uri
from kbx_tui.index.store import Store
from kbx_tui.index.versions import TABLES_ID
from kbx_tui.removal import INDEX_TABLES

OF_ONE_RUN = ("indexed_at", TABLES_ID)
"""Keys in table meta with another value in each run from scratch."""
KILLS_PER_INDEX = 4
"""Kills after which the index is compared and removed: else later ones would find it finished."""


def kill_writers(base: Path, tries: int, chance: random.Random) -> Iterator[list[str]]:
    """Kill indexing at random moments; the index must stay searchable and end up complete.

    Every other run is a full one.
    """
    with copy_of(base) as whole:
        seconds = run_forked(_index, (str(whole), False), None).seconds
        row("  single run", f"{seconds:.1f} s")
        for number in range(tries):
            if number % KILLS_PER_INDEX == 0:
                shutil.rmtree(base / ".kbx", ignore_errors=True)
            while True:  # until it is killed before it has ended
                kill = Kill(seconds=chance.uniform(0.0, seconds))
                if run_forked(_index, (str(base), number % 2 == 1), kill).was_killed:
                    break
            failures = []
            try:
                searched(base)
            except Exception as error:  # whatever it is, the campaign has found it
                failures.append(str(error))
            if number % KILLS_PER_INDEX == KILLS_PER_INDEX - 1 or number == tries - 1:
                failures += _unlike(base, whole)
            yield [f"{kill}: {failure}" for failure in failures]


def _index(ready: Callable[[], None], root: str, full: bool) -> None:
    """Index a base: the process that is killed."""
    with KnowledgeBase(root) as kb:
        ready()
        kb.index(full=full)


def _unlike(base: Path, whole: Path) -> list[str]:
    """Return how an index finished after kills differs from one made in a single run."""
    KnowledgeBase(base).index()
    failures = []
    if content(whole) != content(base):
        failures.append("the finished index has other rows than one made in a single run")
    if answer(whole) != answer(base):
        failures.append("the finished index gives other answers than one made in a single run")
    if beside := [path.name for path in (base / ".kbx").iterdir() if "index." in path.name]:
        failures.append(f"left behind: {beside}")
    return failures


def searched(base: Path) -> str:
    """Search after a crash and return the outcome as text; any error ends the benchmark."""
    kb = KnowledgeBase(base)
    response = kb.search("what was said about the budget")
    share = response.meta.vector_share
    return f"{response.meta.total_matched} of {response.meta.in_scope} found, vectors {share:.0%}"


def answer(base: Path) -> list[tuple[str, float]]:
    response = KnowledgeBase(base).search("what was said about the budget", limit=50)
    return [(result.path, result.score) for result in response.results]


def content(base: Path) -> dict[str, list[str]]:
    """Return all rows of all tables as sorted text, without what is of one run in table meta."""
    kb = KnowledgeBase(base)
    store = Store(index_uri(base, kb.settings))
    tables: dict[str, list[str]] = {}
    for name in INDEX_TABLES:
        columns = store.table(name).schema.names
        rows: list[dict[str, Any]] = store.rows(name, columns).to_pylist()
        tables[name] = sorted(
            str(_without_noise(values)) for values in rows if values.get("key") not in OF_ONE_RUN
        )
    return tables


def _without_noise(values: dict[str, Any]) -> dict[str, Any]:
    """Round vectors, whose last bits depend on the batch a text was embedded in."""
    vector = values.get("vector")
    return values if vector is None else {**values, "vector": [round(v, 3) + 0.0 for v in vector]}
