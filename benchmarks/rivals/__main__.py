"""Compare systems on labelled sets: quality by form of question, time, size.

    python -m benchmarks.rivals --set SET... [--systems NAME,NAME...] [--check] [--save FOLDER]

A SET has `memory/`, `queries.jsonl` and `qrels.tsv` (`benchmarks.rivals.make_sets` makes some).
Without `qrels.tsv` time and size alone are measured. Several sets are also reported as one.
Each system answers in its own environment, on a copy of the set; one that cannot be run is left out
and says why. README.md beside this file has the rules of the comparison.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

from benchmarks.common import milliseconds, processor_milliseconds
from kbx_tui.embedding.local import open_embedder
from kbx_tui.evaluation.metrics import PairedDifference, holm, ndcg, paired_difference, recall

OURS = "ours"
LEVEL, FEW = 0.05, 20
"""p from which a difference is not certain; queries below which nothing is claimed."""

Queries = list[dict[str, Any]]
Answer = dict[str, Any]
Grades = dict[str, dict[str, int]]
"""The grade of each relevant document, by query."""


@dataclass(frozen=True, slots=True)
class System:
    packages: tuple[str, ...] = ()
    """What its environment needs; none: the environment of the project."""
    python: str = ""
    note: str = ""


SYSTEMS: Mapping[str, System] = {
    OURS: System(),
    "ours:flat": System(),
    "ours:fast": System(note="words only"),
    "ours:seed": System(note="the plain formula"),
    "words": System(("bm25s==0.3.16", "PyStemmer==3.1.0"), note="BM25 of raw files"),
    "blend": System(note="the thirty lines"),
    "lance": System(note="hybrid; our chunks, vectors"),
    "lance:fts": System(note="our chunks"),
    "lance:vectors": System(note="our vectors"),
    "lance:ivf": System(note="hybrid, approximate"),
    "basic_memory": System(("basic-memory==0.24.1",), "3.12", note="text mode, without a model"),
    "qmd": System(note="2.8.3, without its models"),
    "qmd:nostop": System(note="without question words"),
    "kbx_0311": System(("kbx==0.3.11",), note="--fast, without a model"),
    "program": System(note="RIVAL_PROGRAM"),
    "lance:oracle": System(note="the right filter set by hand: no product"),
}
DEFAULT = ("ours", "ours:flat", "ours:fast", "words", "blend", "lance", "lance:fts", "lance:oracle")


@dataclass(frozen=True, slots=True)
class Row:
    """One form of question, one rival: ours minus the rival, query by query."""

    form: str
    system: str
    ndcg: float
    recall: float
    empty: float
    difference: PairedDifference


class Measured(NamedTuple):
    """What the systems answered on a set."""

    name: str
    source: str
    queries: Queries
    grades: Grades
    answers: Mapping[str, Answer]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="systems: " + ", ".join(SYSTEMS),
    )
    parser.add_argument("--set", dest="sets", nargs="+", type=Path, required=True, metavar="SET")
    parser.add_argument("--systems", default=",".join(DEFAULT), metavar="NAME,NAME")
    parser.add_argument(
        "--check", action="store_true", help="exit 1 where `blend` is ahead of ours"
    )
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="keep the answers as JSON")
    options = parser.parse_args()
    names = [OURS, *(name for name in options.systems.split(",") if name != OURS)]
    if unknown := [name for name in names if name not in SYSTEMS]:
        parser.error(f"there is no system {unknown[0]}; there are {', '.join(SYSTEMS)}")
    measured, beaten = [], []
    with tempfile.TemporaryDirectory(prefix="kbx-rivals-") as indices:
        for folder in options.sets:
            measured.append(measure(folder, names, Path(indices), options.save))
            beaten += report(*measured[-1])
            report_times(measured[-1].queries, measured[-1].answers)
    if len(measured) > 1:
        beaten += report(*together(measured))
    versions = f"Python {platform.python_version()}, {platform.machine()}"
    print(f"\n{datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d}, {versions}; {_commit()}")
    sys.exit(1 if options.check and any(row.system == "blend" for row in beaten) else 0)


def measure(folder: Path, names: Sequence[str], indices: Path, save: Path | None) -> Measured:
    """Run the systems on a set."""
    queries, answers = _read_queries(folder), {}
    for name in names:
        answer = run(name, folder, queries, indices)
        if isinstance(answer, str):
            print(f"{name} is left out: {answer}", file=sys.stderr)
            continue
        answers[name] = answer
        if save:
            save.mkdir(parents=True, exist_ok=True)
            kept = save / f"{folder.name}-{name.replace(':', '-')}.json"
            kept.write_text(json.dumps(answer))
    if OURS not in answers:
        sys.exit(1)
    source = folder / "SOURCE.txt"
    told = source.read_text().strip() if source.exists() else "source not stated"
    return Measured(folder.name, told, queries, _read_grades(folder), answers)


def together(sets: Sequence[Measured]) -> Measured:
    """Return all sets as one, with the systems that answered in each."""
    answers = {
        name: {"found": [found for each in sets for found in each.answers[name]["found"]]}
        for name in sets[0].answers
        if all(name in each.answers for each in sets)
    }
    queries = [query for each in sets for query in each.queries]
    grades = {query: grades for each in sets for query, grades in each.grades.items()}
    return Measured("all sets", "the queries of all", queries, grades, answers)


def run(name: str, folder: Path, queries: Queries, indices: Path) -> Answer | str:
    """Return what a system answers and took, or the reason why it could not be run.

    Systems that use our vectors begin with the index that ours made, kept in `indices`, so their
    time of indexing leaves out the embedding. So does ours where the set has an index already.
    """
    system, index = SYSTEMS[name], folder / ".kbx"
    if not index.exists():
        index = indices / folder.name
    with tempfile.TemporaryDirectory() as made:
        copy, asked, output = (Path(made) / each for each in (folder.name, "queries", "answer"))
        shutil.copytree(folder / "memory", copy / "memory")
        asked.write_text("\n".join(map(json.dumps, queries)))
        if index.exists() and not system.packages:
            shutil.copytree(index, copy / ".kbx")
        program = [sys.executable]
        if system.packages:
            uv = ["uv", "run", "--no-project", "--isolated", "--quiet"]
            uv += ["--python", system.python] if system.python else []
            program = [*uv, *(f"--with={package}" for package in system.packages), "python"]
        command = [*program, "-m", "benchmarks.rivals.run_system", name]
        command += map(str, (copy, asked, output))
        try:
            done = subprocess.run(
                command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
            )
        except OSError as error:
            return str(error)
        if done.returncode or not output.exists():
            return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        if name == OURS and not index.exists():
            shutil.copytree(copy / ".kbx", index)
        answer: Answer = json.loads(output.read_text())
        return answer


def report(
    name: str, source: str, queries: Queries, grades: Grades, answers: Mapping[str, Answer]
) -> list[Row]:
    """Print how good the answers on a set are; return the rows in which ours is behind."""
    print(f"\n## {name}: {len(queries)} queries\n{source}", flush=True)
    rows = compare(queries, grades, answers)
    if not rows:
        return []
    words = verdicts(rows)
    print("\n| form (n) | system | nDCG@10 | R@10 | empty | ours - it, 95 % | ours is |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        low, high = row.difference.interval or (0.0, 0.0)
        print(
            f"| {row.form} ({row.difference.queries}) | {row.system} | {_3(row.ndcg)} "
            f"| {_3(row.recall)} | {row.empty:.0%} | {row.difference.mean:+.3f} ({low:+.3f} to "
            f"{high:+.3f}) | {words.get(row, '')} |"
        )
    print("\nWhere ours is level or behind:")
    weak = [row for row in rows if words.get(row) in ("level", "behind")]
    for row in weak:
        print(f"- {row.form}, {row.system}: {words[row]}, {row.difference.mean:+.3f}")
    print("" if weak else "- nowhere")
    return [row for row in weak if words[row] == "behind"]


def verdicts(rows: Sequence[Row]) -> dict[Row, str]:
    """Return how ours stands in each row of a rival: ahead, level, behind, or few queries.

    The p-values are adjusted for the rows of one rival, so that no verdict depends on which other
    systems were run.
    """
    words = {}
    for name in {row.system for row in rows} - {OURS}:
        some = [row for row in rows if row.system == name]
        for row, p in zip(some, holm([row.difference.p for row in some]), strict=True):
            certain = "ahead" if row.difference.mean > 0 else "behind"
            few = row.difference.queries < FEW
            words[row] = "few" if few else certain if p < LEVEL else "level"
    return words


def report_times(queries: Queries, answers: Mapping[str, Answer]) -> None:
    wall, processor = embedding_times([query["text"] for query in queries])
    print(f"\nBare embedding of a query: {wall:.1f} ms, {processor:.1f} ms of the processor.\n")
    print(
        "| system | wall, x embedding | p10 | processor | first ms | index s | index processor s "
        "| disk MB | memory MB | |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    for name, answer in answers.items():
        walls = sorted(answer["wall"])
        print(
            f"| {name} | {median(walls) / wall:.1f} | {walls[len(walls) // 10] / wall:.1f} "
            f"| {median(answer['processor']) / processor:.1f} | {answer['wall'][0]:.0f} "
            f"| {answer['index_seconds']:.0f} | {answer['index_processor']:.0f} "
            f"| {answer['index_bytes'] / 1e6:.1f} | {answer['memory'] / 1e6:.0f} "
            f"| {SYSTEMS[name].note} |"
        )


def compare(queries: Queries, grades: Grades, answers: Mapping[str, Answer]) -> list[Row]:
    """Return a row per form and system, ours first."""
    rows = []
    for form in dict.fromkeys(query["form"] for query in queries):
        places = [
            place
            for place, query in enumerate(queries)
            if query["form"] == form and query["id"] in grades
        ]
        if not places:
            continue
        labels = [grades[queries[place]["id"]] for place in places]
        ours: list[float] = []
        for name, answer in answers.items():
            found = [answer["found"][place] for place in places]
            values = list(map(ndcg, found, labels))
            ours = ours or values
            rows.append(
                Row(
                    form=form,
                    system=name,
                    ndcg=fmean(values),
                    recall=fmean(map(recall, found, labels)),
                    empty=fmean(not paths for paths in found),
                    difference=paired_difference(values, ours),
                )
            )
    return rows


def embedding_times(texts: Sequence[str]) -> tuple[float, float]:
    """Return the median wall and processor milliseconds of embedding a query with nothing else."""
    embedder = open_embedder()
    embedder.embed_query("warm")
    embed = [partial(embedder.embed_query, text) for text in texts]
    walls, used = list(map(milliseconds, embed)), list(map(processor_milliseconds, embed))
    return median(walls), median(used)


def _read_queries(folder: Path) -> Queries:
    lines = (folder / "queries.jsonl").read_text("utf-8").splitlines()
    queries: Queries = [json.loads(line) for line in lines if line.strip()]
    return [
        {
            **query,
            "id": f"{folder.name}/{query['id']}",
            "people": query.get("people", []),
            "form": query.get("form", query.get("kind", "")),
        }
        for query in queries
    ]


def _read_grades(folder: Path) -> Grades:
    grades: Grades = {}
    labels = folder / "qrels.tsv"
    for line in labels.read_text("utf-8").splitlines() if labels.exists() else ():
        identifier, path, grade = line.split("\t")
        grades.setdefault(f"{folder.name}/{identifier}", {})[path] = int(grade)
    return grades


def _commit() -> str:
    asked = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return f"commit {asked.stdout.strip() or 'unknown'}"


def _3(number: float) -> str:
    return f"{number:.3f}".removeprefix("0") if number < 1 else "1.000"


if __name__ == "__main__":
    main()
