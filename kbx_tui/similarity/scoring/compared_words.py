"""The words of a text in the forms used for comparison. Pure.

Stems are English Snowball stems, as in the full-text index; words of other languages only match
when they are equal after folding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from kbx_tui.knowledge.folding import fold, tokens
from kbx_tui.knowledge.stemming import stem

LONGEST_LABEL = 6
"""Words of the longest label. Longer headlines and job titles need the cosines of sentences: chosen
by the experiment "longest label" in docs/quality.md."""


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
"""Words of grammar rather than content."""

_SENTENCE_WORDS = _words(
    """a an the this that these those there i you he she it we they him them us me his her their
    our my your its is are was were be been being am has have had do does did will would shall
    should can could must not never who which"""
)
"""Words that a label never contains: articles, pronouns, auxiliary verbs."""

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
"""Abbreviations and their expansions; words are compared expanded."""

RANKS = _words("senior junior lead principal staff deputy vice interim acting former chief head")
"""Ranks, which make a different job of the same title."""

_LONE_CAPITAL = re.compile(r"(?<=\S )[A-Z]\b(?!['’.])")
"""A single capital letter that is a name, as in Team A, and no article."""
_SENTENCE_END = re.compile(r"[.!?…。]['\")\]]*$")


@dataclass(frozen=True, slots=True)
class AnalysedText:
    """A text with its normal form, tokens and content stems."""

    text: str
    """As written, stripped of surrounding white space."""
    normal: str
    """Normal form: equal for texts that a reader takes for the same."""
    tokens: tuple[str, ...]
    sorted_tokens: str
    """The tokens in alphabetical order, joined by spaces."""
    content: frozenset[str]
    """Stems without function words; all stems when nothing else is left."""
    is_label: bool
    """True for a name or note, False for a sentence."""


@lru_cache(maxsize=65536)
def analyse_words(text: str) -> AnalysedText:
    """Return a text with its words analysed."""
    text = text.strip()
    words = tuple(tokens(text))
    stems = {word: stem(word) for word in _expand_abbreviations(words)}
    content = frozenset(root for word, root in stems.items() if word not in FUNCTION_WORDS)
    return AnalysedText(
        text=text,
        normal=normal_form(text),
        tokens=words,
        sorted_tokens=" ".join(sorted(words)),
        content=content or frozenset(stems.values()),
        is_label=is_label(text, words),
    )


def _expand_abbreviations(words: Iterable[str]) -> list[str]:
    return [part for word in words for part in ABBREVIATIONS.get(word, word).split()]


def normal_form(text: str) -> str:
    """Return a form equal for texts that differ in case, accents, spacing or end punctuation.

    Inner punctuation is kept: `C` is not `C++`, `-5` is not `5`, `3.5` is not `35`.
    """
    plain = " ".join(fold(text).split())
    return plain.strip(" .!…,;:\"'`") or plain


def is_label(text: str, words: tuple[str, ...]) -> bool:
    """Return whether a text is a label: few words, no article, pronoun, auxiliary or full stop."""
    if len(words) > LONGEST_LABEL or _SENTENCE_END.search(text):
        return False
    return _SENTENCE_WORDS.isdisjoint(tokens(_LONE_CAPITAL.sub("", text)))
