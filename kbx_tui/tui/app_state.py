"""What the app remembers: per user the theme and the bases opened, per base panes and queries.

Small JSON files, written atomically. One that is missing, damaged or of another shape counts as
empty; one that cannot be written is no reason not to work.
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
from kbx_tui.safe_text import visible

RECENT_BASES = 12
QUERIES = 100
T = TypeVar("T", bound=msgspec.Struct)

BASE_FILE = "app.json"
"""In the `.kbx` folder of a base."""


class UserMemory(msgspec.Struct):
    """What is remembered for a user."""

    theme: str = ""
    """Empty until one is chosen."""
    bases: list[str] = []
    """Roots of the bases opened, the last one first."""


class BaseMemory(msgspec.Struct):
    """What is remembered for one base."""

    hidden: list[str] = []
    """Panes that are hidden: `why`, `entities`."""
    queries: list[str] = []
    """The last one first."""
    alpha: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] | None = None
    threshold: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] | None = None
    """Only kept when `[app] remember_knobs` asks for it."""


class Memory:
    """Both: the user's read once, a base's when it is opened; written when they change."""

    def __init__(self) -> None:
        self.user = _read(user_file(), UserMemory)
        self.base = BaseMemory()
        self._base_file: Path | None = None

    def open_base(self, root: Path) -> None:
        """Read what is remembered of a base, and put it first among those opened."""
        self._base_file = root / ".kbx" / BASE_FILE
        self.base = _read(self._base_file, BaseMemory)
        self.base.queries = list(map(visible, self.base.queries))  # a base may come from anyone
        others = [base for base in self.user.bases if base != str(root)]
        self.user.bases = [str(root), *others][:RECENT_BASES]
        self.write_user()

    def leave_base(self) -> None:
        """Remember nothing of a base until one is open."""
        self.base, self._base_file = BaseMemory(), None

    def remember_theme(self, theme: str) -> None:
        """Open with this theme from now on."""
        if theme != self.user.theme:
            self.user.theme = theme
            self.write_user()

    def remember_query(self, query: str) -> None:
        """Put a query first among those asked."""
        if query:
            others = [one for one in self.base.queries if one != query]
            self.base.queries = [query, *others][:QUERIES]

    def write_user(self) -> None:
        _write(user_file(), self.user)

    def write_base(self) -> None:
        """Write what is remembered of the base, when it has a `.kbx` folder."""
        if self._base_file is not None and self._base_file.parent.is_dir():
            _write(self._base_file, self.base)


def user_file() -> Path:
    """Return where a user's memory is: in `KBX_STATE_DIR`, else the user's state folder."""
    given = os.environ.get("KBX_STATE_DIR", "")
    folder = Path(given).expanduser() if given else user_state_path("kbx-tui", appauthor=False)
    return folder / "state.json"


def _read(file: Path, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return kind()


def _write(file: Path, value: msgspec.Struct) -> None:
    data = msgspec.json.format(msgspec.json.encode(value), indent=2)
    name = ""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as new:
            name = new.name
            new.write(data)
        Path(name).replace(file)
    except OSError as error:
        logger().warning("could not write %s: %s", file, error)
        if name:
            with suppress(OSError):
                Path(name).unlink()
