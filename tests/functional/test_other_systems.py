"""The program without what Windows lacks. The real thing was not tried, see docs/installing.md."""

import subprocess
import sys
from pathlib import Path

import pytest

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
from kbx_tui.program import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["--help"], "Find documents, entities first", 0),
        (["search", "rollback plan"], "memory/notes", 0),
        (["memory", "add", "Rows on Sundays", "--entity", "Alice Chen"], "written", 0),
        (["dedup", "memory/people/alice-chen.md"], "exact", 0),
        (["web"], "`kbx web` does not run on Windows; in WSL it does", 2),
        (["mcp", "--http", "--workers", "2"], "--workers above 1 does not run on Windows", 2),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_what_a_system_lacks_is_said_and_the_rest_runs(
    demo_copy: Path, arguments: list[str], said: str, code: int
) -> None:
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            WITHOUT,
            *arguments,
            *["--kb", str(demo_copy)] * (len(arguments) > 1),
        ],
        env=program_environment({}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert said in run.stdout + run.stderr
    assert "Traceback" not in run.stderr
    assert run.returncode == code
