"""Words of titles that some documents are about and most are not: topics to ask for. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import log

from kbx_tui.knowledge.folding import tokens
from kbx_tui.search.query.english_words import DOCUMENT_WORDS, FUNCTION_WORDS, MONTHS, REQUEST_WORDS

COMMON_SHARE = 0.1
"""Words in more than this share of the documents say little about one: `meeting`, `list`."""
FEW = 4
"""Documents that may hold a word in a small base, where that share is less."""
MIN_WORD = 4
"""Letters of a word that may stand for a topic."""
SHORT_TITLE = 4
"""Words of a title that is asked for as a whole."""
MOST_LOOKED_UP = 500
"""Words of titles that are looked up in the texts, those of most titles first."""

Occurrences = Callable[[str], tuple[int, int]]
"""Returns how many documents hold a word in any of its forms, and how often it stands in them."""


def topic_words_of(
    titles: Sequence[str], occurrences: Occurrences, names: Iterable[str], number: int
) -> list[str]:
    """Return at most `number` words of titles that a few documents use often, the most first.

    Each is in at least two documents and in few of all, and is part of none of `names`. It weighs
    its occurrences times its idf.
    """
    named = {word for name in names for word in tokens(name)}
    in_titles = Counter(
        word
        for title in titles
        for word in dict.fromkeys(tokens(title))
        if len(word) >= MIN_WORD and word.isalpha()
    )
    usual = named | FUNCTION_WORDS | DOCUMENT_WORDS | REQUEST_WORDS | MONTHS
    most = max(COMMON_SHARE * len(titles), FEW)
    weights: dict[str, float] = {}
    for word, _ in in_titles.most_common(MOST_LOOKED_UP):
        if word not in usual:
            documents, total = occurrences(word)
            if 2 <= documents <= most:
                weights[word] = total * log(len(titles) / documents)
    return sorted(weights, key=lambda word: (-weights[word], word))[:number]


def titles_about(words: Sequence[str], titles: Sequence[str]) -> list[str]:
    """Return the shortest title with each word in place of it, or the word if all are long."""
    about: dict[str, None] = {}
    for word in words:
        found = [title for title in titles if word in tokens(title)]
        title = min(found, key=lambda title: (len(title), title), default=word)
        about[title if len(tokens(title)) <= SHORT_TITLE else word] = None
    return list(about)
