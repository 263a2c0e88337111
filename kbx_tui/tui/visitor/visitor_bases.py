"""The bases that a visitor may see, and nothing else of the machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from kbx_tui.errors import NotFound
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.bases import Bases

if TYPE_CHECKING:
    from kbx_tui.api.session import Notice
    from kbx_tui.search.query_history import PastQuery
    from kbx_tui.trust.trust_requests import TrustRequest
    from kbx_tui.tui.visitor.visitor_engine import VisitorEngine


class VisitorBases(Bases):
    """Opens the bases that were given at the start, with engines that are locked as well."""

    def __init__(
        self,
        roots: Sequence[Path],
        past: Callable[[], Sequence[PastQuery]],
        *,
        allow_writes: bool,
    ) -> None:
        """`roots` are those of the bases; `past` returns the queries of the visitor."""
        super().__init__()
        self.roots, self.writes, self._past = tuple(roots), allow_writes, past

    def open(self, root: Path, notice: Notice = lambda text: None) -> VisitorEngine:
        """Open one of the bases. Raises NotFound for any other."""
        from kbx_tui.tui.visitor.visitor_engine import VisitorEngine

        if root not in self.roots:
            _refuse(root.name)
        return VisitorEngine(root, self._past, notice=notice, read_only=not self.writes)

    def existing(self, folder: str) -> Path:
        """Return the root of the base with this root. Raises NotFound for any other."""
        return next((root for root in self.roots if str(root) == folder), None) or _refuse(folder)

    def without_folders(self, text: str) -> str:
        """Return a text for the visitor without the folders of the machine that hold the bases."""
        for root in sorted(self.roots, key=lambda root: -len(str(root))):
            text = text.replace(f"{root}/", "").replace(str(root), root.name)
        return text

    def questions(self, root: Path) -> tuple[TrustRequest, ...]:
        """Ask nothing: only the owner of the machine can trust a base."""
        return ()

    def answer(self, root: Path, requests: Sequence[TrustRequest], *, allowed: bool) -> None:
        """Raise NotFound: a visitor is not asked."""
        _refuse(root.name)

    def demo(self) -> Path:
        """Raise NotFound: nothing is installed for a visitor."""
        _refuse("the demo")

    def new(self, folder: str) -> Path:
        """Raise NotFound: no base is created for a visitor."""
        _refuse(folder)


def _refuse(name: str) -> NoReturn:
    raise NotFound(f"{safe_line(name)} is not one of the knowledge bases of this visit")
