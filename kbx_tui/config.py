"""kbx.toml <-> Settings. Defaults, ranges and help text of every setting stand here, once.

Sections and keys of other programs that share the file are left alone: only the sections below
are read, and only their keys are checked.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import tomlkit
from msgspec import Meta
from tomlkit.exceptions import TOMLKitError

from kbx_tui.errors import ConfigError

CONFIG_NAME = "kbx.toml"

Unit = Annotated[float, Meta(ge=0.0, le=1.0)]


class SearchSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[search]`: how documents are ranked."""

    hierarchy_alpha: Annotated[
        Unit, Meta(description="weight of the document: 1 = document alone, 0 = entity alone")
    ] = 0.5
    hierarchy_entity_threshold: Annotated[
        Unit, Meta(description="entity score below which an entity is not kept")
    ] = 0.5
    hierarchy_max_entities: Annotated[
        int, Meta(ge=1, le=20, description="at most this many entities are kept")
    ] = 5
    hierarchy_gate: Annotated[
        Literal["soft", "hard"], Meta(description="soft keeps unlinked documents, hard drops them")
    ] = "soft"
    hierarchy_parent: Annotated[
        Literal["coverage", "max"], Meta(description="mean over named entities, or the best one")
    ] = "coverage"
    hierarchy_preset: Annotated[
        Literal["default", "seed"], Meta(description="seed = the first proposal, for comparison")
    ] = "default"
    hotness_weight: Annotated[
        Unit, Meta(description="share of how often and lately a document was opened")
    ] = 0.0


class IndexSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[index]`: what is indexed, and where the index lies."""

    uri: Annotated[
        str, Meta(description="where the index lies; empty = .kbx/index in the base")
    ] = ""
    exclude: Annotated[
        tuple[str, ...], Meta(description="patterns, as in .gitignore, that are not indexed")
    ] = ()


class EntitySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[entities]`: which kinds of page are entities."""

    types: Annotated[
        tuple[str, ...], Meta(description="page types that are entities besides the usual three")
    ] = ("lab", "company")


class EmbeddingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[embedding]`: the model that turns text into vectors."""

    model: Annotated[
        str, Meta(description="bundled, a folder with an ONNX model, or a fastembed model name")
    ] = "bundled"


class Settings(msgspec.Struct, frozen=True):
    """All settings. Sections that belong to other programs are ignored."""

    search: SearchSettings = msgspec.field(default_factory=SearchSettings)
    index: IndexSettings = msgspec.field(default_factory=IndexSettings)
    entities: EntitySettings = msgspec.field(default_factory=EntitySettings)
    embedding: EmbeddingSettings = msgspec.field(default_factory=EmbeddingSettings)


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """One setting as `config` lists it."""

    key: str
    value: Any
    default: Any
    source: str
    """`default` or the file it comes from."""
    valid: str
    help: str


def load_settings(root: Path) -> Settings:
    """Read `kbx.toml` in `root`; all defaults when there is none.

    Raises ConfigError naming file, key, value and what would be valid.
    """
    return _convert(_read(root), root / CONFIG_NAME)


def describe_settings(root: Path) -> list[SettingInfo]:
    """Return every setting with its value, default, source, valid range and meaning."""
    raw, file = _read(root), root / CONFIG_NAME
    settings, rows = _convert(raw, file), []
    for section in settings.__struct_fields__:
        values = getattr(settings, section)
        for key in values.__struct_fields__:
            given = key in raw.get(section, {})
            rows.append(
                SettingInfo(
                    key=f"{section}.{key}",
                    value=getattr(values, key),
                    default=getattr(type(values)(), key),
                    source=str(file) if given else "default",
                    valid=_valid(type(values), key),
                    help=_annotations(type(values))[key].get("description", ""),
                )
            )
    return rows


def _read(root: Path) -> dict[str, Any]:
    file = root / CONFIG_NAME
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}; make it readable UTF-8 text") from error
    try:
        return tomlkit.parse(text).unwrap()
    except TOMLKitError as error:
        raise ConfigError(f"{file} is not valid TOML: {error}") from error


def _convert(raw: dict[str, Any], file: Path) -> Settings:
    ours = {name: raw[name] for name in Settings.__struct_fields__ if name in raw}
    try:
        return msgspec.convert(ours, Settings)
    except msgspec.ValidationError as error:
        raise ConfigError(_sentence(ours, file, str(error))) from error


def _sentence(raw: dict[str, Any], file: Path, message: str) -> str:
    """Turn `Expected ... - at `$.search.x`` into what, where and what would be valid."""
    reason, _, where = message.partition(" - at `$.")
    keys = where.rstrip("`").split(".") if where else []
    section = keys[0] if keys else ""
    struct = {field.name: field.type for field in msgspec.structs.fields(Settings)}.get(section)
    if struct is None:
        return f"{file}: {message}"
    if "unknown field" in reason:
        return _unknown_key(raw, file, section, struct, reason)
    if len(keys) < 2:
        return f"{file}: [{section}] must be a table, got {raw[section]!r}"
    key = keys[1].partition("[")[0]
    value = raw[section][key]
    return f"{file}: {section}.{key} = {value!r} is not valid, it must be {_valid(struct, key)}"


def _unknown_key(raw: dict[str, Any], file: Path, section: str, struct: Any, reason: str) -> str:
    valid = struct.__struct_fields__
    key = next((name for name in raw[section] if name not in valid), reason)
    near = get_close_matches(key, valid, n=1)
    hint = f"did you mean {near[0]}?" if near else f"valid keys: {', '.join(valid)}"
    return f"{file}: {section}.{key} = {raw[section].get(key)!r} is no setting; {hint}"


def _annotations(struct: Any) -> dict[str, dict[str, Any]]:
    schema = msgspec.json.schema(struct)
    (definition,) = schema["$defs"].values()
    properties: dict[str, dict[str, Any]] = definition["properties"]
    return properties


def _valid(struct: Any, key: str) -> str:
    about = _annotations(struct)[key]
    if "enum" in about:
        return " or ".join(str(choice) for choice in about["enum"])
    if "minimum" in about:
        kind = "a whole number" if about["type"] == "integer" else "a number"
        return f"{kind} within {about['minimum']:g}..{about['maximum']:g}"
    return {"string": "text", "array": "a list of texts"}.get(about.get("type", ""), "of its type")


def knowledge_base_from_environment() -> Path | None:
    """Return `KBX_ROOT`, or None when it is not set or empty."""
    value = os.environ.get("KBX_ROOT", "")
    return Path(value).expanduser() if value else None
