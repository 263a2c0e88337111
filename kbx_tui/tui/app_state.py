"""What the app remembers: per user the theme and recent bases, per base panes and knobs.

Small JSON files, written atomically. A missing file counts as empty, as does one that cannot be
read, which is set aside before another one is written; write errors are logged and ignored. The
queries of a base are in a file of their own (`query_history`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, TypeVar

import msgspec

from kbx_tui import state_file
from kbx_tui.config import Measures
from kbx_tui.editing.state_files import state_folder
from kbx_tui.errors import WriteFault
from kbx_tui.removal import remove_temporary
from kbx_tui.safe_text import safe_line
from kbx_tui.search.query_history import LIMIT, PastQuery, QueryHistory
from kbx_tui.user_files import logger, user_state_folder

RECENT_BASES = 12
SIZE_LIMIT = 8 * 1024 * 1024
BASE_FILE = ".kbx/app.json"

Knob = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
State = TypeVar("State", bound=msgspec.Struct)


class UserState(msgspec.Struct):
    theme: str = ""
    bases: list[str] = []
    tour_seen: bool = False
    used: dict[str, int] = {}
    """How often commands were chosen in the palette, by id."""


class BaseState(msgspec.Struct):
    hidden: list[str] = []
    """Panes that are hidden: `why`, `entities`, `preview`."""
    alpha: Knob | None = None
    threshold: Knob | None = None
    """Both only with `[app] remember_knobs`."""
    judged: bool = False
    """Whether the user has ever graded a result: before, no grade and no measure is shown."""
    entities_asked: bool = False
    """Whether the user has answered, for a base without entities, what these could be."""


class AppState:
    """The state of the user, read at once, and that of the open base."""

    def __init__(self, *, is_kept: bool = True, theme: str = "") -> None:
        """With `is_kept` False, no file is read or written; `theme` applies until one is chosen."""
        self._is_kept = is_kept
        self.base = BaseState()
        self.keeps_knobs = False
        """Whether alpha and threshold are remembered, as kbx.toml says."""
        self.measures: Measures = "used"
        """When grades, times and search quality are shown, as kbx.toml says."""
        self.has_judged = False
        """Whether the user has graded a result in this session, as search quality is then shown."""
        self.notices: list[str] = []
        self.past: list[PastQuery] = []
        """The queries asked in the open base, the most recent first."""
        self._root: Path | None = None
        self._history: QueryHistory | None = None
        self.user = self._read(user_file(), UserState)
        self.user.theme = self.user.theme or theme

    @property
    def knobs(self) -> tuple[float, float] | None:
        alpha, threshold = self.base.alpha, self.base.threshold
        if not self.keeps_knobs or alpha is None or threshold is None:
            return None
        return alpha, threshold

    @property
    def shows_measures(self) -> bool:
        return self.measures == "always" or (self.measures == "used" and self.base.judged)

    @property
    def shows_quality(self) -> bool:
        return self.shows_measures and (self.measures == "always" or self.has_judged)

    def note_judged(self) -> None:
        self.has_judged = True
        if not self.base.judged:
            self.base.judged = True
            self.save_base()

    def open_base(self, root: Path) -> None:
        self._root = root
        self.base = self._read(root / BASE_FILE, BaseState)
        if self._is_kept:
            self._history = QueryHistory(root, self.notices.append)
            past_queries = self._history.read()
            # the file is not trusted
            self.past = [replace(past, query=safe_line(past.query)) for past in past_queries]
        self.note_bases([root])

    def note_bases(self, roots: Sequence[Path]) -> None:
        opened = list(map(str, roots))
        with self._changed() as user:
            others = [base for base in user.bases if base not in opened]
            user.bases = [*opened, *others][:RECENT_BASES]

    def forget_base(self, root: str) -> int:
        with self._changed() as user:
            place = user.bases.index(root) if root in user.bases else 0
            user.bases = [base for base in user.bases if base != root]
        return place

    def recall_base(self, root: str, place: int) -> None:
        with self._changed() as user:
            user.bases = [base for base in user.bases if base != root]
            user.bases.insert(place, root)

    def close_base(self) -> None:
        self.base, self._root = BaseState(), None
        self.keeps_knobs, self.measures, self.has_judged = False, "used", False
        self.past, self._history = [], None

    def remember_theme(self, theme: str) -> None:
        if theme != self.user.theme:
            with self._changed() as user:
                user.theme = theme

    def note_tour(self) -> None:
        if not self.user.tour_seen:
            with self._changed() as user:
                user.tour_seen = True

    def note_use(self, command_id: str) -> None:
        with self._changed() as user:
            user.used[command_id] = user.used.get(command_id, 0) + 1

    @property
    def entities_asked(self) -> bool:
        """Whether the user has answered, here or, since the base was opened, by `kbx index`."""
        root = self._root if self._is_kept else None
        return self.base.entities_asked or (root is not None and entities_asked(root))

    def note_entities_asked(self) -> None:
        self.base.entities_asked = True
        self.save_base()

    @property
    def queries(self) -> list[str]:
        return [past.query for past in self.past]

    def remember_query(self, asked: PastQuery | None) -> None:
        """Put a query first among the recent ones, also on disk; ignore None and a repetition."""
        if asked is None or (self.past and replace(self.past[0], at=asked.at) == asked):
            return
        others = (other for other in self.past if other.query != asked.query)
        self.past = [replace(asked, at=time.time()), *others][:LIMIT]
        if self._history is not None and self._has_folder:
            self._history.add(asked)

    def remember_knobs(self, alpha: float, threshold: float) -> None:
        """Remember alpha and threshold if kbx.toml says so, else forget them."""
        self.base.alpha = alpha if self.keeps_knobs else None
        self.base.threshold = threshold if self.keeps_knobs else None

    def save_base(self) -> None:
        """Write the state of a base with a `.kbx` folder; answers given elsewhere are kept."""
        if self._is_kept and self._root is not None and self._has_folder:
            self.base.entities_asked = self.entities_asked
            _write(self._root / BASE_FILE, self.base, self._root)

    @contextmanager
    def _changed(self) -> Iterator[UserState]:
        """Take over what other apps have written, for a change that is written after the block."""
        if self._is_kept:
            with suppress(OSError, ValueError):  # then this app knows as much
                self.user = _load(user_file(), UserState)
        yield self.user
        if self._is_kept:
            _write(user_file(), self.user)

    @property
    def _has_folder(self) -> bool:
        return self._root is not None and (self._root / BASE_FILE).parent.is_dir()

    def _read(self, file: Path, kind: type[State]) -> State:
        if not self._is_kept:
            return kind()
        try:
            return _load(file, kind)
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            self.notices.append(state_file.unreadable(file, error))
            logger().warning("%s", self.notices[-1])
        return kind()


def entities_asked(root: Path) -> bool:
    try:
        return _load(root / BASE_FILE, BaseState).entities_asked
    except (OSError, ValueError):
        return False


def note_entities_asked(root: Path) -> None:
    """Remember that the user has answered outside the app what the entities of a base are."""
    file = root / BASE_FILE
    try:
        state = _load(file, BaseState)
    except (OSError, ValueError):  # `_write` sets aside what cannot be read
        state = BaseState()
    if file.parent.is_dir():
        state.entities_asked = True
        _write(file, state, root)


def user_file() -> Path:
    return user_state_folder() / "state.json"


def _load(file: Path, kind: type[State]) -> State:
    return state_file.decode_json(state_file.read_regular_file(file, limit=SIZE_LIMIT), kind)


def _write(file: Path, state: msgspec.Struct, root: Path | None = None) -> None:
    """Write a file of the user, or with `root` that of a base."""
    data = msgspec.json.format(msgspec.json.encode(state), indent=2)
    temporary = ""
    try:
        if root is not None:
            state_folder(root)
        file.parent.mkdir(parents=True, exist_ok=True)
        try:  # what cannot be read now, but may be the next time, ends this with an OSError
            _load(file, type(state))
        except FileNotFoundError:
            pass
        except (state_file.UnusableFile, ValueError):
            state_file.set_aside(file)
        with NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as new:
            temporary = new.name
            new.write(data)
        Path(temporary).replace(file)
        state_file.remove_leaked(file.parent, re.compile(rf"\.{re.escape(file.name)}\.\w{{8}}"))
    except (OSError, WriteFault) as error:
        logger().warning("could not write %s: %s", file, error)
        if temporary:
            with suppress(OSError):
                remove_temporary(Path(temporary))
