"""Changes single settings in the text of a `kbx.toml`; comments, order and the rest stay. Pure."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

import msgspec
import tomlkit
from tomlkit.exceptions import TOMLKitError

from kbx_tui.config import Settings
from kbx_tui.errors import ConfigError, NotFound
from kbx_tui.knowledge.vault import CONFIG_NAME
from kbx_tui.settings_file import valid_choices, valid_values

KEYS = "keys"
"""The section whose keys are the commands of the app, and whose values are texts."""


def with_settings(data: bytes | None, section: str, values: Mapping[str, Any]) -> bytes:
    """Return the content of a `kbx.toml` with some settings of a section changed.

    `data` is None without a file. Raises ConfigError if the file is not valid TOML, or the section
    is not a table.
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


def has_section(data: bytes | None, section: str) -> bool:
    """Return whether the content of a `kbx.toml` has a section. Raises ConfigError."""
    return section in _parse(data)


def without_setting(data: bytes | None, key: str) -> bytes:
    """Return the content of a `kbx.toml` without the setting `section.key`.

    Raises NotFound if the file does not set it, ConfigError as `with_settings`.
    """
    section, name = split_key(key)
    document = _parse(data)
    found = _place(_table(document, section), name) if section in document else None
    if found is None:
        raise NotFound(f"{CONFIG_NAME} does not set {key}, so there is nothing to remove")
    del found[0][found[1]]
    return _like(data, document)


def parse_setting(key: str, text: str) -> Any:
    """Return the value that a text gives a setting, as in TOML; texts need no quotes.

    A list may be written `a,b`. Raises ConfigError for an unknown key or a value that is not valid.
    """
    section, name = split_key(key)
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
    raise ConfigError(f"{key} = {text!r} is not valid: must be {valid_values(kind, name)}")


def split_key(key: str) -> tuple[str, str]:
    """Return section and name of a setting. Raises ConfigError if there is no such setting."""
    section, _, name = key.partition(".")
    if name and (section == KEYS or key in setting_names()):
        return section, name
    close = nearest_settings(key)
    hint = f"did you mean {' or '.join(close)}?" if close else "`kbx config` lists them"
    raise ConfigError(f"{key!r} is not a setting; {hint}")


def setting_names() -> list[str]:
    """Return all settings as `section.key`, without those of `[keys]`."""
    return [
        f"{section}.{name}"
        for section, kind in _sections().items()
        for name in kind.__struct_fields__
    ]


def choices_of(key: str) -> tuple[str, ...]:
    """Return the valid values of a setting that has few; empty for others and unknown ones."""
    section, _, name = key.partition(".")
    if section == KEYS or key not in setting_names():
        return ()
    return valid_choices(_sections()[section], name)


def nearest_settings(key: str) -> list[str]:
    """Return up to two settings that someone who wrote `key` may have meant."""
    last = key.rpartition(".")[2]
    ends = [name for name in setting_names() if last and name.endswith(("." + last, "_" + last))]
    return ends[:2] or get_close_matches(key, setting_names(), n=2)


def _sections() -> dict[str, Any]:
    """Return the settings class of each section but `[keys]`."""
    fields = msgspec.structs.fields(Settings)
    return {field.name: field.type for field in fields if field.name != KEYS}


def _readings(text: str, *, is_list: bool) -> Iterator[Any]:
    """Yield what a text may mean: a TOML value, a list of texts, or itself."""
    with suppress(TOMLKitError, ValueError):
        yield tomlkit.value(text).unwrap()
    if is_list:
        yield [part for part in map(str.strip, text.split(",")) if part]
    else:
        yield text


def _parse(data: bytes | None) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse((data or b"").decode("utf-8-sig"))
    except (UnicodeDecodeError, TOMLKitError, RecursionError) as error:
        raise ConfigError(f"{CONFIG_NAME} is not valid TOML: {error}") from error


def _like(data: bytes | None, document: tomlkit.TOMLDocument) -> bytes:
    """Return the content that a document is, with a byte order mark if `data` has one."""
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
    """Return the table and the name by which a key is set, None if it is not.

    Without quotes, TOML reads `alpha.less` in `[keys]` as a table in a table.
    """
    if key in table:
        return table, key
    first, dot, rest = key.partition(".")
    inner = table.get(first) if dot else None
    return _place(inner, rest) if isinstance(inner, MutableMapping) else None
