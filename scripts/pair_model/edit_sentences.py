"""Make labelled pairs by small edits of English sentences, with the words of WordNet.

    python -m scripts.pair_model.edit_sentences --sentences PAIRS.tsv.gz \
        [--wordnet /usr/share/wordnet] [--count 60000] [--seed 1] > edits.tsv

An edit returns a second sentence and how the two relate: a synonym says the same; a more general
word or a dropped phrase says less; an antonym, another thing of the same kind or a negation
contradicts. The sentences are those of `SOURCES`, beside scenes made of nouns of WordNet.
edits.toml has the patterns.
"""

from __future__ import annotations

import argparse
import re
import tomllib
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from scripts.pair_model.maker import HERE, Maker, Pair
from scripts.pair_model.tables import read_rows
from scripts.pair_model.wordnet import WordNet, bases, inflect

EDITS = tomllib.loads((HERE / "edits.toml").read_text("utf-8"))
SOURCES = ("real_changes_told", "sourcegraph_team", "tech_conferences")
"""A twelfth of their sentences are edited, as they are alike; of handbook_edits, all plain ones."""
KEPT = frozenset(EDITS["kept"])
NUMERALS: dict[str, int] = EDITS["numerals"]
NEGATED = re.compile(r"(?i)\b(not|never|no|without|cannot|none|only|if|unless)\b|n't")
CONTRACTIONS = {
    "willn't": "won't",
    "mayn't": "may not",
    "mightn't": "might not",
    "mustn't": "must not",
}
PHRASE = r"((?:[A-Za-z][\w-]+ )?[A-Za-z][\w-]+)"
JOINED = re.compile(rf"\b{PHRASE}(?:,)? (and|or) {PHRASE}\b")
ADDED = re.compile(
    r",? (in|on|at|with|for|by|during|after|before|from|via|because|when|while|so that|as|including"
    r"|along with|through)\b[^,.;]{4,60}(?=[.;]?$)"
)
INSERTED = re.compile(r" \([^)]{3,40}\)|, [^,]{4,40},")

WEIGHTS = {
    "synonym": 12,
    "antonym": 12,
    "more_general": 5,
    "sister": 2,
    "negation": 12,
    "other_negation": 5,
    "conjunction": 11,
    "omission": 9,
    "number_in_text": 6,
    "quantifier": 11,
    "scene": 14,
    "other_sentence": 4,
    "elaboration": 2,
}
"""How often each method of `Editor` is tried."""

Edit = tuple[str, str] | None
"""The edited sentence and the label; None where a sentence cannot be edited so."""


