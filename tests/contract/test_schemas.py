"""docs/schemas/ matches the contracts, and clients can use what it says."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from kbx_tui.tools.methods import METHODS, input_schema, output_schema
from scripts.write_schemas import FOLDER, schema_texts


def test_published_schemas_are_up_to_date() -> None:
    """Run `python -m scripts.write_schemas` to update them."""
    published = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.json")}
    assert published == schema_texts()


@pytest.mark.parametrize("name", METHODS)
def test_schemas_are_closed_objects_without_references(name: str) -> None:
    method = METHODS[name]
    for schema in (input_schema(method), output_schema(method)):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert "$ref" not in json.dumps(schema)


@pytest.mark.parametrize("name", METHODS)
def test_every_argument_is_described_and_bounded(name: str) -> None:
    for argument, schema in arguments(input_schema(METHODS[name])):
        assert schema.get("description"), argument
        assert "null" not in json.dumps(schema.get("type", "")), argument
        if schema.get("type") == "string" and "enum" not in schema:
            assert schema["maxLength"] <= 10_000, argument
        if schema.get("type") in ("integer", "number"):
            assert {"minimum", "maximum"} <= schema.keys(), argument
        if schema.get("type") == "array":
            assert schema["maxItems"] <= 50, argument


def test_schema_of_memory_similar_matches_the_original_request() -> None:
    requested = {
        "text": ("string", "Candidate text to check for similarity"),
        "entity": ("string", "Entity name to scope search (optional)"),
        "path": ("string", "Document path to scope search (optional)"),
        "threshold": ("number", None),
        "limit": ("integer", "Max matches to return"),
    }
    schema = input_schema(METHODS["kbx.memory_similar"])
    assert schema["required"] == ["text"]
    assert schema["properties"]["limit"]["default"] == 5
    for name, (kind, description) in requested.items():
        assert schema["properties"][name]["type"] == kind
        if description:
            assert schema["properties"][name]["description"] == description


def arguments(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and schema of each argument, nested ones included."""
    for name, argument in schema.get("properties", {}).items():
        yield name, argument
        yield from arguments(argument)
