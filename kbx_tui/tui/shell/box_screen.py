"""A box above a screen, whose list receives the keys."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.screen import ModalScreen

from kbx_tui.tui.commands.command import Scope

ResultT = TypeVar("ResultT")


class BoxScreen(ModalScreen[ResultT]):
    """Has keys of its own, which the help shows first."""

    SCOPES: ClassVar[tuple[Scope, ...]]
    """The scopes of its keys, innermost first."""
