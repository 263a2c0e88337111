"""The entry point of the program `kbx-tui`, also installed as `kbx`."""

from __future__ import annotations

from kbx_tui.ending import install, leave

TYPE_CHECKING = False  # as in `typing`, whose import is slow; nothing slow precedes `install`
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and exit; signals are handled before the commands are imported."""
    install()
    from kbx_tui.cli.main import main as run

    try:
        code = run()
    except OSError:  # not even the error can be printed: the terminal is gone
        code = 1
    leave(code)
