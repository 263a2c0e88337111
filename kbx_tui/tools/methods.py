"""The methods that agents and programs can call, and the JSON schemas of their contracts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from kbx_tui.tools import answers, arguments


@dataclass(frozen=True, slots=True)
class Method:
    name: str
    """The name in JSON Lines and Python, such as `kb.search`."""
    command: tuple[str, ...]
    """The command that prints the same answer with `--json`; empty if only `kbx tool` does."""
    title: str
    description: str
    arguments: type[BaseModel]
    answer: type[answers.Answer]
    writes: bool = False
    destroys: bool = False
    """Whether it changes or removes existing text, rather than only adding to it."""
    is_listed: bool = True
    """Whether it is in the list of tools by default; it can be called in any case."""

    @property
    def tool(self) -> str:
        """The name in MCP, with the first dot replaced by an underscore, such as `kb_search`."""
        return self.name.replace(".", "_", 1)


_ALL = (
    Method(
        "kb.search",
        (),
        "Search the knowledge base",
        "Search documents and the pages of people, projects and teams by meaning and words; kb_get "
        "reads a result in full.",
        arguments.KbSearch,
        answers.KbSearchAnswer,
    ),
    Method(
        "kb.get",
        (),
        "Read an entity or a document",
        "Return the text of a page with its role, team and members, or a fact with its status and "
        "sources; several with ids.",
        arguments.KbGet,
        answers.KbGetAnswer,
    ),
    Method(
        "kb.experts",
        ("experts",),
        "Find experts on a topic",
        "Rank people, projects and teams by the facts about them on a topic, with the top claims.",
        arguments.KbExperts,
        answers.KbExpertsAnswer,
    ),
    Method(
        "kbx.context",
        ("context",),
        "Get an overview",
        "Return people, projects, teams, open items, the newest facts and documents, with ids.",
        arguments.KbxContext,
        answers.KbxContextAnswer,
    ),
    Method(
        "kb.capabilities",
        (),
        "List what is available",
        "Return version, tools, types, and whether search by meaning and writing work.",
        arguments.KbCapabilities,
        answers.KbCapabilitiesAnswer,
    ),
    Method(
        "kbx.search",
        ("search",),
        "Search with all options",
        "Search documents in two passes, entities first, with every filter and ranking option; "
        "with explain, return how each score was computed.",
        arguments.KbxSearch,
        answers.KbxSearchAnswer,
        is_listed=False,
    ),
    Method(
        "kbx.list",
        (),
        "List pages, or grep them",
        "List pages by path; with text, those that contain it, with the lines.",
        arguments.KbxList,
        answers.KbxListAnswer,
    ),
    Method(
        "kbx.links",
        ("links", "show"),
        "List the links of a document",
        "Return what links to a document, mentions it or is linked by it, and its broken links.",
        arguments.KbxLinks,
        answers.KbxLinksAnswer,
    ),
    Method(
        "kbx.related",
        ("related",),
        "Find related documents",
        "Return what is related to a document, with reasons.",
        arguments.KbxRelated,
        answers.KbxRelatedAnswer,
    ),
    Method(
        "kbx.memory_similar",
        ("memory", "similar"),
        "Check for duplicates before writing",
        "Find facts similar in meaning to a candidate text. Use before writing new facts.",
        arguments.KbxMemorySimilar,
        answers.KbxMemorySimilarAnswer,
    ),
    Method(
        "kbx.entity_similar_field",
        ("entity", "similar-field"),
        "Check a field before changing it",
        "Return whether a field of a page already says the same.",
        arguments.KbxEntitySimilarField,
        answers.KbxEntitySimilarFieldAnswer,
    ),
    Method(
        "kbx.memory_add",
        ("memory", "add"),
        "Write a fact",
        "Add a fact to the page of an entity, unless the page states or contradicts it: then the "
        "matches are returned.",
        arguments.KbxMemoryAdd,
        answers.WrittenAnswer,
        writes=True,
    ),
    Method(
        "kbx.memory_edit_fact",
        ("memory", "edit-fact"),
        "Reword a fact",
        "Correct a fact, or merge another into it. Date and sources stay, the fact_id changes. "
        "Known text is refused as in kbx_memory_add.",
        arguments.KbxMemoryEditFact,
        answers.WrittenAnswer,
        writes=True,
        destroys=True,
    ),
    Method(
        "kbx.memory_supersede",
        ("memory", "supersede"),
        "Strike out a fact",
        "Strike out a fact that is no longer true, and add the one that replaces it. Known text "
        "is refused as in kbx_memory_add.",
        arguments.KbxMemorySupersede,
        answers.WrittenAnswer,
        writes=True,
        destroys=True,
    ),
    Method(
        "kbx.memory_delete_fact",
        ("memory", "delete-fact"),
        "Delete a fact",
        "Delete a fact or open item; use kbx_memory_supersede for what was true once.",
        arguments.KbxMemoryDeleteFact,
        answers.WrittenAnswer,
        writes=True,
        destroys=True,
    ),
)

METHODS: dict[str, Method] = {method.name: method for method in _ALL}
_BY_ANY_NAME = METHODS | {method.tool: method for method in _ALL}


def find_method(name: str) -> Method | None:
    return _BY_ANY_NAME.get(name)


def available_methods(*, allow_writes: bool) -> list[Method]:
    return [method for method in _ALL if allow_writes or not method.writes]


def input_schema(method: Method) -> dict[str, Any]:
    """Return the schema of the arguments, with definitions inlined and nothing nullable."""
    schema = method.arguments.model_json_schema(by_alias=True)
    schema.pop("description", None)  # of the class: the list of tools is read at every task
    return dict(sorted(_simplify(schema, drop_null=True).items()))


def output_schema(method: Method) -> dict[str, Any]:
    return _simplify(method.answer.model_json_schema(mode="serialization"))


def failure_schema() -> dict[str, Any]:
    return _simplify(answers.Failed.model_json_schema(mode="serialization"))


def all_schemas() -> dict[str, dict[str, Any]]:
    schemas = {
        f"{method.tool}.json": {
            "name": method.tool,
            "method": method.name,
            "description": method.description,
            "readOnly": not method.writes,
            "inputSchema": input_schema(method),
            "outputSchema": output_schema(method),
        }
        for method in METHODS.values()
    }
    return {**schemas, "failure.json": failure_schema()}


def _simplify(schema: dict[str, Any], *, drop_null: bool = False) -> dict[str, Any]:
    """Return a schema with definitions inlined, without titles and class docstrings."""
    definitions = schema.pop("$defs", {})

    def resolve(node: Any) -> Any:
        if isinstance(node, list):
            return [resolve(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            target = definitions[node["$ref"].rpartition("/")[2]]
            rest = {key: value for key, value in node.items() if key != "$ref"}
            node = {**{k: v for k, v in target.items() if k != "description"}, **rest}
        if drop_null and {"type": "null"} in node.get("anyOf", ()):
            options = [option for option in node["anyOf"] if option != {"type": "null"}]
            rest = {k: v for k, v in node.items() if k not in ("anyOf", "default")}
            return resolve({**({"anyOf": options} if options[1:] else options[0]), **rest})
        properties = {name: resolve(value) for name, value in node.get("properties", {}).items()}
        return {
            key: properties if key == "properties" else resolve(value)
            for key, value in node.items()
            if key != "title" or not isinstance(value, str)
        }

    simplified: dict[str, Any] = resolve(schema)
    return simplified
