"""Example of a plugin that checks a fact before writing: CREATE, MERGE, SKIP or ASK.

    python -m scripts.remember BASE ENTITY TEXT [--write]

`decide` is a rule where a plugin would ask its own model. Without --write nothing is written.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Literal

from kbx_tui import KnowledgeBase, SimilarityMatch

Decision = Literal["CREATE", "MERGE", "SKIP", "ASK"]

NEAR = 0.80
"""Score from which a match deserves a look."""
SURE = 0.90
"""Score from which a match is probably a duplicate."""


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base")
    parser.add_argument("entity")
    parser.add_argument("text")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(argv)
    with KnowledgeBase(options.base) as kb:
        print(remember(kb, options.entity, options.text, write=options.write))


def remember(kb: KnowledgeBase, entity: str, candidate: str, *, write: bool) -> str:
    """Check a fact, write it if decided and `write` is true, and return what was done."""
    matches = kb.memory_similar(text=candidate, entity=entity, threshold=NEAR)
    decision = decide(matches)
    if decision == "CREATE":
        if write:
            kb.memory_add(title=candidate, entity=entity)
        return f"CREATE {candidate}"
    known = matches[0]
    if decision == "MERGE":
        merged = candidate if len(candidate) > len(known.text) else known.text
        if write and known.fact_id is not None:
            kb.edit_fact(known.fact_id, text=merged)
        return f"MERGE {known.text} -> {merged}"
    return f"{decision} {known.text} ({known.score:.2f}, {known.relation})"


def decide(matches: Sequence[SimilarityMatch]) -> Decision:
    """Return the decision; a plugin would ask its model in unclear cases."""
    if not matches:
        return "CREATE"
    if matches[0].relation == "conflict":
        return "ASK"
    if matches[0].score > SURE:
        return "SKIP"
    return "MERGE" if matches[0].relation == "duplicate" else "CREATE"


if __name__ == "__main__":
    main()
