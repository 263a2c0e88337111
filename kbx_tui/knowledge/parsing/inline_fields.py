"""Properties in running text, as the Dataview plug-in reads them: `key:: value`."""

from __future__ import annotations

import re
from typing import Any

from kbx_tui.knowledge.parsing.inline import strip_markup
from kbx_tui.knowledge.parsing.markdown import blank_code

_KEY = r"[^\W\d_][\w /-]{0,60}"
_FIELD = re.compile(
    rf"^[ \t>]*(?:[-*+][ \t]+(?:\[.\][ \t]+)?)?(?P<mark>[*_]{{0,2}})(?P<key>{_KEY})(?P=mark)"
    r"::[ \t]+(?P<value>\S[^\n]*)$"
    rf"|\[(?P<key_2>{_KEY})::[ \t]*(?P<value_2>(?:\[\[[^\[\]\n]*\]\]|[^\[\]\n])+)\]"
    rf"|\((?P<key_3>{_KEY})::[ \t]*(?P<value_3>[^()\n]+)\)",
    re.MULTILINE,
)


def inline_fields(body: str) -> dict[str, Any]:
    """Return the `key:: value` lines and `[key:: value]` of a body, keys in lower case.

    A key that occurs several times has a list of its values. Keys are written as in frontmatter:
    with `_` for blanks.
    """
    if "::" not in body:
        return {}
    found: dict[str, list[str]] = {}
    for match in _FIELD.finditer(blank_code(body)):
        key = match["key"] or match["key_2"] or match["key_3"]
        value = match["value"] or match["value_2"] or match["value_3"]
        key = strip_markup(key).strip().casefold().replace(" ", "_")
        found.setdefault(key, []).append(value.strip())
    return {key: values[0] if len(values) == 1 else values for key, values in found.items()}
