"""Play faults on a small base, again and again; nothing may be lost, and answers stay right.

    python -m benchmarks.faults [KIND...] [--tries 200] [--seed 1] [--base BASE]

Kinds; default: all.
    flips, zeros, truncations, removals   damage one file of the index per try, all in turn
    pairs                                 flip a bit of DIGESTS and one of another file
    open                                  damage one file in any way after an open program read it
    state                                 damage one other file of .kbx per try, all in turn
    kills                                 kill runs of the index
    write-kills, command-kills            kill add, edit, batch, undo, index: as calls, as commands
    process-kills                         kill the same commands from the start of their process
    disk, read-only, writers              a full disk, folders nobody may write, four at once
    clock, stamps, renames                times that lie, and 200 files renamed under the open app

Without BASE a small one is generated; else BASE is copied. Prints failures as they occur and a
table at the end, also when interrupted, and exits with 1 if there were failures.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.common import copy_of, row
from benchmarks.faults.campaign import Campaign, Skipped, keep_model
from benchmarks.faults.crowds import rename_many, write_at_once
from benchmarks.faults.file_damage import KINDS, damage_files, damage_open, flip_bit
from benchmarks.faults.kills import kill_writers
from benchmarks.faults.obstacles import fill_disk, forbid_writing
from benchmarks.faults.small_base import write_small_base
from benchmarks.faults.state_damage import damage_state
from benchmarks.faults.times import rewrite_with_same_stamp, set_clock_back
from benchmarks.faults.write_kills import kill_calls, kill_commands, kill_processes

CAMPAIGNS: dict[str, Campaign] = {
    **{name: damage_files(damage) for name, damage in KINDS.items()},
    "pairs": damage_files(flip_bit, also="DIGESTS"),
    "open": damage_open,
    "state": damage_state,
    "kills": kill_writers,
    "write-kills": kill_calls,
    "command-kills": kill_commands,
    "process-kills": kill_processes,
    "disk": fill_disk,
    "read-only": forbid_writing,
    "writers": write_at_once,
    "clock": set_clock_back,
    "stamps": rewrite_with_same_stamp,
    "renames": rename_many,
}
"""Every kind of fault by name."""

SLOW = {"process-kills": 4, "disk": 10, "read-only": 10, "writers": 20, "renames": 50}
"""Kinds of which only one try in so many is made."""

REPORT_EVERY = 10
"""Tries between two lines of progress."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    parser.add_argument("--tries", type=int, default=200, help="tries of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--base", type=Path)
    options = parser.parse_args()
    if unknown := set(options.kinds).difference(CAMPAIGNS):
        parser.error(f"unknown kind {min(unknown)}; valid: {', '.join(CAMPAIGNS)}")
    keep_model()
    for end in (signal.SIGINT, signal.SIGTERM):  # also where a shell ignores ctrl+c for a job
        signal.signal(end, signal.default_int_handler)
    table: dict[str, str] = {}
    failed = 0
    with tempfile.TemporaryDirectory() as state:  # one, because forked processes keep it
        os.environ |= {"KBX_STATE_DIR": state, "KBX_LOG_DIR": state}
        try:
            for kind in options.kinds or CAMPAIGNS:
                tries = max(1, options.tries // SLOW.get(kind, 1))
                failed += _play(kind, tries, options.seed, options.base, table)
        except KeyboardInterrupt:
            print("interrupted")
    for kind, outcome in table.items():
        row(kind, outcome)
    sys.exit(1 if failed else 0)


def _play(kind: str, tries: int, seed: int, base: Path | None, table: dict[str, str]) -> int:
    """Play one kind, keep its row of the table current, and return the number of failed tries."""
    made = failed = 0
    with _copy(base) as copy:
        try:
            for failures in CAMPAIGNS[kind](copy, tries, random.Random(seed)):
                made, failed = made + 1, failed + bool(failures)
                for failure in failures:
                    print(f"  {kind}: {failure}", flush=True)
                table[kind] = f"{made} tries, {failed} failures"
                if made % REPORT_EVERY == 0:
                    row(f"  {kind}, after {made} tries", f"{failed} failures")
        except Skipped as reason:
            table[kind] = f"skipped: {reason}"
        except Exception as error:  # the other kinds are still played
            traceback.print_exc()
            made, failed = made + 1, failed + 1
            table[kind] = f"{made} tries, {failed} failures, ended by {error}"
    return failed


@contextmanager
def _copy(base: Path | None) -> Iterator[Path]:
    """Yield a copy of the base in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        if base is None:
            yield write_small_base(Path(folder) / "base")
        else:
            with copy_of(base) as copy:
                yield copy


if __name__ == "__main__":
    main()
