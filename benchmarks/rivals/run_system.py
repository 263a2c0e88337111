"""Run one system on one folder: the process that `benchmarks.rivals` starts, in any environment.

    python -m benchmarks.rivals.run_system SYSTEM FOLDER QUERIES OUTPUT

Imports the standard library alone, as the environment of a system need not hold the project.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
from pathlib import Path

LIMIT = 10


def main() -> None:
    system, folder, queries_file, output = sys.argv[1], *map(Path, sys.argv[2:])
    folder, output = folder.resolve(), output.resolve()
    queries = [json.loads(line) for line in queries_file.read_text("utf-8").splitlines()]
    shown = {
        file.relative_to(folder).as_posix()
        for part in ("meetings", "notes")
        for file in folder.glob(f"memory/{part}/**/*.md")
    }
    name, _, mode = system.partition(":")
    module = importlib.import_module(f"benchmarks.rivals.systems.{name}")
    size, began, used = folder_size(folder), time.perf_counter(), processor_seconds()
    answers = module.answer(folder, queries, mode)
    next(answers)
    seconds, processor = time.perf_counter() - began, processor_seconds() - used
    found, walls, processors = [], [], []
    for _ in queries:
        began, used = time.perf_counter(), processor_seconds()
        paths = next(answers)
        walls.append((time.perf_counter() - began) * 1000)
        processors.append((processor_seconds() - used) * 1000)
        found.append([path for path in dict.fromkeys(paths) if path in shown][:LIMIT])
    next(answers, None)  # ends the processes of the system
    answered = {
        "found": found,
        "index_seconds": seconds,
        "index_processor": processor,
        "index_bytes": folder_size(folder) - size,
        "memory": max(each.ru_maxrss for each in usage()) * 1024,
        "wall": walls,
        "processor": processors,
    }
    output.write_text(json.dumps(answered))


def processor_seconds() -> float:
    """Return what this process took, and the processes it started that have ended."""
    return sum(each.ru_utime + each.ru_stime for each in usage())


def usage() -> tuple[resource.struct_rusage, resource.struct_rusage]:
    return resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)


def folder_size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    main()
