"""Runs `kbx` as `python -m kbx_tui`."""

import sys

from kbx_tui.cli.main import main

sys.exit(main())
