"""Reads, validates and describes the settings in `kbx.toml`, and changes single ones in its text.

Other programs may share the file: sections that are not in `Settings` are ignored, unless they look
like a misspelling of one that is. Changing a setting keeps comments, order and all other text.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec
import tomlkit
from tomlkit.exceptions import TOMLKitError

from kbx_tui.config import DedupSettings, Settings
from kbx_tui.errors import ConfigError, NotFound
from kbx_tui.knowledge.toml_text import count_dots, load_toml
from kbx_tui.knowledge.vault import CONFIG_NAME, resolve_links
from kbx_tui.object_store.store_uri import require_no_credentials
from kbx_tui.safe_text import replace_surrogates, safe_line
from kbx_tui.state_file import read_regular_file

SIZE_LIMIT = 1024 * 1024
"""Largest kbx.toml, in bytes; a larger file is not a settings file."""
MOST_DOTS = 200
"""Dots in keys of a kbx.toml that is changed here: tomlkit takes minutes for a thousand."""

DEFAULT_THRESHOLD = "default_threshold"
"""Key of `[dedup]` that sets the thresholds of all types without a key of their own."""

KEYS = "keys"
"""The section whose keys are commands of the app, and whose values are texts."""


@dataclass(frozen=True, slots=True)
class SettingInfo:
    key: str
    value: Any
    default: Any
    source: str
    """Where the value comes from: `default`, or the file that sets it."""
    valid: str
    """The valid values, in words."""
    help: str


def load_settings(root: Path) -> Settings:
    """Read `kbx.toml`, if there is one. Raises ConfigError, which names the valid values."""
    return _convert(_read(root), root / CONFIG_NAME)


def describe_settings(root: Path) -> list[SettingInfo]:
    """Return every setting with value, default, source, valid values and meaning."""
    raw, file = _read(root), root / CONFIG_NAME
    settings, infos = _convert(raw, file), []
    if DEFAULT_THRESHOLD in raw.get("dedup", {}):
        raw["dedup"] = _with_default_threshold(raw["dedup"])
    for section in Settings.__struct_fields__:
        if section == KEYS:
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
        if not (target := resolve_links(file)).is_relative_to(resolve_links(root)):
            raise ConfigError(
                f"{file} is a link to {target}, outside the base, and is not read; "
                "put a file in its place"
            )
        text = read_regular_file(file, limit=SIZE_LIMIT, follow_links=True).decode("utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"{file} cannot be read: {reason}; make it readable UTF-8 text"
        ) from error
    try:
        return load_toml(text)
    except ValueError as error:
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
    uri = settings.index.uri
    try:
        require_no_credentials(uri)
    except ConfigError as error:
        raise ConfigError(f"{file}: [index] uri: {error}") from error
    shown_where_trust_is_asked = {
        "index.uri": uri,
        "embedding.model": settings.embedding.model,
        "search.reranker": settings.search.reranker,
    }
    for key, value in shown_where_trust_is_asked.items():
        if safe_line(value) != value:
            raise ConfigError(
                f"{file}: {key} = {value!a} is not valid: it holds a character that is not shown"
            )
    return settings


def _meant_section(name: str, table: object) -> str:
    """Return the section that an unknown name likely misspells, and that shares a key, else ""."""
    if name in Settings.__struct_fields__ or not isinstance(table, dict):
        return ""
    sections = _sections()
    for meant in get_close_matches(name, list(sections), cutoff=0.8):
        if not table.keys().isdisjoint(sections[meant].__struct_fields__):
            return meant
    return ""


def _with_default_threshold(table: dict[str, Any]) -> dict[str, Any]:
    """Return `[dedup]` with `default_threshold`, if set, for each type without a key of its own."""
    if DEFAULT_THRESHOLD not in table:
        return table
    keys = [key for key in DedupSettings.__struct_fields__ if key.endswith("_threshold")]
    return dict.fromkeys(keys, table[DEFAULT_THRESHOLD]) | table


def _flattened(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values by dotted key: unquoted, TOML reads `alpha.less` as a nested table."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flattened(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _explain(raw: dict[str, Any], file: Path, message: str) -> str:
    """Return a helpful sentence for an error message of msgspec (`... - at `$.search.x``)."""
    reason, _, path = message.partition(" - at `$.")
    name, *keys = path.rstrip("`").split(".")
    name = name.partition("[")[0]  # `keys[...]`
    if name not in Settings.__struct_fields__:
        return f"{file}: {message}"
    table = raw[name]
    if not isinstance(table, dict):
        return f"{file}: [{name}] must be a table, got {table!r}"
    if name == KEYS:
        key = next(key for key, keys in table.items() if not isinstance(keys, str))
        return f'{file}: keys.{key} = {table[key]!r} is not valid: must be text, such as "ctrl+t"'
    section = _sections()[name]
    if "unknown field" in reason:
        valid_keys = section.__struct_fields__
        key = next((key for key in table if key not in valid_keys), reason)
        close = get_close_matches(key, valid_keys, n=1)
        hint = f"did you mean {close[0]}?" if close else f"valid keys: {', '.join(valid_keys)}"
        return f"{file}: {name}.{key} = {table.get(key)!r} is not a known setting; {hint}"
    key = keys[0].partition("[")[0]
    return f"{file}: {name}.{_invalid(section, key, table[key])}"


def _schema(section: Any) -> dict[str, dict[str, Any]]:
    (definition,) = msgspec.json.schema(section)["$defs"].values()
    properties: dict[str, dict[str, Any]] = definition["properties"]
    return properties


def _invalid(section: Any, key: str, value: object) -> str:
    """Return what is wrong with a setting; an address is not repeated, as it may hold a key."""
    given = key if "pattern" in _schema(section)[key] else f"{key} = {value!r}"
    return f"{given} is not valid: must be {valid_values(section, key)}"


def valid_values(section: Any, key: str) -> str:
    """Return the valid values of a setting, in words."""
    schema = _schema(section)[key]
    if "enum" in schema:
        return " or ".join(str(choice) for choice in schema["enum"])
    if "pattern" in schema:
        return f"text such as {schema['examples'][0]}"
    if "minimum" in schema:
        number = "a whole number" if schema["type"] == "integer" else "a number"
        return f"{number} within {schema['minimum']:,.10g}..{schema['maximum']:,.10g}"
    types = {"string": "text", "array": "a list of texts", "boolean": "true or false"}
    return types.get(schema.get("type", ""), "of its type")


def with_settings(data: bytes | None, section: str, values: Mapping[str, Any]) -> bytes:
    """Return `data`, the content of `kbx.toml`, with settings changed. Raises ConfigError.

    `data` is None if there is no such file yet.
    """
    document = _parse(data)
    if section not in document:
        if document.as_string().strip():
            document.add(tomlkit.nl())
        document.add(section, tomlkit.table())
    table = _table(document, section)
    for key, value in values.items():
        place, name = _place(table, key) or (table, key)
        place[name] = value
    return _like(data, document)


def entity_keys(data: bytes | None) -> frozenset[str] | None:
    """Return the keys that `kbx.toml` sets in `[entities]`, None without that section."""
    document = _parse(data)
    return frozenset(_table(document, "entities")) if "entities" in document else None


def without_setting(data: bytes | None, key: str) -> bytes:
    """Return the content of `kbx.toml` without `section.key`.

    Raises ConfigError, and NotFound if the key is not set.
    """
    section, name = split_key(key)
    document = _parse(data)
    found = _place(_table(document, section), name) if section in document else None
    if found is None:
        raise NotFound(f"{CONFIG_NAME} does not set {key}, so there is nothing to remove")
    del found[0][found[1]]
    return _like(data, document)


def parse_setting(key: str, text: str) -> Any:
    """Return the value of a setting, given as in TOML or as `a,b`. Raises ConfigError."""
    section, name = split_key(key)
    text = replace_surrogates(text)
    if section == KEYS:
        return text
    kind = _sections()[section]
    field = next(field for field in msgspec.structs.fields(kind) if field.name == name)
    for candidate in _readings(text, is_list=isinstance(field.default, tuple)):
        try:
            msgspec.convert({name: candidate}, kind)
        except msgspec.ValidationError:
            continue
        return candidate
    raise ConfigError(f"{section}.{_invalid(kind, name, text)}")


def split_key(key: str) -> tuple[str, str]:
    """Return the section and name of a setting. Raises ConfigError if there is no such setting."""
    section, _, name = key.partition(".")
    if name and (section == KEYS or key in setting_names()):
        return section, name
    last = key.rpartition(".")[2]
    ends = [name for name in setting_names() if last and name.endswith(("." + last, "_" + last))]
    close = ends[:2] or get_close_matches(key, setting_names(), n=2)
    hint = f"did you mean {' or '.join(close)}?" if close else "`kbx config` lists them"
    raise ConfigError(f"{key!r} is not a setting; {hint}")


def setting_names() -> list[str]:
    """Return the names of all settings, `section.key`, without those of `[keys]`."""
    return [
        f"{section}.{name}"
        for section, kind in _sections().items()
        for name in kind.__struct_fields__
    ]


def choices_of(key: str) -> tuple[str, ...]:
    """Return the valid values of a setting that has few; empty for other and unknown settings."""
    section, _, name = key.partition(".")
    if section == KEYS or key not in setting_names():
        return ()
    schema = _schema(_sections()[section])[name]
    if schema.get("type") == "boolean":
        return "true", "false"
    return tuple(map(str, schema.get("enum", ())))


def _sections() -> dict[str, Any]:
    fields = msgspec.structs.fields(Settings)
    return {field.name: field.type for field in fields if field.name != KEYS}


def _readings(text: str, *, is_list: bool) -> Iterator[Any]:
    """Yield the possible values of a text: a TOML value, then a list of texts or the text."""
    with suppress(TOMLKitError, ValueError):
        yield tomlkit.value(text).unwrap()
    if is_list:
        yield [part for part in map(str.strip, text.split(",")) if part]
    else:
        yield text


def _parse(data: bytes | None) -> tomlkit.TOMLDocument:
    try:
        text = (data or b"").decode("utf-8-sig")
        load_toml(text)
        if count_dots(text) > MOST_DOTS:
            raise ConfigError(
                f"{CONFIG_NAME} has more than {MOST_DOTS} dots in its keys: write tables instead"
            )
        return tomlkit.parse(text)
    except (ValueError, TOMLKitError, RecursionError) as error:
        raise ConfigError(f"{CONFIG_NAME} is not valid TOML: {error}") from error


def _like(data: bytes | None, document: tomlkit.TOMLDocument) -> bytes:
    """Return a document as bytes, with a byte order mark if `data` has one."""
    mark = codecs.BOM_UTF8 if (data or b"").startswith(codecs.BOM_UTF8) else b""
    return mark + tomlkit.dumps(document).encode()


def _table(document: tomlkit.TOMLDocument, section: str) -> MutableMapping[str, Any]:
    table = document[section]
    if not isinstance(table, MutableMapping):
        raise ConfigError(f"{CONFIG_NAME}: [{section}] must be a table, got {table!r}")
    return table


def _place(
    table: MutableMapping[str, Any], key: str
) -> tuple[MutableMapping[str, Any], str] | None:
    """Return the table and name that set a key: TOML reads `alpha.less` as a nested table."""
    if key in table:
        return table, key
    first, dot, rest = key.partition(".")
    inner = table.get(first) if dot else None
    return _place(inner, rest) if isinstance(inner, MutableMapping) else None
