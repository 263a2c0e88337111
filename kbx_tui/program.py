"""The entry of the program `kbx-tui`, also installed as `kbx`."""

from __future__ import annotations

from kbx_tui.ending import install, leave

TYPE_CHECKING = False  # known to type checkers; nothing slow is imported before `install`
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and exit; ready for signals before the commands are imported."""
    install()
    from kbx_tui.cli.main import main as run

    try:
        code = run()
    except OSError:  # not even the error can be printed: the terminal is gone
        code = 1
    leave(code)
