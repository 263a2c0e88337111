"""The inputs of the explore screen, and the lines beside them: mode, dates, filters, quality."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from rich.cells import cell_len
from textual import events, getters
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.geometry import Size
from textual.strip import Strip
from textual.suggester import SuggestionReady
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.widgets.input import Selection

from kbx_tui.formatting import FLAT_REASONS, format_count
from kbx_tui.safe_text import safe_line
from kbx_tui.search.query import typed_filters
from kbx_tui.search.request import MAX_QUERY
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import (
    BLANK,
    Line,
    Look,
    Span,
    fit_line,
    longest_fitting,
    looks,
    part_at,
    shorten,
    shorten_start,
    width_of,
)
from kbx_tui.tui.explore.model import ExploreModel
from kbx_tui.tui.explore.search_state import SearchState
from kbx_tui.tui.explore.view import DatesView, ExploreView, Mode
from kbx_tui.tui.judging.live_measure import measure_candidates
from kbx_tui.tui.judging.model import JudgingModel
from kbx_tui.tui.terminal_app import TerminalApp
from kbx_tui.tui.widgets.footer import StatusLine
from kbx_tui.tui.widgets.input_fields import PathInput, Work
from kbx_tui.tui.widgets.lines_view import BoxList, LineWidget
from kbx_tui.tui.widgets.number_slider import NumberSlider
from kbx_tui.user_files import logger

SHOWN = 8
MOST_OF_BADGE = 44
EVERYWHERE = "everywhere"
REPLACES = "typing replaces it; ← → keep it to edit"


class QueryLine(PathInput):
    BINDINGS = bindings("query")
    offers_help = True

    def __init__(self, model: ExploreModel) -> None:
        super().__init__("search: a person, a project, any words")
        self._model = model
        self._hint = ""
        self._typed = self._completed = ""
        """The text whose last word was last completed, before and after the completion."""

    def show_query(self, query: str) -> None:
        self.value = query
        self.cursor_position = len(query)
        if not self.has_focus:  # at once: until the model knows, its older query may replace this
            self._model.type_query(query.strip(), is_open=False)

    def search(self, text: str) -> None:
        """Search for a text while it is typed, leaving out a filter that may be unfinished."""
        unfinished = typed_filters.unfinished_filter(text) if self.has_focus else None
        if unfinished is not None:
            lookup: Work = partial(self._complete, text, unfinished)
            self.run_worker(lookup, exclusive=True, group="filter")
            return
        self._show_hint("")
        is_open = self.has_focus and self.cursor_at_end and text[-1:].isalpha()
        if is_open and text.startswith(self._typed) and self._completed.startswith(text):
            self._suggest(self._completed)  # before the search confirms it
        self._model.type_query(text.strip(), is_open=is_open)

    def show_completion(self, typed: str, query: str) -> None:
        """Show whether a query was searched for with its last word completed."""
        text, rest = self.value, query[len(typed) :]
        if text.strip() != typed:
            return
        if rest and not self.has_focus:
            self.show_query(query)
            return
        self._typed, self._completed = text, text + rest
        self._suggest(self._completed)
        word = query.split()[-1]
        part = word.removesuffix(rest)
        self._show_hint(
            f"searching for {word}; tab completes it, a space keeps {part}" if rest else ""
        )

    def on_focus(self) -> None:
        if self.value:  # all of it is selected
            self._show_hint(REPLACES)

    def watch_selection(self, before: Selection, selection: Selection) -> None:
        super().watch_selection(before, selection)
        if selection.is_empty and self._hint == REPLACES:
            self._show_hint("")

    def on_blur(self) -> None:
        self._show_hint("")
        # Not if only the terminal window has lost the focus.
        if self.completion and self.completion == self._completed and self.app.app_focus:
            self.show_query(self._completed)
        self._model.update(query=self.value.strip())

    def remove_filter(self, number: int) -> bool:
        """Remove a filter by number, from 0, or -1 for the last; return whether there was one."""
        evidence = self._model.displayed.evidence
        properties = () if evidence is None else evidence.scope.filters.properties
        if not typed_filters.read_filters(self.value, properties).filters:
            return False
        self.replace_query(typed_filters.without_filter(self.value, number, properties))
        return True

    def replace_query(self, after: str) -> None:
        before = self.value
        self.show_query(after)

        def undo() -> None:
            if self.value == after:
                self.show_query(before)
            else:
                self.screen.query_one(StatusLine).show_notice("the query has changed since")

        self._model.remember(undo)

    async def _complete(self, text: str, unfinished: typed_filters.UnfinishedFilter) -> None:
        try:
            found = await self._model.complete_filter(unfinished)
        except Exception as error:  # would end the app if raised here; searching reports it anyway
            logger().warning("no completions for %r: %s", text, error)
            found = None
        if text != self.value:
            return
        values = [] if found is None else [v for v in found.values if safe_line(v) == v]
        if values:
            typed = unfinished.value
            self._suggest(unfinished.completed(typed + values[0][len(typed) :]))
        self._show_hint("   ".join(values[:SHOWN]))
        is_whole = found is None or found.is_whole
        self._model.update(query=text.strip() if is_whole else unfinished.rest)

    def _suggest(self, query: str) -> None:
        if query.startswith(self.value):
            self.post_message(SuggestionReady(self.value, query))

    def _show_hint(self, text: str) -> None:
        if text != self._hint:
            self.screen.query_one(StatusLine).show_hint(text)
        self._hint = text


class PathLine(PathInput):
    BINDINGS = bindings("path")
    key_labels: Mapping[str, str] = {"path.results": "search there", "app.jump": ""}
    app = getters.app(TerminalApp)

    def __init__(self, model: ExploreModel) -> None:
        super().__init__(EVERYWHERE, model.complete_path)
        self._model = model
        self._before = ""
        """The path when the field got the focus."""
        self._completions: tuple[str, ...] = ()
        self._completed = ""
        """The text that the completions are for; the one in the field may be newer."""

    @property
    def is_completing(self) -> bool:
        return self.has_focus

    @property
    def keeps_tab(self) -> bool:
        return bool(self.value or self.choices.chosen)

    @property
    def choices(self) -> PathChoices:
        return self.screen.query_one(PathChoices)

    @property
    def _marked(self) -> str | None:
        current = self.choices.current if self.value.strip() == self._completed else None
        return None if current is None else current[0]

    def on_path_input_completions_found(self, event: PathInput.CompletionsFound) -> None:
        self._completed, self._completions = event.text, event.completions
        paths = [path for path in event.completions[:SHOWN] if path != self.value]
        if self.value == self._before != "":
            paths.append("")
        self.choices.show((path, self._model.in_folder.get(path, 0)) for path in paths)
        path = effective_path(event.text, event.completions)
        if path and any(each.startswith(path) for each in event.completions):
            self._model.update(path=path)  # else it is applied once the field is left

    def action_choose(self, rows: int) -> None:
        self.choices.action_move(rows)

    async def action_complete(self) -> None:
        marked = self._marked
        if marked or (marked is not None and self.choices.chosen):
            self.take(marked)
        elif not self.value:
            await self.run_action("screen.next_pane(1)")

    def take(self, path: str) -> None:
        self.value = path
        self.cursor_position = len(path)

    def on_focus(self) -> None:
        self._before = self._model.state.path
        self.cursor_position = len(self.value)
        self.request_completions()

    def on_blur(self) -> None:
        """Apply the path, or the marked one if the text is only a part of a name."""
        path, marked = self.value.strip(), self._marked
        is_part = bool(path) and effective_path(path, self._completions) != path
        if marked is not None and self.app.app_focus and (is_part or self.choices.chosen):
            path = self.value = marked
        self.choices.show(())
        self._model.update(path=path)
        if path not in ("", self._before) and self.app.app_focus:
            undo = self.app.keymap.key_of("undo")
            notice = f"only {shorten_start(safe_line(path), 48)} is searched; {undo} takes it back"
            self.screen.query_one(StatusLine).show_notice(notice)


class PathChoices(BoxList[tuple[str, int]]):
    """The paths that complete the path field, below it; a folder with its number of documents.

    The empty path is everywhere.
    """

    def show(self, rows: Iterable[tuple[str, int]]) -> None:
        super().show(rows)
        self.chosen, self.display = False, bool(self.rows)
        self.styles.height = len(self.rows) + 2

    def row_line(self, row: int, part: int, width: int) -> Line:
        marker = "›" if row == self.cursor else " "
        name, count = self.rows[row]
        shown = f" {count:,}" if count else ""
        path = shorten_start(safe_line(name) or EVERYWHERE, max(width - 2 - len(shown), 1))
        gap = width - 2 - cell_len(path)
        return (Span(f"{marker} ", "accent"), Span(path), Span(f"{shown:>{max(gap, 0)}}", "dim"))

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()  # one click is enough
        row, _ = self.row_at(event)
        if row >= 0:
            self.choose(row)
            self.row_opened()


class PathField(Horizontal):
    def __init__(self, model: ExploreModel) -> None:
        super().__init__()
        self.line = PathLine(model)

    def compose(self) -> ComposeResult:
        yield from (Static("in"), self.line, Static(id="in-scope", markup=False))

    def show(self, path: str, in_scope: int) -> None:
        scope, text = self.query_one("#in-scope", Static), f"{in_scope:,} in scope" if path else ""
        if text != scope.content:  # an update lays out the screen, which each ranking would do
            scope.update(text)


def effective_path(path: str, candidates: tuple[str, ...]) -> str:
    """Return the path to filter by while `path` is being typed: `memory/` for `memory/me`.

    A path without completions is used verbatim: a glob, a complete file name or a mistake.
    """
    if not candidates or path.endswith("/") or {path, f"{path}/"} & set(candidates):
        return path
    folder, slash, _ = path.rpartition("/")
    return folder + slash


class Knobs(Horizontal):
    is_moved = has_view = is_covered = False

    def __init__(self) -> None:
        super().__init__()
        self.alpha = NumberSlider(
            "alpha", 0.5, ends=("entity", "document"), command="alpha.less", note_room=12
        )
        less = "threshold.less"
        self.threshold = NumberSlider("threshold", 0.5, command=less, note_room=35)

    def compose(self) -> ComposeResult:
        yield from (self.alpha, self.threshold)

    def show(self, state: SearchState, *, is_moved: bool = True) -> None:
        """Show the sliders, unless they are as in kbx.toml and there is nothing to rank."""
        self.alpha.show(state.alpha)
        self.threshold.show(state.threshold)
        self.is_moved = is_moved
        self.show_or_hide()

    def show_or_hide(self) -> None:
        self.display = (self.is_moved or self.has_view) and not self.is_covered

    def cover(self, is_covered: bool) -> None:
        """Give its line to the document or card that is read, if there is one."""
        self.is_covered = is_covered
        self.show_or_hide()

    def annotate(self, view: ExploreView | None) -> None:
        """Dim the sliders that change nothing, and say what the threshold keeps."""
        self.has_view = view is not None
        self.show_or_hide()
        has_alpha = view is not None and view.mode.name == "two-pass"
        note = "" if view is None else threshold_note(view)
        has_threshold = view is not None and not note.startswith(NO_THRESHOLD)
        entities = view.entities if view and has_threshold else ()
        kept = sum(entity.kept for entity in entities)
        keeps = f"keeps {kept} of {format_count(len(entities), 'entity')}"
        if not entities:
            why = note.removeprefix(NO_THRESHOLD)
            keeps = "" if view is None else "no effect" + why * why.startswith(":")
        self.alpha.annotate("" if view is None or has_alpha else "no effect", has_effect=has_alpha)
        self.threshold.annotate(keeps, has_effect=has_threshold)


NO_THRESHOLD = "threshold has no effect"


def threshold_note(view: ExploreView) -> str:
    """Return `3 entities count, next changes at .42 and .51`, or why no threshold changes that."""
    if view.mode.name == "fast" or view.mode.reason == FLAT_REASONS["disabled"]:
        return f"{NO_THRESHOLD} on a {view.mode.name} search"
    if not view.entities:
        return f"{NO_THRESHOLD}: no entity is found"
    if all(entity.muted or entity.pinned for entity in view.entities):
        return f"{NO_THRESHOLD}: all entities are pinned or muted"
    from kbx_tui.tui.explore.presenting import next_change_note  # loaded with the first search

    open_to_it = [each for each in view.entities if not (each.muted or each.pinned)]
    eligible = [each for each in open_to_it if not each.is_outnamed]
    reached = [each.score for each in eligible if each.score >= view.threshold]
    below = max((each.score for each in eligible if each.score < view.threshold), default=None)
    too_many = [each.left_out for each in eligible if each.left_out]
    if view.mode.name == "two-pass" and too_many:  # the weaker ones do not count either
        reached, below = [each.score for each in eligible if each.kept], None
    changing = (score + 1e-6 for score in reached if score < 1.0)  # the score itself reaches it
    above = min(changing, default=None)
    if below is above is None:
        outnamed = "only named ones count" if len(eligible) < len(open_to_it) else ""
        why = outnamed or next(iter(too_many), "all entities are sure")
        return f"{NO_THRESHOLD}: {why}"
    count = sum(entity.kept for entity in view.entities)
    words = f"{format_count(count, 'entity')} count{'s' if count == 1 else ''}"
    return ", ".join(filter(None, (words, next_change_note(below, above, view.threshold))))


class ModeBadge(LineWidget):
    """The mode and its reason, as wide as `candidates` allow."""

    COMPONENT_CLASSES = looks("document", "entity")
    _width = 0

    def show(self, candidates: tuple[str, ...], *, busy: bool = False) -> None:
        def line(width: int) -> Line:
            text = shorten(longest_fitting(candidates, width), width)
            if busy:
                return (Span(text, "dim"),)
            name, dot, rest = text.partition(" · ")
            look: Look = "entity" if name == "two-pass" else "document"
            return (Span(name, look), Span(dot + rest, "dim"))

        self.show_line(line)
        is_alone = self.screen.has_class("-small")  # on its line
        room = self.app.size.width if is_alone else min(self.app.size.width // 3, MOST_OF_BADGE)
        width = width_of(line(room - self.gutter.width))
        if width != self._width:
            self._width = width
            self.refresh(layout=True)  # seldom: it lays out the screen

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return self._width


SHORT_REASONS: Mapping[str, str] = {
    FLAT_REASONS["too_broad"]: "too many similar",
    FLAT_REASONS["nothing_linked"]: "nothing linked",
}


def mode_candidates(
    mode: Mode, *, is_brief: bool = False, has_entities: bool = False
) -> tuple[str, ...]:
    """Return wordings of the badge, the longest first.

    If `is_brief`, it leaves out the time, and the entities that count unless it `has_entities`,
    because no pane beside it shows them.
    """
    if is_brief and mode.name == "two-pass" and not has_entities:
        mode = replace(mode, reason="")
    time = "" if is_brief else f"{mode.milliseconds:.0f} ms"
    if mode.reranker_ms is not None and time:
        time += f" + reranker {mode.reranker_ms:.0f} ms"
    complete = mode.vector_share >= 1.0 or mode.name == "fast"
    meaning = "" if complete else "meaning incomplete"
    if mode.candidates is not None:
        scored = f"{mode.candidates:,} candidates"
        meaning = f"{scored} · {meaning}" if meaning else scored
    short = "" if mode.name == "two-pass" else SHORT_REASONS.get(mode.reason, mode.reason)
    name = f"{mode.name}, seed" if mode.preset == "seed" else mode.name
    cut = f"first {MAX_QUERY:,} characters" if mode.is_cut else ""
    reasons = (mode.reason, short)
    middle = [(mode.reason, ""), (short, time)]
    if mode.reranker_ms is not None:  # its time says more than the entities, which have a pane
        middle.reverse()
    wordings = [
        *(
            (name, cut, reason, meaning, each)
            for reason, each in ((mode.reason, time), *middle, (short, ""))
        ),
        (name, cut, meaning),
        *((name, cut, reason) for reason in reasons),
        (name, cut),
        (name,),
        (mode.name,),
    ]
    return tuple(" · ".join(filter(None, words)) for words in wordings)


class ChipLine(LineWidget):
    """A line of chips, with their keys where these work and the whole line fits."""

    DEFAULT_CSS = "ChipLine { display: none; }"
    chips: Line = BLANK
    without_keys: Line = BLANK

    def on_mount(self) -> None:
        self.watch(self.screen, "focused", self._refresh_keys, init=False)

    def _refresh_keys(self) -> None:
        self.refresh(layout=self.display)

    def show_chips(self, chips: Line, without_keys: Line) -> None:
        self.without_keys = without_keys
        if chips != self.chips:  # laying out the screen for each step of a slider would be slow
            self.chips = chips
            self.refresh(layout=True)

    def line(self, width: int) -> Line:
        return self.without_keys if isinstance(self.screen.focused, Input) else self.chips

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        parent = self.parent
        room = parent.content_region.right - self.region.x if isinstance(parent, Widget) else width
        line = self.line(width) if width <= room else self.without_keys
        return self.draw(fit_line(line, width), width)


class DateChip(ChipLine):
    COMPONENT_CLASSES = looks("accent", "strong")

    def show(self, dates: DatesView | None, keymap: Keymap) -> None:
        self.display = dates is not None
        if dates is None:
            return
        off, only = keymap.key_of("dates.off"), keymap.key_of("dates.only")
        words: Line
        if dates.use == "off":
            words, keys = (Span(" date words are not read", "dim"),), _key(off, "read them")
        elif not dates.words:
            words = (Span(f" no document is dated {safe_line(dates.undated)}", "dim"),)
            keys = _key(off, "search it as words")
        else:
            is_filter = dates.use == "filter"
            words = (Span(" only " if is_filter else " prefers "), Span(dates.words, "strong"))
            keys = (*_key(only, "prefer" if is_filter else "only that"), *_key(off, "any time"))
        self.show_chips((*words, *keys), words)


def _key(key: str, label: str) -> Line:
    return (Span("  "), Span(key, "accent"), Span(f" {label}", "dim"))


class FilterChip(ChipLine):
    COMPONENT_CLASSES = looks("accent", "strong", "cursor")

    filters: tuple[str, ...] = ()

    def show(self, filters: Sequence[str], words: str, keymap: Keymap) -> None:
        self.filters, self.display = tuple(filters), bool(filters or words)
        if not self.display:
            return
        remove = (*_key(keymap.key_of("filter.remove"), "remove last"),) if filters else BLANK
        settings, undo = BLANK, BLANK
        if words:
            settings = (Span("  · " if filters else " "), Span(safe_line(words), "strong"))
            undo = _key(keymap.key_of("undo"), "undo")
        chips = [span for text in filters for span in _chip(text)]
        self.show_chips((*chips, *remove, *settings, *undo), (*chips, *settings))

    def on_click(self, event: events.Click) -> None:
        number = part_at(enumerate(map(_chip, self.filters)), event.x)
        if number is not None:
            self.screen.query_one(QueryLine).remove_filter(number)


def _chip(text: str) -> Line:
    return (Span(" "), Span(f"[{text}", "strong"), Span(" x", "dim"), Span("]", "strong"))


class MeasureLine(LineWidget):
    def show(self, judging: JudgingModel, *, is_asked: bool) -> None:
        """Show search quality, once the user has asked for it by a grade or a setting."""
        wordings = _measure_wordings(judging) if judging.queries and is_asked else ()
        self.show_line(lambda width: (Span(f" {longest_fitting(wordings, width - 2)}", "dim"),))


def _measure_wordings(judging: JudgingModel) -> tuple[str, ...]:
    if any(settings and settings.is_fast for settings in (judging.pinned, judging.current)):
        return ("a fast search is not measured",)
    if judging.measured is not None:
        return measure_candidates(judging.measured)
    if not any(query.is_measurable for query in judging.queries):
        return ("no result is graded 1 to 3, so there is nothing to measure",)
    return ("reading the judged queries …",)
