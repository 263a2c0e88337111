"""What a server knows of itself at the moment: its processes, their load, the index they read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class IndexState:
    """The index that a process has open."""

    generation: int
    pages: int
    chunks: int
    indexed_at: float | None
    """When a run last changed the text, in seconds since 1970."""

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> IndexState:
        """Return the state that another process sent as JSON. Raises KeyError."""
        names = ("generation", "pages", "chunks", "indexed_at")
        return cls(*(fields[name] for name in names))


class Observer(Protocol):
    """Counts what happens; `ServiceMetrics` is one."""

    def request(self, route: str, status: int, seconds: float) -> None: ...

    def call(self, tool: str, result: str, seconds: float) -> None: ...

    def rejected(self, reason: str) -> None: ...

    def restarted(self) -> None: ...


class _Nobody:
    """Counts nothing: metrics are off."""

    def request(self, route: str, status: int, seconds: float) -> None: ...

    def call(self, tool: str, result: str, seconds: float) -> None: ...

    def rejected(self, reason: str) -> None: ...

    def restarted(self) -> None: ...


@dataclass
class ServiceState:
    """The processes of a server, by name: `worker 0`, `indexer 0`, `server`."""

    observer: Observer = field(default_factory=_Nobody)
    pids: Callable[[], Mapping[str, list[int]]] = dict
    """Returns the processes that run, by name; several may have one."""
    sessions: Callable[[], tuple[int, int]] | None = None
    """Returns how many sessions are open and how many may be; None where there are none."""
    indices: dict[str, IndexState] = field(default_factory=dict)
    """The index that each process has open, by the name of the process."""
    load: dict[str, tuple[int, int]] = field(default_factory=dict)
    """How many requests are in progress and how many calls wait for the engine, by process."""

    def set_index(self, process: str, index: IndexState | None) -> None:
        """Note which index a process has open; None for none."""
        if index is None:
            self.indices.pop(process, None)
        else:
            self.indices[process] = index

    def forget(self, process: str) -> None:
        """Note that a process has ended."""
        self.indices.pop(process, None)
        self.load.pop(process, None)

    def readiness(self) -> tuple[bool, dict[str, Any]]:
        """Return whether searches are answered, and what is known of it as JSON."""
        processes = len(self.pids())
        generations = {name: index.generation for name, index in sorted(self.indices.items())}
        ready = bool(generations)
        answer = {
            "ready": ready,
            "generation": max(generations.values(), default=None),
            "processes": processes,
            "generations": generations,
        }
        return ready, answer if ready else {
            **answer,
            "reason": "no process has an index open yet; `kbx index` makes one",
        }
