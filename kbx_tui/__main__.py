"""Entry point for `python -m kbx_tui`."""

from kbx_tui.program import main

main()
