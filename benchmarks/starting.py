"""Time starting: first paint of the app, first answered search, whole processes.

    python -m benchmarks.starting BASE [--runs 7] [--kbx PROGRAM]

BASE is an indexed folder, indexed by kbx too if PROGRAM is given (`kbx index run --no-embed` needs
no download; only its fast search works then). Each figure is a process of its own, the compared
ones run in turn, so that a busy machine slows both.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.common import median, row

MINIMAL = """
import time; began = time.perf_counter()
from textual.app import App
from textual.widgets import Input
class Minimal(App):
    def compose(self):
        yield Input()
    def on_ready(self):
        self.call_after_refresh(lambda: self.exit())
Minimal().run(headless=True)
print(time.perf_counter() - began)
"""
FIRST_PAINT = """
import sys, time; began = time.perf_counter()
from pathlib import Path
from kbx_tui.tui.app import KbxApp
class Timed(KbxApp):
    def on_ready(self):
        self.call_after_refresh(self.done)
    def done(self):
        print(time.perf_counter() - began, flush=True)
        import os; os._exit(0)
Timed(Path(sys.argv[1])).run(headless=True)
"""
PARTS = """
import time; began = time.perf_counter()
import os; os.environ['LANCEDB_LOG'] = 'error'
import lancedb
from kbx_tui.embedding.local import open_embedder
open_embedder('bundled').embed_query('ready')
print(time.perf_counter() - began)
"""
USABLE = """
import sys, time; began = time.perf_counter()
from kbx_tui import KnowledgeBase
KnowledgeBase(sys.argv[1]).search('what was decided about the release')
print(time.perf_counter() - began)
"""
QUESTION = "what was decided about the release"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", type=Path)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--kbx", type=Path, help="kbx 0.3.11 in an environment of its own")
    options = parser.parse_args()
    pairs = (
        ("minimal Textual app", MINIMAL, "kbx-tui, first paint", FIRST_PAINT),
        ("import lancedb + model load", PARTS, "kbx-tui, first search answered", USABLE),
    )
    for bare_label, bare, ours_label, ours in pairs:
        bare_times, our_times = [], []
        for _ in range(options.runs):
            bare_times.append(seconds(bare, options.base))
            our_times.append(seconds(ours, options.base))
        row(bare_label, f"{median(bare_times):.2f} s")
        row(
            ours_label,
            f"{median(our_times):.2f} s   (+{median(our_times) - median(bare_times):.2f} s)",
        )
    compare_processes(options.base, options.runs, options.kbx)


def compare_processes(base: Path, runs: int, kbx: Path | None) -> None:
    """Print the duration of whole processes: the bare import, and searches from the shell."""
    python, query = [sys.executable], ["search", QUESTION, "--json"]
    ours = [*python, "-m", "kbx_tui", *query]
    commands = {
        "python -c 'import lancedb'": [*python, "-c", "import lancedb"],
        "kbx-tui search": [*ours, "--kb", str(base)],
        "kbx-tui search --fast": [*ours, "--fast", "--kb", str(base)],
    }
    if kbx is not None:
        commands["kbx 0.3.11 search --fast"] = [str(kbx), *query, "--fast"]
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            began = time.perf_counter()
            output_of(command, cwd=base)
            times[name].append(time.perf_counter() - began)
    bare = median(times["python -c 'import lancedb'"])
    for name, taken in times.items():
        row(
            name, f"{median(taken):.2f} s   ({median(taken) - bare:+.2f} s, least {min(taken):.2f})"
        )


def seconds(code: str, base: Path) -> float:
    return float(output_of([sys.executable, "-c", code, str(base)]).strip().splitlines()[-1])


def output_of(command: list[str], cwd: Path | None = None) -> str:
    """Run a process and return its output; if it fails, exit with the last thing it said."""
    environment = {**os.environ, "LANCEDB_LOG": "error"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment)
    if done.returncode:
        said = (done.stderr.strip() or f"a process ended with {done.returncode}").splitlines()
        sys.exit(re.sub(r"^kbx_tui\.errors\.\w+: ", "", said[-1]))
    return done.stdout


if __name__ == "__main__":
    main()
