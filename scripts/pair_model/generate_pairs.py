"""Generate labelled pairs of short facts: same, refines, conflict, different.

    python -m scripts.pair_model.generate_pairs --count 60000 --seed 1 > generated.tsv

Policy of the labels: both texts are about the subject of one page unless they name another, and
are true now unless they are dated. Attributes with one value at a time (manager, employer, home)
conflict when the value differs; those with many (languages, tools, customers) do not.

attributes.toml, templates.txt and words.toml are the material. Each function of `PHENOMENA` makes
pairs of one phenomenon. Templates share no wording with the labelled pairs that the model is
measured on, as far as plain English allows.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from scripts.pair_model.maker import HERE, WORDS, Maker, Pair, read_templates
from scripts.pair_model.numbers_and_dates import DATES, QUANTITIES, one_of


@dataclass(frozen=True)
class Attribute:
    """What can be said of a subject; attributes.toml explains the fields."""

    of: str
    values: str | list[str]
    single: bool
    phrasings: list[str]
    alike: bool = False
    before: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    planned: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


ATTRIBUTES = [
    Attribute(**fields)
    for fields in tomllib.loads((HERE / "attributes.toml").read_text("utf-8"))["attribute"]
]
TEMPLATES = read_templates()

FILLERS = (
    *("{} now", "currently, {}", "{} at the moment", "as of today, {}", "note: {}", "fyi {}"),
    *("{}, as mentioned", "{} (confirmed)", "update: {}", "it turns out that {}", "- {}"),
    *("{}, apparently", "reminder: {}", "by the way, {}", "for the record: {}"),
)
"""Words around a fact that change nothing."""
PRONOUNS = {
    "person": ("she", "he", "they"),
    "project": ("it", "the project"),
    "team": ("the team", "they"),
    "company": ("the company", "it"),
}
LISTS = {
    "language": ("speaks {}", "knows {}", "languages: {}"),
    "tool": ("uses {}", "stack: {}", "knows {}", "works with {}"),
    "first_name": (
        *("members: {}", "attendees: {}", "invited {}", "{} were there", "met {}", "owners: {}"),
        "co-leads: {}",
    ),
    "company": ("customers: {}", "partners: {}", "signed {}", "works with {}"),
    "hobby": ("likes {}", "hobbies: {}"),
    "town": ("offices in {}", "visited {}", "sites: {}"),
    "allergy": ("allergic to {}",),
}
ACTIONS = (
    *(("send", "sent"), ("review", "reviewed"), ("write", "written"), ("finish", "finished")),
    *(("update", "updated"), ("publish", "published"), ("check", "checked"), ("fix", "fixed")),
    *(("order", "ordered"), ("cancel", "cancelled"), ("approve", "approved"), ("sign", "signed")),
    *(("prepare", "prepared"), ("present", "presented"), ("test", "tested"), ("share", "shared")),
    *(("translate", "translated"), ("archive", "archived"), ("close", "closed")),
    *(("draft", "drafted"), ("collect", "collected"), ("discuss", "discussed")),
    *(("renew", "renewed"), ("pay for", "paid for")),
)
VERBS = re.compile(
    r"(attended|belongs|bought|can|cannot|changed|closed|comes|depends|does|drives|eats|enjoys|flies"
    r"|gave|goes|got|graduated|grew|had|has|hopes|integrates|is|joined|knows|left|likes|lives"
    r"|maintains|may|meets|mentors|met|moved|no longer|opened|owns|paid|plans|plays|quit|reads"
    r"|reports|resides|resigned|serves|settled|ships|sold|speaks|spends|started|stopped|studied"
    r"|studies|supports|takes|took|used|uses|wants|was|went|will|works|would|writes)\b"
)
"""A text that starts so becomes a sentence with a subject before it."""


def said(
    make: Maker, phrasing: str, who: str, value: str, new: str = "", *, named: float = 0.0
) -> str:
    """Fill a phrasing; ``named`` is how often the subject is put before one that lacks it."""
    text = phrasing.format(s=who, v=value, w=new)
    bare = not re.match(r"\{|the |our |a ", phrasing) and "{s}" not in phrasing
    if bare and ":" not in phrasing and VERBS.match(text) and make.chance(named):
        return f"{who} {text}"
    return text


def choose(make: Maker, suits: Callable[[Attribute], object]) -> tuple[Attribute, str, str, str]:
    """Return an attribute that ``suits``, a subject for it and two values."""
    attribute = make.one([attribute for attribute in ATTRIBUTES if suits(attribute)])
    return attribute, make.subject(attribute.of), *make.two_values(attribute.values)


def other_phrasing(make: Maker) -> Pair:
    attribute, who, value, _ = choose(make, lambda attribute: attribute.alike)
    one, other = (
        said(make, make.one(attribute.phrasings), who, value, named=0.3) for _ in range(2)
    )
    return Pair(one, other if other != one else make.one(FILLERS).format(other), "same")


def filler(make: Maker) -> Pair:
    attribute, who, value, _ = choose(make, lambda attribute: True)
    text = said(make, make.one(attribute.phrasings), who, value, named=0.5)
    other = make.one(FILLERS).format(text)
    if make.chance(0.3) and re.match(r"(is|has|lives|works|reports|likes|speaks|uses) ", text):
        other = f"{make.one(PRONOUNS[attribute.of])} {text}".replace("they is", "they are")
        other += make.one(("", " now", " these days", " currently"))
    return Pair(text, other, "same")


def other_value(make: Maker) -> Pair:
    attribute, who, value, other = choose(make, lambda attribute: attribute.single)
    phrasing = make.one(attribute.phrasings)
    second = make.one(attribute.phrasings) if attribute.alike and make.chance() else phrasing
    text = said(make, second, who, other, named=0.2)
    if make.chance(0.2):
        text = make.one(FILLERS).format(text)
    return Pair(said(make, phrasing, who, value, named=0.2), text, "conflict")


def many_values(make: Maker) -> Pair:
    attribute, who, value, other = choose(make, lambda attribute: not attribute.single)
    phrasing = make.one(attribute.phrasings)
    second = phrasing if make.chance(0.6) else make.one(attribute.phrasings)
    one = said(make, phrasing, who, value, named=0.2)
    return Pair(one, said(make, second, who, other, named=0.2), "different")


def ended(make: Maker) -> Pair:
    """The value holds no longer: contradicts that it holds, and not that another one does."""
    attribute, who, value, other = choose(make, lambda attribute: attribute.ended)
    end, now = make.one(attribute.ended), make.one(attribute.phrasings)
    if make.chance(0.65):
        one = said(make, now, who, value, named=0.3)
        return Pair(one, said(make, end, who, value, named=0.3), "conflict")
    return Pair(said(make, now, who, other), said(make, end, who, value), "different")


def former_value(make: Maker) -> Pair:
    attribute, who, value, other = choose(make, lambda attribute: attribute.before)
    now = said(make, make.one(attribute.phrasings), who, value, named=0.2)
    return Pair(now, said(make, make.one(attribute.before), who, other, named=0.2), "different")


def planned_value(make: Maker) -> Pair:
    attribute, who, value, other = choose(make, lambda attribute: attribute.planned)
    now = said(make, make.one(attribute.phrasings), who, value)
    return Pair(now, said(make, make.one(attribute.planned), who, other), "different")


def changed_value(make: Maker) -> Pair:
    """A change contradicts the old value, and says the new one and more."""
    attribute, who, value, new = choose(make, lambda attribute: attribute.changed)
    change = said(make, make.one(attribute.changed), who, value, new)
    now = make.one(attribute.phrasings)
    if make.chance(0.6):
        return Pair(said(make, now, who, value, named=0.2), change, "conflict")
    return Pair(said(make, now, who, new, named=0.2), change, "refines")


def other_subject(make: Maker) -> Pair:
    attribute, who, value, other = choose(
        make, lambda attribute: any("{s}" in phrasing for phrasing in attribute.phrasings)
    )
    whom = make.subject(attribute.of)
    while whom == who or whom.split()[0] == who.split()[0] != "the":
        whom = make.subject(attribute.of)
    phrasing = make.one([phrasing for phrasing in attribute.phrasings if "{s}" in phrasing])
    second = value if make.chance() else other
    return Pair(said(make, phrasing, who, value), said(make, phrasing, whom, second), "different")


def two_attributes(make: Maker) -> tuple[Attribute, Attribute, str]:
    """Return two attributes of one kind of subject, and a subject."""
    kind = make.one(list(PRONOUNS))
    one, other = make.random.sample([a for a in ATTRIBUTES if a.of == kind], 2)
    return one, other, make.subject(kind)


def other_attribute(make: Maker) -> Pair:
    one, other, who = two_attributes(make)
    alike = one.phrasings[0].split(" ")[0] == other.phrasings[0].split(" ")[0]
    if one.values == other.values and alike:
        return other_subject(make)
    a, b = (
        said(make, make.one(it.phrasings), who, make.two_values(it.values)[0], named=0.3)
        for it in (one, other)
    )
    return Pair(a, b, "different")


def unrelated(make: Maker) -> Pair:
    one, other = make.random.sample(ATTRIBUTES, 2)
    if one.of == other.of:
        return other_attribute(make)
    a, b = (
        said(make, make.one(it.phrasings), make.subject(it.of), make.two_values(it.values)[0])
        for it in (one, other)
    )
    return Pair(a, b, "different")


def more_said(make: Maker) -> Pair:
    """The same, and a detail, reason, condition, place or date on top."""
    attribute, who, value, _ = choose(make, lambda attribute: True)
    sentences = [phrasing for phrasing in attribute.phrasings if ":" not in phrasing]
    text = said(make, make.one(sentences or attribute.phrasings), who, value, named=0.4)
    year, name, detail = make.number(2012, 2026), make.word("first_name"), make.word("detail")
    words = [make.word(kind) for kind in ("reason", "detail", "condition", "place")]
    since = (f"since {year}", f"since {make.word('month')} {year}")
    more = (f"and {detail}", f"({detail})", f"with {name}", f", says {name}")
    return Pair(text, f"{text} {make.one((*words, *since, *more))}".replace(" ,", ","), "refines")


def two_said(make: Maker) -> Pair:
    one, other, who = two_attributes(make)
    a, b = (
        said(make, make.one(it.phrasings), who, make.two_values(it.values)[0])
        for it in (one, other)
    )
    joined = a + make.one(("; ", ", ", " and ", ". ", " - ")) + b
    return Pair(b if make.chance(0.4) else a, joined, "refines")


def listed(make: Maker) -> Pair:
    kind = make.one(list(LISTS))
    text = make.one(LISTS[kind])
    items = make.random.sample(WORDS[kind], make.number(2, 4))
    others = [item for item in make.random.sample(WORDS[kind], 6) if item not in items]
    more = others[: make.number(1, 2)]

    def written(values: list[str]) -> str:
        if len(values) > 1 and make.chance():
            return text.format(", ".join(values[:-1]) + " and " + values[-1])
        return text.format(", ".join(values))

    choice = make.one(("more", "more", "fewer", "order", "other"))
    if choice == "order":
        return Pair(written(items), written(items[::-1]), "same")
    if choice == "other":
        return Pair(written(items[:1]), written(more), "different")
    if choice == "fewer":
        return Pair(written(items), written(items[:1]), "refines")
    return Pair(written(items), written(items + more), "refines")


def directed(make: Maker) -> Pair:
    """Roles, directions, preferences: exchanging the sides contradicts the text."""
    kind, *forms = make.one(TEMPLATES["directed"])
    lists = {"person": ["first_name"], "preference": ["drink", "food", "tool", "preference"]}
    sides = [word for name in lists.get(kind, [kind]) for word in WORDS[name]]
    a, b = make.two(sides)
    one, other = make.one(forms), make.one(forms)
    lead = ""
    if is_taste := kind in ("preference", "priority"):
        lead = make.word("first_name") + " " if make.chance(0.4) else ""
    first, choice = lead + one.format(a=a, b=b), make.random.random()
    if choice < 0.55:
        second = one if make.chance(0.6) else other
        return Pair(first, lead + second.format(a=b, b=a), "conflict")
    if choice < 0.9:
        second = lead + other.format(a=a, b=b)
        return Pair(first, second, "same") if second != first else directed(make)
    third = make.one([side for side in sides if side not in (a, b)])
    swap = {"a": third, "b": b} if is_taste else {"a": a, "b": third}
    return Pair(first, lead + one.format(**swap), "different")


def symmetric(make: Maker) -> Pair:
    forms = make.one(TEMPLATES["symmetric"])
    a, b = make.two_words("first_name")
    return Pair(make.one(forms).format(a=a, b=b), make.one(forms).format(a=b, b=a), "same")


def opposed(make: Maker) -> Pair:
    template = make.one(TEMPLATES["opposed"])
    one, other = make.fill(*template)
    choice = make.random.random()
    if choice < 0.7:
        return Pair(one, other, "conflict")
    if choice < 0.85:
        another = make.fill(*template)[1]  # the opposite of something else
        has_subject = re.search(r"\{(person|thing|company|tool|town)\}", " ".join(template))
        is_different = "{" in template[0] and another != other and has_subject
        return Pair(one, another, "different") if is_different else Pair(one, other, "conflict")
    side = make.one((one, other))
    return Pair(side, make.one(FILLERS).format(side), "same")


def open_item(make: Maker) -> Pair:
    """An open item against the same one done, in other words, with a date, and another one."""
    (verb, done), (verb2, _) = make.two(ACTIONS)
    thing, thing2 = make.two_words("thing")
    p, q = make.people()
    tasks = (f"todo: {verb} {thing}", f"{verb} {thing}", f"open: {verb} {thing}")
    assigned = (f"{p} to {verb} {thing}", f"{p} still has to {verb} {thing}")
    planned = (f"{p} will {verb} {thing}", f"{p} needs to {verb} {thing}", f"[ ] {verb} {thing}")
    past = "wrote" if done == "written" else done
    finished = (
        *(f"done: {past} {thing}", f"{p} {past} {thing}", f"{thing} has been {done}"),
        *(f"[x] {verb} {thing}", f"{past} {thing} yesterday", f"{p} has {done} {thing}"),
    )
    choice = make.random.random()
    if choice < 0.35:
        return Pair(make.one((*tasks, *assigned, *planned)), make.one(finished), "conflict")
    if choice < 0.5:
        return Pair(*make.two(make.one((tasks, assigned))), "same")
    if choice < 0.6:
        date = f"{make.one(('by', 'before', 'until'))} {make.written(make.date())}"
        return Pair(tasks[0], f"{tasks[0]} {date}", "refines")
    who = make.one(("", f" to {p}", f" with {q}", f" for {p}"))
    others = (f"{verb} {thing2}", f"{verb2} {thing}", f"{verb2} {thing2}")
    return Pair(f"{verb} {thing}{who}", make.one(others) + who, "different")


def section(name: str, label: str) -> Callable[[Maker], Pair]:
    """Return a maker of pairs from a section of templates.txt that have one label."""

    def pair(make: Maker) -> Pair:
        one, other = make.fill(*make.one(TEMPLATES[name]))
        return Pair(one, other, label) if one != other else pair(make)

    pair.__name__ = name
    return pair


compatible = section("compatible", "different")
synonyms = section("synonyms", "same")


def narrower(make: Maker) -> Pair:
    one, other = make.fill(*make.one(TEMPLATES["narrower"]))
    lead = f"{make.word('first_name')} " if VERBS.match(one) and make.chance(0.4) else ""
    return Pair(lead + one, lead + other, "refines")


def labelled(make: Maker) -> Pair:
    label, *template = make.one(TEMPLATES["labelled"])
    one, other = make.fill(*template)
    if VERBS.match(one) and VERBS.match(other) and make.chance(0.4):
        used = f"{one} {other}"
        who = make.one([name for name in WORDS["first_name"] if name not in used])
        one, other = (f"{who} {text}" if make.chance(0.7) else text for text in (one, other))
    return Pair(one, other, label)


def full_name(make: Maker) -> Pair:
    first, (last, other) = make.word("first_name"), make.two_words("last_name")
    single = ("reports to {}", "married to {}", "owner: {}", "{} leads it", "contact: {}")
    several = ("mentor: {}", "met {} in May", "works with {}", "{} has the key", "hired {}")
    text = make.one((*single, *several))
    if make.chance():
        return Pair(text.format(first), text.format(f"{first} {last}"), "refines")
    label = "conflict" if text in single else "different"
    return Pair(text.format(f"{first} {last}"), text.format(f"{first} {other}"), label)


def typing_error(make: Maker) -> Pair:
    text = make.one((other_value, many_values, more_said, synonyms))(make).one
    words = text.split(" ")
    spots = [i for i, w in enumerate(words) if w.isalpha() and w.islower() and len(w) >= 4]
    if not spots:
        return typing_error(make)
    for spot in make.random.sample(spots, min(len(spots), make.number(1, 2))):
        word = words[spot]
        at = make.number(1, len(word) - 2)
        swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        dropped, doubled = word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:]
        words[spot] = make.one((swapped, dropped, doubled))
    return Pair(text, " ".join(words), "same")


def spelling(make: Maker) -> Pair:
    """Other capitals, marks of markdown, quotation marks."""
    text = make.one((other_value, many_values, more_said, synonyms, compatible))(make).one
    forms = (
        *(text.upper(), text.title(), text[:1].upper() + text[1:] + ".", text.lower()),
        *(f"- {text}", f"* {text}.", f"“{text}”", text + "!", text.replace(" ", "  ", 1)),
        *(text.replace(": ", " - "), re.sub(r": (.*)", r": **\1**", text)),
    )
    other = make.one(forms)
    return Pair(text, other, "same") if text != other else spelling(make)


def quantities(make: Maker) -> Pair:
    return one_of(*QUANTITIES)(make)


def dates(make: Maker) -> Pair:
    return one_of(*DATES)(make)


PHENOMENA: dict[Callable[[Maker], Pair], float] = {
    other_phrasing: 9,
    filler: 3,
    other_value: 11,
    many_values: 9,
    ended: 5,
    former_value: 5,
    planned_value: 3,
    changed_value: 5,
    other_subject: 4,
    other_attribute: 5,
    unrelated: 2,
    more_said: 7,
    two_said: 3,
    listed: 4,
    directed: 10,
    symmetric: 1.5,
    opposed: 9,
    open_item: 5,
    section("said", "different"): 3,
    quantities: 8,
    dates: 10,
    compatible: 9,
    narrower: 4,
    synonyms: 7,
    full_name: 2,
    typing_error: 2.5,
    spelling: 1.5,
    labelled: 28,
}
"""How often each is asked for a pair, as weights."""


def generate(count: int, seed: int) -> Iterator[tuple[str, Pair]]:
    """Yield ``count`` different pairs with their phenomenon; the sides are in random order."""
    make = Maker(seed)
    seen = set[Pair]()
    while len(seen) < count:
        (phenomenon,) = make.random.choices(list(PHENOMENA), list(PHENOMENA.values()))
        one, other, label = phenomenon(make)
        one, other = make.vary(one), make.vary(other)
        pair = Pair(other, one, label) if make.chance() else Pair(one, other, label)
        if one != other and pair not in seen:
            seen.add(pair)
            yield phenomenon.__name__, pair


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("a", "b", "label", "phenomenon", sep="\t")
    for phenomenon, pair in generate(options.count, options.seed):
        print(*pair, phenomenon, sep="\t")


if __name__ == "__main__":
    main()
