"""Memory and processor time of a process, as Linux reports them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """What a process uses, memory in bytes."""

    private_bytes: int
    """What it has written and shares with no process; pages of mapped files are not among it."""
    proportional_bytes: int
    """All its memory, of what it shares with other processes its equal part."""
    cpu_seconds: float
    """Processor time of all its threads since it started."""


def process_usage(pid: int) -> ProcessUsage | None:
    """Return what a process uses; None if it has ended, or where the system does not say."""
    folder = Path("/proc", str(pid))
    try:
        fields = dict(
            line.split(":", 1)
            for line in (folder / "smaps_rollup").read_text().splitlines()
            if ":" in line and line.endswith("kB")
        )
        times = (folder / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    sizes = {name: 1024 * int(text.split()[0]) for name, text in fields.items()}
    private = sizes.get("Private_Dirty", 0)
    ticks = int(times[11]) + int(times[12])
    return ProcessUsage(private, sizes.get("Pss", 0), ticks / os.sysconf("SC_CLK_TCK"))
