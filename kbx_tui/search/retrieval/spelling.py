"""Words of a query that no document has: misspelt ones, with what is meant, and unknown names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from rapidfuzz.distance import OSA, Indel

from kbx_tui.index.lexical.bm25 import errors_in
from kbx_tui.index.lexical.terms import term_of, words_in
from kbx_tui.knowledge.entity_names import is_common_word
from kbx_tui.knowledge.folding import WORD, fold, normalized
from kbx_tui.search.evidence.evidence import UnknownName
from kbx_tui.search.evidence.scores import Flags, Rows
from kbx_tui.search.open_index import IndexGeneration
from kbx_tui.search.query.query_terms import HINT, NamedQuery
from kbx_tui.search.query.query_words import VERB_FOLLOWS, QueryWords, has_topic, words_of
from kbx_tui.search.retrieval.asked import asks_for_people
from kbx_tui.search.retrieval.query_dates import QUOTED

FORMS_FROM, UMLAUTS_FROM = 5, 50
"""Documents that a misspelt word is compared with for each word it may be, and in which an umlaut
is looked for."""
_TWO_LETTERS = re.compile("([aou])e")
_UMLAUT = re.compile("[äöü]")
_WITH_NUMBER = re.compile(r"([^\W\d_]{2,})(\d{2,})")


def corrected(
    named: NamedQuery, generation: IndexGeneration, flags: Flags, is_token: Callable[[str], bool]
) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return the misspelt words of a query, each with what is meant, and the query with it.

    Words in quotation marks are searched for as typed, and so are names, unless they are hints that
    are misspelt. What is meant is looked for in the documents flagged; `is_token` returns whether
    the model has a token for a word, as it has for most words of its language.
    """
    exact = [
        (match.start, match.end)
        for match in named.matches
        if match.signal.kind != "fuzzy" or match.signal.score > HINT
    ]
    text, asks_who = named.text, asks_for_people(named.text)
    exact += [match.span() for match in QUOTED.finditer(text)]
    corrections = list[tuple[str, str]]()
    for word in reversed(words_of(text)):
        if any(start <= word.start < end for start, end in exact):
            continue
        is_role = asks_who or word.text.isupper()
        if meant := _meant_by(word.folded, generation, flags, is_token, is_role=is_role):
            corrections.append((word.text, meant))
            text = text[: word.start] + meant + text[word.end :]
    return tuple(reversed(corrections)), text


def _meant_by(
    word: str,
    generation: IndexGeneration,
    flags: Flags,
    is_token: Callable[[str], bool],
    *,
    is_role: bool,
) -> str:
    """Return the word of a document that a folded word is a misspelling of, or nothing.

    A word that a document or the key of a property holds is not misspelt, nor one that the model
    has a token for. `zuerich` is `Zürich` and `gw217` is `gw-217`, if that is what documents hold,
    and the initials of a role are that role, if capitals or `who` ask for one (`is_role`), or it is
    that of a chief: `ceo`. Only one of two errors replaces a letter: `checkout` is not `checksum`.
    """
    words, most = generation.words, errors_in(word)
    if (number := _WITH_NUMBER.fullmatch(word)) and not words.is_held(word):
        parted = "-".join(number.groups())
        return parted if len(words.rows_with_phrase(parted)) else ""
    if not (word.isalpha() and has_topic([word])) or words.is_held(word):
        return ""
    role = generation.entity_pass.roles.spelled_out(word)
    if role and (is_role or role.startswith("chief ")):
        return role
    if meant := _with_umlaut(word, generation, flags):
        return meant
    if not most or is_common_word(word) or is_token(word):
        return ""
    if word in generation.properties.words_of_keys:
        return ""
    others = _without_letter(word)  # looked for above
    for term in words.spelled_alike(word):
        forms = {
            (OSA.distance(word, form), form)
            for language, text in _texts(words.rows_holding(term), generation, flags, FORMS_FROM)
            for form in words_in(text)
            if term_of(form, language) == term
            and form not in others
            and Indel.distance(word, form) <= most + 1
        }
        if forms and min(forms)[0] <= most:
            return min(forms)[1]
    return ""


def _with_umlaut(word: str, generation: IndexGeneration, flags: Flags) -> str:
    """Return the folded word of a document with an umlaut for `ae`, `oe` or `ue`, or nothing.

    Only if it is written with the umlaut there: `poet` is not `pot`.
    """
    for plain in _without_letter(word):
        rows = generation.words.rows_with_phrase(plain)
        for language, text in _texts(rows, generation, flags, UMLAUTS_FROM):
            term = term_of(word, language)
            for form in WORD.findall(normalized("NFC", text).lower()):
                in_two_letters = _UMLAUT.sub(lambda match: fold(match[0]) + "e", form)
                if in_two_letters != form and term_of(fold(in_two_letters), language) == term:
                    return fold(form)
    return ""


def _without_letter(word: str) -> list[str]:
    """Return a folded word without the `e` of all its `ae`, `oe` and `ue`, and of each alone."""
    ends = [pair.end() for pair in _TWO_LETTERS.finditer(word)]
    alone = (word[: end - 1] + word[end:] for end in ends)
    return list(dict.fromkeys((_TWO_LETTERS.sub(r"\1", word), *alone))) if ends else []


def _texts(
    rows: Rows, generation: IndexGeneration, flags: Flags, most: int
) -> Iterator[tuple[str, str]]:
    """Yield the language and the text, with names, of the first rows that are flagged."""
    snapshot = generation.snapshot
    first = rows[flags[rows]][:most].tolist()
    for row, (body, _) in zip(first, generation.bodies.of_rows(first), strict=True):
        names = (snapshot.titles[row], snapshot.attendees[row], *snapshot.aliases[row])
        yield generation.words.language_of(row), " ".join((*names, body))


def unheard_of(
    named: NamedQuery, query: QueryWords, generation: IndexGeneration
) -> Iterator[UnknownName]:
    """Yield the names that a query asks about, `what did Ada want`, and no document has.

    Meaning finds something for any query, so the answer would seem to be about that person.
    """
    spans = [range(match.start, match.end) for match in named.matches]
    for at, word in enumerate(query.words):
        is_subject = query.before(at) in VERB_FOLLOWS or (
            at > 0 and word.is_capitalised and query.is_surely_asked_about(at)
        )
        is_name = is_subject and word.text.isalpha() and has_topic([word.folded])
        if not is_name or is_common_word(word.folded) or generation.words.is_held(word.folded):
            continue
        if not any(word.start in span for span in spans):
            yield UnknownName(word.text, "")
