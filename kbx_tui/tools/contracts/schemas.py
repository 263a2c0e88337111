"""JSON schemas of the tools, made from the contracts, as plain as clients like them."""

from __future__ import annotations

from typing import Any

from kbx_tui.tools.contracts.answers import Failed
from kbx_tui.tools.servers.methods import METHODS, Method


def input_schema(method: Method) -> dict[str, Any]:
    """Return what the arguments must be: objects in place, nothing that may be null."""
    return _plain(method.arguments.model_json_schema(by_alias=True), drop_null=True)


def output_schema(method: Method) -> dict[str, Any]:
    """Return what a successful answer is."""
    return _plain(method.answer.model_json_schema(mode="serialization"))


def failure_schema() -> dict[str, Any]:
    """Return what every tool answers when it fails."""
    return _plain(Failed.model_json_schema(mode="serialization"))


def all_schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas by file name, as docs/schemas/ holds them."""
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


def _plain(schema: dict[str, Any], *, drop_null: bool = False) -> dict[str, Any]:
    definitions = schema.pop("$defs", {})
    plain: dict[str, Any] = _resolved(schema, definitions, drop_null=drop_null)
    return plain


def _resolved(node: Any, definitions: dict[str, Any], *, drop_null: bool) -> Any:
    """Return `node` with definitions put in place, without titles and docstrings of classes."""
    if isinstance(node, list):
        return [_resolved(one, definitions, drop_null=drop_null) for one in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].rpartition("/")[2]]
        rest = {key: value for key, value in node.items() if key != "$ref"}
        node = {**{k: v for k, v in target.items() if k != "description"}, **rest}
    if drop_null and {"type": "null"} in node.get("anyOf", ()):
        (kept,) = (one for one in node["anyOf"] if one != {"type": "null"})
        rest = {k: v for k, v in node.items() if k not in ("anyOf", "default")}
        return _resolved({**kept, **rest}, definitions, drop_null=drop_null)
    resolved = {}
    for key, value in node.items():
        if key == "title" and isinstance(value, str):
            continue
        if key == "properties":
            resolved[key] = {
                name: _resolved(one, definitions, drop_null=drop_null)
                for name, one in value.items()
            }
        else:
            resolved[key] = _resolved(value, definitions, drop_null=drop_null)
    return resolved
