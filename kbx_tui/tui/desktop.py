"""How the app uses other programs: the editor, the clipboard, the opener of addresses.

A terminal does not answer whether it took a text (OSC 52): tmux ignores it by default, as do the
Linux console and GNU screen. So programs that answer come first.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from kbx_tui.ending import interrupts_for_child
from kbx_tui.errors import WriteFault
from kbx_tui.user_files import logger

_PLUS = "vi vim nvim view gvim vis kak nano pico emacs emacsclient micro joe mg ne jed e3 ed ex"
PLUS_LINE = frozenset(_PLUS.split(" "))
"""Editors that accept `+12 file`."""
COLON_LINE = frozenset(("hx", "helix", "subl", "zed", "lapce", "amp"))
"""Editors that accept `file:12`."""
GOTO = frozenset(("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"))
"""Editors that accept `--goto file:12`, and return at once without `--wait`."""


def open_editor(app: App[Any], file: Path, line: int, *, no_color: bool) -> str:
    """Open `file` and wait until the editor ends; return why it was not opened, else nothing.

    `no_color` restores for the editor what Textual removes from the environment.
    """
    editor = editor_command(os.environ)
    if not editor:
        return "no editor is set: `export EDITOR=nano`, then start kbx again"
    command = edit_command(editor, file, line)
    environment = os.environ | ({"NO_COLOR": "1"} if no_color else {})
    try:
        with app.suspend(), interrupts_for_child():
            subprocess.run(command, env=environment, check=False)
    except SuspendNotSupported:
        return "an editor cannot be opened in this terminal"
    except OSError as error:
        logger().warning("%s: %s", command, error)
        return f"{editor[0]} cannot be started: {error.strerror or error}"
    return ""


def editor_command(environment: Mapping[str, str]) -> list[str]:
    """Return `$VISUAL`, else `$EDITOR`, split into words; empty if neither is a command."""
    for name in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(environment.get(name, ""))
        except ValueError:  # an unclosed quote
            continue
        if words:
            return words
    return []


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


TIMEOUT_SECONDS = 2.0
DEAF_TERMINALS = ("linux", "dumb", "screen", "vt100", "vt220")
"""Values of TERM whose terminals take no text. Some tmux say `screen`; they take it another way."""
INSTALL = "install wl-copy, xclip or xsel"


@dataclass(frozen=True, slots=True)
class ClipboardProgram:
    """A program that takes the text on its input."""

    place: str
    """Where the text then is: `the clipboard`."""
    command: tuple[str, ...]

    def take(self, text: str) -> bool:
        try:
            # Some keep running to hand the text out, so they must not hold a pipe to the app.
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
    """Return the programs that may take a text here, the likeliest first.

    On another machine (SSH) only those that reach the user's own screen: a forwarded display and
    tmux.
    """
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
        # With -w, tmux (3.2 or newer) passes the text on to the terminal it runs in.
        programs += [
            ClipboardProgram("the tmux buffer", ("tmux", "load-buffer", *flag, "-"))
            for flag in (("-w",), ())
        ]
    return programs


def copy_text(name: str, text: str, environment: Mapping[str, str]) -> str:
    """Copy a text called `name`; return a sentence that says where it is, or why nowhere.

    The terminal has been sent the text already; whether it took it, nobody knows.
    """
    place, remark = copy(
        text,
        clipboard_programs(environment),
        terminal_takes_text=may_take_text(environment),
    )
    if not place:
        return f"not copied: {remark}; the {name} is: {text}"
    return f"copied {name} to {place}: {text}" + (f" ({remark})" if remark else "")


def copy(
    text: str,
    programs: list[ClipboardProgram],
    *,
    terminal_takes_text: bool,
) -> tuple[str, str]:
    """Copy a text; return where it is, empty if nowhere, and a remark on that.

    `terminal_takes_text` says whether the terminal was sent the text and may have taken it.
    """
    for program in programs:
        if program.take(text):
            return program.place, ""
    if terminal_takes_text:
        return "the terminal's clipboard", f"if it does not paste, {INSTALL}"
    return "", f"this terminal has no clipboard: {INSTALL}"


def may_take_text(environment: Mapping[str, str]) -> bool:
    """Return whether the terminal may take a text for the clipboard (OSC 52)."""
    if environment.get("TMUX") or environment.get("STY"):
        return False
    terminal = environment.get("TERM", "")
    is_deaf = any(terminal == name or terminal.startswith(f"{name}-") for name in DEAF_TERMINALS)
    return bool(terminal) and not is_deaf and environment.get("TERM_PROGRAM") != "Apple_Terminal"


OPENERS = {"darwin": "open", "win32": "explorer"}
"""Programs that open an address, by platform; `xdg-open` elsewhere."""


def open_address(address: str) -> str:
    program, quiet = OPENERS.get(sys.platform, "xdg-open"), subprocess.DEVNULL
    try:
        subprocess.Popen(
            [program, address], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )
    except OSError as error:
        return f"{program} cannot be started: {error.strerror or error}"
    return "opened in Obsidian"


def save_page(query: str, page: str, root: Path | None) -> str:
    """Write a page to a new file named after the query; return file and folder in words.

    `root` is that of the open base. Raises WriteFault.
    """
    from kbx_tui.sharing.page_file import write_named_page  # seldom needed

    try:
        folder = Path.cwd()
    except OSError as error:
        raise WriteFault("the folder that the app was started in is gone") from error
    file = write_named_page(folder, query, page)
    inside = " of the knowledge base" if root is not None and folder.is_relative_to(root) else ""
    return f"{file.name}, in the folder {folder}{inside}"
