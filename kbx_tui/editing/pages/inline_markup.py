"""Transfer of links and emphasis to another text that contains the same words. Pure."""

from __future__ import annotations

import re
from itertools import takewhile

from kbx_tui.knowledge.parsing.inline import EMPHASIS, LINK, strip_markup

_MARKED = re.compile("|".join(pattern.pattern for pattern in (LINK, *EMPHASIS)))
_WORD = re.compile(r"\w+")
_CONTEXT = 100
"""Characters on each side by which places with the same words are distinguished."""
LONGEST = 4_000
"""Combined length of both texts; the running time grows with their product."""


def transfer_markup(text: str, source: str) -> str | None:
    """Return a text with the links and emphasis of `source` around the same words.

    Words that are already linked or emphasised stay so. Emphasis of words that the text lacks is
    dropped. Returns None when it lacks the words of a link, or both texts are too long. Of several
    places with the same words, the one with the most similar context gets the markup.
    """
    if len(text) + len(source) > LONGEST:
        return None
    for marked in _MARKED.finditer(source):
        markup, shown = marked[0], strip_markup(marked[0])
        if markup in text or not shown:
            continue
        is_link = LINK.search(markup) is not None
        taken = [match.span() for match in (LINK if is_link else _MARKED).finditer(text)]
        places = [
            place.span()
            for place in re.finditer(rf"(?<!\w){re.escape(shown)}(?!\w)", text)
            if all(place.end() <= start or end <= place.start() for start, end in taken)
        ]
        if not places and is_link:
            return None
        if places:
            context = source[: marked.start()], source[marked.end() :]
            start, end = max(places, key=lambda place: _shared_context(text, place, context))
            text = text[:start] + markup + text[end:]
    return text


def _shared_context(text: str, place: tuple[int, int], context: tuple[str, str]) -> int:
    """Return how many words directly before and after a place match the other context."""
    (start, end), (before, after) = place, context
    return _shared_words(text[:start], before, -1) + _shared_words(text[end:], after, 1)


def _shared_words(left: str, right: str, step: int) -> int:
    """Return how many leading words two texts share; trailing words with a step of -1."""
    near = slice(None, _CONTEXT) if step > 0 else slice(-_CONTEXT, None)
    words = [_WORD.findall(strip_markup(text[near]).casefold())[::step] for text in (left, right)]
    pairs = zip(*words, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
