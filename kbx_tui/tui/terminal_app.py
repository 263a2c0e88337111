"""The part of the app that screens know: colours, keys, the terminal, other programs, and messages.

`KbxApp` imports the screens, so they cannot import it. A terminal does not report whether it took a
text for the clipboard (OSC 52): tmux ignores it by default, as do the Linux console and GNU screen.
So programs that report it are tried first.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from textual import events
from textual.app import App, SuspendNotSupported
from textual.color import BLACK, WHITE, Color
from textual.driver import Driver
from textual.filter import LineFilter, Monochrome, NoColor
from textual.geometry import Region
from textual.message import Message
from textual.theme import Theme

from kbx_tui.ending import interrupts_for_child
from kbx_tui.errors import WriteFault
from kbx_tui.safe_text import safe_line
from kbx_tui.system import HAS_UNIX, limit_heaps
from kbx_tui.tui.commands.keymap import EVERYTHING, Keymap, Offer
from kbx_tui.tui.gc_pauses import CHECK_INTERVAL, IdleCollector, limit_automatic_collection
from kbx_tui.user_files import editor_command, logger

NO_COLOR_FILTER, GREY_FILTER = NoColor(), Monochrome()
KBX = Theme(
    name="kbx",
    primary="#5e9bea",
    secondary="#8f8cf0",
    accent="#f2a65a",
    success="#5fc48d",
    warning="#e0bd6a",
    error="#ea7084",
    foreground="#dde0ea",
    background="#11131a",
    surface="#1d212c",
    panel="#262b39",
)


class TerminalApp(App[None]):
    """An app that starts in a given theme and collects garbage while idle."""

    def __init__(self, theme: str, offer: Offer = EVERYTHING) -> None:
        limit_heaps()
        limit_automatic_collection()
        super().__init__()
        self.register_theme(KBX)
        self._use_first_theme(theme if theme in self.available_themes else KBX.name)
        self._first_theme: str | None = self.theme
        """The theme that everything is first styled with; None after the first `refresh_css`."""
        self.collector = IdleCollector()
        self._event_loop: asyncio.AbstractEventLoop | None = None
        self.offer = offer
        self.keymap = Keymap(offer=offer)
        self.root: Path | None = None
        self.tabs_of_several: dict[str, str] = {}
        """The count for the tab of several bases, by its mode; empty if only one base is open."""

    def on_mount(self) -> None:
        self._event_loop = asyncio.get_running_loop()
        self.call_after_refresh(self.set_interval, CHECK_INTERVAL, self.collector.collect_if_idle)
        self.app_resume_signal.subscribe(self, lambda app: self.redraw_screen())

    # Colours.

    def _use_first_theme(self, theme: str) -> None:
        """Use a theme before styles are read; changing it later would style everything twice."""
        self.set_reactive(App.theme, theme)
        self.stylesheet.set_variables(self.get_css_variables())
        self.set_class(self.current_theme.dark, "-dark-mode", update=False)
        self.set_class(not self.current_theme.dark, "-light-mode", update=False)

    def refresh_css(self, animate: bool = True) -> None:
        """Skip the call before the first paint: everything already has the styles of the theme."""
        styled, self._first_theme = self._first_theme, None
        if self.theme != styled:
            super().refresh_css(animate)

    def get_css_variables(self) -> dict[str, str]:
        return legible(super().get_css_variables())

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Use the NO_COLOR filter that suits the theme: the other makes terminal colours black."""
        colorless = NO_COLOR_FILTER if self.native_ansi_color else GREY_FILTER
        return [
            colorless if isinstance(each, NoColor | Monochrome) else each
            for each in super().get_line_filters()
        ]

    # The terminal, and events before any screen sees them.

    def get_driver_class(self) -> type[Driver]:
        kind = super().get_driver_class()
        if HAS_UNIX and kind.__name__ == "LinuxDriver":
            from kbx_tui.tui.terminal_driver import TerminalDriver

            return TerminalDriver
        return kind

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.InputEvent | events.Paste | events.Resize):
            self.collector.note_activity()
        if isinstance(event, events.Paste):  # a clipboard may hold control characters
            lines = map(safe_line, event.text.strip().splitlines())
            keeps_lines = getattr(self.focused, "KEEPS_LINES", False)  # most hold a single line
            event.text = ("\n" if keeps_lines else " ").join(lines)
        await super().on_event(event)

    def stop_from_thread(self) -> bool:
        if self._event_loop is None:
            return False
        self._event_loop.call_soon_threadsafe(self.exit)
        return True

    def redraw_screen(self) -> None:
        """Draw every cell again, after the terminal has changed; not while the app ends."""
        if self.screen_stack:
            self.screen.refresh(Region(0, 0, *self.size))

    # Other programs. `VisitorApp`, in a browser, overrides these.

    async def copy(self, name: str, text: str) -> str:
        # Always, because only the terminal is certain to be on the user's machine.
        self.copy_to_clipboard(text)
        programs, takes_text = clipboard_programs(os.environ), may_take_text(os.environ)
        return await asyncio.to_thread(
            copy_text, name, text, programs, terminal_takes_text=takes_text
        )

    async def save_page(self, query: str, page: str) -> str:
        return await asyncio.to_thread(save_page, query, page, self.root)

    async def edit(self, file: Path, line: int) -> str:
        """Open `file` until the editor ends, with the original NO_COLOR; return why not, or ''."""
        editor = editor_command(os.environ) or installed_editor()
        if not editor:
            return f"no editor is set: {editor_advice(os.environ)}"
        command = edit_command(editor, file, line)
        environment = os.environ | ({"NO_COLOR": "1"} if self.no_color else {})
        reason = ""
        try:
            with self.suspend(), interrupts_for_child():
                try:
                    subprocess.run(command, env=environment, check=False)
                except OSError as error:  # raised further, it would leave the app suspended
                    logger().warning("%s: %s", command, error)
                    reason = f"{editor[0]} cannot be started: {error.strerror or error}"
        except SuspendNotSupported:
            return "an editor cannot be opened in this terminal"
        return reason and f"{reason}; {editor_advice(os.environ)}"

    def open_beside(self, address: str) -> str:
        program, quiet = OPENERS.get(sys.platform, "xdg-open"), subprocess.DEVNULL
        try:
            subprocess.Popen(
                [program, address], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
            )
        except OSError as error:
            return f"{program} cannot be started: {error.strerror or error}"
        return "opened in Obsidian"

    def leave_base(self, target: str) -> str:
        return f"{target} leads to no page of this knowledge base"


