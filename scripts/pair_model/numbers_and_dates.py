"""Pairs about numbers, units, sums of money, dates and times."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scripts.pair_model.maker import NUMERALS, WORDS, Date, Maker, Pair, twelve_hours

UNITS = (
    *(("{0} years", 12, "months"), ("{0} weeks", 7, "days"), ("{0} hours", 60, "minutes")),
    *(("{0} km", 1000, "metres"), ("{0} days", 24, "hours"), ("{0} GB", 1000, "MB")),
)
EQUAL_AMOUNTS = (
    *(("half a year", "6 months"), ("a quarter of an hour", "15 minutes"), ("a dozen", "12")),
    *(("1.5 kg", "1500 grams"), ("2.5 hours", "two and a half hours")),
)
LENGTHS = (
    *("the warranty is {}", "it takes {}", "the course lasts {}", "limit: {}", "we waited {}"),
    *("length: {}", "the upload is capped at {}", "the gap is {}"),
)
LIMITS = (
    *("the warranty is {}", "it takes {}", "logs are deleted after {}", "timeout: {}"),
    *("the course lasts {}", "retention is {}", "limit: {}"),
)
SHARES = (
    *("conversion is {}", "{} of the budget is spent", "uptime {}", "discount: {}", "{} done"),
    *("churn was {}", "works at {} capacity", "share of {}", "{} of users agree"),
)
PRICES = (
    *("the licence costs {}", "price: {}", "rent is {}", "salary {}", "we paid {}", "fee of {}"),
    *("grant: {}", "the quote was {}", "turnover: {}"),
)
SERIES = (
    *("turnover in {} was {}", "{}: {} visitors", "{} attendance {}", "the {} survey scored {}"),
    *("profit {}: {}", "we hired {1} people in {0}", "NPS in {} was {}", "{} target: {}"),
)
MOVED = (
    *("{} postponed to {}", "{} moved to {}", "{} brought forward to {}", "{} is now on {}"),
    *("new date of the {}: {}", "{} rescheduled for {}", "the {} got pushed to {}"),
)
CANCELLED = (
    *("{} cancelled", "the {} will not take place", "{} was called off", "there will be no {}"),
    *("{} has been dropped", "we do without the {}", "{} is off"),
)
DATED = (
    *("{} on {}", "{}: {}", "{} is on {}", "{} planned for {}", "the {} takes place on {}"),
    "{} date: {}",
)
YEARS = (
    *("founded in {}", "joined {}", "the contract runs until {}", "graduated in {}"),
    *("married since {}", "certified in {}", "the building dates from {}"),
)
UNTIL = (
    *("on leave until {}", "on sabbatical till {}", "in {1} until {0}", "free until {}"),
    "the offer is valid until {}",
)
WEEKLY = (
    "{} every {}",
    "{}: {}s",
    "{} takes place on {}s",
    "the {} is on {}",
    "{} each {} morning",
)
STARTS = ("{} at {}", "the {} starts at {}", "{}: {}", "{} begins {}")
YEARLY = (
    *("summer party", "offsite", "user conference", "company retreat", "general meeting"),
    *("careers fair", "open day"),
)


def count_of(make: Maker) -> str:
    """Return a template with one slot for a number and what is counted."""
    forms = (
        *("has {}", "manages {}", "counts {}", "is looking for {}", "lost {}", "needs {}"),
        *("{} in total", "number of those with us: {}"),
    )
    team = f"the {make.word('team')} team"
    who = make.one(("", make.word("company"), team, make.word("first_name")))
    return f"{who} {make.one(forms[:6])}" if who else make.one(forms)


def other_count(make: Maker) -> Pair:
    (one, other), thing, text = make.two_numbers(2, 90), make.word("counted"), count_of(make)
    return Pair(text.format(f"{one} {thing}"), text.format(f"{other} {thing}"), "conflict")


def numeral(make: Maker) -> Pair:
    (one, other), thing, text = make.two_numbers(2, 12), make.word("counted"), count_of(make)
    if make.chance():
        return Pair(text.format(f"{one} {thing}"), text.format(f"{NUMERALS[one]} {thing}"), "same")
    second = make.one((NUMERALS[other], str(other)))
    return Pair(
        text.format(f"{NUMERALS[one]} {thing}"), text.format(f"{second} {thing}"), "conflict"
    )


def other_counted(make: Maker) -> Pair:
    numbers, (thing, thing2) = make.two_numbers(2, 90), make.two_words("counted")
    text, second = count_of(make), make.one(numbers)
    return Pair(
        text.format(f"{numbers[0]} {thing}"), text.format(f"{second} {thing2}"), "different"
    )


def rounded(make: Maker) -> Pair:
    exact = 10 * make.number(2, 90) + make.number(1, 9)
    near, thing, text = round(exact, -1), make.word("counted"), count_of(make)
    side = "nearly" if near > exact else "over"
    about = make.one(("about", "around", "roughly", "some", "approximately", side))
    return Pair(text.format(f"{about} {near} {thing}"), text.format(f"{exact} {thing}"), "refines")


def in_range(make: Maker) -> Pair:
    low, thing, text = make.number(2, 90), make.word("counted"), count_of(make)
    wide = text.format(f"{low} to {low + 5} {thing}")
    return Pair(wide, text.format(f"{low + 2} {thing}"), "refines")


def other_unit(make: Maker) -> Pair:
    """The same amount in another unit."""
    number, text = make.number(1, 9), make.one(LENGTHS)
    large, factor, small = make.one(UNITS)
    one, other = large.format(number), f"{factor * number:,} {small}"
    if make.chance(0.4):
        one, other = make.one(EQUAL_AMOUNTS)
    return Pair(text.format(one), text.format(other), "same")


def another_unit(make: Maker) -> Pair:
    """The same number of another unit."""
    times = ("seconds", "minutes", "hours", "days", "weeks", "months", "years")
    one, other = make.two(times if make.chance(0.7) else ("MB", "GB", "TB", "KB"))
    number, text = make.number(2, 90), make.one(LIMITS)
    return Pair(text.format(f"{number} {one}"), text.format(f"{number} {other}"), "conflict")


def per_period(make: Maker) -> Pair:
    one, other = make.two(("day", "week", "month", "year", "quarter"))
    what = f"{make.number(2, 90)} {make.word('counted')} per"
    return Pair(f"{what} {one}", f"{what} {other}", "conflict")


def percentage(make: Maker) -> Pair:
    text, (one, other) = make.one(SHARES), make.two_numbers(1, 99)
    if make.chance(0.3):
        alike = make.one((f"{one} percent", f"{one} %", f"{one} per cent"))
        return Pair(text.format(f"{one}%"), text.format(alike), "same")
    second = make.one((f"{other}%", f"{other} percent"))
    return Pair(text.format(f"{one}%"), text.format(second), "conflict")


def money(make: Maker) -> Pair:
    amount, text = make.number(2, 95), make.one(PRICES)
    euros = ("{}k EUR", "€{},000", "{} 000 EUR", "{},000 euros", "EUR {}k", "{} thousand euros")
    dollars = ("${}k", "{},000 dollars", "USD {},000", "{}k USD", "$ {},000")
    one, other = make.two(euros if make.chance() else dollars)
    if make.chance():
        return Pair(text.format(one.format(amount)), text.format(other.format(amount)), "same")
    second = make.one((amount + 1, amount + 10, amount * 2))
    return Pair(text.format(one.format(amount)), text.format(other.format(second)), "conflict")


def milestones(make: Maker) -> tuple[str, str]:
    project = make.one((*WORDS["project"], "", ""))
    one, other = make.two_words("milestone")
    return f"{project} {one}".strip(), f"{project} {other}".strip()


def other_day(make: Maker) -> Pair:
    name, date = milestones(make)[0], make.date()
    other = date._replace(day=date.day % 28 + 1) if make.chance() else make.other_date(date)
    one, two = (make.one(DATED).format(name, make.written(day)) for day in (date, other))
    return Pair(one, two, "conflict")


def date_format(make: Maker) -> Pair:
    name, date = milestones(make)[0], make.date()
    one, other = (make.one(DATED).format(name, make.written(date)) for _ in range(2))
    return Pair(one, other, "same") if one != other else date_format(make)


def other_month(make: Maker) -> Pair:
    name, (one, other) = milestones(make)[0], make.two_words("month")
    second = f"{name} in {other}"
    if WORDS["month"].index(other) > WORDS["month"].index(one):
        later = (f"{name} not before {other}", f"the {name} will be in {other}")
        second = make.one((second, *later))
    return Pair(f"{name} in {one}", second, "conflict")


def exact_date(make: Maker) -> Pair:
    name, date = milestones(make)[0], make.date()
    month = WORDS["month"][date.month]
    rough = month if date.year is None else make.one((f"{date.year}", f"{month} {date.year}"))
    return Pair(f"{name} in {rough}", f"{name} on {make.written(date)}", "refines")


def other_milestone(make: Maker) -> Pair:
    (name, name2), date, text = milestones(make), make.date(), make.one(DATED)
    second: Date = make.one((date, make.other_date(date)))
    one, other = text.format(name, make.written(date)), text.format(name2, make.written(second))
    return Pair(one, other, "different")


def series(make: Maker) -> Pair:
    """A figure of one period, and of another."""
    year, text, (one, other) = make.number(2012, 2027), make.one(SERIES), make.two_numbers(11, 99)
    quarters, halves = ("Q1", "Q2", "Q3", "Q4"), (f"H1 {year}", f"H2 {year}")
    years = (f"{year}", f"{year + 1}")
    periods = make.one((years, make.two(quarters), halves, make.two_words("month")))
    if make.chance(0.3):
        return Pair(text.format(periods[0], one), text.format(periods[0], other), "conflict")
    return Pair(text.format(periods[0], one), text.format(periods[1], other), "different")


def moved_date(make: Maker) -> Pair:
    name, date, text = milestones(make)[0], make.date(), make.one(MOVED)
    label = "conflict" if make.chance(0.75) else "same"
    new = make.other_date(date) if label == "conflict" else date
    one, other = make.one(DATED).format(name, make.written(date)), make.written(new)
    return Pair(one, text.format(name, other), label)


def cancelled(make: Maker) -> Pair:
    name, date = milestones(make)[0], make.date()
    what = name if make.chance(0.75) else f"{name} on {make.written(date)}"
    one = make.one(DATED).format(name, make.written(date))
    return Pair(one, make.one(CANCELLED).format(what), "conflict")


def weekday(make: Maker) -> Pair:
    (meeting, meeting2), (day, day2) = make.two_words("event"), make.two_words("day")
    text, choice = make.one(WEEKLY), make.random.random()
    if choice < 0.5:
        return Pair(text.format(meeting, day), text.format(meeting, day2), "conflict")
    if choice < 0.75:
        second = text.format(meeting2, make.one((day, day2)))
        return Pair(text.format(meeting, day), second, "different")
    return Pair(text.format(meeting, day), f"{meeting} moved to {day2}s", "conflict")


def hour(make: Maker) -> Pair:
    meeting, text, (one, other) = make.word("event"), make.one(STARTS), make.two_numbers(8, 18)
    first = text.format(meeting, twelve_hours(one))
    if make.chance(0.4):
        half = "a.m." if one < 12 else "p.m."
        o_clock = f"{one} o'clock" if one < 12 else f"{one}:00 h"
        forms = (f"{one}:00", f"{one:02}:00", o_clock, f"{(one - 1) % 12 + 1} {half}")
        return Pair(first, text.format(meeting, make.one(forms)), "same")
    second = make.one((twelve_hours(other), f"{other}:00"))
    return Pair(first, text.format(meeting, second), "conflict")


def other_year(make: Maker) -> Pair:
    text, (one, other) = make.one(YEARS), make.two_numbers(1995, 2028)
    return Pair(text.format(one), text.format(other), "conflict")


def other_quarter(make: Maker) -> Pair:
    name = milestones(make)[0]
    one, other = make.two(make.one((("Q1", "Q2", "Q3", "Q4"), ("H1", "H2"))))
    second = make.one(("planned for", "slipped to", "in"))
    return Pair(f"{name} planned for {one}", f"{name} {second} {other}", "conflict")


def former_home(make: Maker) -> Pair:
    year, (one, other) = make.number(2008, 2020), make.two_words("town")
    later = f"lived in {other} from {year + 4} to {year + 6}"
    now = (f"now lives in {other}", f"has a house in {other} today")
    return Pair(f"lived in {one} from {year} to {year + 3}", make.one((later, *now)), "different")


def until(make: Maker) -> Pair:
    text, town, (one, other) = make.one(UNTIL), make.word("town"), make.two_words("month")
    return Pair(text.format(one, town), text.format(other, town), "conflict")


def yearly(make: Maker) -> Pair:
    what, years, towns = make.one(YEARLY), make.two_numbers(2015, 2028), make.two_words("town")
    if make.chance():
        one, other = (f"the {y} {what} was in {t}" for y, t in zip(years, towns, strict=True))
        return Pair(one, other, "different")
    one, other = (f"the {years[0]} {what} is in {town}" for town in towns)
    return Pair(one, other, "conflict")


Phenomenon = Callable[[Maker], Pair]


def one_of(*functions: Phenomenon) -> Phenomenon:
    return lambda make: make.one(functions)(make)


QUANTITIES: Sequence[Phenomenon] = (
    *(other_count, other_count, numeral, other_counted, other_counted, rounded, in_range),
    *(other_unit, another_unit, per_period, percentage, money, money),
)
DATES: Sequence[Phenomenon] = (
    *(other_day, other_day, date_format, other_month, exact_date, other_milestone, series),
    *(moved_date, cancelled, weekday, hour, other_year, other_quarter, former_home, until, yearly),
)
