"""Helpers of the benchmarks: a private copy of the data, medians, memory."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.trusting import copy_base


@contextmanager
def copy_of(base: Path, *, keep_index: bool = False) -> Iterator[Path]:
    """Yield a copy of a knowledge base in a temporary folder, where an index may be written."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / base.name
        ignore = None if keep_index else shutil.ignore_patterns(".kbx")
        copy_base(base, copy, ignore=ignore)
        yield copy


def milliseconds(action: Callable[[], object]) -> float:
    """Return the duration of one call in milliseconds."""
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1000


def processor_milliseconds(call: Callable[[], object]) -> float:
    """Return the processor time of one call, that of all threads, in milliseconds."""
    start = time.process_time_ns()
    call()
    return (time.process_time_ns() - start) / 1e6


def median(numbers: list[float]) -> float:
    return statistics.median(numbers)


def spread(numbers: list[float]) -> str:
    """Return median, 10th, 90th and 95th percentile as text, in milliseconds."""
    ordered = sorted(numbers)
    low, high, highest = (ordered[len(ordered) * share // 100] for share in (10, 90, 95))
    of_all = f"p10 {low:.1f}, p90 {high:.1f}, p95 {highest:.1f}, n {len(ordered)}"
    return f"{median(ordered):7.1f} ms   ({of_all})"


def resident_mb() -> float:
    """Return the resident memory of this process in MB."""
    return float(psutil.Process().memory_info().rss) / 1e6


def own_mb() -> float:
    """Return the memory that this process shares with no other and with no file, in MB (Linux)."""
    status = Path("/proc/self/status").read_text("ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) * 1024 / 1e6


def peak_mb() -> float:
    """Return the peak resident memory of this process in MB (Unix)."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def row(label: str, value: str) -> None:
    """Print one line of a report."""
    print(f"{label:<44} {value}", flush=True)
