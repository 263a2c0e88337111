"""The words of two texts in the forms used for comparison, and signals of their similarity. Pure.

Stems are English Snowball stems, as in the full-text index; words of other languages only match if
they are equal after folding. Signals are in 0..1 and symmetric.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Literal

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein, Prefix

from kbx_tui.knowledge.folding import fold, stem, tokens

LONGEST_LABEL = 6
"""Most words of a label. Longer headlines and job titles are compared like sentences, by cosine.
Chosen by the experiment "longest label" in docs/quality.md."""


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_WORDS = word_set(
    """a an the this that these those some any each every its his her their our my your whose
    of and or in on at to for with by from as into onto over under via per than about through
    up down off out
    i you he she it we they him them us me who which what there here
    is are was were be been being am has have had having do does did will would shall
    should can could may might must also just then so if while when where because s t re ll ve"""
)

_SENTENCE_WORDS = word_set(
    """a an the this that these those there i you he she it we they him them us me his her their
    our my your its is are was were be been being am has have had do does did will would shall
    should can could must not never who which"""
)
"""Words that a label never contains: articles, pronouns, auxiliary verbs."""

SYNONYMS: Mapping[str, str] = {
    "home": "based", "lives": "based", "resides": "based",
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
"""What abbreviations stand for, and one word for where a person lives."""

RANKS = word_set("senior junior lead principal staff deputy vice interim acting former chief head")
"""Words for a rank, which distinguish jobs with the same title."""

_LONE_CAPITAL = re.compile(r"(?<=\S )[A-Z]\b(?!['’.])")
"""Matches a single capital letter that is a name, as in Team A, not an article."""
_MAY = re.compile(r"\bMay(?= \d)|(?<=\S )May\b")
"""The month, not the verb."""
_SENTENCE_END = re.compile(r"[.!?…。]['\")\]]*$")


@dataclass(frozen=True, slots=True)
class AnalysedText:
    text: str
    """The text without surrounding white space."""
    normal: str
    tokens: tuple[str, ...]
    sorted_tokens: str
    content: frozenset[str]
    """Stems without function words; all stems if nothing else is left."""
    is_label: bool
    """True for a name or note, False for a sentence."""


@lru_cache(maxsize=4096)
def analyse_words(text: str) -> AnalysedText:
    text = text.strip()
    words = tuple(tokens(text))
    stems = {word: stem(word) for word in _in_one_form(words)}
    is_month = "may" in stems and _MAY.search(text)
    passing = FUNCTION_WORDS - {"may"} if is_month else FUNCTION_WORDS
    content = frozenset(root for word, root in stems.items() if word not in passing)
    return AnalysedText(
        text=text,
        normal=normal_form(text),
        tokens=words,
        sorted_tokens=" ".join(sorted(words)),
        content=content or frozenset(stems.values()),
        is_label=is_label(text, words),
    )


def _in_one_form(words: Iterable[str]) -> list[str]:
    return [part for word in words for part in SYNONYMS.get(word, word).split()]


def normal_form(text: str) -> str:
    """Return a text without letter case, accents, extra spaces and end punctuation, to compare.

    Other punctuation is kept: `C` is not `C++`, `-5` is not `5`, `3.5` is not `35`.
    """
    plain = " ".join(fold(text).split())
    return plain.strip(" .!…,;:\"'`") or plain


def is_label(text: str, words: tuple[str, ...]) -> bool:
    """Return whether a text is a label: few words, no article, pronoun, auxiliary or full stop."""
    if len(words) > LONGEST_LABEL or _SENTENCE_END.search(text):
        return False
    return _SENTENCE_WORDS.isdisjoint(tokens(_LONE_CAPITAL.sub("", text)))


Form = Literal["label", "sentence"]

SHORT = 10
"""Texts shorter than this many words are also compared letter by letter."""
TYPO = 0.8
"""Lowest normalized Levenshtein similarity of a word and its misspelling."""
TYPO_LENGTH = 5
"""Shortest word that may be a misspelling: too many short words differ by one letter."""


_RANKS = frozenset(map(stem, RANKS))


@dataclass(frozen=True, slots=True)
class Signals:
    cosine: float
    tokens: float
    """Dice coefficient of the content words, in any order; if one text is short, misspelt words
    count as equal."""
    shares_word: bool
    """Whether the texts share a content word."""
    spelling: float
    """Similarity of the letters, with words sorted; for short texts, the normalized Levenshtein
    similarity of the texts as written, if that is higher."""
    contains: bool
    """Whether the content words of one text are a proper subset of the other's."""
    distinct: bool
    """Whether two labels mean different things, however similar they are: one adds words to the
    only content word of the other (Platform, Platform & Infrastructure), one only adds a rank
    (Engineer, Senior Engineer), or they are different single words (Oslo, Lisbon)."""


def form_of(left: AnalysedText, right: AnalysedText) -> Form:
    return "label" if left.is_label and right.is_label else "sentence"


