"""Time warm searches, and ranking alone.

    python -m benchmarks.searching BASE [--path FOLDER] [--queries FILE] [--count 200]
        [--reranker NAME]

BASE is an indexed folder (see `benchmarks.indexing --keep`); nothing is written to it. Queries are
made from its own entities and titles, or read from a queries.jsonl. Embedding the query is
included: no query is repeated within a mode. Times are by the clock, and of the processor: of all
threads.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.common import milliseconds, own_mb, peak_mb, resident_mb, row, spread
from kbx_tui import KnowledgeBase
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.request import Tuning

WARM_UP = 10
FORMS = ("what has {} been working on?", "latest updates on {}", "what did {} say about {}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", type=Path)
    parser.add_argument("--path", default="memory/meetings", help="the folder of some searches")
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--reranker", help="also time searches with this cross-encoder")
    options = parser.parse_args()
    began = time.perf_counter()
    kb = KnowledgeBase(options.base)
    kb.warm()
    kb.search("warm up")
    row("open and first search", f"{(time.perf_counter() - began) * 1000:.0f} ms")
    queries = read_queries(options.queries) if options.queries else make_queries(kb, options.count)
    named, topics = queries
    for query in named[:WARM_UP]:
        kb.search(f"{query} first")
    measure("search, entity named", kb, named, hierarchy=True)
    measure("search, no entity named", kb, topics, hierarchy=True)
    measure("search --no-hierarchy", kb, [f"{query} again" for query in named], hierarchy=False)
    scoped = [f"{query} there" for query in topics]
    measure(f"search --path {options.path}", kb, scoped, path=options.path)
    there = [f"{query} there" for query in named]
    measure("search --path ..., entity named", kb, there, path=options.path)
    measure("search --fast", kb, topics, fast=True)
    if options.reranker:
        time_reranking(kb, options.reranker, [f"{query} closely" for query in topics])
    evidence = kb.retrieve(named[0])
    times = []
    for step in range(100):
        tuning = Tuning(alpha=step / 100)
        times.append(milliseconds(partial(rank_and_cut, kb, evidence, tuning)))
    row(f"rank, {len(evidence)} documents", spread(times))
    row("resident memory", f"{resident_mb():.0f} MB, at most {peak_mb():.0f} MB")
    if sys.platform == "linux":
        row("    of it own memory, not of mapped files", f"{own_mb():.0f} MB")


def time_reranking(kb: KnowledgeBase, reranker: str, queries: list[str]) -> None:
    """Time reading and scoring 20 passages, the model being loaded, then with all scores known."""
    rankings = [kb.rank(kb.retrieve(query)) for query in queries]
    for label in ("rerank, 20 new passages", "rerank, 20 known passages"):
        wall, cpu = [], []
        for ranking in rankings:
            used = time.process_time()
            wall.append(milliseconds(partial(kb.rerank, ranking, reranker)))
            cpu.append((time.process_time() - used) * 1000)
        row(label, spread(wall[1:]))
        row("    of all cores", spread(cpu[1:]))


def rank_and_cut(kb: KnowledgeBase, evidence: Evidence, tuning: Tuning) -> None:
    kb.rank(evidence, tuning).top(50)


def measure(label: str, kb: KnowledgeBase, queries: list[str], **options: Any) -> None:
    times, processor_times, two_pass = [], [], 0
    for query in queries:
        began, used = time.perf_counter(), time.process_time()
        response = kb.search(query, **options)
        times.append((time.perf_counter() - began) * 1000)
        processor_times.append((time.process_time() - used) * 1000)
        two_pass += response.meta.search_mode == "two_pass"
    row(label, f"{spread(times)}   two-pass {two_pass / len(queries):.0%}")
    row("    of the processor", spread(processor_times))


def make_queries(kb: KnowledgeBase, count: int) -> tuple[list[str], list[str]]:
    """Return queries that name an entity, and queries that do not, made from the base itself."""
    chance = random.Random(7)
    evidence = kb.retrieve("overview")
    entities, in_titles = [], set[str]()  # a large base has millions of titles
    for title, kind in zip(evidence.titles, evidence.kinds, strict=True):
        if kind in ("person", "project", "team"):
            entities.append(title)
        elif kind in ("note", "meeting"):
            in_titles.update(title.split())
    words = sorted(word for word in in_titles if word.isalpha() and word.islower()) or ["a"]
    named = [
        chance.choice(FORMS).format(chance.choice(entities or words), chance.choice(words))
        for _ in range(count)
    ]
    topics = [f"how does {' '.join(chance.sample(words, 3))} work" for _ in range(count)]
    return named, topics


def read_queries(file: Path) -> tuple[list[str], list[str]]:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    named = [query["text"] for query in rows if query["names"]]
    topics = [query["text"] for query in rows if not query["names"]]
    return named or topics, topics or named


if __name__ == "__main__":
    main()
