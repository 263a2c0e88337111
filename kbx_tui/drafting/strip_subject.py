"""Removal of a fact's subject: `Alice favours Slack` is `favours Slack` on her page. Pure."""

from __future__ import annotations

import re

from kbx_tui.knowledge.records import Entity

MIN_WORDS_LEFT = 2
"""A name is stripped only if at least this many words remain."""


def strip_subject(text: str, entity: Entity | None) -> str:
    """Return a text without the entity's name at its beginning, else unchanged.

    For a person, the first name is enough. A possessive (`Alice's team`) is another subject.
    """
    if entity is None:
        return text
    first_names = entity.name.split()[:1] if entity.type == "person" else []
    names = {entity.name, *entity.aliases, *first_names}
    for name in sorted(filter(None, names), key=len, reverse=True):
        prefix = re.match(rf"(?:the\s+)?{re.escape(name)}(?:\s+team)?\s*[:,–—-]?\s+", text, re.I)
        if prefix:  # only the longest name: `Bob Okafor rows` must not become `Okafor rows`
            rest = text[prefix.end() :]
            return rest if len(rest.split()) >= MIN_WORDS_LEFT else text
    return text
