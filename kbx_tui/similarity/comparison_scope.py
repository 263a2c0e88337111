"""What a text is compared with: all facts or one entity's, under a path, passages or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kbx_tui.index.paths.path_filter import PathFilter
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.records import Entity
from kbx_tui.similarity.fact_vectors import FactVectors, Flags


@dataclass(frozen=True, slots=True)
class ComparisonScope:
    """The facts and passages a text is compared with."""

    entity: Entity | None
    path: PathFilter
    documents: Flags
    """Documents in scope, shape (documents,)."""
    with_passages: bool

    def as_dict(self) -> dict[str, str]:
        """Return the `scope` of an answer: entity name and path, where given."""
        named = {"entity": self.entity.name} if self.entity else {}
        return named | ({"path": self.path.text} if self.path.text else {})

    def notes(self) -> tuple[str, ...]:
        """Return a note if no document is under the path."""
        if self.documents.any() or not self.path.text:
            return ()
        return (f"no document matches the path {self.path.text}",)

    def facts_in(self, facts: FactVectors, snapshot: Snapshot) -> Flags | None:
        """Return which facts belong to a document in scope, shape (facts,); None for all."""
        if self.path.is_all:
            return None
        rows = [snapshot.row_of.get(fact.path, -1) for fact in facts.facts]
        return np.append(self.documents, False)[np.array(rows, np.int64)]  # -1 is the last