def compare(left: AnalysedText, right: AnalysedText, cosine: float) -> Signals:
    one, other = left.content, right.content
    shared = len(one & other)
    is_short = min(len(left.tokens), len(right.tokens)) < SHORT
    matching = shared + (_count_misspellings(one - other, other - one) if is_short else 0)
    spelling = fuzz.ratio(left.sorted_tokens, right.sorted_tokens) / 100.0
    if is_short:
        as_written = Levenshtein.normalized_similarity(left.normal, right.normal)
        spelling = max(spelling, as_written)
    contains = one < other or other < one
    return Signals(
        cosine=cosine,
        tokens=2.0 * matching / max(len(one) + len(other), 1),
        shares_word=matching > 0,
        spelling=spelling,
        contains=contains,
        distinct=(contains and (min(len(one), len(other)) == 1 or one ^ other <= _RANKS))
        or (not matching and len(one) == len(other) == 1),
    )


def _count_misspellings(one: frozenset[str], other: frozenset[str]) -> int:
    left, right = ([w for w in words if len(w) >= TYPO_LENGTH] for words in (one, other))
    pairs = sorted(
        (-likeness, min(a, b), max(a, b))
        for a in left
        for b in right
        if min(len(a), len(b)) >= TYPO * max(len(a), len(b))  # else too many letters are missing
        and (likeness := Levenshtein.normalized_similarity(a, b)) >= TYPO
    )
    taken: set[str] = set()
    for _, a, b in pairs:
        if not taken & {a, b}:
            taken |= {a, b}
    return len(taken) // 2


_DERIVED = word_set("i ic y e s t d c ed ur at ion iti al ment ant abl hood ness ism")
"""How stems of one family of words may end after the letters they share: `allergi`, `allerg`.
Endings of persons are not among them: `Trainer: Erin` is not `Trains Erin`."""
_FAMILY = 4
"""Fewest letters that words of one family begin with."""
_LEFT_OUT = word_set("a an the is are be been has have get gets got made of to he she his her its")
"""Words that come and go where a verb becomes a noun or an adjective."""


def are_derived(left: Sequence[str], right: Sequence[str]) -> bool:
    """Return whether folded words are equal except for some that are derived from each other.

    `Has a latex allergy`, `Allergic to latex`. All other words have the same order.
    """
    ours, theirs = ([word for word in side if word not in _LEFT_OUT] for side in (left, right))
    rest = [word for word in theirs if word not in ours]
    derived = [word for word in ours if word not in theirs]
    if len(rest) != len(derived):
        return False
    if [word for word in ours if word in theirs] != [word for word in theirs if word in ours]:
        return False
    pairs = zip(sorted(derived), sorted(rest), strict=True)
    families = [(one, other) for one, other in pairs if one + "s" != other and other + "s" != one]
    return bool(families) and all(_is_of_family(*pair) for pair in families)


def _is_of_family(one: str, other: str) -> bool:
    """Return whether words are derived from each other, not forms of one: a tense says when."""
    one, other = stem(one), stem(other)
    shared = Prefix.similarity(one, other)
    ends = {one[shared:], other[shared:]} - {""}
    return shared >= _FAMILY and bool(ends) and ends <= _DERIVED


MOST_RELATED = 24
"""Words of a clause that are read for what relates them."""
_CLAUSE = re.compile(
    r"(?i)(?<![,;:.!?()])[,;:.!?()]++(?:\s|$)|\b(?:and|or|but|with|while|when|then|plus)\b|[&+]"
)
NEAR = 4
"""Words on each side of a verb that may be what it relates."""
_CHOICE = re.compile(r"(?i)\b(?:prefer|rather|cho[os]|pick|select|favou?r|like|value)")
_PREFERRING = {
    "than": _CHOICE,
    "over": _CHOICE,
    "to": re.compile("(?i)prefer"),
    "instead": re.compile(""),
}
"""Words after what is preferred, in a clause that says so."""
_DIRECTED = re.compile(
    "(?i)\\b(?:from\\b|report|mov|migrat|switch|translat|convert|transfer|sold|sell|sen[dt])"
)
"""In a clause in which `to` relates what is before it to what is after it."""
_CONVERSE = {"before": "after", "after": "after", "below": "above", "above": "above"}
_ORDER = frozenset(map(stem, _CONVERSE))
_WHOLE_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_BE = word_set("is are was were be been being gets got")
_VERB_ENDS = ("s", "ed", "ing")
MUTUAL = word_set(
    """with meet met marri marriag engag relat resembl equal ident similar near next close besid
    opposit adjac connect link cousin sibl twin friend colleagu partner neighbour neighbor spous"""
)
"""Stems of words for what holds both ways round: `Ann is married to Bo`, `Bo is married to Ann`."""
PLACES = word_set(
    "of in on at to for by from as into via about through during since until near with versus"
)
_Arguments = dict[str, tuple[str, str]]
"""Words by stem, as written, each with the preposition before it."""


