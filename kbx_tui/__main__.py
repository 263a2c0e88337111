"""The entry point of the program `kbx-tui`, also installed as `kbx`, and `python -m kbx_tui`."""

from __future__ import annotations

import os
import sys

from kbx_tui.ending import install, leave

TYPE_CHECKING = False  # as in `typing`, whose import is slow; nothing slow precedes `install`
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and exit; signals are handled before the commands are imported."""
    _open_closed_streams()
    install()
    from kbx_tui.cli.main import main as run

    try:
        code = run()
    except OSError:  # not even the error can be printed: the terminal is gone
        code = 1
    leave(code)


def _open_closed_streams() -> None:
    """Open the null device for each standard stream that was closed before the start (`>&-`).

    The next file opened would get its number, so that whatever is printed is written into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))


if __name__ == "__main__":
    main()
