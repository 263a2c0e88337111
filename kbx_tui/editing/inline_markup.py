"""Links and emphasis of one text carried over to another that says the same words. Pure."""

from __future__ import annotations

import re
from itertools import takewhile

from kbx_tui.knowledge.parsing.inline import EMPHASIS, LINK, plain_text

_MARKED = re.compile("|".join(one.pattern for one in (LINK, *EMPHASIS)))
_WORD = re.compile(r"\w+")
_BESIDE = 100
"""Characters on each side by which places with the same words are told apart."""
LONGEST = 4_000
"""Characters of both texts; the time it takes grows with their product."""


def with_markup(text: str, written: str) -> str | None:
    """Return a text with the links and the emphasis of another one around the same words.

    What is linked or marked in it already stays so. Emphasis of words that it lacks is left out;
    None where it lacks those of a link, or both are too long to compare. Where it says the words
    more than once, the place counts that has most of the words beside it in common.
    """
    if len(text) + len(written) > LONGEST:
        return None
    for marked in _MARKED.finditer(written):
        raw, shown = marked[0], plain_text(marked[0])
        if raw in text or not shown:
            continue
        is_link = LINK.search(raw) is not None
        taken = [one.span() for one in (LINK if is_link else _MARKED).finditer(text)]
        places = [
            place.span()
            for place in re.finditer(rf"(?<!\w){re.escape(shown)}(?!\w)", text)
            if all(place.end() <= start or end <= place.start() for start, end in taken)
        ]
        if not places and is_link:
            return None
        if places:
            beside = written[: marked.start()], written[marked.end() :]
            start, end = max(places, key=lambda one: _in_common(text, one, beside))
            text = text[:start] + raw + text[end:]
    return text


def _in_common(text: str, place: tuple[int, int], beside: tuple[str, str]) -> int:
    """Return how many words right before and right after a place stand beside the other too."""
    start, end = place
    before, after = _alike(text[:start], beside[0], -1), _alike(text[end:], beside[1], 1)
    return before + after


def _alike(left: str, right: str, step: int) -> int:
    """Return how many words both begin with; with a step of -1, end with."""
    near = slice(None, _BESIDE) if step > 0 else slice(-_BESIDE, None)
    words = [_WORD.findall(plain_text(one[near]).casefold())[::step] for one in (left, right)]
    pairs = zip(*words, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
