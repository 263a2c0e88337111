"""Builders for facts and their vectors."""

from __future__ import annotations

from kbx_tui.knowledge.records import Fact, FactKind
from kbx_tui.similarity.fact_vectors import FactVectors, build_fact_vectors
from tests.unit.similarity.letters import Letters

NAMES = {"person:a": "Ada", "person:b": "Bo"}
"""Entity id -> name."""


def make_fact(text: str, *, line: int, kind: FactKind = "fact", entity: str = "person:a") -> Fact:
    return Fact(
        fact_id=line,
        entity_id=entity,
        kind=kind,
        text=text,
        date=f"2026-01-{line:02}",
        path="memory/people/a.md",
        line=line,
        status="active",
        done=False,
        sources=(),
    )


def embed_facts(*facts: Fact) -> FactVectors:
    return build_fact_vectors(facts, Letters().embed([fact.text for fact in facts]))
