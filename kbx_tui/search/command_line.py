"""A search request as the command of a shell. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from kbx_tui.search.request import SearchRequest


def command_line(request: SearchRequest, usual: SearchRequest, bases: Sequence[str] = ()) -> str:
    """Return the command that gives the same results, without options that equal `usual`.

    `bases` are what `--kb` is given.
    """
    words = ["kbx", "search"]
    for base in bases:
        words += ["--kb", base]
    words += _filters(request, usual)
    words += _ranking(request, usual)
    if request.sort != usual.sort:
        words += ["--sort", request.sort]
    words += _number("--hotness", request.hotness, usual.hotness)
    if request.limit != usual.limit:
        words += ["--limit", str(request.limit)]
    if request.reranker is not None:
        words += ["--reranker", request.reranker]
    if not request.rerank:
        words.append("--no-reranker")
    if request.exact and not request.fast:
        words.append("--exact")
    if request.query[:1] == "-":
        words.append("--")
    return shlex.join([*words, request.query])


def _filters(request: SearchRequest, usual: SearchRequest) -> list[str]:
    words: list[str] = []
    preset = request.preset if request.preset != usual.preset else None
    for option, value in (
        ("--path", request.path),
        ("--preset", preset),
        ("--type", ",".join(request.doc_types or ())),
        ("--tag", ",".join(request.tags)),
        ("--entity", ",".join(request.entities)),
        ("--from", request.since),
        ("--to", request.until),
    ):
        words += [option, value] if value else []
    is_implied = request.preset == "seed" and request.dates == "off"
    if request.dates not in (None, usual.dates) and not is_implied:
        words += ["--no-dates"] if request.dates == "off" else ["--dates", str(request.dates)]
    return words


def _ranking(request: SearchRequest, usual: SearchRequest) -> list[str]:
    if request.fast:
        return ["--fast"]
    if not request.hierarchy:
        return ["--no-hierarchy"]
    words: list[str] = []
    for option, names in (("--pin", request.pinned), ("--mute", request.muted)):
        words += [option, ",".join(names)] if names else []
    words += _number("--hierarchy-alpha", request.alpha, usual.alpha)
    words += _number("--hierarchy-threshold", request.threshold, usual.threshold)
    words += _number("--max-entities", request.max_entities, usual.max_entities)
    for option, value, same in (
        ("--gate", request.gate, usual.gate),
        ("--parent", request.parent, usual.parent),
    ):
        words += [option, value] if value not in (None, same) else []
    return words


def _number(option: str, value: float | None, usual: float | None) -> list[str]:
    return [] if value is None or value == usual else [option, f"{value:g}"]
