"""The modes that are shown on top of explore, imported when one is first opened.

The first paint of the app does not wait for their modules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kbx_tui.tui.shell.mode_screen import ModeScreen

if TYPE_CHECKING:
    from kbx_tui.tui.app_state import AppState
    from kbx_tui.tui.base_session import BaseSession
    from kbx_tui.tui.navigator import Navigator

MakeScreen = Callable[["BaseSession", "AppState", "Navigator"], ModeScreen]


def _compare(session: BaseSession, app_state: AppState, navigator: Navigator) -> ModeScreen:
    from kbx_tui.tui.comparing.screen import Compare

    return Compare(session, app_state, navigator)


def _dedup(session: BaseSession, app_state: AppState, navigator: Navigator) -> ModeScreen:
    from kbx_tui.tui.dedup.screen import Dedup

    return Dedup(session, app_state, navigator)


def _experts(session: BaseSession, app_state: AppState, navigator: Navigator) -> ModeScreen:
    from kbx_tui.tui.experts.screen import Experts

    return Experts(session, app_state, navigator)


def _index(session: BaseSession, app_state: AppState, navigator: Navigator) -> ModeScreen:
    from kbx_tui.tui.indexing.screen import Index

    return Index(session, app_state, navigator)


def _tune(session: BaseSession, app_state: AppState, navigator: Navigator) -> ModeScreen:
    from kbx_tui.tui.tune.screen import Tune

    return Tune(session, app_state, navigator)


MODES: dict[str, MakeScreen] = {
    "dedup": _dedup,
    "experts": _experts,
    "tune": _tune,
    "index": _index,
    "compare": _compare,
}
