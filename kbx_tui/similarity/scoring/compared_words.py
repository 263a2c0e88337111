"""Text as words: the forms in which two texts are compared. Pure.

Stems are English Snowball stems, as the full-text index uses them; other languages keep their
folded words, so for them only equal words count as equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from kbx_tui.knowledge.folding import fold, tokens
from kbx_tui.search.query.english_words import stem

LONGEST_LABEL = 6
"""Words of the longest label. Longer ones, headlines and long job titles alike, need the cosines of
sentences: measured on ESCO and STS-B, the best cut is .6 up to six words and .75 from seven on."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_WORDS = _words(
    """a an the this that these those some any each every its his her their our my your whose
    of and or in on at to for with by from as into onto over under via per than about through
    up down off out
    i you he she it we they him them us me who which what there here
    is are was were be been being am has have had having do does did will would shall
    should can could may might must also just then so if while when where because s t re ll ve"""
)
"""Words that carry grammar, not the matter."""

_SENTENCE_WORDS = _words(
    """a an the this that these those there i you he she it we they him them us me his her their
    our my your its is are was were be been being am has have had do does did will would shall
    should can could must not never who which"""
)
"""Words a label does not hold: articles, pronouns, auxiliary verbs."""

ABBREVIATIONS: Mapping[str, str] = {
    "admin": "administrator", "async": "asynchronous", "auth": "authentication",
    "cfg": "configuration", "config": "configuration", "db": "database", "dept": "department",
    "dev": "developer", "dir": "director", "docs": "documentation", "eng": "engineering",
    "env": "environment", "exec": "executive", "hr": "human resources", "infra": "infrastructure",
    "intl": "international", "k8s": "kubernetes", "mgmt": "management", "mgr": "manager",
    "mtg": "meeting", "ops": "operations", "org": "organisation", "perf": "performance",
    "postgres": "postgresql", "prod": "production", "qa": "quality assurance",
    "repo": "repository", "sr": "senior", "jr": "junior", "svc": "service", "sync": "synchronous",
    "vp": "vice president",
}  # fmt: skip
"""What people write short, written out: the words are compared in this form."""

RANKS = _words("senior junior lead principal staff deputy vice interim acting former chief head")
"""Words that make another job of the same title."""

_LONE_CAPITAL = re.compile(r"(?<=\S )[A-Z]\b(?!['’.])")
"""A letter that names something, as in Team A, and is no article."""
_SENTENCE_END = re.compile(r"[.!?…。]['\")\]]*$")


@dataclass(frozen=True, slots=True)
class Words:
    """One text, taken apart once."""

    text: str
    """As written, without blanks around it."""
    normal: str
    """Folded tokens joined by blanks; equal for two texts that are the same to a reader."""
    tokens: tuple[str, ...]
    in_order: str
    """The tokens in alphabetical order, joined by blanks."""
    content: frozenset[str]
    """Stems without function words; all stems when nothing else is left."""
    is_label: bool
    """True for a name or note, False for a sentence."""


@lru_cache(maxsize=65536)
def words_of(text: str) -> Words:
    """Return a text taken apart."""
    text = text.strip()
    found = tuple(tokens(text))
    stems = {word: stem(word) for word in _written_out(found)}
    content = frozenset(one for word, one in stems.items() if word not in FUNCTION_WORDS)
    return Words(
        text=text,
        normal=normal_form(text),
        tokens=found,
        in_order=" ".join(sorted(found)),
        content=content or frozenset(stems.values()),
        is_label=is_label(text, found),
    )


def _written_out(words: Iterable[str]) -> list[str]:
    return [part for word in words for part in ABBREVIATIONS.get(word, word).split()]


def normal_form(text: str) -> str:
    """Return what is equal for texts that differ in case, accents, spacing or end punctuation.

    Signs within stay: `C` is not `C++`, `-5` is not `5`, `3.5` is not `35`.
    """
    plain = " ".join(fold(text).split())
    return plain.strip(" .!…,;:\"'`") or plain


def is_label(text: str, found: tuple[str, ...]) -> bool:
    """Tell whether a text is a label: few words, no article, pronoun, auxiliary or full stop."""
    if len(found) > LONGEST_LABEL or _SENTENCE_END.search(text):
        return False
    return _SENTENCE_WORDS.isdisjoint(tokens(_LONE_CAPITAL.sub("", text)))
