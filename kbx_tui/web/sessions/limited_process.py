"""Runs a module of this package with a limit of memory.

    python -P -m kbx_tui.web.sessions.limited_process BYTES MODULE [ARGUMENT ...]

The limit is of private data: what is read of files through mappings is shared and does not count.
"""

from __future__ import annotations

import runpy
import sys


def main() -> None:
    """Set the limit, then become the module."""
    limit, module, *arguments = sys.argv[1:]
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = int(limit) if hard == resource.RLIM_INFINITY else min(int(limit), hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