def exchanged_words(left: str, right: str, *, by_sense: bool = True) -> tuple[str, str] | None:
    """Return two words that change places around what relates them, in the order of each text.

    `Prefers tea to coffee`, `Would rather have coffee than tea`. By sense, the agent of a passive
    comes first.
    """
    contents = analyse_words(left).content, analyse_words(right).content
    shared = contents[0] & contents[1]
    if len(shared) < 2:
        return None
    ours, theirs = (_relations(text, shared, by_sense) for text in (left, right))
    for relation in sorted(ours.keys() & theirs.keys()):
        (our_first, our_last), (their_first, their_last) = ours[relation], theirs[relation]
        to_end = our_first.keys() & their_last.keys() - our_last.keys() - their_first.keys()
        to_start = our_last.keys() & their_first.keys() - our_first.keys() - their_last.keys()
        for one, other in product(sorted(to_end), sorted(to_start)):
            moved = (our_first[one], their_last[one]), (our_last[other], their_first[other])
            if any(old[1] and old[1] == new[1] for old, new in moved):
                continue  # `in Oslo in May`, `in May in Oslo`
            others = [content - {one, other} - _ORDER for content in contents]
            if relation != "over" and all(others) and others[0].isdisjoint(others[1]):
                continue  # `Ann speaks before Bo`, `Bo leaves before Ann`
            (our_one, their_one), (our_other, their_other) = ((o[0], n[0]) for o, n in moved)
            return f"{our_one}, {our_other}", f"{their_other}, {their_one}"
    return None


def prefer_the_same(left: str, right: str) -> bool:
    """Return whether both texts prefer something that they share to something else they share."""
    shared = analyse_words(left).content & analyse_words(right).content
    if len(shared) < 2:
        return False
    ours, theirs = (_relations(text, shared, False).get("over") for text in (left, right))
    if ours is None or theirs is None:
        return False
    return all(one.keys() & other.keys() for one, other in zip(ours, theirs, strict=True))


def _relations(
    text: str, shared: Set[str], by_sense: bool
) -> dict[str, tuple[_Arguments, _Arguments]]:
    """Return the shared words before and after each word of a text that may relate them."""
    found: dict[str, tuple[_Arguments, _Arguments]] = {}
    for clause in _CLAUSE.split(text):
        written = _WHOLE_WORD.findall(clause)[:MOST_RELATED]
        written = _agent_first(written) if by_sense else written
        words = [(word, fold(word).removesuffix("'s")) for word in written]
        for row, (_, word) in enumerate(words):
            key, reach = _CONVERSE.get(word, ""), MOST_RELATED
            if word in _PREFERRING and _PREFERRING[word].search(clause):
                key = "over"
            elif word == "than" and row:
                key = f"{words[row - 1][1]} than"
            elif word == "to" and _DIRECTED.search(clause):
                key = word
            elif not key and word.endswith(_VERB_ENDS) and stem(word) in shared - MUTUAL:
                key, reach = stem(word), NEAR
            if key:
                before = _arguments(words[max(0, row - reach) : row], shared)
                after = _arguments(words[row + 1 : row + 1 + reach], shared, key)
                if reach == NEAR:  # `lives near Bo`, `needs a review from Ann`
                    after = {
                        root: word
                        for root, word in after.items()
                        if word[1] in ("", "by", "for", "on")
                    }
                found[key] = ({}, {}) if key in found else (before, after)
    return found


def _agent_first(words: list[str]) -> list[str]:
    """Return the words of a passive in the order of the active: `A is paid by B`, `B paid A`."""
    agent = words.index("by") if "by" in words else 0
    verb = max((row for row in range(agent) if words[row] in _BE), default=agent - 2) + 1
    is_passive = agent > 0 and (verb < agent - 1 or words[agent - 1].endswith("ed"))
    return [*words[agent + 1 :], *words[verb:agent], *words[:verb]] if is_passive else words


def _arguments(words: Iterable[tuple[str, str]], shared: Set[str], place: str = "") -> _Arguments:
    found: _Arguments = {}
    for written, word in words:
        place = word if word in PLACES else place
        if word not in FUNCTION_WORDS:
            root = stem(SYNONYMS.get(word, word))
            if root in shared:
                found[root] = written, place if place in PLACES else ""
    return found


_JOINING = word_set("and or & plus with the a an")
MOST_EXCHANGED = 24
"""Words between those that both texts begin and end with, in which parts may change places."""


def is_exchanged(ours: list[str], theirs: list[str]) -> bool:
    """Return whether two parts change places around what relates them: `A pays B`, `B pays A`.

    A score over words, which are folded here, cannot see their order.
    """
    while ours and theirs and ours[0] == theirs[0]:
        ours, theirs = ours[1:], theirs[1:]
    while ours and theirs and ours[-1] == theirs[-1]:
        ours, theirs = ours[:-1], theirs[:-1]
    size = len(ours)
    if size > MOST_EXCHANGED or sorted(ours) != sorted(theirs):
        return False
    return any(
        ours[:one] == theirs[size - one :]
        and ours[size - other :] == theirs[:other]
        and ours[one : size - other] == theirs[other : size - one]
        and not _JOINING.issuperset(ours[one : size - other])
        and MUTUAL.isdisjoint(map(stem, ours[one : size - other]))
        for one in range(1, size - 1)
        for other in range(1, size - one)
    )
