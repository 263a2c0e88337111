"""Words that rule each other out: states, directions, amounts. A table of data."""

from __future__ import annotations

from collections.abc import Mapping

_PAIRS = """
done / blocked, open, pending, todo, unfinished, undone, waiting, outstanding
finished, complete, completed / unfinished, incomplete, pending, blocked, started, ongoing
approved, approves, approve, accepted, accepts, accept, agreed, agrees / rejected, rejects,
reject, declined, declines, decline, refused, refuses, denied, denies, vetoed
confirmed, confirms / cancelled, canceled, cancels, denied, denies, unconfirmed, tentative
active / inactive, archived, dormant, retired
enabled, enables, enable / disabled, disables, disable
open, opened, opens, opening / closed, closes, close, closing, shut
started, starts, start, begins, began, begin, launched, launches / stopped, stops, stop,
ended, ends, cancelled, canceled, paused
resumed, resumes / paused, pauses, stopped, stops, suspended
passed, passes, passing, pass / failed, fails, failing, fail
succeeded, succeeds, successful, success / failed, fails, unsuccessful, failure
won, wins, win, winning / lost, loses, lose, losing
joined, joins, join, hired / left, leaves, leave, quit, quits, fired
joined, joins, join / leaving
added, adds, add / removed, removes, remove, deleted, deletes, dropped
created, creates, create / deleted, deletes, delete, destroyed
allowed, allows, allow, permitted / forbidden, forbids, banned, bans, prohibited, disallowed
likes, like, loves, love, prefers, prefer, enjoys / dislikes, dislike, hates, hate, avoids,
avoid
supports, support, supported, backs / opposes, oppose, opposed
merged / reverted, unmerged
deployed, released, shipped / reverted, unreleased
green / red
on-track, on-time / off-track, delayed, late
in-progress, ongoing / on-hold, paused, blocked, done, finished, completed, stopped
backend, back-end / frontend, front-end
early / late
before / after
higher, high, highest / lower, low, lowest
increase, increased, increases, increasing, rise, rises, rising, rose, up, gain, gains,
gained, grew, grows, climbs, jumps / decrease, decreased, decreases, decreasing, fall, falls,
falling, fell, down, drop, drops, dropped, shrank, declines, declined, slips
more, most / less, fewer, least
maximum, max / minimum, min
above, over / below, under
long, longer / short, shorter
fast, faster, quick / slow, slower
big, bigger, large, larger / small, smaller, little, tiny
good, better, best / bad, worse, worst
strong, stronger / weak, weaker
rich / poor
hot / cold
easy, easier / hard, harder, difficult
safe / unsafe, dangerous
public / private
internal / external
manual, manually / automatic, automatically, automated
remote, remotely / onsite, on-site, in-office
sync, synchronous / async, asynchronous
online / offline
online / in-person
full-time / part-time
permanent / temporary, interim
senior / junior
buy, buys, bought / sell, sells, sold
import, imports / export, exports
north, northern / south, southern
east, eastern / west, western
left / right
front / behind, back
top / bottom
first / last
inside / outside
indoor, indoors / outdoor, outdoors
into / out
onto / off
on / off
near, close / far
with / without
all, always, everyone, everybody / none, never, nobody
always / sometimes, rarely
true / false
yes / no
positive / negative
alive / dead
guilty / innocent
same / different
present / absent
empty / full
day / night
morning / evening, afternoon
man, men, male / woman, women, female
boy, boys / girl, girls
father, dad / mother, mom
brother / sister
son / daughter
husband / wife
"""


def _table() -> Mapping[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in filter(None, _PAIRS.replace(",\n", ", ").splitlines()):
        one, other = ([word.strip() for word in side.split(",")] for side in line.split("/"))
        for word in one:
            table.setdefault(word, set()).update(other)
        for word in other:
            table.setdefault(word, set()).update(one)
    return {word: frozenset(others) for word, others in table.items()}


OPPOSITES: Mapping[str, frozenset[str]] = _table()
"""Folded word -> the words that say the contrary."""
