"""JSON schemas of the tools, made from the contracts and simplified for clients."""

from __future__ import annotations

from typing import Any

from kbx_tui.tools.contracts.answers import Failed
from kbx_tui.tools.servers.method_table import METHODS, Method


def input_schema(method: Method) -> dict[str, Any]:
    """Return the schema of the arguments, with definitions inlined and nothing nullable."""
    return _simplify(method.arguments.model_json_schema(by_alias=True), drop_null=True)


def output_schema(method: Method) -> dict[str, Any]:
    """Return the schema of a successful answer."""
    return _simplify(method.answer.model_json_schema(mode="serialization"))


def failure_schema() -> dict[str, Any]:
    """Return the schema of the answer to a failed call, the same for every tool."""
    return _simplify(Failed.model_json_schema(mode="serialization"))


def all_schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas by file name in docs/schemas/."""
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
    """Return a schema with definitions inlined, without titles and docstrings of classes."""
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
            (option,) = (option for option in node["anyOf"] if option != {"type": "null"})
            rest = {k: v for k, v in node.items() if k not in ("anyOf", "default")}
            return resolve({**option, **rest})
        properties = {name: resolve(value) for name, value in node.get("properties", {}).items()}
        return {
            key: properties if key == "properties" else resolve(value)
            for key, value in node.items()
            if key != "title" or not isinstance(value, str)
        }

    simplified: dict[str, Any] = resolve(schema)
    return simplified
