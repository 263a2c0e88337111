"""The answers of the tools: `answers.json` lists the fields of each record, for schemas and output.

A field is a schema, in which the name of a type or record stands for its schema, and a list of them
for any of these. All records are closed, and all fields required that have no default. The mark `?`
says that an empty value is null, `~` that numbers are rounded to four decimals.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, Literal

ErrorType = Literal["AUTH", "RATE_LIMIT", "TRANSIENT", "VALIDATION", "INTERNAL"]
ErrorCode = Literal[
    "invalid_json",
    "method_not_found",
    "missing_param",
    "invalid_request",
    "permission_denied",
    "internal_error",
]

Schema = dict[str, Any]


@cache
def _records() -> dict[str, dict[str, Any]]:
    text = files("kbx_tui.tools").joinpath("answers.json").read_text(encoding="utf-8")
    records: dict[str, dict[str, Any]] = json.loads(text)
    return records


def field_names(record: str) -> str:
    """Return the names of the fields with their marks, separated by blanks; see `picked`."""
    return " ".join(filter(None, _records()[record]))


def answer_schema(record: str) -> Schema:
    """Return the JSON schema of a record with those of all records in it."""
    about = _records()[record].get("")
    return _sorted(_closed(record) | ({"description": about} if about else {}))


def _closed(record: str) -> Schema:
    fields = {name.rstrip("?~"): _expanded(field) for name, field in _records()[record].items()}
    fields.pop("", None)
    required = [name for name, field in fields.items() if "default" not in field]
    closed = {"additionalProperties": False, "properties": fields, "type": "object"}
    return _sorted(closed | ({"required": required} if required else {}))


def _expanded(field: Any) -> Schema:
    if isinstance(field, str):
        return _closed(field) if field in _records() else {"type": field}
    if isinstance(field, list):
        return {"anyOf": list(map(_expanded, field))}
    expanded = dict(field)
    for key in ("items", "additionalProperties"):
        if key in field:
            expanded[key] = _expanded(field[key])
    for key in ("anyOf", "prefixItems"):
        if key in field:
            expanded[key] = list(map(_expanded, field[key]))
    is_array = not field.keys().isdisjoint({"items", "prefixItems"})
    return _sorted(expanded | ({"type": "array"} if is_array else {}))


def _sorted(schema: Schema) -> Schema:
    return dict(sorted(schema.items()))
