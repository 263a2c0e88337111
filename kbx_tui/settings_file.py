"""Reads settings from `kbx.toml`, validates and describes them.

Other programs may share the file: sections that are not in `Settings` are ignored, unless they are
one of these misspelt.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec
import tomlkit
from tomlkit.exceptions import TOMLKitError

from kbx_tui.config import DedupSettings, Settings
from kbx_tui.errors import ConfigError
from kbx_tui.knowledge.vault import CONFIG_NAME
from kbx_tui.object_store.store_uri import require_no_credentials
from kbx_tui.state_file import read_regular_file

SIZE_LIMIT = 1024 * 1024
"""Largest kbx.toml, in bytes: more is not a file of settings."""

DEFAULT_THRESHOLD = "default_threshold"
"""Key of `[dedup]` that stands in for those of the types."""

Section = Any
"""A settings class of `config`, such as `SearchSettings`."""


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """One setting as `kbx config` lists it."""

    key: str
    value: Any
    default: Any
    source: str
    """`default`, or the file that sets it."""
    valid: str
    """What values are valid, in words."""
    help: str


def load_settings(root: Path) -> Settings:
    """Read `kbx.toml` in `root`; return the defaults if there is none.

    Raises ConfigError naming file, key, value and what would be valid.
    """
    return _convert(_read(root), root / CONFIG_NAME)


def describe_settings(root: Path) -> list[SettingInfo]:
    """Return every setting with value, default, source, valid values and meaning."""
    raw, file = _read(root), root / CONFIG_NAME
    settings, infos = _convert(raw, file), []
    if DEFAULT_THRESHOLD in raw.get("dedup", {}):
        raw["dedup"] = _with_default_threshold(raw["dedup"])
    for section in Settings.__struct_fields__:
        if section == "keys":
            continue
        values, given = getattr(settings, section), raw.get(section, {})
        infos += [
            SettingInfo(
                key=f"{section}.{key}",
                value=getattr(values, key),
                default=getattr(type(values)(), key),
                source=str(file) if key in given else "default",
                valid=valid_values(type(values), key),
                help=_schema(type(values))[key].get("description", ""),
            )
            for key in values.__struct_fields__
        ]
    for name, keys in settings.keys.items():
        infos.append(SettingInfo(f"keys.{name}", keys, "", str(file), "keys", "keys of a command"))
    return infos


def knowledge_base_from_environment() -> Path | None:
    """Return the path in `KBX_ROOT`, or None if it is unset or empty."""
    value = os.environ.get("KBX_ROOT", "")
    return Path(value).expanduser() if value else None


def _read(root: Path) -> dict[str, Any]:
    file = root / CONFIG_NAME
    try:
        text = read_regular_file(file, limit=SIZE_LIMIT, follow_links=True).decode("utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"{file} cannot be read: {reason}; make it readable UTF-8 text"
        ) from error
    try:
        return tomlkit.parse(text).unwrap()
    except RecursionError as error:
        raise ConfigError(f"{file} is not valid: it is nested too deeply") from error
    except TOMLKitError as error:
        raise ConfigError(f"{file} is not valid TOML: {error}") from error


def _convert(raw: dict[str, Any], file: Path) -> Settings:
    for name, table in raw.items():
        if meant := _meant_section(name, table):
            raise ConfigError(f"{file}: [{name}] is not a known section; did you mean [{meant}]?")
    known = {section: raw[section] for section in Settings.__struct_fields__ if section in raw}
    if isinstance(known.get("dedup"), dict):
        known["dedup"] = _with_default_threshold(known["dedup"])
    if isinstance(known.get("keys"), dict):
        known["keys"] = dict(_flattened(known["keys"]))
    try:
        settings = msgspec.convert(known, Settings)
    except msgspec.ValidationError as error:
        raise ConfigError(_explain(known, file, str(error))) from error
    try:
        require_no_credentials(settings.index.uri)
    except ConfigError as error:
        raise ConfigError(f"{file}: [index] uri: {error}") from error
    return settings


def _meant_section(name: str, table: object) -> str:
    """Return the section that is spelt nearly like this one and has a key of it, else ""."""
    if name in Settings.__struct_fields__ or not isinstance(table, dict):
        return ""
    sections = {field.name: field.type for field in msgspec.structs.fields(Settings)}
    for meant in get_close_matches(name, [key for key in sections if key != "keys"], cutoff=0.8):
        if not table.keys().isdisjoint(sections[meant].__struct_fields__):
            return meant
    return ""


def _with_default_threshold(table: dict[str, Any]) -> dict[str, Any]:
    """Return `[dedup]` with `default_threshold`, where set, for each type without its own key."""
    if DEFAULT_THRESHOLD not in table:
        return table
    return dict.fromkeys(DedupSettings.__struct_fields__, table[DEFAULT_THRESHOLD]) | table


def _flattened(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield values by dotted key: without quotes, TOML reads `alpha.less` as a nested table."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flattened(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _explain(raw: dict[str, Any], file: Path, message: str) -> str:
    """Turn an error of msgspec (`... - at `$.search.x``) into a helpful sentence."""
    reason, _, path = message.partition(" - at `$.")
    section_name, *keys = path.rstrip("`").split(".")
    if section_name == "keys":
        return _explain_keys(raw["keys"], file)
    sections = {field.name: field.type for field in msgspec.structs.fields(Settings)}
    section = sections.get(section_name)
    if section is None:
        return f"{file}: {message}"
    if "unknown field" in reason:
        return _explain_unknown_key(raw, file, section_name, section, reason)
    if not keys:
        return f"{file}: [{section_name}] must be a table, got {raw[section_name]!r}"
    key = keys[0].partition("[")[0]
    value, valid = raw[section_name][key], valid_values(section, key)
    return f"{file}: {section_name}.{key} = {value!r} is not valid: must be {valid}"


def _explain_keys(table: object, file: Path) -> str:
    if not isinstance(table, dict):
        return f"{file}: [keys] must be a table, got {table!r}"
    for name, keys in table.items():
        if not isinstance(keys, str):
            return f'{file}: keys.{name} = {keys!r} is not valid: must be text, such as "ctrl+t"'
    return f"{file}: [keys] is not valid"


def _explain_unknown_key(
    raw: dict[str, Any], file: Path, section_name: str, section: Section, reason: str
) -> str:
    valid_keys = section.__struct_fields__
    key = next((name for name in raw[section_name] if name not in valid_keys), reason)
    close = get_close_matches(key, valid_keys, n=1)
    hint = f"did you mean {close[0]}?" if close else f"valid keys: {', '.join(valid_keys)}"
    value = raw[section_name].get(key)
    return f"{file}: {section_name}.{key} = {value!r} is not a known setting; {hint}"


def _schema(section: Section) -> dict[str, dict[str, Any]]:
    """Return the JSON schema of each key of a section."""
    (definition,) = msgspec.json.schema(section)["$defs"].values()
    properties: dict[str, dict[str, Any]] = definition["properties"]
    return properties


def valid_choices(section: Section, key: str) -> tuple[str, ...]:
    """Return the valid values of a setting that has few; empty for others."""
    schema = _schema(section)[key]
    if schema.get("type") == "boolean":
        return "true", "false"
    return tuple(map(str, schema.get("enum", ())))


def valid_values(section: Section, key: str) -> str:
    """Return in words what values of a setting are valid."""
    schema = _schema(section)[key]
    if "enum" in schema:
        return " or ".join(str(choice) for choice in schema["enum"])
    if "minimum" in schema:
        number = "a whole number" if schema["type"] == "integer" else "a number"
        return f"{number} within {schema['minimum']:g}..{schema['maximum']:g}"
    types = {"string": "text", "array": "a list of texts", "boolean": "true or false"}
    return types.get(schema.get("type", ""), "of its type")
