"""Which commands the app offers where it runs, with which keys, and why not the others. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Offer:
    """The commands of the command table, apart from those that are refused."""

    refused: Mapping[str, str] = field(default_factory=dict)
    """Why a command is refused, by its id: neither key bar nor palette nor help shows it."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Keys in place of those of the command table, by command id."""


EVERYTHING = Offer()
"""What the app offers in a terminal."""

NO_EDITOR = "a browser opens no editor: copy the path and edit the file where it is"
NO_FILES = "a browser reads no file of the server: paste the lines instead"
NO_OTHER_BASE = "this visit is for the knowledge bases given at its start"
CLOSE_THE_PAGE = "close the page to leave"

NOT_IN_A_BROWSER: Mapping[str, str] = {
    **dict.fromkeys(("edit", "claim.edit", "known.edit", "files.mend", "index.edit"), NO_EDITOR),
    "drafts.load": NO_FILES,
    **dict.fromkeys(("base.switch", "base.forget", "base.recall"), NO_OTHER_BASE),
    "app.suspend": "a browser has no shell to go back to",
    "app.leave": CLOSE_THE_PAGE,
}
"""Why a browser offers no command that acts on the machine where the app runs."""

READ_ONLY = "this visit is read-only: the owner allows changes with `kbx web --allow-writes`"

WRITES = (
    *("grade.0", "grade.1", "grade.2", "grade.3", "grade.unsure", "judge.blind"),
    *("settings.save", "save.write", "query.save", "recall.drop", "links.make"),
    *("blind.first", "blind.second", "blind.neither", "blind.later", "blind.undo"),
    *("draft_line.take", "drafts.rewrite", "drafts.apply", "drafts.scan", "drafts.kept"),
    *("review.undo", "draft.create", "draft.merge", "draft.supersede", "draft.skip"),
    *("draft.assign", "draft.kind", "draft.page", "draft.drop", "pair.same", "pair.different"),
    *("snapshot.take", "snapshot.drop", "files.mute"),
    *("index.refresh", "together.refresh", "index.run", "index.pause", "index.stop", "index.watch"),
)
"""Ids of the commands that change the knowledge base, its index or its other files.

The engine of a read-only base refuses each of these changes, too.
"""

BROWSER_KEYS: Mapping[str, str] = {
    "mode.explore": "5,f1",
    "mode.dedup": "6,f2",
    "mode.experts": "7,f3",
    "mode.tune": "8,f4",
    "mode.index": "9,f5",
    "mode.together": "4,f6",
    "app.palette": "f8,ctrl+p",
    "query.history": "alt+up,ctrl+up,ctrl+r",
    "history.open": "alt+up,ctrl+up,ctrl+r",
    "path.folders": "alt+down,ctrl+down,ctrl+t",
    "why_not.read": "alt+down,ctrl+down,ctrl+o",
}
"""Keys of commands whose own keys a browser keeps to itself, or a keyboard without F keys lacks.

Those of the command table come last: they work where the browser passes them on. Digits work
outside fields. Some terminals in a browser send alt+up as ctrl+up.
"""

KEPT_BY_BROWSERS = frozenset(
    [f"f{number}" for number in (1, 3, 5, 6, 7, 9, 10, 11, 12)]
    + [f"ctrl+{letter}" for letter in "defghjklnopqrstuw"]
    + ["ctrl+tab", "ctrl+pageup", "ctrl+pagedown", "alt+left", "alt+right", "alt+home"]
)
"""Keys with a meaning in some browser, which does not pass all of them on."""


def offer_in_browser(*, allow_writes: bool, has_several_bases: bool) -> Offer:
    """Return what the app offers a visitor."""
    refused = dict(NOT_IN_A_BROWSER)
    if not has_several_bases:
        refused["mode.together"] = NO_OTHER_BASE
    if not allow_writes:
        refused |= dict.fromkeys(WRITES, READ_ONLY)
    return Offer(refused, BROWSER_KEYS)
