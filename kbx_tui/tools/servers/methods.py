"""The one table of methods, read by capabilities, MCP, JSONL and the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from kbx_tui.tools.contracts import answers, arguments
from kbx_tui.tools.servers.running import (
    run_capabilities,
    run_experts,
    run_get,
    run_kb_search,
    run_memory_add,
    run_memory_similar,
    run_search,
    run_similar_field,
)

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase

Run = Callable[["KnowledgeBase", Any], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Method:
    """One thing a program may ask for."""

    name: str
    """As JSONL calls it: `kb.search`."""
    command: tuple[str, ...]
    """The command that prints the same with `--json`; empty where only `kbx tool` does."""
    title: str
    description: str
    arguments: type[BaseModel]
    answer: type[BaseModel]
    run: Run
    writes: bool = False

    @property
    def tool(self) -> str:
        """As MCP calls it: the first dot becomes an underscore."""
        return self.name.replace(".", "_", 1)


_ALL = (
    Method(
        "kb.search",
        (),
        "Search the knowledge base",
        "Search people, projects, teams and documents by what is meant. Returns ranked results "
        "with scores, snippets of at most 200 characters and where they stand; an empty list when "
        "nothing fits. kb_get returns the whole of a result.",
        arguments.KbSearch,
        answers.KbSearchAnswer,
        run_kb_search,
    ),
    Method(
        "kb.get",
        (),
        "Read one entity or document",
        "Return the full text of an entity's page or a document, by the id a search returned.",
        arguments.KbGet,
        answers.KbGetAnswer,
        run_get,
    ),
    Method(
        "kb.experts",
        ("experts",),
        "Who or what is known best on a topic",
        "Rank entities by how much evidence there is about them on a topic: facts that stand, by "
        "number, recency, citations, or with the documents on the topic.",
        arguments.KbExperts,
        answers.KbExpertsAnswer,
        run_experts,
    ),
    Method(
        "kb.capabilities",
        (),
        "What works here now",
        "Return version, methods, ways of retrieval, transports and kinds of documents.",
        arguments.KbCapabilities,
        answers.KbCapabilitiesAnswer,
        run_capabilities,
    ),
    Method(
        "kbx.search",
        ("search",),
        "Search with all options",
        "Search documents in two passes, entities first, with every filter and knob, and say how "
        "each score came about when asked to explain.",
        arguments.KbxSearch,
        answers.KbxSearchAnswer,
        run_search,
    ),
    Method(
        "kbx.memory_similar",
        ("memory", "similar"),
        "Check for duplicates before writing",
        "Find existing facts or content semantically similar to candidate text. Use before writing "
        "new facts to check for duplicates.",
        arguments.KbxMemorySimilar,
        answers.KbxMemorySimilarAnswer,
        run_memory_similar,
    ),
    Method(
        "kbx.entity_similar_field",
        ("entity", "similar-field"),
        "Check a field before changing it",
        "Tell whether a proposed value of a field says what the entity's page says already.",
        arguments.KbxEntitySimilarField,
        answers.KbxEntitySimilarFieldAnswer,
        run_similar_field,
    ),
    Method(
        "kbx.memory_add",
        ("memory", "add"),
        "Write a fact",
        "Add a fact to the page of an entity. What says the same as a known fact, or the contrary, "
        "is not written: the matches are returned. dry_run only shows.",
        arguments.KbxMemoryAdd,
        answers.KbxMemoryAddAnswer,
        run_memory_add,
        writes=True,
    ),
)

METHODS: Mapping[str, Method] = {method.name: method for method in _ALL}
"""By name, in the order they are listed."""

BY_TOOL: Mapping[str, Method] = {method.tool: method for method in _ALL}


def offered(*, allow_writes: bool) -> list[Method]:
    """Return the methods that may be called."""
    return [method for method in _ALL if allow_writes or not method.writes]
