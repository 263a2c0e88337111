"""Removal of a fact's subject: `Alice favours Slack` is `favours Slack` on her page. Pure.

Both sides of a comparison are stripped, the stored fact of its own entity's name: a name on one
side hides a duplicate, on both sides it makes any two facts of a person look alike.
"""

from __future__ import annotations

import re
from functools import lru_cache

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
    start = text[: max(map(len, names)) + len("the  ")].casefold()
    # A name that is nowhere near the start cannot be its beginning; most facts end here.
    near = [name for name in names if name and name.casefold() in start]
    for name in sorted(near, key=len, reverse=True):
        prefix = _prefix(name).match(text)
        if prefix:  # only the longest name: `Bob Okafor rows` must not become `Okafor rows`
            rest = text[prefix.end() :]
            return rest if len(rest.split()) >= MIN_WORDS_LEFT else text
    return text


@lru_cache(maxsize=4096)
def _prefix(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?:the\s+)?{re.escape(name)}(?:\s+team)?\s*[:,–—-]?\s+", re.I)
