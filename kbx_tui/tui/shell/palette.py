"""The palette of commands, those used most first, and that of themes, which shows each at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from textual import on
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.timer import Timer
from textual.widgets import OptionList

from kbx_tui.tui.commands.command_table import Command

OFTEN = 5
"""How many commands precede the groups because they were used most."""
LEAST_MATCH = 1.75
"""Score per letter of what is typed from which a command is listed, so that the letters of a word
that it does not have are not picked from all over its title."""


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    id: str
    group: str
    title: str
    help: str
    keys: str
    run: Callable[[], Any]

    @property
    def text(self) -> str:
        return f"{self.group}: {self.title}" if self.group else self.title

    def display(self, text: Content | str) -> Content:
        return Content.assemble(text, "  ", (self.keys, "$text-accent"))


OTHER_WORDS: Mapping[str, str] = {
    "app.help": "help shortcuts manual",
    "sort.next": "timeline newest order by date",
    "related.open": "similar",
    "entities.add": "filter by person",
    "facets.open": "filter by type",
    "why.toggle": "explain score",
    "undo": "back revert",
    "base.switch": "vault folder open",
    "focus.path": "filter directory scope",
    "results.share": "export html",
    "copy.path": "clipboard",
    "query.save": "bookmark favourite",
    "history.open": "saved queries recent",
    "filter.remove": "clear delete",
    "index.refresh": "reload update sync",
    "index.undo": "back revert",
    "settings.save": "options preferences configuration",
    "mode.tune": "options preferences configuration alpha threshold",
    "drafts.apply": "save",
    "draft.new": "add remember fact",
    "draft.drop": "delete",
    "draft.supersede": "delete replace",
    "drafts.load": "import open",
    "drafts.scan": "duplicates",
    "pane.zoom": "full screen maximise",
}
"""Further words by which commands are found, by id."""
GROUPS = {"copy_menu": "Copy", "grade_menu": "Grade", "app": "Go to", "jump": "Go to"}


def group_of(command: Command) -> str:
    """Return the group of a command, empty for those of the screen itself."""
    return GROUPS.get(command.scope, "View" if command.scope.endswith("_menu") else "")


def in_order(entries: list[PaletteEntry], uses: dict[str, int]) -> Iterator[PaletteEntry]:
    """Yield the entries used most, then the others, group by group."""
    used = [entry for entry in entries if uses.get(entry.id)]
    often = sorted(used, key=lambda entry: -uses[entry.id])[:OFTEN]
    yield from often
    groups = dict.fromkeys(entry.group for entry in entries)
    for group in groups:
        yield from (entry for entry in entries if entry.group == group and entry not in often)


def command_palette(entries: list[PaletteEntry], uses: dict[str, int]) -> CommandPalette:
    class Commands(Provider):
        async def discover(self) -> Hits:
            for entry in in_order(entries, uses):
                yield DiscoveryHit(entry.display(entry.text), entry.run, entry.text, entry.help)

        async def search(self, query: str) -> Hits:
            matcher = self.matcher(query)
            for entry in entries:
                score = max(matcher.match(entry.title), matcher.match(entry.text))
                score *= score >= LEAST_MATCH * len(query)
                words = f"{entry.help} {OTHER_WORDS.get(entry.id, '')}"
                if query.casefold() in words.casefold():
                    score = max(score, matcher.match(words) / 2)
                if score:
                    often = 1 + math.log1p(uses.get(entry.id, 0))
                    shown = entry.display(matcher.highlight(entry.text))
                    yield Hit(score * often, shown, entry.run, entry.text, entry.help)

    return CommandPalette(providers=[Commands], placeholder="Search for commands…")


class ThemePalette(CommandPalette):
    """Shows the app in the theme at the cursor; esc goes back to the one before."""

    PAUSE: ClassVar = 0.1
    """Seconds at a theme before it is shown: styling everything takes about as long."""

    def __init__(self, choose: Callable[[str], object]) -> None:
        self._timer: Timer | None = None

        class Themes(Provider):
            def _names(self) -> list[str]:
                # Last those in the colours of the terminal, which may be dark under a light name.
                names, now = sorted(self.app.available_themes), self.app.theme
                names.sort(key=lambda name: "ansi" in name)
                return [now, *(name for name in names if name != now)]

            def _label(self, name: str) -> str:
                is_light = not self.app.available_themes[name].dark and "ansi" not in name
                return f"{name} · light" if is_light else name

            async def discover(self) -> Hits:
                for name in self._names():
                    yield DiscoveryHit(self._label(name), partial(choose, name), name)

            async def search(self, query: str) -> Hits:
                matcher = self.matcher(query)
                for name in self._names():
                    label = self._label(name)
                    if (score := matcher.match(label)) > 0:
                        yield Hit(score, matcher.highlight(label), partial(choose, name), name)

        super().__init__(providers=[Themes], placeholder="Search for themes…")

    @on(OptionList.OptionHighlighted)
    def preview(self, event: OptionList.OptionHighlighted) -> None:
        hit = getattr(event.option, "hit", None)  # the line that nothing was found has none
        if hit is None:
            return
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(self.PAUSE, partial(setattr, self.app, "theme", hit.text))
