"""Keep the app and two agents open for hours, and put the base through what a week may bring.

    python -m benchmarks.soak FOLDER [--hours 8] [--pause 2]

An editor and a sync tool change files, agents search and write over MCP, `kbx index` runs, the
machine sleeps, clocks jump and the disk fills. FOLDER keeps the base (a copy of the demo), beside
it what each page has to be, and a line of measurements per round in `rows.jsonl`: a run that was
stopped continues there. With `base` on a small file system of its own the disk really fills,
else no file of the agents may grow meanwhile. Clocks jump where there is a C compiler, else file
times alone. Ends with 1 if a write was lost.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from mcp import Client, StdioServerParameters

from benchmarks.common import median, row
from kbx_tui.demo import PARTS, SHIPPED
from tests.terminal.terminal import Terminal, terminal

KBX = [sys.executable, "-m", "kbx_tui", "--kb"]
SHARED = "memory/people/alice-chen.md"
"""The page that both agents write at the same time."""
OWN = ("memory/people/bob-okafor.md", "memory/people/grace-tully.md")
ENTITIES = {path: f"person:{Path(path).stem}" for path in (SHARED, *OWN)}
MARK = "of lamp oil is in shed"
MOST_FACTS = 12
"""Facts of the agents on a page before its owner tidies it up, so that the base keeps its size."""
QUESTIONS = {"rollback plan": "Rollback plan", "hiring plan": "Hiring plan"}
CLOCK = """
#include <stdlib.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <sys/time.h>
int clock_gettime(clockid_t clock, struct timespec *now) {
    long code = syscall(SYS_clock_gettime, clock, now), seconds = 0;
    FILE *file = clock == CLOCK_REALTIME ? fopen(getenv("SOAK_CLOCK"), "r") : NULL;
    if (file) { if (fscanf(file, "%ld", &seconds) == 1) now->tv_sec += seconds; fclose(file); }
    return code;
}
"""
"""Library to load first, which moves the clock of a process by the seconds in a file."""
JUMPS = (0, 400 * 86_400, -30 * 86_400, 5_400)
SMALL_DISK = 1 << 30
FIRST = 1 / 8
"""Growth is counted from there: the first hour of eight, in which caches fill."""


@dataclass
class Soak:
    folder: Path
    clients: list[Client] = field(default_factory=list)
    written: int = 0
    refused: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def base(self) -> Path:
        return self.folder / "base"

    def save(self, path: str, content: bytes, how: Callable[[Path, bytes], None]) -> None:
        """Let an editor or a sync tool write a page, and keep what it has to be from now on."""
        how(self.base / path, content)
        self.keep(path, content)

    def keep(self, path: str, content: bytes) -> None:
        (kept := self.folder / "expected" / path).parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(content)

    def remove(self, path: str) -> None:
        for root in (self.base, self.folder / "expected"):
            (root / path).unlink()

    def check(self) -> None:
        """Compare every page with what it has to be, byte by byte, and note differences."""
        found, expected = (pages(root) for root in (self.base, self.folder / "expected"))
        for path in found.keys() | expected.keys():
            if found.get(path) != expected.get(path):
                self.faults.append(f"{path} is not what was written")

    async def add(self, agent: int, path: str, *, full: bool) -> str:
        """Let an agent add a fact; return its text if that was acknowledged.

        On a full disk it may be refused. It may also succeed, where files of the index were freed.
        """
        text = f"Crate {time.time_ns()} {MARK} {'nswe'[agent]}"
        arguments = {"text": text, "entity": ENTITIES[path], "force": True}
        answer = await self.clients[agent].call_tool("kbx_memory_add", arguments)
        done = not answer.is_error and (answer.structured_content or {}).get("written") is True
        if not done and not full:
            self.faults.append(f"agent {agent} did not write: {answer.structured_content}")
        self.written, self.refused = self.written + done, self.refused + (not done)
        return text if done else ""

    def settle(self, path: str, *texts: str) -> None:
        """Note a fault unless the page has each text on one new line, and no other change."""
        now = (self.base / path).read_bytes()
        new = [text.encode() for text in texts if text]
        lines = now.splitlines(keepends=True)
        rest = b"".join(line for line in lines if not any(text in line for text in new))
        if rest != (self.folder / "expected" / path).read_bytes():
            self.faults.append(f"{path} changed where nothing was written")
        self.faults += [f"not once in {path}: {text!r}" for text in new if now.count(text) != 1]
        self.keep(path, now)

    async def agents_write(self, *, full: bool = False) -> float:
        """Let both agents write one page at once, then each a page of its own; return ms."""
        began = time.perf_counter()
        both = await asyncio.gather(*(self.add(n, SHARED, full=full) for n in (0, 1)))
        self.settle(SHARED, *both)
        for agent, path in enumerate(OWN):
            self.settle(path, await self.add(agent, path, full=full))
        return (time.perf_counter() - began) * 1000 / 3

    async def agents_search(self) -> float:
        times = []
        for client, question in itertools.product(self.clients, QUESTIONS):
            began = time.perf_counter()
            answer = await client.call_tool("kb_search", {"query": question})
            times.append((time.perf_counter() - began) * 1000)
            if answer.is_error:
                self.faults.append(f"search: {answer.structured_content}")
        return median(times)

    async def seen(self) -> float:
        """Return the seconds until both agents find what an editor has just written."""
        path, word, began = "memory/notes/harbour.md", f"quokka{time.time_ns()}", time.monotonic()
        self.save(path, f"# Harbour\n\nThe {word} signs.\n".encode(), replacing)
        for client in self.clients:
            while time.monotonic() < began + 60:
                answer = await client.call_tool("kb_search", {"query": word})
                if "harbour.md" in json.dumps(answer.structured_content):
                    break
                await asyncio.sleep(0.2)
            else:
                self.faults.append(f"{word} was not found within a minute")
        return time.monotonic() - began

    def tidy(self) -> None:
        """Let the owner delete old facts of the agents from their pages."""
        for path in ENTITIES:
            lines = (self.base / path).read_bytes().splitlines(keepends=True)
            facts = [line for line in lines if MARK.encode() in line]
            if len(facts) > MOST_FACTS:
                old = set(facts[: MOST_FACTS // 2])
                self.save(path, b"".join(line for line in lines if line not in old), replacing)


def pages(root: Path) -> dict[str, bytes]:
    files = (file for file in (root / "memory").rglob("*") if file.is_file())
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}


def replacing(file: Path, content: bytes) -> None:
    """Write as most editors and sync tools do: a new file renamed over the old one."""
    other = file.with_name(f".{file.name}.tmp")
    other.write_bytes(content)
    other.replace(file)


def with_swap_files(file: Path, content: bytes) -> None:
    """Write as vim does: a swap file, a probe, a backup, the file itself in place."""
    swap, probe, backup = file.with_name(f".{file.name}.swp"), file.with_name("4913"), f"{file}~"
    swap.write_bytes(b"b0VIM 9.0")
    probe.touch()
    probe.unlink()
    shutil.copy2(file, backup)
    file.write_bytes(content)
    os.unlink(backup)  # noqa: PTH108
    swap.unlink()


def in_parts(file: Path, content: bytes) -> None:
    """Write as a slow sync tool does: the beginning, and the rest a second later."""
    with file.open("wb", buffering=0) as target:
        target.write(content[: len(content) // 2])
        time.sleep(1)
        target.write(content[len(content) // 2 :])


def anew(file: Path, content: bytes) -> None:
    """Delete the file and write it again."""
    file.unlink()
    file.write_bytes(content)


def change_files(soak: Soak, number: int) -> None:
    """Change a page, move one there and back, and let a conflict copy come and go."""
    names = sorted(path for path in pages(soak.base) if path not in ENTITIES and "(" not in path)
    path = names[number * 7 % len(names)]
    content = (soak.base / path).read_bytes().partition(b"\n\nSoaked ")[0]
    ways = (replacing, with_swap_files, in_parts, anew)
    soak.save(path, content + b"\n\nSoaked %d times.\n" % number, ways[number % len(ways)])
    if number % 3 == 0:
        os.utime(soak.base / path, (time.time(), time.time() + (number % 5 - 2) * 1e7))
    copy = "memory/people/bob-okafor (conflicted copy 2026-03-17).md"
    if (soak.base / copy).exists():
        soak.remove(copy)
    elif number % 2:
        soak.save(copy, (soak.base / OWN[0]).read_bytes(), replacing)
    moved = soak.base / "memory" / "notes" / "moved.md"
    (soak.base / path).rename(moved)
    time.sleep(0.5)
    moved.rename(soak.base / path)


@contextmanager
def full_disk(soak: Soak, agents: list[psutil.Process]) -> Iterator[None]:
    """Let no file grow: by a ballast on a small disk, else by a limit on the agents."""
    ballast, before = soak.base / "ballast", []
    if shutil.disk_usage(soak.base).free < SMALL_DISK:
        with suppress(OSError), ballast.open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
    else:
        before = [agent.rlimit(psutil.RLIMIT_FSIZE) for agent in agents]
        for agent, (_, hard) in zip(agents, before, strict=True):
            agent.rlimit(psutil.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        ballast.unlink(missing_ok=True)
        for agent, limits in zip(agents, before, strict=False):
            agent.rlimit(psutil.RLIMIT_FSIZE, limits)


def ask(app: Terminal, question: str, title: str) -> float:
    """Type a question in the app, read the first result and slide; return ms to its title."""
    app.press("escape", "/")
    app.type("\x15")  # ctrl+u
    app.listen(0.5)
    app.written, began = "", time.perf_counter()
    app.type(question)
    app.wait_for(title)
    taken = (time.perf_counter() - began) * 1000
    app.press("down", "enter")
    app.listen(0.5)
    app.press("escape", "escape", "]", "[")
    return taken


def measured(who: str, processes: list[psutil.Process]) -> dict[str, float]:
    """Return memory in MB (resident, shared by its share, own), descriptors and threads."""
    memory = [process.memory_full_info() for process in processes]
    return {
        f"{who}: resident, MB": sum(of.rss for of in memory) / 1e6,
        f"{who}: proportional, MB": sum(of.pss for of in memory) / 1e6,
        f"{who}: own, MB": sum(of.uss for of in memory) / 1e6,
        f"{who}: descriptors": sum(process.num_fds() for process in processes),
        f"{who}: threads": sum(process.num_threads() for process in processes),
    }


def size_of(folder: Path) -> int:
    size = 0
    for file in folder.rglob("*"):
        with suppress(OSError):  # files of the index come and go
            size += file.stat().st_size
    return size


async def soak_for(folder: Path, seconds: float, pause: float) -> list[str]:
    """Go on until `seconds` are over, those of earlier runs included; return the faults."""
    soak, rows = Soak(folder), folder / "rows.jsonl"
    earlier = [json.loads(line) for line in rows.read_text().splitlines()] if rows.exists() else []
    if not (folder / "expected").exists():
        for name in PARTS:
            copied = shutil.copytree if (SHIPPED / name).is_dir() else shutil.copy
            copied(SHIPPED / name, soak.base / name)
        shutil.copytree(soak.base / "memory", folder / "expected" / "memory")
    jump, clock = folder / "clock", folder / "clock.so"
    changes = {"PYTHONPATH": str(Path.cwd()), "XDG_STATE_HOME": str(folder / "state")}
    if compiler := shutil.which("cc"):
        options = ["-shared", "-fPIC", "-x", "c", "-", "-o", str(clock)]
        subprocess.run([compiler, *options], input=CLOCK, text=True, check=True)
        changes |= {"LD_PRELOAD": str(clock), "SOAK_CLOCK": str(jump)}
    environment = {**os.environ, **changes}
    await nightly(soak, environment)
    server = StdioServerParameters(
        command=sys.executable,
        args=[*KBX[1:], str(soak.base), "mcp", "--allow-writes=direct"],
        env=environment,
    )
    async with AsyncExitStack() as stack:
        soak.clients = [await stack.enter_async_context(Client(server)) for _ in range(2)]
        agents = [child for child in psutil.Process().children() if "mcp" in child.cmdline()]
        command = [*KBX, str(soak.base)]
        app = stack.enter_context(terminal(command, size=(140, 40), environment=changes))
        app.wait_for(" documents")
        everyone = [*agents, psutil.Process(app.process.pid)]
        number, began = len(earlier), time.monotonic()
        if earlier:
            began -= earlier[-1]["at"]
            soak.written, soak.refused = (earlier[-1][name] for name in ("written", "refused"))
        while time.monotonic() < began + seconds and not soak.faults:
            question, title = tuple(QUESTIONS.items())[number % len(QUESTIONS)]
            times = {"agent writes, ms": await soak.agents_write()}
            await asyncio.to_thread(change_files, soak, number)
            times["app answers, ms"] = await asyncio.to_thread(ask, app, question, title)
            times["edit found after, s"] = await soak.seen()
            times["agent searches, ms"] = await soak.agents_search()
            if number % 3 == 1:
                await sleep(soak, everyone, number, pause)
            if number % 4 == 2:
                with full_disk(soak, agents):
                    await soak.agents_write(full=True)
            if number % 5 == 3:
                await nightly(soak, environment)
            jump.write_text(str(JUMPS[number % len(JUMPS)]))
            soak.tidy()
            soak.check()
            number += 1
            values = {**times, ".kbx, MB": size_of(soak.base / ".kbx") / 1e6}
            values |= measured("app", everyone[2:]) | measured("agents", agents)
            counts = {"written": soak.written, "refused": soak.refused}
            line = json.dumps({"at": time.monotonic() - began, **counts, "values": values})
            with rows.open("a") as file:
                file.write(line + "\n")
            await asyncio.to_thread(app.listen, pause)
        app.press("escape", "q")
        if app.wait_for_exit() != 0:
            soak.faults.append("the app did not quit")
    checked = await run([*KBX, str(soak.base), "check"], environment)
    return soak.faults + ([checked] if checked else [])


async def sleep(soak: Soak, asleep: list[psutil.Process], number: int, pause: float) -> None:
    """Stop all processes as a closed laptop does, while a sync tool goes on."""
    for process in asleep:
        process.send_signal(signal.SIGSTOP)
    try:
        await asyncio.to_thread(change_files, soak, number + 1)
        await asyncio.sleep(pause)
    finally:
        for process in asleep:
            process.send_signal(signal.SIGCONT)


async def nightly(soak: Soak, environment: Mapping[str, str]) -> None:
    if said := await run([*KBX, str(soak.base), "index", "--yes"], environment):
        soak.faults.append(said)


async def run(command: list[str], environment: Mapping[str, str]) -> str:
    """Run a command; return what it said if it failed."""
    pipe, together = asyncio.subprocess.PIPE, asyncio.subprocess.STDOUT
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, stdout=pipe, stderr=together
    )
    said, _ = await process.communicate()
    return f"{' '.join(command[3:])}: {said.decode()}" if process.returncode else ""


def report(rows: list[dict[str, Any]]) -> None:
    """Print each figure at the start, after the first eighth and at the end, and its growth."""
    count = max(1, len(rows) // 16)
    first = next(n for n, r in enumerate(rows) if r["at"] >= rows[-1]["at"] * FIRST)
    parts = (rows[:count], rows[first : first + count], rows[-count:])
    last = rows[-1]
    row("hours, rounds", f"{last['at'] / 3600:.2f}, {len(rows)}")
    row("writes acknowledged, refused", f"{last['written']}, {last['refused']}")
    row("", "     start   first 8th         end   growth")
    for name in last["values"]:
        start, early, end = (median([r["values"][name] for r in part]) for part in parts)
        row(name, f"{start:10.1f}  {early:10.1f}  {end:10.1f}  {end / early - 1:+7.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hours", type=float, default=8.0)
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between rounds")
    options = parser.parse_args()
    folder = options.folder.absolute()
    (folder / "base").mkdir(parents=True, exist_ok=True)
    faults = asyncio.run(soak_for(folder, options.hours * 3600, options.pause))
    for fault in faults:
        print(fault)
    report([json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()])
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
