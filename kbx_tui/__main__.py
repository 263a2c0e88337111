"""`python -m kbx_tui` is `kbx`."""

import sys

from kbx_tui.cli.main import main

sys.exit(main())
