"""Start and end the program at random moments; it must be gone in time and leave nothing behind.

    python -m benchmarks.endings [--tries 500] [--seed 1] [--only app,search] [--limit 3]

Every try starts one surface on a copy of the demo, in a terminal of its own or on pipes, and ends
it at a random moment, before, while or after it starts. Checked are the time until it is gone, the
exit code, the state of the terminal, what it printed, and that no process is left.

Prints each failure, and a row per surface and way to end; the exit code is 1 if there was a
failure. `late` is an end that took longer than the limit, with little work of its own, on a machine
kept busy by others: it is shown, but not counted. An end before Python runs the program is not
judged.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from contextlib import suppress

from benchmarks.common import copy_of, row
from benchmarks.endings.outcome import Outcome, is_failed
from benchmarks.endings.tries import run_tries
from benchmarks.endings.ways import KBX, WAYS, Way
from kbx_tui.demo import SHIPPED
from tests.usual_signals import restore_signals


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="surfaces, separated by commas")
    parser.add_argument("--limit", type=float, default=3.0, help="seconds until it must be gone")
    options = parser.parse_args()
    restore_signals()
    surfaces = set(filter(None, options.only.split(",")))
    ways = [way for way in WAYS if not surfaces or way.surface in surfaces]
    chance = random.Random(options.seed)
    with (
        tempfile.TemporaryDirectory() as folder,  # log and state of the app
        copy_of(SHIPPED) as bare,
        copy_of(SHIPPED) as indexed,
    ):
        os.environ |= {"KBX_LOG_DIR": folder, "KBX_STATE_DIR": folder}
        # In a process of its own: this one forks, which threads of LanceDB would not survive.
        subprocess.run([*KBX, "--kb", str(indexed), "index"], check=True, capture_output=True)
        outcomes: dict[Way, list[Outcome]] = defaultdict(list)
        with suppress(KeyboardInterrupt):  # the table of the tries made so far
            for way, outcome in run_tries(
                ways, options.tries, chance, bare, indexed, options.limit
            ):
                outcomes[way].append(outcome)
    print_table(outcomes)
    if any(is_failed(outcome) for tried in outcomes.values() for outcome in tried):
        sys.exit(1)


def print_table(outcomes: dict[Way, list[Outcome]]) -> None:
    total: Counter[str] = Counter()
    for way, tried in outcomes.items():
        kinds = Counter(kind for outcome in tried for kind in outcome.failures)
        slowest = max(outcome.seconds for outcome in tried)
        found = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "none"
        row(str(way), f"{len(tried):3} tries, slowest {slowest:.1f} s, failures: {found}")
        total.update(kinds)
    tries = sum(map(len, outcomes.values()))
    found = ", ".join(f"{count} {kind}" for kind, count in total.items()) or "none"
    row("all", f"{tries} tries, failures: {found}; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
