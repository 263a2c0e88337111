"""Who speaks where in a meeting: the turns of a transcript, or of minutes with `Name:` lines. Pure.

A turn begins at a line with a label, and lasts until the next label, heading or redacted line:

    **Dana Kim:** words    Dana: words    Dana (10:32): words    [10:32] Dana: words
    **Kim, Dana:** words    Dana (she/her): words    Dana | Acme: words

A page has speakers if it is a dialogue: two labels or more that are written as names, of which one
recurs or two are of attendees. Words such as `Note`, `Pros, Cons` and `Version 2` name nobody; they
end a turn, too, as does a comma in a label where most have none, unless it is in the name of an
attendee. Below `Actions`, `Dana: sends the plan` is a task.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import compress, islice
from typing import NamedTuple

from kbx_tui.knowledge.folding import fold, name_key

LONGEST_NAME = 6
"""Words of the longest name of a speaker."""
NOBODY = frozenset(
    {
        "absent", "action", "action item", "action items", "actions", "agenda", "agreed", "aim",
        "also", "answer", "apologies", "attendees", "attention", "background", "budget",
        "caution", "cc", "conclusion", "cons", "context", "cost", "date", "deadline", "decided",
        "decision", "decisions", "due", "error", "example", "file", "follow up", "follow ups",
        "from", "fyi", "goal", "goals", "hint", "important", "info", "issue", "issues",
        "keywords", "link", "links", "location", "minutes", "nb", "next", "next step",
        "next steps", "note", "notes", "open", "outcome", "owner", "participants", "place",
        "plan", "present", "price", "problem", "pros", "ps", "purpose", "question", "questions",
        "re", "reason", "regrets", "remember", "reminder", "result", "results", "risk", "risks",
        "room", "see", "solution", "speakers", "status", "subject", "summary", "tags", "task",
        "tasks", "time", "tip", "title", "to", "todo", "topic", "topics", "total", "type",
        "update", "version", "warning", "when", "where", "why",
    }
)  # fmt: skip
"""Words before a colon, folded, that are nobody."""
_NUMBERED = NOBODY | {
    "appendix", "case", "chapter", "day", "figure", "item", "level", "milestone", "month", "option",
    "part", "phase", "point", "quarter", "release", "scenario", "section", "slide", "sprint",
    "stage", "step", "table", "track", "variant", "week", "year",
}  # fmt: skip
"""Words, folded, that are nobody with a number after them."""
_NUMBER = re.compile(r"(?<=\w)[ #.]*\d[\d.]*\Z")
TASKS = frozenset(
    {"action", "actions", "action items", "follow ups", "next steps", "tasks", "to do", "todo"}
)
"""Headings, folded, below which a name is that of who has a task."""
UNKNOWN = re.compile(r"(?i)unknown\b.*|speaker(?:[ _-]?(?:\d+|[a-z]))?")
"""Names that programs give to unknown speakers."""

_CLOCK = r"\d{1,2}:\d\d(?::\d\d)?(?: ?[aApP][mM])?"
_WORDS = r"[^\W\d_](?:[\w .'’-]{0,58}[\w.])?"
_LABEL = re.compile(
    r"^(?=[^\n:：]*[:：])"  # spares the rest for most lines
    rf"[ \t]{{0,3}}(?:[-*+][ \t]+)?(?:[\[(]?{_CLOCK}[\])]?[ \t]+(?:-[ \t]+)?)?"
    rf"(?P<bold>\*\*|__)?(?P<name>{_WORDS}(?(bold)(?:, {_WORDS})?))"
    r"(?:[ \t]{1,3}(?:\([^()\n:]{1,40}\)|\|[^|*\n:]{1,40}))?"  # no part of a name
    rf"(?:\*\*|__)?(?:[ \t]{{1,3}}[\[(]{_CLOCK}[\])])?"
    r"(?:\*\*|__)?(?::(?:\*\*|__)?(?=\s|$)|：)",
    re.MULTILINE,
)
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*)", re.MULTILINE)
_REDACTED = re.compile(r"^[ \t]*- \[redacted\]", re.MULTILINE)
"""The place of a line that an agent may not see: it may have named a speaker."""
_FENCE = re.compile(r"^(?:```|~~~)", re.MULTILINE)


class Turn(NamedTuple):
    speaker: str
    """As written."""
    start: int
    """Offsets in the body, from the label on; the end is that of the last word."""
    end: int


def turns_of(body: str, attendees: Iterable[str]) -> list[Turn]:
    """Return the turns of a meeting in order, given the names of its attendees."""
    fences = [fence.start() for fence in _FENCE.finditer(body)]
    labels = [label for label in _LABEL.finditer(body) if not bisect(fences, label.start()) % 2]
    headings = list(_HEADING.finditer(body)) if labels else []
    begins = [heading.start() for heading in headings]

    def may_speak(label: re.Match[str], is_known: bool) -> bool:
        above = bisect(begins, label.start())
        is_task = above and _key(headings[above - 1][1].rstrip("#: \t")) in TASKS
        return not is_task and (is_known or is_written_as_name(label["name"]))

    attendees = list(attendees)
    known = {frozenset(name_key(attendee).split()) for attendee in attendees}
    commas = ["," in label["name"] for label in labels]
    knows = [
        comma and frozenset(name_key(label["name"]).split()) in known
        for label, comma in zip(labels, commas, strict=True)
    ]
    named = list(map(may_speak, labels, knows))
    if 2 * sum(compress(commas, named)) < sum(named):  # heads of lists among speakers
        named = [
            name and (is_known or not comma)
            for name, is_known, comma in zip(named, knows, commas, strict=True)
        ]
    counts = Counter(_key(label["name"]) for label in compress(labels, named))
    if len(counts) < 2 or (max(counts.values()) < 2 and not _are_two_of(counts, attendees)):
        return []
    places = [(begin, "") for begin in begins]
    places += [(gap.start(), "") for gap in _REDACTED.finditer(body)]
    for label, is_named, comma in zip(labels, named, commas, strict=True):
        if is_named or comma or _names_nobody(label["name"]):
            places.append((label.start(), label["name"].strip() if is_named else ""))
    places.sort()
    bounds = [*(start for start, _ in places[1:]), len(body)]
    return [
        Turn(speaker, start, start + len(body[start:end].rstrip()))
        for (start, speaker), end in zip(places, bounds, strict=True)
        if speaker
    ]


def _are_two_of(names: Iterable[str], attendees: Iterable[str]) -> bool:
    """Return whether two of some names are those of attendees, or parts of them."""
    parts: dict[str, set[int]] = defaultdict(set)
    for number, attendee in enumerate(attendees):
        for word in name_key(attendee).split():
            parts[word].add(number)
    known = (name_key(name).split() for name in names)
    found = (words for words in known if words and set.intersection(*(parts[w] for w in words)))
    return len(list(islice(found, 2))) == 2


def _key(name: str) -> str:
    return fold(name).replace("-", " ").strip()


def _names_nobody(name: str) -> bool:
    parts = [_key(part) for part in name.split(",")]
    numbered = (_NUMBER.sub("", part) for part in parts if part[-1:].isdigit())
    is_head = not NOBODY.isdisjoint(parts) or not _NUMBERED.isdisjoint(numbered)
    return is_head or UNKNOWN.fullmatch(name.strip()) is not None


def is_written_as_name(name: str) -> bool:
    return len(name.split()) <= LONGEST_NAME and is_capitalised(name) and not _names_nobody(name)


def is_capitalised(name: str) -> bool:
    words = name.split()
    return not (words[0][0].islower() or words[-1][0].islower())
