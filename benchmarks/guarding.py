"""Time warm searches with and without what guards them, each query in turn; processor time.

    python -m benchmarks.guarding BASE [--queries FILE] [--count 100] [--rounds 4]

BASE is an indexed folder; nothing is written to it. The guards are the look for damaged files, the
notes on repairs and on files newer than the index, and, for the tool, the comparison of the pages
of an answer with their files. Each query is asked three times with the guards and three times
without, in an order that alternates, and the fastest of each three are compared. A row is the
median over all queries and rounds.

The tool compares every page of an answer with its file as it is now; the last row says what all
that costs.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.common import median, processor_milliseconds, row
from benchmarks.searching import make_queries, read_queries
from kbx_tui import KnowledgeBase
from kbx_tui.api.session import Session
from kbx_tui.search.open_index import IndexGeneration
from kbx_tui.tools.dispatch import call

REPEATS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", type=Path)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    with KnowledgeBase(options.base) as kb:
        kb.warm()
        made = read_queries(options.queries) if options.queries else make_queries(kb, options.count)
        named, topics = (queries[: options.count] for queries in made)
        for query in (*named, *topics):
            kb.search(query)
            call(kb, "kb_search", {"query": query})
        gc.freeze()
        for label, queries, knobs in (
            ("search, entity named", named, {}),
            ("search, no entity named", topics, {}),
            ("search --no-hierarchy", topics, {"hierarchy": False}),
            ("search --fast", [*named, *topics], {"fast": True}),
        ):
            searches = [partial(kb.search, query, **knobs) for query in queries]
            compare(label, searches, without_looks, options.rounds)
        calls = [partial(call, kb, "kb_search", {"query": query}) for query in (*named, *topics)]
        compare("kb_search, looks alone", calls, without_looks, options.rounds)
        compare("kb_search, looks and pages", calls, without_guards, options.rounds)


def compare(
    label: str,
    searches: Sequence[Callable[[], object]],
    without: Callable[[], Any],
    rounds: int,
) -> None:
    """Print the median times of searches with and without guards, and the median ratio."""
    guarded: list[float] = []
    unguarded: list[float] = []
    for number in range(rounds):
        for place, search in enumerate(searches):
            for is_guarded in (True, False) if (number + place) % 2 else (False, True):
                with ExitStack() as stack:
                    if not is_guarded:
                        stack.enter_context(without())
                    least = min(processor_milliseconds(search) for _ in range(REPEATS))
                (guarded if is_guarded else unguarded).append(least)
    ratio = median([with_ / without for with_, without in zip(guarded, unguarded, strict=True)])
    times = f"{median(guarded):6.2f} ms guarded, {median(unguarded):6.2f} without"
    row(label, f"{times}   ratio {ratio:.3f}")


@contextmanager
def without_looks() -> Iterator[None]:
    """Look neither for damage nor for newer files."""
    with (
        mock.patch.object(IndexGeneration, "was_damaged", lambda self: False),
        mock.patch.object(Session, "newer_files", lambda self: 0),
        mock.patch.object(Session, "repair_derived_files", lambda self: ()),
    ):
        yield


@contextmanager
def without_guards() -> Iterator[None]:
    """Compare no page with its file either."""
    with (
        without_looks(),
        mock.patch("kbx_tui.tools.public_answers._changed", lambda *_: []),
    ):
        yield


if __name__ == "__main__":
    main()
