"""Words of English that carry no topic. Used to tell names and topics apart."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.stemming import stem as stem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_WORDS = _words(
    """a about above after again all also am an and any are around as at be because been before
    being below between both but by can could did do does doing done down during each few for
    from further get had has have having he her here hers him his how i if in into is it its just
    lately let like may me might more most my no nor not now of off on once only or other our out
    over own please s same she should so some such t tell than that the their them then there
    these they this those through to too under until up us very was we were what when where which
    while who whom whose why will with would you your"""
)
"""Words that no document is about."""

REQUEST_WORDS = _words(
    """current currently describe discuss discussed discussing explain find focus focused focusing
    give happened happening latest list look looking mention mentioned news opinion recent
    recently said say says search show status summarise summarize summary talk talked talking
    think thinks thought thoughts update updates view views work worked working works"""
)
"""Words that say what to do with a topic; alone they name none."""

ASKING_BEFORE = _words(
    """did do does has have had is was were are will would can could should ask asked asking tell
    told what's who's by from with to"""
)
"""Words a person or group stands after when asked about: `what did X ...`, `advice from X`."""

VERB_FOLLOWS = _words("did do does will would can could should")
"""Those of them after which comes who does something, and then a verb: `did X agree`."""

ASKING_AFTER = _words(
    """on say says said saying think thinks thought mean means meant want wants wanted talk talks
    talked present presents presented propose proposes proposed feel feels felt ask asks asked
    answer answers answered argue argues argued suggest suggests suggested respond responds
    responded work works worked working do does did have has had be been"""
)
"""Words that stand after whoever does something: `X said`, `X on Y`."""

ASKING_WHO = frozenset({("who", "is"), ("who", "s"), ("who", "was"), ("who", "are")})
ASKING_FOR_ONE = ASKING_WHO | {
    ("what", "is"), ("what", "s"), ("about",), ("tell", "me", "about")
}  # fmt: skip
"""What stands before a name to ask for whose it is, and for nothing else."""
ARTICLES = _words("the a an our")

NAMES_THAT_ARE_WORDS = _words(
    """amber april art august bill brook carol chance chase christian cliff dale dawn dean
    drew duke earl faith frank gene glen grace grant guy hope iris ivy jack jade jean joy june
    lance max may mark mason miles norm olive pat ray rich rob robin rose ruby sky sue summer
    sunny van wade will"""
)
"""First names that a lower-case query, or the first word of one, rather uses as words."""

OFFICES = _words(
    """ambassador analyst architect chair chairman chairperson chairwoman chief commissioner
    councillor deputy designer developer director doctor editor engineer general governor head
    judge justice leader lead manager mayor member minister officer parliamentary president
    principal professor secretary senator speaker student teacher vice"""
)
"""What may stand before a surname in capitals without being part of the name: `Minister X`."""

MONTHS = _words(
    """january february march april may june july august september october november december"""
)

DAYS_AND_MONTHS = MONTHS | _words(
    "monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday"
)
"""Capitalised like names, and no part of the name they stand beside: `Ruth Monday standup`."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a query and where it stands."""

    text: str
    folded: str
    start: int
    end: int

    @property
    def is_capitalised(self) -> bool:
        return self.text[:1].isupper()


def words_of(text: str) -> list[Word]:
    """Return the words of a text in order, with their spans."""
    return [
        Word(found.group(), fold(found.group()), found.start(), found.end())
        for found in _WORD.finditer(text)
    ]


def has_topic(words: Iterable[str]) -> bool:
    """Tell whether any of the folded words could be what a document is about."""
    return any(word not in FUNCTION_WORDS and word not in REQUEST_WORDS for word in words)
