"""What the documents of a base say about a word that is also a name: name or ordinary word.

    P(name) = (documents that use it as a name + p) / (documents that use it + 1)

Counted at indexing (`knowledge/entities/name_uses`); p is what English says of a word that no
document uses. Between the two limits the base does not decide, and the query alone does
(`name_matching`, `name_parts`). Source: the posterior mean of a beta-binomial model with one
pseudo-count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kbx_tui.formatting import format_percent
from kbx_tui.index.snapshot import NameVotes
from kbx_tui.knowledge.entities.common_words import is_common_word
from kbx_tui.search.query.english_words import NAMES_THAT_ARE_WORDS

NAME_FROM, WORD_UP_TO = 0.8, 0.3
"""P(name) from which a word is a name, and up to which it is not. Chosen by the experiment "names
and words" in docs/quality.md."""

SEVERAL = 2.0
"""Documents that show a word to be ordinary; a single one may write names in small letters."""
NAME_OF_WORD_FROM, LIKELIER = 0.9, 0.5
"""P(name) from which a word that several documents use as one is a name all the same, and below
which it is a word. Chosen by the same experiment."""

UNCOMMON, COMMON = 0.7, 0.3
"""P(name) of a word that no document uses, if it is not an ordinary English word and if it is. So
one document makes a name of the first (.85), and it takes three to make one of the second (.83)."""


@dataclass(frozen=True, slots=True)
class NamePriors:
    """P(name) for the words of one base that are also names, by folded word."""

    votes: Mapping[str, NameVotes]

    def probability(self, word: str) -> float:
        """Return P(name) of a folded word."""
        is_common = is_common_word(word) or word in NAMES_THAT_ARE_WORDS
        prior, votes = COMMON if is_common else UNCOMMON, self.votes.get(word)
        if votes is None:
            return prior
        return (votes.as_name + prior) / (votes.as_name + votes.as_word + 1.0)

    def is_name(self, word: str) -> bool:
        """Return whether the base uses a word as a name."""
        votes = self.votes.get(word)
        is_word_too = votes is not None and votes.as_word >= SEVERAL
        return self.probability(word) >= (NAME_OF_WORD_FROM if is_word_too else NAME_FROM)

    def is_word(self, word: str) -> bool:
        """Return whether the base uses a word as an ordinary word."""
        votes = self.votes.get(word)
        if votes is None:
            return False
        probability = self.probability(word)
        is_likelier = probability < LIKELIER and votes.as_word >= SEVERAL
        return is_likelier or probability <= WORD_UP_TO

    def is_hardly_name(self, word: str) -> bool:
        """Return whether a word is so rarely a name that one sign in the query is not enough."""
        return self.probability(word) <= WORD_UP_TO

    def is_likelier_name(self, word: str) -> bool:
        """Return whether the base uses a word as a name at least as much as otherwise."""
        return word in self.votes and self.probability(word) >= LIKELIER

    def is_likelier_word(self, word: str) -> bool:
        """Return whether a word is rather an ordinary one, by the base or else by English."""
        return self.probability(word) < LIKELIER if word in self.votes else is_common_word(word)

    def may_be_word(self, word: str) -> bool:
        """Return whether a word may be an ordinary one although it is likelier a name.

        Then the query must show that the name is meant: a wrong name costs a search more than a
        name that counts as a hint only.
        """
        votes = self.votes.get(word)
        is_used = votes is not None and votes.as_word >= SEVERAL and not self.is_name(word)
        return is_used or self.is_likelier_word(word)

    def explain(self, word: str) -> str:
        """Return what the base says of a word, for display: `a word here, 97 %`; or nothing."""
        probability = self.probability(word)
        if self.is_name(word):
            return f"a name here, {format_percent(probability)}"
        if self.is_word(word):
            return f"a word here, {format_percent(1.0 - probability)}"
        return ""
