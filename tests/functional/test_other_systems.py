"""The program without what Windows lacks. The real thing was not tried, see docs/installing.md."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kbx_tui.demo import FOLDER_VARIABLE
from tests.command_line import program_environment

WITHOUT = """
import os, select, signal, sys
import filelock, mcp.server.stdio, platformdirs  # these go by sys.platform
for name in ("fcntl", "termios", "tty", "pty", "resource", "pwd", "grp", "syslog"):
    sys.modules[name] = None
for module, names in {
    os: "fork forkpty getuid geteuid getgid chown fchown killpg setsid mkfifo sysconf "
    "sched_getaffinity posix_fallocate O_NOFOLLOW O_DIRECTORY O_NOCTTY O_CLOEXEC",
    signal: "SIGHUP SIGKILL SIGCHLD SIGSTOP SIGCONT SIGTSTP SIGWINCH SIGALRM SIGPIPE SIGUSR1 alarm",
    select: "poll epoll",
}.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
"""
MAIN = "from kbx_tui.__main__ import main; main()"
MODULES = """
from importlib import import_module
from pkgutil import walk_packages
import kbx_tui
for module in walk_packages(kbx_tui.__path__, "kbx_tui."):
    if not module.name.endswith("__main__"):
        try:
            import_module(module.name)
        except Exception:
            print(module.name)
"""
ONLY_UNIX = {
    "kbx_tui.tui.terminal_driver",
    "kbx_tui.web.app_process",
    "kbx_tui.web.browser_session",
    "kbx_tui.web.serving",
}
"""Modules that are loaded only where there is a terminal of Unix, and by `kbx web`."""


def run_without(
    code: str, demo: Path, arguments: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    driver = "textual.drivers.headless_driver:HeadlessDriver"
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + code, *arguments],
        env=program_environment({"TEXTUAL_DRIVER": driver, FOLDER_VARIABLE: str(demo)}),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["--help"], "Find documents, entities first", 0),
        (["search", "rollback plan"], "memory/notes", 0),
        (["memory", "add", "Rows on Sundays", "--entity", "Alice Chen"], "written", 0),
        (["dedup", "memory/people/alice-chen.md"], "exact", 0),
        (["demo", "--smoke"], "app composed of", 0),
        (["web"], "`kbx web` does not run on Windows; in WSL it does", 2),
        (["mcp", "--http", "--workers", "2"], "--workers above 1 does not run on Windows", 2),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_what_a_system_lacks_is_said_and_the_rest_runs(
    demo_copy: Path, arguments: list[str], said: str, code: int
) -> None:
    base = ["--kb", str(demo_copy)] if len(arguments) > 1 else []
    run = run_without(MAIN, demo_copy.with_name("sample"), [*arguments, *base])
    assert said in run.stdout + run.stderr
    assert "Traceback" not in run.stderr
    assert run.returncode == code


@pytest.mark.slow
def test_every_other_module_can_be_imported(tmp_path: Path) -> None:
    assert set(run_without(MODULES, tmp_path).stdout.split()) == ONLY_UNIX
