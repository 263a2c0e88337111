"""The queries of the snapshots, whose answers are recorded from the real engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """The parameters of one retrieval."""

    query: str
    path: str = ""
    fast: bool = False


TWO_PASS = Question("what did Alice Chen decide about the Migration")
BELOW = Question(TWO_PASS.query, path="memory/meetings/2026/")
DATED = Question("what did we decide about pricing in March")
FLAT = Question("rollback plan")
FAST = Question("rehearsal copies", fast=True)
NOTHING = Question("zeppelin", fast=True)
ACTING = Question("mallory quokka")

TOPIC = "migration"

ROLLBACK = "memory/notes/2026-01-30-rollback-plan.md"
ALICE, BOB = "person:alice-chen", "person:bob-okafor"

Recorded = tuple[Mapping[str, Question], tuple[str, ...], tuple[str, ...]]
"""Questions by name, paths of the documents read, and ids of the entities opened."""

DEMO: Recorded = (
    {
        "two-pass": TWO_PASS,
        "below": BELOW,
        "dated": DATED,
        "flat": FLAT,
        "fast": FAST,
        "nothing": NOTHING,
    },
    (ROLLBACK,),
    (ALICE,),
)
HOSTILE: Recorded = ({"acting": ACTING}, ("memory/notes/note.md",), ())
