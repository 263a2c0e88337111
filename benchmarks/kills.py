"""Kill indexing at random moments; the index must stay searchable and end up complete.

    python -m benchmarks.kills BASE [--kills 20] [--seed 1]

BASE is copied twice; after every fourth kill the index is removed. Prints what could be searched
after each kill, and whether the finished index has the same rows and gives the same answers as one
made in a single run.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.common import copy_of, row
from kbx_tui import KnowledgeBase
from kbx_tui.index.store import TABLES, Store, index_uri

KILLS_PER_INDEX = 4
INDEX = "import sys; from kbx_tui import KnowledgeBase; KnowledgeBase(sys.argv[1]).index()"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", type=Path)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with copy_of(options.base) as whole, copy_of(options.base) as killed:
        began = time.perf_counter()
        run(whole).wait()
        seconds = time.perf_counter() - began
        row("single run", f"{seconds:.1f} s")
        for number in range(1, options.kills + 1):
            if number % KILLS_PER_INDEX == 1:  # otherwise later kills would find a finished index
                shutil.rmtree(killed / ".kbx", ignore_errors=True)
            process = run(killed)
            moment = chance.uniform(0.3, 0.9 * seconds)
            time.sleep(moment)
            process.send_signal(signal.SIGKILL)
            ended = process.wait()
            row(f"kill {number} after {moment:.1f} s (exit {ended})", searched(killed))
        KnowledgeBase(killed).index()
        row("finished index", searched(killed))
        same = content(whole) == content(killed)
        answers = [answer(base) for base in (whole, killed)]
        row("same rows as one run", str(same))
        row("same answers as one run", str(answers[0] == answers[1]))
        if not same or answers[0] != answers[1]:
            sys.exit(1)


def run(base: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", INDEX, str(base)])


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
    """Return all rows of all tables as sorted text, except for the time of the run."""
    kb = KnowledgeBase(base)
    store = Store(index_uri(base, kb.settings))
    tables: dict[str, list[str]] = {}
    for name in TABLES:
        columns = store.table(name).schema.names
        rows: list[dict[str, Any]] = store.rows(name, columns).to_pylist()
        tables[name] = sorted(
            str(_without_noise(values)) for values in rows if values.get("key") != "indexed_at"
        )
    return tables


def _without_noise(values: dict[str, Any]) -> dict[str, Any]:
    """Round vectors, whose last bits depend on the batch a text was embedded in."""
    vector = values.get("vector")
    return values if vector is None else {**values, "vector": [round(v, 3) + 0.0 for v in vector]}


if __name__ == "__main__":
    main()
