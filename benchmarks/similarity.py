"""Measure the similarity score on labelled pairs, and time similarity checks.

    python -m benchmarks.similarity pairs FOLDER FOLDER ...
    python -m benchmarks.similarity judge FOLDER [--rules]
    python -m benchmarks.similarity door FOLDER
    python -m benchmarks.similarity speed [--facts 50000] [--keep BASE]

`pairs`: each FOLDER holds pairs.tsv (text_a, text_b, label). Prints per set the average precision,
the best F1 of any cut-off, and precision, recall and F1 at .85, for the score, the raw cosine,
Levenshtein, and max(cosine, 1 - Levenshtein), as first proposed. For the score, conflicts are
ranked last and never accepted.

`judge`: FOLDER holds pairs.tsv (id, a, b, label, phenomenon, source; `a` is known, `b` a draft, the
label is same, refines, conflict or different), or the drafts.jsonl of `door`, of which each is a
pair with the line that it is about. Prints what the judge of drafts makes of them: the confusion,
the measures and the cost for all and by source, those of a plain cut of the cosine or of
Levenshtein, and the phenomena below .7.

`door`: FOLDER holds drafts.jsonl and the bases that they are for; see README.md in
tests/functional/writing/door. Prints what is proposed for drafts by what a careful person would do.

`speed`: uses a base of generated people with 20 facts each, which is written and indexed (minutes)
unless BASE exists from an earlier run.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein

from benchmarks.common import milliseconds, resident_mb, row, spread
from benchmarks.labelled_pairs import LabelledPairs, Ranks, average_precision, best_f1, read_pairs
from kbx_tui import KnowledgeBase
from kbx_tui.demo import SHIPPED
from kbx_tui.drafting.deciding import decide
from kbx_tui.drafting.drafts import Verdict, new_draft
from kbx_tui.embedding.cross_encoder import LABELS
from kbx_tui.embedding.local import open_embedder
from kbx_tui.similarity.judging import COSTS, DUPLICATE
from kbx_tui.similarity.pair_score import precision_recall_f1

DUPLICATES = ("same", "refines")
JUDGE_HEAD = (
    f"{'set':<18}{'pairs':>6}{'right':>9}{'F1':>8}{'c→dup':>9}{'d→dup':>9}{'d→c':>9}"
    f"{'same':>9}{'dup P':>9}{'cost':>8}"
)
FACTS_EACH = 20
HEAD = (
    f"{'set':<18}{'ranked by':<14}{'AP':>6}{'best F1 (cut)':>16}{'P':>8}{'R':>7}{'F1 at .85':>11}"
)
PARTS = """owns leads reviews maintains prefers supports tests documents plans runs
billing search rota migration ledger onboarding ferry timetable ticketing harbour
service process dashboard pipeline checklist interface archive report script board
Oslo Lisbon Turin Lyon Ghent Cork Riga Porto Malmo Graz
weekly daily formally alone remotely patiently quietly jointly reliably usually
Ada Bo Cleo Dev Eli Fay Gus Hal Ivo Jan""".splitlines()
VERBS, MATTERS, KINDS, PLACES, MANNERS, FIRST = (part.split() for part in PARTS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    pairs = commands.add_parser("pairs")
    pairs.add_argument("folders", type=Path, nargs="+")
    judge = commands.add_parser("judge")
    judge.add_argument("folder", type=Path)
    judge.add_argument("--rules", action="store_true")
    door = commands.add_parser("door")
    door.add_argument("folder", type=Path)
    speed = commands.add_parser("speed")
    speed.add_argument("--facts", type=int, default=50_000)
    speed.add_argument("--keep", type=Path)
    options = parser.parse_args()
    if options.command == "pairs":
        measure_pairs([read_pairs(folder) for folder in options.folders])
    elif options.command == "judge":
        measure_judgements(options.folder, by_rules=options.rules)
    elif options.command == "door":
        measure_door(options.folder)
    elif options.keep:
        measure_speed(options.keep, options.facts)
    else:
        with tempfile.TemporaryDirectory() as folder:
            measure_speed(Path(folder) / "base", options.facts)


def measure_pairs(sets: list[LabelledPairs]) -> None:
    with tempfile.TemporaryDirectory() as folder, KnowledgeBase(folder) as kb:
        print(HEAD)
        for labelled in sets:
            found = kb.similarity.pairs(labelled.pairs)
            conflict = np.array([pair.relation == "conflict" for pair in found])
            cosine = np.array([pair.cosine for pair in found])
            spelling = np.array([likeness(*pair) for pair in labelled.pairs])
            ways: dict[str, Ranks] = {
                "score": np.where(conflict, -1.0, np.array([pair.score for pair in found])),
                "cosine": cosine,
                "Levenshtein": spelling,
                "their maximum": np.maximum(cosine, spelling),
            }
            for name, ranks in ways.items():
                print_way(labelled, name, ranks)


def print_way(labelled: LabelledPairs, name: str, ranks: Ranks) -> None:
    best, cut = best_f1(labelled.labels, ranks)
    precision, recall, f1 = precision_recall_f1(labelled.labels, ranks >= DUPLICATE)
    print(
        f"{labelled.name.removeprefix('dedup-'):<18}{name:<14}"
        f"{average_precision(labelled.labels, ranks):>6.3f}{best:>9.3f} ({cut:.2f})"
        f"{precision:>8.3f}{recall:>7.3f}{f1:>11.3f}",
        flush=True,
    )


def likeness(left: str, right: str) -> float:
    return float(Levenshtein.normalized_similarity(left.lower(), right.lower()))


def measure_judgements(folder: Path, *, by_rules: bool) -> None:
    rows = read_judged(folder)
    with tempfile.TemporaryDirectory() as base:
        if by_rules:
            (Path(base) / "kbx.toml").write_text('[dedup]\njudge = "rules"\n')
        with KnowledgeBase(base) as kb:
            texts = [(pair["b"], pair["a"]) for pair in rows]
            found = kb.similarity.judge(texts)
            cosines = [pair.cosine for pair in kb.similarity.pairs(texts)]
    judged = [
        Judged(pair["label"], each.judgement.relation, pair["source"], pair["phenomenon"])
        for pair, each in zip(rows, found, strict=True)
    ]
    print(f"{'label':<12}" + "".join(f"{relation:>11}" for relation in LABELS))
    for label in LABELS:
        counts = [sum(p.label == label and p.relation == said for p in judged) for said in LABELS]
        print(f"{label:<12}" + "".join(f"{count:>11}" for count in counts))
    print(JUDGE_HEAD)
    print_measures("all", judged)
    for source in sorted({pair.source for pair in judged}):
        print_measures(source, [pair for pair in judged if pair.source == source])
    spelling = [likeness(*pair) for pair in texts]
    for name, scores, cut in (
        ("cosine", cosines, DUPLICATE),  # as `memory similar` of kbx 0.3.11
        ("cosine", cosines, 0.7),  # as basic-memory names similar notes
        ("Levenshtein", spelling, DUPLICATE),
    ):
        said = ("same" if score >= cut else "different" for score in scores)
        by_cut = [replace(pair, relation=each) for pair, each in zip(judged, said, strict=True)]
        print_measures(f"{name} {cut:.2f}", by_cut)
    by_phenomenon = defaultdict[str, list[Judged]](list)
    for pair in judged:
        by_phenomenon[pair.phenomenon].append(pair)
    right = {name: share(pairs, _is_right) for name, pairs in by_phenomenon.items()}
    print("phenomena below .7, and the share judged right:")
    for name in sorted((name for name in right if right[name] < 0.7), key=right.__getitem__):
        print(f"  {right[name]:.2f} of {len(by_phenomenon[name]):>3}  {name}")


def read_judged(folder: Path) -> list[dict[str, str]]:
    if (folder / "pairs.tsv").exists():
        with (folder / "pairs.tsv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    drafts = map(json.loads, (folder / "drafts.jsonl").read_text("utf-8").splitlines())
    return [
        {
            "a": draft["line"],
            "b": draft["text"],
            "label": draft["relation"],
            "source": draft["base"],
            "phenomenon": draft["best"],
        }
        for draft in drafts
        if draft["line"]
    ]


@dataclass(frozen=True, slots=True)
class Judged:
    label: str
    relation: str
    source: str
    phenomenon: str

    @property
    def is_duplicate(self) -> bool:
        return self.relation in DUPLICATES


def print_measures(name: str, pairs: list[Judged]) -> None:
    """Print F1 of conflicts and shares in percent; a duplicate is judged the same or to refine."""
    of = {label: [pair for pair in pairs if pair.label == label] for label in LABELS}
    conflicts = [pair for pair in pairs if pair.relation == "conflict"]
    hits = sum(pair.label == "conflict" for pair in conflicts)
    f1 = 2 * hits / max(len(conflicts) + len(of["conflict"]), 1)
    exact = [pair for pair in pairs if pair.is_duplicate and pair.label != "refines"]
    cost = sum(COSTS[LABELS.index(pair.relation), LABELS.index(pair.label)] for pair in pairs)
    shares = (
        share(of["conflict"], lambda pair: pair.is_duplicate),
        share(of["different"], lambda pair: pair.is_duplicate),
        share(of["different"], lambda pair: pair.relation == "conflict"),
        share(of["same"], lambda pair: pair.is_duplicate),
        share(exact, lambda pair: pair.label == "same"),
    )
    print(
        f"{name:<18}{len(pairs):>6}{share(pairs, _is_right):>9.3f}{f1:>8.3f}"
        + "".join(f"{100 * value:>9.1f}" for value in shares)
        + f"{cost / max(len(pairs), 1):>8.3f}"
    )


def share(pairs: list[Judged], counts: Callable[[Judged], bool]) -> float:
    """Return the share of pairs that count; nan without any."""
    return sum(map(counts, pairs)) / len(pairs) if pairs else float("nan")


def _is_right(pair: Judged) -> bool:
    return pair.label == pair.relation


@dataclass(frozen=True, slots=True)
class Decided:
    draft: dict[str, Any]
    """As a line of drafts.jsonl."""
    verdict: Verdict

    @property
    def is_best_or_fine(self) -> bool:
        return self.verdict.proposal.action in {self.draft["best"], *self.draft["fine"]}

    @property
    def is_right(self) -> bool:
        """Whether it is best or fine, or a person is asked who is to be."""
        asks = "ask" in (self.draft["best"], *self.draft["fine"])
        return self.is_best_or_fine or (asks and not self.verdict.is_sure)


def decide_drafts(folder: Path) -> list[Decided]:
    """Return the verdicts on the drafts in a folder, each against a copy of its base."""
    lines = (folder / "drafts.jsonl").read_text("utf-8").splitlines()
    of_base = defaultdict[str, list[dict[str, Any]]](list)
    for draft in map(json.loads, lines):
        of_base[draft["base"]].append(draft)
    decided: list[Decided] = []
    for name, drafts in of_base.items():
        base = SHIPPED if name == "demo" else folder / f"base_{name}"
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch) / "base"
            shutil.copytree(base, root, ignore=shutil.ignore_patterns(".kbx"))
            with KnowledgeBase(root) as kb:
                kb.index()
                checks = kb.drafts.check(
                    [
                        new_draft(draft["text"], kind=draft["kind"], entity_name=draft["entity"])
                        for draft in drafts
                    ]
                )
            decided += map(Decided, drafts, map(decide, checks))
    return decided


def measure_door(folder: Path) -> None:
    decided = decide_drafts(folder)
    print(f"{'best':<12}{'drafts':>7}{'right':>7}{'sure':>7}{'right':>7}")
    for name in ("all", *sorted({each.draft["best"] for each in decided})):
        some = [each for each in decided if name in ("all", each.draft["best"])]
        sure = [each for each in some if each.verdict.is_sure]
        right = sum(each.is_right for each in some), sum(each.is_best_or_fine for each in sure)
        print(f"{name:<12}{len(some):>7}{right[0]:>7}{len(sure):>7}{right[1]:>7}")


def measure_speed(base: Path, facts: int) -> None:
    if not (base / ".kbx").exists():
        make_base(base, facts)
    with KnowledgeBase(base, notice=print) as kb:
        began = time.perf_counter()
        kb.index()
        row("index", f"{time.perf_counter() - began:.0f} s")
        chance = random.Random(11)
        people = [person.name for person in kb.entities.find("", limit=facts // FACTS_EACH)]
        texts = [f"{a_fact(chance)} {number}" for number in range(600)]
        row("first check, all facts", f"{milliseconds(lambda: kb.memory_similar(texts[0])):.0f} ms")
        embedder = open_embedder(kb.settings.embedding.model)
        row("embed one text", spread(timed([partial(embedder.embed, [t]) for t in texts[:100]])))
        row("one text, all facts", spread(timed(checks(kb, texts[100:300]))))
        one = people[0]
        first = milliseconds(lambda: kb.memory_similar(texts[1], entity=one))
        row("first check, one entity", f"{first:.0f} ms")
        row("one text, one entity", spread(timed(checks(kb, texts[300:500], entity=one))))
        row("100 texts at once", f"{milliseconds(lambda: kb.similarity.check(texts[500:])):.0f} ms")
        began = time.perf_counter()
        scan = kb.drafts.scan_duplicates()
        row(f"scan of {scan.facts:,} facts", f"{time.perf_counter() - began:.1f} s")
        row("clusters, pairs in conflict", f"{len(scan.clusters):,}, {len(scan.conflicting):,}")
        row("resident memory", f"{resident_mb():.0f} MB")


def checks(kb: KnowledgeBase, texts: list[str], **scope: str) -> list[Callable[[], object]]:
    return [partial(kb.memory_similar, text, **scope) for text in texts]


def timed(actions: list[Callable[[], object]]) -> list[float]:
    return [milliseconds(action) for action in actions]


def make_base(base: Path, facts: int) -> None:
    chance = random.Random(7)
    folder = base / "memory" / "people"
    folder.mkdir(parents=True)
    for number in range(facts // FACTS_EACH):
        name = f"{FIRST[number % len(FIRST)]} Name{number}"
        lines = [f"- [2026-0{chance.randint(1, 9)}-15] {a_fact(chance)}" for _ in range(FACTS_EACH)]
        page = f"# {name}\n\n## Recent Facts\n\n" + "\n".join(lines) + "\n"
        (folder / f"p{number}.md").write_text(page, encoding="utf-8")


def a_fact(chance: random.Random) -> str:
    """Return one of ten million sentences."""
    verb, matter, kind = chance.choice(VERBS), chance.choice(MATTERS), chance.choice(KINDS)
    place, manner = chance.choice(PLACES), chance.choice(MANNERS)
    return f"{verb} the {matter} {kind} in {place} {manner}, with {chance.randint(2, 99)} people"


if __name__ == "__main__":
    main()
