"""The subject of a fact: `Alice favours Slack`, while her page says `Favours Slack`. Pure."""

from __future__ import annotations

import re

from kbx_tui.knowledge.records import Entity

FEWEST_WORDS = 2
"""Words that must be left for a name to be taken off."""


def without_subject(text: str, entity: Entity | None) -> str:
    """Return a text without the name of the entity it begins with, else the text.

    A person may be named by the first name alone. What belongs to somebody (`Alice's team`) is
    about something else.
    """
    if entity is None:
        return text
    names = {entity.name, *entity.aliases}
    if entity.type == "person":
        names.add(entity.name.split()[0] if entity.name.split() else "")
    for name in sorted(filter(None, names), key=len, reverse=True):
        found = re.match(rf"(?:the\s+)?{re.escape(name)}(?:\s+team)?\s*[:,–—-]?\s+", text, re.I)
        if found:  # the longest name: of `Bob Okafor rows`, Okafor is not what is said
            rest = text[found.end() :]
            return rest if len(rest.split()) >= FEWEST_WORDS else text
    return text
