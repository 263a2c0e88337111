"""What the app remembers: per user the theme and recent bases, per base panes and queries.

Small JSON files, written atomically. A missing, damaged or unknown file counts as empty; write
errors are logged and ignored.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, TypeVar

import msgspec
from platformdirs import user_state_path

from kbx_tui.log_file import logger
from kbx_tui.safe_text import safe_line

RECENT_BASES = 12
RECENT_QUERIES = 100
BASE_FILE = "app.json"
"""In the `.kbx` folder of a base."""

Knob = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
State = TypeVar("State", bound=msgspec.Struct)


class UserState(msgspec.Struct):
    """The state remembered for a user."""

    theme: str = ""
    """Empty until one is chosen."""
    bases: list[str] = []
    """Roots of the bases opened, the most recent first."""


class BaseState(msgspec.Struct):
    """The state remembered for one base."""

    hidden: list[str] = []
    """Panes that are hidden: `why`, `entities`."""
    queries: list[str] = []
    """The most recent first."""
    alpha: Knob | None = None
    threshold: Knob | None = None
    """Both only with `[app] remember_knobs`."""


class AppState:
    """The state of the user, read at once, and that of the open base."""

    def __init__(self) -> None:
        self.user = _read(user_file(), UserState)
        self.base = BaseState()
        self.keeps_knobs = False
        """Whether alpha and threshold are remembered, as kbx.toml says."""
        self._base_file: Path | None = None

    @property
    def knobs(self) -> tuple[float, float] | None:
        """Alpha and threshold of the last session, if they are remembered."""
        alpha, threshold = self.base.alpha, self.base.threshold
        if not self.keeps_knobs or alpha is None or threshold is None:
            return None
        return alpha, threshold

    def open_base(self, root: Path) -> None:
        """Read the state of a base, and move it to the top of the recent bases."""
        self._base_file = root / ".kbx" / BASE_FILE
        self.base = _read(self._base_file, BaseState)
        self.base.queries = list(map(safe_line, self.base.queries))  # the file is not trusted
        others = [base for base in self.user.bases if base != str(root)]
        self.user.bases = [str(root), *others][:RECENT_BASES]
        self.save_user()

    def close_base(self) -> None:
        """Discard the state of the base, which has been closed."""
        self.base, self._base_file, self.keeps_knobs = BaseState(), None, False

    def remember_theme(self, theme: str) -> None:
        """Save this theme for later sessions."""
        if theme != self.user.theme:
            self.user.theme = theme
            self.save_user()

    def remember_query(self, query: str) -> None:
        """Move a query to the top of the recent queries."""
        if query:
            others = [other for other in self.base.queries if other != query]
            self.base.queries = [query, *others][:RECENT_QUERIES]

    def remember_knobs(self, alpha: float, threshold: float) -> None:
        """Remember alpha and threshold if kbx.toml says so, else forget them."""
        self.base.alpha = alpha if self.keeps_knobs else None
        self.base.threshold = threshold if self.keeps_knobs else None

    def save_user(self) -> None:
        """Write the state of the user."""
        _write(user_file(), self.user)

    def save_base(self) -> None:
        """Write the state of the base, if it has a `.kbx` folder."""
        if self._base_file is not None and self._base_file.parent.is_dir():
            _write(self._base_file, self.base)


def user_file() -> Path:
    """Return the file of a user's state: in `KBX_STATE_DIR`, else the user's state folder."""
    configured = os.environ.get("KBX_STATE_DIR", "")
    if configured:
        return Path(configured).expanduser() / "state.json"
    return user_state_path("kbx-tui", appauthor=False) / "state.json"


def _read(file: Path, kind: type[State]) -> State:
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return kind()


def _write(file: Path, state: msgspec.Struct) -> None:
    data = msgspec.json.format(msgspec.json.encode(state), indent=2)
    temporary = ""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as new:
            temporary = new.name
            new.write(data)
        Path(temporary).replace(file)
    except OSError as error:
        logger().warning("could not write %s: %s", file, error)
        if temporary:
            with suppress(OSError):
                Path(temporary).unlink()
