"""Builders for facts and their vectors."""

from kbx_tui.embedding.cross_encoder import JudgedRelation
from kbx_tui.knowledge.records import Entity, Fact, FactKind
from kbx_tui.similarity.compared_words import Signals
from kbx_tui.similarity.conflict_guard import Conflict
from kbx_tui.similarity.fact_vectors import FactVectors, build_fact_vectors
from kbx_tui.similarity.judging import Judgement
from kbx_tui.similarity.pair_score import PairSimilarity
from tests.unit.similarity.letters import Letters

ENTITIES = {
    "person:a": Entity("person:a", "Ada", "person", "memory/people/a.md"),
    "person:b": Entity("person:b", "Bo", "person", "memory/people/b.md"),
}
SIGNALS = Signals(0.9, 0.9, True, 0.9, False, False)


def make_pair(
    score: float, conflicts: tuple[Conflict, ...] | None = None, *, is_same: bool = False
) -> PairSimilarity:
    """Return a pair with this score, and these conflicts in place of those of its texts."""
    pair = PairSimilarity("", "", is_same, score, SIGNALS, "label", True)
    if conflicts is not None:
        relation: JudgedRelation = "conflict" if conflicts else "same"
        pair.__dict__["judgement"] = Judgement(relation, 0.9, "why", conflicts)
    return pair


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
    vectors = Letters().embed([fact.text for fact in facts])
    return build_fact_vectors(facts, vectors, entities=ENTITIES)
