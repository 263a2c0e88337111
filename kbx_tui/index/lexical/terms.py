"""From text to the terms it can be found by: folded words without those of no content, stemmed."""

from __future__ import annotations

import re

from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.stemming import stem

LONGEST_WORD = 40
"""What has as many letters is no word: a key, a checksum."""

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """i me my myself we our ours ourselves you your yours yourself yourselves he him his
        himself she her hers herself it its itself they them their theirs themselves what which who
        whom this that these those am is are was were be been being have has had having do does did
        doing a an the and but if or because as until while of at by for with about against
        between into through during before after above below to from up down in out on off over
        under again further then once here there when where why how all any both each few more
        most other some such no nor not only own same so than too very s t can will just don
        should now d ll m o re ve y ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn
        needn shan shouldn wasn weren won wouldn""",
    )
)
"""Stems that no document is looked for by: the list of NLTK, as in LanceDB's analyzer."""

_WORD = re.compile(r"[^\W_]+")


def words_in(text: str) -> list[str]:
    """Return the folded words of a text, in order."""
    return _WORD.findall(fold(text))


def term_of(word: str) -> str:
    """Return the term a folded word is found by, empty for a word that is left out."""
    if len(word) >= LONGEST_WORD:
        return ""
    term = stem(word)
    return "" if term in STOP_WORDS else term


def terms_in(text: str) -> list[str]:
    """Return the terms of a text, in order, with repetition."""
    return [term for word in words_in(text) if (term := term_of(word))]
