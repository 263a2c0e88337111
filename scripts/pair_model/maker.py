"""Random words, names, numbers and dates, and templates filled with them."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

HERE = Path(__file__).parent
WORDS: dict[str, list[str]] = tomllib.loads((HERE / "words.toml").read_text("utf-8"))
NUMERALS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve"),
)
NUMBERS = {"number": (2, 99), "small": (1, 20), "large": (150, 400), "identifier": (1000, 9999)}
"""Slots of templates that are filled with numbers, and their ranges."""
SLOT = re.compile(r"\{([a-z_]+)(\d?)\}")

T = TypeVar("T")


class Pair(NamedTuple):
    one: str
    other: str
    label: str


class Date(NamedTuple):
    day: int
    month: int
    """0 to 11."""
    year: int | None


def read_templates() -> dict[str, list[list[str]]]:
    """Return the lines of templates.txt by section, each split at its bars."""
    sections: dict[str, list[list[str]]] = {}
    for line in (HERE / "templates.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            rows = sections[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            rows.append(line.split(" | "))
    return sections


class Maker:
    """A source of random words. All that is drawn follows from the seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one(self, options: Sequence[T]) -> T:
        return self.random.choice(options)

    def two(self, options: Sequence[T]) -> tuple[T, T]:
        """Return two different ones."""
        one, other = self.random.sample(list(dict.fromkeys(options)), 2)
        return one, other

    def chance(self, share: float = 0.5) -> bool:
        return self.random.random() < share

    def number(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def two_numbers(self, low: int, high: int) -> tuple[int, int]:
        one, other = self.random.sample(range(low, high + 1), 2)
        return one, other

    def word(self, name: str) -> str:
        return self.one(WORDS[name])

    def two_words(self, name: str) -> tuple[str, str]:
        return self.two(WORDS[name])

    def people(self, count: int = 2) -> list[str]:
        """Return first names that differ, or full names."""
        full = self.chance(0.3)
        names = self.random.sample(WORDS["first_name"], count)
        return [f"{name} {self.word('last_name')}" if full else name for name in names]

    def subject(self, kind: str) -> str:
        """Return a person, project, team or company that a text may name."""
        if kind == "person":
            return self.people(1)[0]
        return f"the {self.word('team')} team" if kind == "team" else self.word(kind)

    def date(self) -> Date:
        year = self.number(2016, 2029) if self.chance(0.3) else None
        return Date(self.number(1, 28), self.number(0, 11), year)

    def other_date(self, date: Date) -> Date:
        """Return another day of any month, with a year if ``date`` has one."""
        while (other := self.date())[:2] == date[:2]:
            pass
        return other._replace(year=date.year)

    def written(self, date: Date) -> str:
        day, month, year = date
        name = WORDS["month"][month]
        if year is None:
            forms = (f"{day} {name}", f"{name} {day}", f"{day} {name[:3]}", f"{name[:3]} {day}")
            return self.one((*forms, f"the {ordinal(day)} of {name}"))
        forms = (f"{day} {name} {year}", f"{name} {day}, {year}", f"{day} {name[:3]} {year}")
        return self.one((*forms, f"{year}-{month + 1:02}-{day:02}", f"{day}.{month + 1}.{year}"))

    def hours(self) -> tuple[str, str]:
        """Return two times of day, written alike."""
        one, other = self.two_numbers(7, 19)
        minutes = self.one(("00", "15", "30", "45"))
        if self.chance(0.4):
            return twelve_hours(one), twelve_hours(other)
        return f"{one}:{minutes}", f"{other}:{minutes}"

    def sums(self) -> tuple[str, str]:
        one, other = self.two_numbers(3, 95)
        units = ("k EUR", "k euros", ",000 dollars", "k", ",000 CHF", "k GBP", "M", "M USD")
        unit = self.one((*units, " million euros"))
        return f"{one}{unit}", f"{other}{unit}"

    def counts(self) -> tuple[str, str]:
        one, other = self.two_numbers(2, 12 if self.chance() else 400)
        if one <= 12 and other <= 12 and self.chance(0.4):
            return NUMERALS[one], NUMERALS[other]
        return str(one), str(other)

    def two_values(self, kind: str | list[str]) -> tuple[str, str]:
        """Return two different values of an attribute, see attributes.toml."""
        if isinstance(kind, list):
            return self.two(kind)
        if kind == "dates":
            date = self.date()
            return self.written(date), self.written(self.other_date(date))
        if kind == "years":
            one, other = self.two_numbers(1985, 2027)
            return str(one), str(other)
        if kind == "people":
            one_name, other_name = self.people()
            return one_name, other_name
        special = {"hours": self.hours, "sums": self.sums, "counts": self.counts}
        return special[kind]() if kind in special else self.two_words(kind)

    def fill(self, *texts: str) -> list[str]:
        """Choose in each text for itself, and fill the slots of all alike."""
        chosen = [
            re.sub(r"\(([^()]*/[^()]*)\)", lambda choice: self.one(choice[1].split("/")), text)
            for text in texts
        ]
        names = dict.fromkeys(slot[1] for text in chosen for slot in SLOT.finditer(text))
        values = {name: self._fillers(name) for name in names}

        def value(slot: re.Match[str]) -> str:
            found = values[slot[1]][int(slot[2] or 1) - 1]
            before, after = slot.string[: slot.start()], slot.string[slot.end() :]
            is_address = re.search(r"[@#.]$", before) or re.match(r"[.@][\w{]|\d", after)
            return found.lower().replace(" ", "") if is_address else found

        return [SLOT.sub(value, text) for text in chosen]

    def _fillers(self, name: str) -> list[str]:
        """Return three different values for the slots of a name."""
        if name == "person":
            return self.people(3)
        if name == "date":
            return [self.written(self.date()) for _ in range(3)]
        if name in NUMBERS:
            low, high = NUMBERS[name]
            return [str(number) for number in self.random.sample(range(low, high + 1), 3)]
        words = WORDS["drink"] + WORDS["food"] if name == "taste" else WORDS[name]
        return self.random.sample(words, 3)

    def vary(self, text: str) -> str:
        """Vary what carries no meaning: the first letter and the full stop."""
        if self.chance(0.4):
            text = text[:1].upper() + text[1:]
        return text + "." if self.chance(0.25) else text


def ordinal(number: int) -> str:
    if 10 <= number % 100 <= 20:
        return f"{number}th"
    return f"{number}" + {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def twelve_hours(hour: int) -> str:
    return f"{(hour - 1) % 12 + 1}{'am' if hour < 12 else 'pm'}"
