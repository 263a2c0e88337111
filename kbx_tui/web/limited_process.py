"""Runs a module of this package with a limit of memory.

    python -P -m kbx_tui.web.limited_process BYTES MODULE [ARGUMENT ...]

The limit is of private data: what is read of files through mappings is shared and does not count.
"""

from __future__ import annotations

import runpy
import sys


def limit_memory(most: int) -> None:
    """Limit the private data of this process to so many bytes, or to the limit that it has."""
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def main() -> None:
    """Set the limit, then become the module."""
    limit, module, *arguments = sys.argv[1:]
    limit_memory(int(limit))
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