NAMES = (
    "looks",
    "frame",
    "explore",
    "reading",
    "dedup",
    "experts",
    "tune",
    "indexing",
    "why_not",
    "recall",
    "comparing",
    "blind",
    "help",
    "welcome",
    "together",
)
PACKAGE = Path(__file__).parent.parent


def styles_folder(package: Path = PACKAGE) -> Path:
    packaged = package / "styles"
    return packaged if packaged.is_dir() else package.parent / "styles"


def stylesheets() -> list[str | PurePath]:
    return [styles_folder() / f"{name}.tcss" for name in NAMES]


_PLUS = "vi vim nvim view gvim vis kak nano pico emacs emacsclient micro joe mg ne jed e3 ed ex"
PLUS_LINE = frozenset(_PLUS.split(" "))
COLON_LINE = frozenset(("hx", "helix", "subl", "zed", "lapce", "amp"))
GOTO = frozenset(("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"))
"""Editors that accept `--goto file:12`, and return at once without `--wait`."""


def edit_command(editor: list[str], file: Path, line: int) -> list[str]:
    name = Path(editor[0]).stem.lower()
    path = str(file)
    if name in GOTO:
        wait = [] if {"-w", "--wait"} & set(editor) else ["--wait"]
        return [*editor, *wait, "--goto", f"{path}:{max(line, 1)}"]
    if line > 0 and name in COLON_LINE:
        return [*editor, f"{path}:{line}"]
    if line > 0 and name in PLUS_LINE:
        return [*editor, f"+{line}", path]
    return [*editor, path]


