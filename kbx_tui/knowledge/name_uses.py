"""How a base uses the words that are also names: `Bill` the person, or a bill.

Every word that alone may name an entity is looked up in running text: names and aliases of one
word, and each part of the names of people. An occurrence counts as the name

- beside the rest of the name (`Bill Blair`), unless small letters tell something there and either
  is in them (`light client`, and someone is called Light Client);
- after a title (`Mr Bill`), however it is written;
- with a capital within a sentence, alone.

It counts as a word in small letters; of people also after a determiner (`this Bill`) and as part of
a label (`Bill C-6`). What tells nothing is left out: the beginning of a sentence, a heading or an
item, a word next to another capitalised one, one all in capitals, a part of a compound, an address
or a link (`[[bill-blair]]`), and scripts without small letters. Small letters tell nothing where
names are written in them too: in a text or a sentence that begins with a small letter, and in a
sentence with the pronoun `i` (`i saw danny had his hand up`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from kbx_tui.knowledge.entity_names import HONORIFICS
from kbx_tui.knowledge.folding import fold, strip_accents
from kbx_tui.knowledge.records import Document, Entity, NameUse

SHORTEST = 2
READ_AT_MOST = 50_000
"""Characters read of one document, which has one vote per word however long it is."""
CASED_SAMPLE = 10_000
"""Characters read of one document to see whether it has capitals where they belong."""

LONGEST_SENTENCE = 80
"""Words; what has more without a full stop is speech that was written down by a machine."""

DETERMINERS = frozenset(
    {
        "a", "an", "any", "each", "every", "its", "no", "our", "such", "the", "their", "these",
        "this", "those",
    }
)  # fmt: skip
"""Words that precede a common noun and, in English, hardly ever the name of a person. Not `that`
and `which`: `the shoes that Nate wore`."""

TITLES = HONORIFICS - {"the"}
"""Words that are part of the name they precede."""

Use = Literal["name", "word"]

_WORD = re.compile(r"([^\W_]+)")
_BEGINNING = re.compile(r"[.!?][ \n]+([^\W\d_])")
_CODE = re.compile(r"(?:[A-Z]{1,2}-?)?\d")
_BREAKS = frozenset('.!?:;\n|>#*_[]()"“”•–—-')
_SENTENCE_END = re.compile(r"[.!?:](?:\s|$)|\n[ \t]*[\n>#|*+-]|\|")
_JOINED_BEFORE = re.compile(r"(?:^[-_./]|[@#/]|\[\[)$")
_JOINED_AFTER = re.compile(r"[-_./@]$")


@dataclass(slots=True)
class _NamePart:
    of_person: bool = False
    others: set[str] = field(default_factory=set)


def _name_parts(entities: Iterable[Entity]) -> dict[str, _NamePart]:
    """Return the words that may name an entity alone, folded.

    The full names of other entities than people add nothing: `the Platform team` tells nothing of
    `platform`.
    """
    parts: dict[str, _NamePart] = {}
    for entity in entities:
        for name in (entity.name, *entity.aliases):
            words = [word for word in map(fold, _WORD.findall(name)) if word not in HONORIFICS]
            if entity.type == "person":
                for word in words:
                    part = parts.setdefault(word, _NamePart())
                    part.of_person = True
                    part.others.update({*words} - {word})
            elif len(words) == 1:
                parts.setdefault(words[0], _NamePart())
    return {word: part for word, part in parts.items() if len(word) >= SHORTEST}


class NameUseCounter:
    def __init__(self, entities: Sequence[Entity]) -> None:
        self._parts = _name_parts(entities)

    def uses(self, document: Document) -> tuple[NameUse, ...]:
        names: Counter[str] = Counter()
        words: Counter[str] = Counter()
        for word, use in self._find(document.body[:READ_AT_MOST]):
            (names if use == "name" else words)[word] += 1
        return tuple(
            NameUse(document.path, word, names[word], words[word])
            for word in sorted(names.keys() | words.keys())
        )

    def _find(self, body: str) -> Iterator[tuple[str, Use]]:
        text = strip_accents(body)
        pieces = _WORD.split(text)  # gap, word, gap, word ... gap
        known = {word for word in {*pieces[1::2]} if word.casefold() in self._parts}
        if not known:
            return
        cased = is_cased(text[:CASED_SAMPLE])
        for index in [index for index, piece in enumerate(pieces) if piece in known]:
            word = pieces[index].casefold()  # without accents already, so as `fold`
            use = _use(pieces, index, self._parts[word], cased=cased)
            if use:
                yield word, use


def is_cased(text: str) -> bool:
    """Return whether small letters tell something: most sentences begin with a capital."""
    beginnings = _BEGINNING.findall(text)
    if beginnings:
        return 2 * sum(map(str.isupper, beginnings)) >= len(beginnings)
    return any(map(str.isupper, text))


def _use(pieces: Sequence[str], index: int, part: _NamePart, *, cased: bool) -> Use | None:
    written, gap, gap_after = pieces[index], pieces[index - 1], pieces[index + 1]
    previous = pieces[index - 2] if index > 1 else ""
    following = pieces[index + 2] if index + 2 < len(pieces) else ""
    if rest := _rest_beside(pieces, index, part):
        is_capitalised = written[0].isupper() and any(other[0].isupper() for other in rest)
        if is_capitalised or not (cased and _shows_case(pieces, index)):
            return "name"
        if written.islower():
            return None
    if _JOINED_BEFORE.search(gap) or (following and _JOINED_AFTER.match(gap_after)):
        return None
    is_before = _is_space(gap) or (gap[:1] == "." and _is_space(gap[1:]))
    before = previous.lower() if is_before else ""
    is_determined = part.of_person and _is_space(gap) and before in DETERMINERS  # not `A. Blair`
    if before in TITLES:
        return "name"
    if written.islower():
        is_word = is_determined or (cased and _shows_case(pieces, index))
        return "word" if is_word else None
    if not written[0].isupper() or (len(written) > 1 and written.isupper()):
        return None
    is_label = (
        part.of_person
        and _is_space(gap_after)
        and _CODE.match("".join(pieces[index + 2 : index + 5]))
    )
    if is_determined or is_label:
        return "word"
    if not (part.of_person or before not in DETERMINERS):  # `the Treasury`
        return None
    beside_capital = (before and previous[0].isupper()) or (
        _is_space(gap_after) and following[:1].isupper()
    )
    is_start = index == 1 or not _BREAKS.isdisjoint(gap)
    return None if beside_capital or is_start else "name"


def _rest_beside(pieces: Sequence[str], index: int, part: _NamePart) -> list[str]:
    """Return the words next to word `index` that are other parts of a name with it."""
    previous = pieces[index - 2] if index > 1 else ""
    following = pieces[index + 2] if index + 2 < len(pieces) else ""
    gap = pieces[index - 1]
    is_initial = len(previous) == 1 and previous.isupper() and gap[0] == "."
    near = []
    if (is_initial and _is_space(gap[1:])) or (len(previous) > 1 and _is_space(gap)):
        near.append(previous)
    if len(following) > 1 and _is_space(pieces[index + 1]):
        near.append(following)
    return [other for other in near if other.casefold() in part.others]


def _shows_case(pieces: Sequence[str], index: int) -> bool:
    """Return whether the sentence around word `index` has capitals where they belong."""
    first, end = index, index
    while first > 1 and not _SENTENCE_END.search(pieces[first - 1]):
        first -= 2
    if index - first > 2 * LONGEST_SENTENCE or pieces[first].islower():
        return False
    while end + 2 < len(pieces) and not _SENTENCE_END.search(pieces[end + 1]):
        end += 2
    return end - first <= 2 * LONGEST_SENTENCE and "i" not in pieces[first : end + 1 : 2]


def _is_space(gap: str) -> bool:
    return gap.isspace() and gap.count("\n") < 2
