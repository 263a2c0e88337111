"""Measure what each constant of search earns, and how well the constants hold on an unseen set.

    python -m benchmarks.constants BASE... [--every 4] [--only FULL_BM25] [--least-gain .003]

Every BASE is an indexed knowledge base with queries.jsonl and qrels.tsv; nothing is written to it.
Each constant is set to other values, among them the one that turns it off, and every set is
measured again (nDCG@10, mean over the forms or kinds of its queries; of meetings and notes alone
where no other page is judged).

Leaving one set out: for each set, every constant gets the value that is best on the other sets,
one constant at a time; all these values together are then measured on the set left out. The figure
is what a base that nobody tuned on can expect. This is done twice: with every value that gains
anything on the mean of the others, and with those that gain more than `--least-gain`, since of so
many values some gain a little on any few sets by chance.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import kbx_tui.search
from benchmarks.common import row
from benchmarks.evaluating import KINDS
from kbx_tui import KnowledgeBase
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.evaluation.measure import measure
from kbx_tui.evaluation.runs import ALL, group_metrics

VALUES: Mapping[str, Sequence[Any]] = {
    "LEXICAL_HALF": (10.0, 20.0),
    "LEXICAL_WEIGHT": (0.4, 0.6),
    "NAMES_LEXICAL_WEIGHT": (0.5, 0.75),
    "VECTOR_FLOOR": (0.0, 0.2, 0.4),
    "IDENTIFIER_WEIGHT": (0.5,),
    "IDENTIFIER_TIMES": (1,),
    "REPEATS_COUNTED": (1,),
    "PAIR_WEIGHT": (0.0, 0.5),
    "FEEDBACK_WEIGHT": (0.0, 0.5),
    "FEEDBACK_DOCUMENTS": (5,),
    "PROPAGATION_SHARE": (0.0, 0.75),
    "MEMBER_STRENGTH": ((1.0, 0.0, 2.0),),
    "MENTION_STRENGTH": ((1.0, 0.0, 3.0), (0.5, 0.5, 3.0)),
    "ABOUT_SHARE": (0.0,),
    "ABOUT_PLACE": (0.0,),
    "FULL_BM25": (1.25, 1.75),
    "FULL_COSINE": (0.4, 0.6),
    "ANSWER_POWER": (1.0, 2.0),
    "TOPIC_POWER": (0.5, 1.0),
    "THING_SHARPNESS": (1, 3, 5),
    "THING_WEIGHT": (1.0, 0.7),
    "SECOND_SIGNAL": (0.0,),
    "FACT_WEIGHT": (0.0,),
    "MEANING_WEIGHT": (0.0,),
}
"""Other values of each constant; the first turns it off where there is one that does."""

LEAST_GAIN = 0.003
"""Gain on the mean of some sets from which a value is better than today's: half of what one swap of
two ranks moves a small set. A part of the search that earns less is left out, too."""

Figures = dict[str, float]
"""nDCG@10 by set."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bases", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1, help="measure every n-th query of a set")
    parser.add_argument("--least-gain", type=float, default=LEAST_GAIN)
    parser.add_argument("--only", nargs="*", choices=VALUES, default=list(VALUES))
    options = parser.parse_args()
    now = measured(options.bases, options.every, {})
    row("constants as they are", _shown(now, now))
    found: dict[tuple[str, Any], Figures] = {}
    for name in options.only:
        for value in VALUES[name]:
            found[name, value] = measured(options.bases, options.every, {name: value})
            row(f"{name} = {value}", _shown(found[name, value], now))
    for least in (0.0, options.least_gain) if len(options.bases) > 1 else ():
        left_out: Figures = {}
        for base in options.bases:
            chosen = best_elsewhere(found, now, base.name, least)
            left_out |= measured([base], options.every, chosen)
            row(f"{base.name} left out", f"{chosen}")
        row(f"each set with constants of the others, gains above {least}", _shown(left_out, now))


def measured(bases: Sequence[Path], every: int, values: Mapping[str, Any]) -> Figures:
    """Return nDCG@10 by set with some constants set to other values."""
    figures = {}
    with set_constants(values):
        for base in bases:
            with KnowledgeBase(base) as kb:
                queries = kb.judgments(base)
                kinds = judged_kinds(kb, queries)
                queries = queries[::every]
                retrieve = partial(
                    kb.retrieve,
                    doc_types=kinds,
                    feedback=values.get("FEEDBACK_WEIGHT"),
                    parts=values.get("PROPAGATION_SHARE"),
                )
                run = measure(queries, retrieve, kb.tuning(), base=base.name, doc_types=kinds)
            groups = [group for group in group_metrics(run) if group.group != ALL]
            figures[base.name] = fmean(group.ndcg for group in groups)
    return figures


def judged_kinds(kb: KnowledgeBase, queries: Sequence[JudgedQuery]) -> tuple[str, ...]:
    """Return the kinds of document to search: meetings and notes, or () for all."""
    paths = {path for query in queries for path in query.grades}
    others = {
        path for kind in kb.document_kinds() if kind not in KINDS for path in kb.paths_of_kind(kind)
    }
    return KINDS if paths.isdisjoint(others) else ()


@contextmanager
def set_constants(values: Mapping[str, Any]) -> Iterator[None]:
    """Set constants in every module of search that has them, for the time of the context."""
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(kbx_tui.search.__path__, "kbx_tui.search.")
    ]
    before = [
        (module, name, getattr(module, name))
        for module in modules
        for name in values
        if hasattr(module, name)
    ]
    for module, name, _ in before:
        setattr(module, name, values[name])
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def best_elsewhere(
    found: Mapping[tuple[str, Any], Figures], now: Figures, left_out: str, least: float
) -> dict[str, Any]:
    """Return the values that gain more than `least` on the mean of the other sets."""
    others = [name for name in now if name != left_out]
    best: dict[str, tuple[float, Any]] = {}
    for (name, value), figures in found.items():
        gain = fmean(figures[other] - now[other] for other in others)
        if gain > best.get(name, (least, None))[0]:
            best[name] = gain, value
    return {name: value for name, (_, value) in best.items()}


def _shown(figures: Figures, now: Figures) -> str:
    cells = [f"{name} {value:.4f} ({value - now[name]:+.4f})" for name, value in figures.items()]
    mean = fmean(value - now[name] for name, value in figures.items())
    return "  ".join([*cells, f"mean {mean:+.4f}"])


if __name__ == "__main__":
    main()
