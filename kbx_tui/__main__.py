"""Runs `kbx` as `python -m kbx_tui`."""

from kbx_tui.program import main

main()
