"""What texts are compared with: facts of one entity, below a path, passages too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.paths.path_filter import PathFilter
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.records import Entity
from kbx_tui.similarity.fact_vectors import Remembered

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Where:
    """What texts are compared with."""

    entity: Entity | None
    path: PathFilter
    documents: Flags
    """Documents in scope, shape (documents,)."""
    with_passages: bool

    @property
    def told(self) -> dict[str, str]:
        """How an answer names the scope."""
        named = {"entity": self.entity.name} if self.entity else {}
        return named | ({"path": self.path.given} if self.path.given else {})

    def facts_in(self, memory: Remembered, snapshot: Snapshot) -> Flags | None:
        """Return which facts stand in a document in scope, shape (facts,); None for all."""
        if self.path.is_all:
            return None
        return np.fromiter(
            (
                (row := snapshot.row_of.get(fact.path, -1)) >= 0 and bool(self.documents[row])
                for fact in memory.facts
            ),
            np.bool_,
            len(memory.facts),
        )