EDITORS = ("sensible-editor", "nano", "vi", "vim")


def installed_editor() -> list[str]:
    """Return the first of the usual editors that PATH has by an absolute path, or nothing.

    A relative entry of PATH could lead to a program that a base brings along.
    """
    found = (shutil.which(name) for name in EDITORS)
    return [path for path in found if path and Path(path).is_absolute()][:1]


def editor_advice(environment: Mapping[str, str]) -> str:
    """Return how to set an editor that is installed."""
    variable = "VISUAL" if environment.get("VISUAL") else "EDITOR"
    if name := next(filter(shutil.which, ("nano", "vim", "vi", "emacs")), ""):
        return f"`export {variable}={name}`, then start kbx again"
    return f"install one, such as nano, and name it in {variable}"


TIMEOUT_SECONDS = 2.0
DEAF_TERMINALS = ("linux", "dumb", "screen", "vt100", "vt220")
"""Values of TERM without clipboard support; tmux, sometimes `screen`, is handled separately."""
INSTALL = "install wl-copy, xclip or xsel"


@dataclass(frozen=True, slots=True)
class ClipboardProgram:
    place: str
    command: tuple[str, ...]

    def take(self, text: str) -> bool:
        try:
            # Some keep running to provide the text, so they must not hold a pipe to the app.
            ran = subprocess.run(
                self.command,
                input=text.encode("utf-8", "replace"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return ran.returncode == 0


def clipboard_programs(
    environment: Mapping[str, str],
    find: Callable[[str], str | None] = shutil.which,
    platform: str = sys.platform,
) -> list[ClipboardProgram]:
    """Return programs that may take a text, likeliest first; over SSH, only X11 ones and tmux."""
    is_remote = any(environment.get(name) for name in ("SSH_CONNECTION", "SSH_TTY"))
    has_display = bool(environment.get("DISPLAY"))
    has_wayland = bool(environment.get("WAYLAND_DISPLAY")) and not is_remote
    choices = (
        (platform == "darwin" and not is_remote, "pbcopy", ""),
        (has_wayland, "wl-copy", ""),
        (has_display, "xclip", "-selection clipboard"),
        (has_display, "xsel", "--clipboard --input"),
    )
    programs = [
        ClipboardProgram(f"the clipboard ({name})", (name, *arguments.split()))
        for is_usable, name, arguments in choices
        if is_usable and find(name)
    ]
    if environment.get("TMUX") and find("tmux"):
        # With -w, tmux (3.2 or newer) passes the text on to its terminal.
        programs += [
            ClipboardProgram("the tmux buffer", ("tmux", "load-buffer", *flag, "-"))
            for flag in (("-w",), ())
        ]
    return programs


def copy_text(
    name: str, text: str, programs: Iterable[ClipboardProgram], *, terminal_takes_text: bool
) -> str:
    """Copy a text that was also sent to the terminal; return where it is, or why not copied."""
    if place := next((each.place for each in programs if each.take(text)), ""):
        return f"copied {name} to {place}: {text}"
    if terminal_takes_text:
        where = "the terminal's clipboard"
        return f"copied {name} to {where}: {text} (if it does not paste, {INSTALL})"
    return f"not copied: this terminal has no clipboard: {INSTALL}; the {name} is: {text}"


def may_take_text(environment: Mapping[str, str]) -> bool:
    """Return whether the terminal may take a text for the clipboard (OSC 52)."""
    if environment.get("TMUX") or environment.get("STY"):
        return False
    terminal = environment.get("TERM", "")
    is_deaf = any(terminal == name or terminal.startswith(f"{name}-") for name in DEAF_TERMINALS)
    return bool(terminal) and not is_deaf and environment.get("TERM_PROGRAM") != "Apple_Terminal"


OPENERS = {"darwin": "open", "win32": "explorer"}
"""Programs that open an address, by platform; `xdg-open` elsewhere."""


def save_page(query: str, page: str, root: Path | None) -> str:
    from kbx_tui.sharing.shared_search import write_named_page  # seldom needed

    try:
        folder = Path.cwd()
    except OSError as error:
        raise WriteFault("the folder that the app was started in is gone") from error
    file = write_named_page(folder, query, page)
    inside = " of the knowledge base" if root is not None and folder.is_relative_to(root) else ""
    return f"{file.name}, in the folder {folder}{inside}"


class Newest(Message):
    """A message that a newer one of the same class may replace."""

    def can_replace(self, message: Message) -> bool:
        return type(message) is type(self)


@dataclass
class Notice(Message):
    text: str
    yields: bool = False
    """Whether it is left out while another is shown."""


@dataclass
class Failure(Message):
    text: str
    """One line, without control characters."""


@dataclass
class Progress(Newest):
    text: str


class TabsChanged(Newest):
    """What the tabs show about the open base has changed."""


@dataclass
class GoTo(Message):
    """Show a mode of the open base, such as `explore`, `dedup`, `index` or `compare`."""

    mode: str = "explore"
    query: str = ""
    """Query to show in explore; empty for the current one."""
    path: str = ""
    """The document to open in explore, if any, at a 1-based line; 0 means its best passage."""
    line: int = 0
    entity: str = ""
    """Id of the entity whose card to open in explore, if any."""
    merges: tuple[str, str] = ("", "")
    """Ids of a person to keep and of another whose page to merge into theirs, once confirmed."""


@dataclass
class OpenBase(Message):
    root: Path
    query: str = ""
    path: str = ""


LEAST_CONTRAST = 4.5
LEAST_OF_SURFACES = 1.2
CURSOR_SHARE = 0.14
"""Share of the foreground in the background of the row under the cursor, as in `styles/`."""
STEP = 0.05
TEXT_COLORS = (
    "foreground",
    "text-primary",
    "text-secondary",
    "text-accent",
    "text-success",
    "text-warning",
    "text-error",
)
"""The theme variables that `styles/` uses for text, except those computed from these."""


def legible(variables: Mapping[str, str]) -> dict[str, str]:
    """Return theme variables with legible text colours; terminal colours are left unchanged."""
    changed = dict(variables)
    colors = {
        name: Color.parse(variables[name]) for name in ("background", "surface", "foreground")
    }
    if any(color.ansi is not None for color in colors.values()):
        return changed
    foreground = colors.pop("foreground")
    is_dark = luminance(colors["background"]) < luminance(foreground)
    pole = WHITE if is_dark else BLACK
    if not is_dark:
        colors["surface"] = set_off(colors["surface"], colors["background"])
        changed["surface"] = colors["surface"].hex
    for name in TEXT_COLORS:
        color = Color.parse(variables[name])
        while least_contrast(color, foreground, colors.values()) < LEAST_CONTRAST:
            color = color.blend(pole, STEP)
            foreground = color if name == "foreground" else foreground
        changed[name] = color.hex
    return changed


def set_off(surface: Color, background: Color) -> Color:
    """Return a surface with contrast to the background: lighter, else darker."""
    pole = WHITE if contrast(WHITE, background) >= LEAST_OF_SURFACES else BLACK
    shades = (surface.blend(pole, step * STEP) for step in range(round(1 / STEP) + 1))
    return next(shade for shade in shades if contrast(shade, background) >= LEAST_OF_SURFACES)


def least_contrast(color: Color, foreground: Color, backgrounds: Iterable[Color]) -> float:
    shades = [(plain, plain.blend(foreground, CURSOR_SHARE)) for plain in backgrounds]
    return min(contrast(color, shade) for pair in shades for shade in pair)


def contrast(one: Color, other: Color) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(color: Color) -> float:
    red, green, blue = (
        value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4
        for value in color.normalized
    )
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)
