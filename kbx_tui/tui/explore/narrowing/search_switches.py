"""The settings of a search that one key switches: mode, formula, order and date words."""

from __future__ import annotations

from collections.abc import Callable

from kbx_tui.search.query.filters import Dates
from kbx_tui.tui.explore.model import ExploreModel
from kbx_tui.tui.explore.search_state import MODES, PRESETS
from kbx_tui.tui.explore.view import ExploreView

MODE_HELP = {
    "two-pass": "entities first, then their documents",
    "flat": "documents ranked without entities",
    "fast": "words only, no entities and no meaning",
}
PRESET_HELP = {
    "default": "entities count as far as a document answers the rest of the query",
    "seed": "the formula of the first proposal, for comparison",
}


class SearchSwitches:
    """Switches the search of a model, and says what the new setting means."""

    def __init__(
        self,
        model: ExploreModel,
        view: Callable[[], ExploreView | None],
        show_notice: Callable[[str], object],
    ) -> None:
        """`view` returns the answer shown."""
        self._model, self._view, self._show_notice = model, view, show_notice

    def next_mode(self) -> None:
        """Switch between two-pass, flat and fast search."""
        mode = MODES[(MODES.index(self._model.state.mode) + 1) % len(MODES)]
        self._model.update(mode=mode)
        self._show_notice(f"{mode} search: {MODE_HELP[mode]}")

    def next_preset(self) -> None:
        """Switch between the formulas."""
        preset = PRESETS[(PRESETS.index(self._model.state.preset) + 1) % len(PRESETS)]
        self._model.update(preset=preset)
        self._show_notice(f"{preset} ranking: {PRESET_HELP[preset]}")

    def next_sort(self) -> None:
        """Sort by score or by date."""
        sort = "date" if self._model.state.sort == "score" else "score"
        self._model.update(sort=sort)
        if self._view() is None:
            self._show_notice(f"results are sorted by {sort} now")

    def toggle_exact(self) -> None:
        """Compare every chunk in meaning, or only candidates in a scope of more than a million."""
        view, is_exact = self._view(), self._model.state.exact
        if is_exact:
            self._model.update(exact=False)
            self._show_notice("a scope of more than a million chunks is searched by candidates")
        elif self._model.state.mode == "fast":
            self._show_notice("a fast search compares words only, and of every chunk")
        elif view is None or view.mode.candidates is None:
            nothing = "only a scope of more than a million chunks is searched by candidates"
            self._show_notice(f"every chunk is compared already: {nothing}")
        else:
            self._model.update(exact=True)
            self._show_notice("every chunk is compared from now on, which takes longer")

    def dates(self, use: Dates) -> None:
        """Change what date words do, or back to preferring documents of that time."""
        state, view = self._model.state, self._view()
        if state.preset != "default":
            self._show_notice("the ranking of the seed reads no date words")
        elif self._model.is_searching and (view is None or view.query != state.query):
            self._show_notice("still searching: a moment")
        elif state.dates != use and (view is None or view.dates is None):
            self._show_notice("the query has no date words, such as `last week` or `in March`")
        else:
            self._model.update(dates="prefer" if state.dates == use else use)

    def mute(self, entity_id: str) -> None:
        """Exclude an entity from this query, or include it again; it is pinned no longer."""
        state = self._model.state
        self._model.update(muted=state.muted ^ {entity_id}, pinned=state.pinned - {entity_id})

    def pin(self, entity_id: str) -> None:
        """Use an entity whatever its score, or unpin it; it is muted no longer."""
        state = self._model.state
        self._model.update(pinned=state.pinned ^ {entity_id}, muted=state.muted - {entity_id})
