"""What somebody said about pairs of texts, the same or not: `.kbx/labels.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from kbx_tui.editing.state.state_folder import kept_lines, put_lines, readable

LABELS = Path(".kbx", "labels.jsonl")
"""Below the root."""


@dataclass(frozen=True, slots=True)
class Label:
    """Whether two texts say the same, as a person sees it."""

    left: str
    right: str
    same: bool


def read_labels(root: Path) -> tuple[Label, ...]:
    """Return all labels, one per pair whichever way round: the newest on a pair rules.

    A line that cannot be read is passed over.
    """
    found: dict[frozenset[str], Label] = {}
    for line in kept_lines(root / LABELS):
        if (label := _kept(line)) is not None:
            found[frozenset((label.left, label.right))] = label
    return tuple(found.values())


def write_labels(root: Path, labels: Iterable[Label]) -> None:
    """Keep these labels and no others; lines that cannot be read stay as they are, at the end.

    Raises WriteFault; then the old ones are still there.
    """
    lines = [json.dumps(asdict(label), ensure_ascii=False) for label in labels]
    unread = [line for line in kept_lines(root / LABELS) if _kept(line) is None]
    put_lines(root, LABELS, [*lines, *unread])


def _kept(line: str) -> Label | None:
    try:
        return msgspec.json.decode(readable(line), type=Label)
    except (msgspec.DecodeError, RecursionError):
        return None
