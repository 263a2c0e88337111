"""The line at the top of every mode: the modes as tabs, and the open base."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from textual import events

from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import Line, Span, looks, width_of
from kbx_tui.tui.shell.messages import GoTo
from kbx_tui.tui.widgets.lines_view import LineWidget


class ModeTabs(LineWidget):
    COMPONENT_CLASSES = looks("accent", "tab")

    def __init__(self, current: str) -> None:
        super().__init__()
        self.current = current
        self.keymap = Keymap()
        self.counts: Mapping[str, str] = {}
        self.base = ("", "")
        """The name of the base, and what it holds."""

    def use(self, keymap: Keymap) -> None:
        self.keymap = keymap
        self.refresh()

    def show(self, counts: Mapping[str, str], base: tuple[str, str]) -> None:
        if (counts, base) != (self.counts, self.base):
            self.counts, self.base = counts, base
            self.refresh()

    def line(self, width: int) -> Line:
        texts, right = self._fitted(width)
        line = tab_line(texts)
        gap = " " * (width - width_of(line) - width_of((Span(right),)) - 1)
        return (*line, Span(gap), Span(right, "dim"))

    def on_click(self, event: events.Click) -> None:
        texts, _ = self._fitted(self.size.width)
        tab = tab_at(texts, event.x)
        if tab is not None and not tab.is_current:
            self.post_message(GoTo(tab.mode))

    def _fitted(self, width: int) -> tuple[list[TabText], str]:
        return fit_tabs(tab_texts(self.current, self.keymap, self.counts), self.base, width)


MARK = " › "
"""Before the current tab. Blanks stand before the others, so that none moves."""


@dataclass(frozen=True, slots=True)
class Tab:
    mode: str
    title: str
    command: str
    always: bool = True
    """Whether every mode shows this tab; else only the mode itself, and all if it is counted."""


TABS: tuple[Tab, ...] = (
    Tab("explore", "Explore", "mode.explore"),
    Tab("dedup", "Drafts", "mode.dedup"),
    Tab("experts", "Experts", "mode.experts"),
    Tab("tune", "Tune", "mode.tune"),
    Tab("index", "Index", "mode.index"),
    Tab("together", "All bases", "mode.together", always=False),
    Tab("compare", "Compare", "compare", always=False),
)


class TabText(NamedTuple):
    mode: str
    key: str
    words: str
    is_current: bool

    @property
    def spans(self) -> Line:
        if self.is_current:
            text = " ".join(filter(None, (self.key, self.words)))
            return (Span(MARK, "accent"), Span(text, "tab"))
        words = f" {self.words}" if self.words else ""
        return (Span(" " * len(MARK)), Span(self.key, "accent"), Span(words))


def tab_texts(current: str, keymap: Keymap, counts: Mapping[str, str]) -> list[list[TabText]]:
    """Return the tabs in the mode `current`, in wordings from the longest to the shortest.

    `counts` are short texts beside the titles, by mode.
    """
    return [
        list(_texts(current, keymap, counts, titles=True)),
        list(_texts(current, keymap, counts, titles=False)),
        list(_texts(current, keymap, dict.fromkeys(counts, ""), titles=False)),
    ]


def _texts(
    current: str, keymap: Keymap, counts: Mapping[str, str], *, titles: bool
) -> Iterator[TabText]:
    for tab in TABS:
        is_current = tab.mode == current
        if tab.always or is_current or tab.mode in counts:
            key = keymap.key_of(tab.command)
            key = key.upper() if key[0] == "f" and key[1:].isdigit() else key
            title = tab.title if titles or is_current else ""
            words = " ".join(filter(None, (title, counts.get(tab.mode, ""))))
            yield TabText(tab.mode, key, words, is_current)


def tab_line(texts: list[TabText]) -> Line:
    return tuple(span for text in texts for span in text.spans)


def fit_tabs(
    wordings: list[list[TabText]], base: tuple[str, str], width: int
) -> tuple[list[TabText], str]:
    """Return the longest wording of the tabs that fits, and what fits of the base beside it.

    `base` is its name, and what it holds. Where several bases are open, the name is never left out
    for the titles of other tabs.
    """
    has_several = any(text.mode == "together" for text in wordings[0])
    for texts in wordings:
        room = width - width_of(tab_line(texts)) - 3
        for right in (" · ".join(filter(None, base)), base[0]):
            if width_of((Span(right),)) <= room:
                return texts, right
        if room >= -2 and not (has_several and base[0] and texts is not wordings[-1]):
            return texts, ""
    return wordings[-1], ""


def tab_at(texts: list[TabText], x: int) -> TabText | None:
    for text in texts:
        x -= width_of(text.spans)
        if x < 0:
            return text
    return None
