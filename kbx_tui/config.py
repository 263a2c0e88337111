"""kbx.toml <-> Settings. Defaults, ranges and help text of every setting stand here, once.

Sections and keys of other programs that share the file are left alone: only the sections below
are read, and only their keys are checked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
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
    feedback: Annotated[
        Unit, Meta(description="how much a query is drawn to what fits it best, 0 = not at all")
    ] = 0.3
    parts: Annotated[
        Unit,
        Meta(description="how much parts of a document lend those beside them, 0 = nothing"),
    ] = 0.9
    convergence: Annotated[
        Literal["exact", "stable"],
        Meta(description="exact finds the best of all, stable stops when they stay the same"),
    ] = "exact"


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
        str,
        Meta(description="bundled, gemini, a folder with an ONNX model, or a fastembed model name"),
    ] = "bundled"


class DedupSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[dedup]`: from which similarity on two texts count as the same."""

    default_threshold: Annotated[
        Unit, Meta(description="similarity an answer names when none is given")
    ] = 0.85
    fact_threshold: Annotated[
        Unit, Meta(description="similarity to a fact of fewer than 20 words")
    ] = 0.9
    long_fact_threshold: Annotated[
        Unit, Meta(description="similarity to a fact of 20 words or more")
    ] = 0.85
    field_threshold: Annotated[
        Unit, Meta(description="similarity to a field: role, team, any other of a page")
    ] = 0.85
    open_item_threshold: Annotated[Unit, Meta(description="similarity to an open item")] = 0.8
    chunk_threshold: Annotated[Unit, Meta(description="similarity to a passage of a document")] = (
        0.8
    )


class ExpertSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[experts]`: how experts on a topic are ranked."""

    half_life_days: Annotated[
        float,
        Meta(ge=1.0, le=36500.0, description="age at which a claim counts half, by recency"),
    ] = 30.0


class WriteSettings(msgspec.Struct, frozen=True):
    """`[writes]`: what happens after a write. A section of kbx; its other keys are left alone."""

    auto_commit: Annotated[bool, Meta(description="commit the files of each write with git")] = (
        False
    )
    auto_commit_message_format: Annotated[
        str, Meta(description="may hold {operation} {target} {file_count} {timestamp}")
    ] = "kbx: {operation} {target}"
    auto_commit_author: Annotated[str, Meta(description="author of these commits")] = (
        "kbx <kbx@localhost>"
    )


class AppSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[app]`: how the app behaves."""

    watch: Annotated[bool, Meta(description="take files in as soon as they change on disk")] = True
    remember_knobs: Annotated[
        bool, Meta(description="open with alpha and threshold as they were left")
    ] = False


class Settings(msgspec.Struct, frozen=True):
    """All settings. Sections that belong to other programs are ignored."""

    search: SearchSettings = msgspec.field(default_factory=SearchSettings)
    index: IndexSettings = msgspec.field(default_factory=IndexSettings)
    entities: EntitySettings = msgspec.field(default_factory=EntitySettings)
    embedding: EmbeddingSettings = msgspec.field(default_factory=EmbeddingSettings)
    dedup: DedupSettings = msgspec.field(default_factory=DedupSettings)
    experts: ExpertSettings = msgspec.field(default_factory=ExpertSettings)
    writes: WriteSettings = msgspec.field(default_factory=WriteSettings)
    app: AppSettings = msgspec.field(default_factory=AppSettings)
    keys: dict[str, str] = msgspec.field(default_factory=dict)
    """`[keys]`: keys of the app by id of the command; the app knows which ids there are."""


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
    for section in _sections():
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
    for name, keys in settings.keys.items():
        rows.append(SettingInfo(f"keys.{name}", keys, "", str(file), "keys", "keys of a command"))
    return rows


def _sections() -> list[str]:
    return [name for name in Settings.__struct_fields__ if name != "keys"]


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
    if isinstance(ours.get("keys"), dict):
        ours["keys"] = dict(_dotted(ours["keys"]))
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
    if section == "keys":
        return _wrong_keys(raw["keys"], file)
    if struct is None:
        return f"{file}: {message}"
    if "unknown field" in reason:
        return _unknown_key(raw, file, section, struct, reason)
    if len(keys) < 2:
        return f"{file}: [{section}] must be a table, got {raw[section]!r}"
    key = keys[1].partition("[")[0]
    value = raw[section][key]
    return f"{file}: {section}.{key} = {value!r} is not valid, it must be {_valid(struct, key)}"


def _dotted(table: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of nested tables by dotted name: TOML nests `alpha.less` without quotes."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _dotted(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _wrong_keys(given: object, file: Path) -> str:
    if not isinstance(given, dict):
        return f"{file}: [keys] must be a table, got {given!r}"
    for name, keys in given.items():
        if not isinstance(keys, str):
            return f'{file}: keys.{name} = {keys!r} is not valid, it must be text, as "ctrl+t"'
    return f"{file}: [keys] is not valid"


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
    kinds = {"string": "text", "array": "a list of texts", "boolean": "true or false"}
    return kinds.get(about.get("type", ""), "of its type")


def knowledge_base_from_environment() -> Path | None:
    """Return `KBX_ROOT`, or None when it is not set or empty."""
    value = os.environ.get("KBX_ROOT", "")
    return Path(value).expanduser() if value else None
