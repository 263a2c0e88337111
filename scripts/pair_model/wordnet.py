"""Words and their relations, read from the files of WordNet 3.0 (Debian package wordnet-base).

Only the first sense of a word is used, and only where the word is nearly always of one part of
speech: what is exchanged in a sentence then means what WordNet says it means.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
PART_OF_NUMBER = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
EXCLUSIVE = {5, 6, 8, 13, 15, 18, 20, 27}
"""Lexicographer files of nouns of which a thing is only one: animals, artifacts, parts of the body,
food, places, persons, plants, substances."""

Sense = tuple[str, int]
"""Part of speech, and where the data file of it describes the sense."""


class WordNet:
    def __init__(self, folder: Path) -> None:
        self._uses: dict[tuple[str, str], int] = defaultdict(int)
        """How often a word was met as a part of speech in texts of WordNet."""
        self._first: dict[tuple[str, str], int] = {}
        """The first sense of a word, by the word and its part of speech."""
        self._words: dict[Sense, list[str]] = {}
        self._file: dict[Sense, int] = {}
        self._above: dict[Sense, list[int]] = defaultdict(list)
        self._below: dict[Sense, list[int]] = defaultdict(list)
        self._opposites: dict[tuple[str, str], list[str]] = defaultdict(list)
        for line in (folder / "cntlist.rev").read_text().splitlines():
            key, _, times = line.split()
            lemma, rest = key.split("%")
            self._uses[lemma, PART_OF_NUMBER[rest[0]]] += int(times)
        for name, part in PARTS.items():
            for line in (folder / f"index.{name}").read_text().splitlines():
                if not line.startswith(" "):  # those lines are the licence
                    fields = line.split()
                    self._first[fields[0], part] = int(fields[-int(fields[2])])
        opposites = [
            opposite
            for name, part in PARTS.items()
            for line in (folder / f"data.{name}").read_text().splitlines()
            if not line.startswith(" ")
            for opposite in self._read_sense(part, line)
        ]
        for part, offset, word, other_offset, number in opposites:
            other = self._words[part, other_offset][number - 1]
            if self._is_first(word, part, offset) and self._is_first(other, part, other_offset):
                self._opposites[word, part].append(other)

    def _read_sense(self, part: str, line: str) -> list[tuple[str, int, str, int, int]]:
        """Store a line of a data file and return its opposites: this word, the other's place."""
        fields = line.split(" | ")[0].split()
        offset, count = int(fields[0]), int(fields[3], 16)
        words = [word.split("(")[0].lower() for word in fields[4 : 4 + 2 * count : 2]]
        self._words[part, offset], self._file[part, offset] = words, int(fields[1])
        start, opposites = 5 + 2 * count, []
        for at in range(start, start + 4 * int(fields[start - 1]), 4):
            relation, target, _, numbers = fields[at : at + 4]
            if relation == "@":
                self._above[part, offset].append(int(target))
                self._below[part, int(target)].append(offset)
            elif relation == "!":
                word = words[int(numbers[:2], 16) - 1]
                opposites.append((part, offset, word, int(target), int(numbers[2:], 16)))
        return opposites

    def _is_first(self, word: str, part: str, offset: int) -> bool:
        return self._first.get((word, part)) == offset

    def _usable(self, word: str, part: str, offset: int, uses: int = 1) -> bool:
        """Return whether a word is plain, mostly has this sense and was met in texts."""
        met = self._uses[word, part] >= uses
        return word.isalpha() and met and self._is_first(word, part, offset)

    def is_common(self, word: str, part: str) -> bool:
        uses = self._uses[word, part]
        all_uses = sum(self._uses[word, other] for other in PARTS.values())
        return word.isalpha() and len(word) > 2 and uses >= 2 and uses >= 0.9 * all_uses

    def synonyms(self, word: str, part: str) -> list[str]:
        offset = self._first.get((word, part), -1)
        others = [other for other in self._words.get((part, offset), []) if other != word]
        return [other for other in others if self._usable(other, part, offset)]

    def opposites(self, word: str, part: str) -> list[str]:
        return self._opposites.get((word, part), [])

    def more_general(self, word: str) -> list[str]:
        """Return nouns for the kind of thing that a noun names."""
        sense = ("n", self._first.get((word, "n"), -1))
        return [
            other
            for offset in self._above.get(sense, [])
            if self._file["n", offset] in EXCLUSIVE
            for other in self._words["n", offset][:2]
            if self._usable(other, "n", offset, uses=3)
        ]

    def sisters(self, word: str) -> list[str]:
        """Return nouns for other things of the same kind."""
        own = ("n", self._first.get((word, "n"), -1))
        if self._file.get(own) not in EXCLUSIVE:
            return []
        return [
            other
            for above in self._above[own][:1]
            for offset in self._below["n", above]
            if offset != own[1]
            for other in self._words["n", offset][:1]
            if self._usable(other, "n", offset) and other not in self._words[own]
        ]

    def kinds_of(self, roots: list[str], depth: int = 4) -> list[str]:
        """Return nouns for things of the kinds ``roots``, up to ``depth`` levels below them."""
        found = set[str]()
        for root in roots:
            offsets = [self._first[root, "n"]]
            for _ in range(depth):
                offsets = [below for at in offsets for below in self._below.get(("n", at), [])]
                for offset in offsets:
                    word = self._words["n", offset][0]
                    if self._usable(word, "n", offset):
                        found.add(word)
        return sorted(found)


def bases(word: str) -> list[str]:
    """Return the forms that a word may be a regular form of, itself first."""
    forms = [word]
    for ending, replacements in (("s", ("",)), ("es", ("",)), ("ies", ("y",)), ("ing", ("", "e"))):
        if word.endswith(ending):
            forms += [word.removesuffix(ending) + replacement for replacement in replacements]
    if word.endswith("ed"):
        forms += [word[:-1], word[:-2]]
    return list(dict.fromkeys(forms))


def inflect(word: str, like: str, base: str) -> str | None:
    """Return ``word`` in the regular form that ``like`` is of ``base``; None if it has none."""
    if like == base:
        return word
    stem = word.removesuffix("e")
    ends_in_y = re.search(r"[^aeiou]y$", word)
    if like.endswith("s"):
        sibilant = re.search(r"(s|x|z|ch|sh)$", word)
        return word[:-1] + "ies" if ends_in_y else word + ("es" if sibilant else "s")
    if like.endswith("ed"):
        return word[:-1] + "ied" if ends_in_y else stem + "ed"
    return stem + "ing" if like.endswith("ing") else None
