"""Explanations of scores as sums in words; rounded parts add up to rounded totals. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kbx_tui.formatting import (
    answer_words,
    format_score,
    join_limited,
    rounded_parts,
    share_words,
)
from kbx_tui.safe_text import safe_line


@dataclass(frozen=True, slots=True)
class ScoreSum:
    """A number, and the addends that sum to it."""

    name: str
    total: float
    addends: tuple[tuple[float, str], ...]
    """What is added and by what: `(.36, "words (migration ×4)")`, rounded to two decimals."""
    note: str = ""

    def __str__(self) -> str:
        """Return `document .78 = .36 words + .42 meaning · note`."""
        terms = [f"{format_score(value)} {words}" for value, words in self.addends]
        line = f"{self.name} {format_score(self.total)} = {' + '.join(terms) or '0'}"
        return f"{line} · {self.note}" if self.note else line


@dataclass(frozen=True, slots=True)
class ScoreReasons:
    """How the score of one result adds up."""

    first: str
    """Why it comes before all others; empty unless it is an exact match."""
    sums: tuple[ScoreSum, ...]
    """The score, then the document and entity parts of it; empty if an exact match has no more."""
    last: str
    """What the reranker adds; empty without one."""

    def lines(self) -> list[str]:
        """Return the reasons as lines of text."""
        return [line for line in (self.first, *map(str, self.sums), self.last) if line]


def score_reasons(explanation: Mapping[str, Any], *, fast: bool = False) -> ScoreReasons:
    """Return the reasons that the `explain` of a result holds (docs/cli.md)."""
    parts = {
        "document": explanation["document_part"],
        "entity": explanation["entity_part"],
        "hotness": explanation["hotness_part"],
        "reranker": explanation["reranker_part"],
    }
    exact = explanation["exact"]
    first = f"exact {exact} match: ranked first, with score 1.00" if exact else ""
    if exact and not any(parts.values()):
        return ScoreReasons(first, (), "")
    full, note = explanation["full_relevance"], ""
    if full is not None:
        note = answer_words(explanation["doc_relevance"], full)
    score = [(value, part) for part, value in parts.items() if value]
    document = _document_parts(explanation, fast=fast)
    sums = [
        _sum("otherwise" if exact else "score", sum(parts.values()), score),
        _sum("document", explanation["answered"], document, note),
    ]
    if shares := _shares(explanation["entities"], has_topic=full is not None):
        sums.append(_sum("entity", explanation["parent_entity_score"], shares))
    last = ""
    if (reranked := explanation["reranker_score"]) is not None:
        last = f"reranker {format_score(reranked)} × half of what is missing to a score of 1"
    return ScoreReasons(first, tuple(sums), last)


def _sum(name: str, total: float, parts: Sequence[tuple[float, str]], note: str = "") -> ScoreSum:
    values = rounded_parts(total, [value for value, _ in parts])
    words = [part for _, part in parts]
    return ScoreSum(name, total, tuple(zip(values, words, strict=True)), note)


def _shares(entities: Sequence[Mapping[str, Any]], *, has_topic: bool) -> list[tuple[float, str]]:
    """Return the shares that are not 0, with name, link and factors of each."""
    has_weights = len({entity["weight"] for entity in entities}) > 1
    return [
        (
            entity["share"],
            _with_detail(
                safe_line(entity["name"]),
                share_words(
                    safe_line(entity["reason"]),
                    entity["answered"] if has_topic else None,
                    weight=entity["weight"] if has_weights else None,
                ),
            ),
        )
        for entity in entities
        if entity["share"]
    ]


def _document_parts(explanation: Mapping[str, Any], *, fast: bool) -> list[tuple[float, str]]:
    """Return the parts of `answered`: words, meaning, what a continuation propagated."""
    relevance = explanation["doc_relevance"]
    own = explanation["answered"] - explanation["date_part"]
    scale = own / relevance if relevance else 1.0
    words = scale * explanation["lexical_score"] * explanation["lexical_weight"]
    meaning = scale * explanation["vector_score"] * explanation["vector_weight"]
    terms = [
        f"{safe_line(term['term'])} ×{term['body_count']}" for term in explanation["matched_terms"]
    ]
    if words and not terms:
        terms = ["in its title or frontmatter"]
    cosine = explanation["cosine"]
    similarity = "not used" if fast else "no vector yet"
    if cosine is not None:
        similarity = f"cosine {format_score(cosine)}"
    parts = [
        (words, _with_detail("words", join_limited(terms, limit=5))),
        (meaning, _with_detail("meaning", similarity)),
    ]
    if explanation["date_reason"]:
        parts.append((explanation["date_part"], f"date ({safe_line(explanation['date_reason'])})"))
    if explanation["lent_by"]:
        parts.append((scale * explanation["lent"], f"propagated from the {explanation['lent_by']}"))
    return parts


def _with_detail(name: str, detail: str) -> str:
    return f"{name} ({detail})" if detail else name
