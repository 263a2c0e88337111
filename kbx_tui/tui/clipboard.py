"""Ways to the clipboard: the programs of the desktop, tmux, and the terminal itself.

A terminal does not answer whether it took a text (OSC 52): tmux ignores it by default, as do the
Linux console and GNU screen. So programs that answer come first.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

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
        """Return whether the program took the text."""
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