class Editor(Maker):
    def __init__(self, words: WordNet, sentences: list[str], seed: int) -> None:
        super().__init__(seed)
        self.words, self.sentences = words, sentences
        self.things = {kind: words.kinds_of(roots) for kind, roots in EDITS["roots"].items()}

    def exchangeable(self, text: str) -> list[tuple[re.Match[str], str, str]]:
        """Return words with their base form and part of speech."""
        return [
            (found, base, part)
            for found in re.finditer(r"(?<![\w'-])[a-z]{3,}(?![\w'-])", text)
            if (word := found[0]) not in KEPT
            for base in bases(word)
            for part in "nvar"
            if self.words.is_common(base, part)
            and (base == word or part == "v" or (part == "n" and word.endswith("s")))
        ]

    def exchange(self, text: str, options: Callable[[str, str], list[str]]) -> str | None:
        """Replace a word by one of ``options(base form, part of speech)``."""
        spots = self.exchangeable(text)
        self.random.shuffle(spots)
        for found, base, part in spots:
            new = (
                inflect(self.one(others), found[0], base)
                if (others := options(base, part))
                else None
            )
            if new and new != found[0]:
                before = re.sub(
                    r"\b([Aa])n? $",
                    lambda article, word=new: article[1] + ("n " if word[0] in "aeiou" else " "),
                    text[: found.start()],
                )
                return before + new + text[found.end() :]
        return None

    def labelled(self, text: str, label: str, options: Callable[[str, str], list[str]]) -> Edit:
        edited = self.exchange(text, options)
        return (edited, label) if edited else None

    def synonym(self, text: str) -> Edit:
        return self.labelled(text, "same", self.words.synonyms)

    def antonym(self, text: str) -> Edit:
        return self.labelled(text, "conflict", self.words.opposites)

    def more_general(self, text: str) -> Edit:
        words = self.words.more_general
        return self.labelled(text, "refines", lambda base, part: words(base) if part == "n" else [])

    def sister(self, text: str) -> Edit:
        words = self.words.sisters
        return self.labelled(
            text, "conflict", lambda base, part: words(base) if part == "n" else []
        )

    def negation(self, text: str) -> Edit:
        patterns = EDITS["negations"]
        if NEGATED.search(text):
            patterns = [(pattern, [plain]) for pattern, plain in EDITS["affirmations"]]
        for pattern, ways in patterns:
            edited = re.sub(pattern, self.one(ways), text, count=1)
            if edited != text:
                for form, contraction in CONTRACTIONS.items():
                    edited = edited.replace(form, contraction)
                return edited, "conflict"
        return None

    def other_negation(self, text: str) -> Edit:
        for pattern, other in EDITS["other_negations"]:
            if (edited := re.sub(pattern, other, text, count=1)) != text:
                return edited, "same"
        found = re.search(r"\b(is|are|was|were|stays?|remains?) ([a-z]+)\b", text)
        if not found or not (opposites := self.words.opposites(found[2], "a")):
            return None
        verb = found[1] if found[1] in ("is", "are", "was", "were") else "is"
        return f"{text[: found.start()]}{verb} not {opposites[0]}{text[found.end() :]}", "same"

    def conjunction(self, text: str) -> Edit:
        if not (found := JOINED.search(text)):
            return None
        a, word, b = found.groups()
        options = [(0.3, "refines", [a, b]), (0.1, "same", [f"{b} {word} {a}"])]
        if word == "and":
            without = [f"{a} but not {b}", f"{b} but not {a}", f"only {a}", f"only {b}"]
            without += [
                f"{a} without {b}",
                f"neither {a} nor {b}",
                f"either {a} or {b} but not both",
            ]
            both = [
                f"both {a} and {b}",
                f"{a} as well as {b}",
                f"{a} & {b}",
                f"{a} together with {b}",
            ]
            more = [f"{a}, {b} and {others}" for others in ("others", "more", "the rest")]
            options += [(0.15, "refines", [f"{a} or {b}"]), (0.15, "conflict", without)]
            options += [(0.15, "same", both), (0.15, "refines", more)]
        else:
            options += [(0.3, "refines", [f"{a} and {b}"])]
            options += [(0.15, "conflict", [f"neither {a} nor {b}"])]
            options += [(0.15, "same", [f"either {a} or {b}"])]
        ((_, label, forms),) = self.random.choices(options, [share for share, _, _ in options])
        return text[: found.start()] + self.one(forms) + text[found.end() :], label

    def omission(self, text: str) -> Edit:
        """Leave out an adjective or adverb, the last phrase, or an insertion."""
        spots = [f for f, base, part in self.exchangeable(text) if part in "ar" and base == f[0]]
        if spots and self.chance(0.45):
            found = self.one(spots)
            needed = r"(not|very|is|are|was|were|be|more|most|than|an?) $"
            before, after = text[: found.start()], text[found.end() + 1 :]
            if re.match(r" [a-z]", text[found.end() :]) and not re.search(needed, before):
                return before + after, "refines"
        for pattern, first in ((ADDED, 13), (INSERTED, 9)):
            phrase = pattern.search(text)
            if phrase and phrase.start() >= first:
                return text[: phrase.start()] + text[phrase.end() :], "refines"
        return None

    def number_in_text(self, text: str) -> Edit:
        """Write a number as a word or in digits, or replace it."""
        numerals = {number: word for word, number in NUMERALS.items()}
        if found := re.search(rf"(?i)\b({'|'.join(NUMERALS)})\b", text):
            number = NUMERALS[found[0].lower()]
            alike = str(number)
            other = self.one([other for other in numerals if other != number])
            others = [str(other), numerals[other]]
        elif found := re.search(r"(?<![\w.,:/#-])(\d{1,3})(?![\w.,:/%-])", text):
            number = int(found[0])
            alike = numerals.get(number, "")
            shift = self.one((-1, 1, 2, 5, 10, -5, number, 20))
            others = [str(max(0, number + shift))]
        else:
            return None
        same = bool(alike) and self.chance()
        edited = text[: found.start()] + (alike if same else self.one(others)) + text[found.end() :]
        return (edited, "same" if same else "conflict") if edited != text else None

    def quantifier(self, text: str) -> Edit:
        for rule in EDITS["quantifier"]:
            if not re.search(rule["pattern"], text) or self.chance(0.2):
                continue
            labels = ("same", "refines", "conflict")
            new, label = self.one([(new, label) for label in labels for new in rule.get(label, ())])
            edited = re.sub(rule["pattern"], new, text, count=1).replace("  ", " ")
            if edited != text:
                return (edited[:1].upper() if text[:1].isupper() else edited[:1]) + edited[
                    1:
                ], label
        return None

    def other_sentence(self, _text: str) -> Edit:
        return self.one(self.sentences), "different"

    def elaboration(self, text: str) -> Edit:
        return re.sub(r"\.?$", f", {self.one(EDITS['elaborations'])}.", text, count=1), "refines"

    def scene(self) -> Pair | None:
        """Return two sentences about people and things; None if they would say nothing new."""
        person = self.one(self.things["person"])
        who = self.one((*EDITS["people"], f"{article(person)} {person}", f"the {person}"))
        verb = "are" if who.startswith(("two", "three", "some")) else "is"
        template, kind = self.one(EDITS["scenes"])

        def told(thing: str) -> str:
            form = template.format(thing, be=verb, a=f"{article(thing)} {thing}")
            return f"{who} {form}"

        thing, other = self.one(self.things[kind]), self.one(self.things[kind])
        text, choice = told(thing), self.random.random()
        if choice < 0.45:
            general = (*self.words.more_general(thing), *self.words.more_general(other))
            alike = (*self.words.synonyms(thing, "n"), *general, thing)
            is_other = other not in alike and thing not in general
            return Pair(text, told(other), "conflict") if is_other else None
        if choice < 0.7:
            label = "refines" if choice < 0.6 else "same"
            synonyms = self.words.synonyms(thing, "n")
            words = self.words.more_general(thing) if label == "refines" else synonyms
            return Pair(text, told(self.one(words)), label) if words else None
        extended = text + self.one(EDITS["circumstances"])
        if choice < 0.85:
            return Pair(text, extended, "refines")
        if choice < 0.93:
            denied = re.sub(r"\b(is|are)\b", r"\1 not", text, count=1)
            return Pair(extended, denied, "conflict") if denied != text else None
        colour, colour2 = self.one(EDITS["colours"]), self.one(EDITS["other_colours"])
        one, two = (re.sub(r"\ba ", f"a {c} ", text, count=1) for c in (colour, colour2))
        return Pair(one, two, "conflict") if one != text else None

    def edited(self, name: str) -> Pair | None:
        if name == "scene":
            return self.scene()
        text = self.one(self.sentences)
        return Pair(text, *found) if (found := getattr(self, name)(text)) else None

    def pairs(self, count: int) -> Iterator[tuple[str, Pair]]:
        """Yield ``count`` different pairs with the names of their edits; sides in random order."""
        seen = set[Pair]()
        while len(seen) < count:
            (name,) = self.random.choices(list(WEIGHTS), list(WEIGHTS.values()))
            found = self.edited(name)
            if found is None:
                continue
            one, other, label = found
            if label != "different" and self.chance(0.25):
                other = self.exchange(other, self.words.synonyms) or other
            if self.chance(0.12):
                other = other[:1].lower() + other[1:]
            if self.chance(0.1):
                other = other.rstrip(".")
            pair = Pair(other, one, label) if self.chance() else Pair(one, other, label)
            if one.lower() != other.lower() and pair not in seen and len(one) < 220:
                seen.add(pair)
                yield name, pair


def article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


def read_sentences(path: Path) -> list[str]:
    found = set[str]()
    for row in read_rows(path):
        for text in (row.a, row.b):
            if row.source == "handbook_edits":
                is_plain = text[:1].isalpha() and "](" not in text and "`" not in text
                is_used = is_plain and 5 <= len(text.split()) <= 26
            else:
                is_used = row.source in SOURCES and zlib.crc32(text.encode()) % 12 == 0
            if is_used:
                found.add(text)
    return sorted(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sentences", type=Path, required=True, help="labelled pairs with sources")
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"))
    parser.add_argument("--count", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sentences = read_sentences(options.sentences)
    editor = Editor(WordNet(options.wordnet), sentences, options.seed)
    print("a", "b", "label", "phenomenon", sep="\t")
    for name, (one, other, label) in editor.pairs(options.count):
        print(one.replace("\t", " "), other.replace("\t", " "), label, name, sep="\t")


if __name__ == "__main__":
    main()
