"""The program with a bug."""

from __future__ import annotations

import runpy
import sys

from kbx_tui.tui.app import KbxApp


def run_failing_app(delay: float) -> None:
    """Run the program with an app that fails after `delay` seconds."""

    def fail() -> None:
        raise RuntimeError("a bug")

    ready = KbxApp.on_mount

    def on_mount(self: KbxApp) -> None:
        ready(self)
        self.set_timer(max(delay, 0.01), fail)

    KbxApp.on_mount = on_mount  # type: ignore[method-assign]
    sys.argv[0] = "kbx"
    runpy.run_module("kbx_tui", run_name="__main__")
