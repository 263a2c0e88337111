"""How a process that uses `kbx_tui.ending` ends. Each test runs one, as the exit ends it."""

import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kbx_tui import ending
from kbx_tui.ending import LIMIT_SECONDS
from tests.command_line import program_environment

ENDS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
PATIENCE = 30.0
"""Seconds to wait for a process on a busy machine."""
START = """
import os, signal, sys, threading, time
from kbx_tui import ending
ending.install()
def ready():
    print("ready", flush=True)
"""


@contextmanager
def program(code: str, setup: str = "") -> Iterator[subprocess.Popen[str]]:
    """Run code in a process of its own, until it says that it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", f"{textwrap.dedent(setup)}{START}{textwrap.dedent(code)}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=program_environment({}),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def end_of(process: subprocess.Popen[str], number: int = 0) -> tuple[int, str, str]:
    """Send a signal, if any, and return exit code, output and messages."""
    if number:
        process.send_signal(number)
    assert process.stdout is not None
    assert process.stderr is not None
    limit = threading.Timer(PATIENCE, process.kill)  # reading knows no limit
    limit.start()
    out, err = process.stdout.read(), process.stderr.read()
    limit.cancel()
    return process.wait(PATIENCE), out, err


@pytest.mark.parametrize("number", ENDS)
def test_signal_ends_the_process_with_the_code_of_shells(number: signal.Signals) -> None:
    with program("ready(); time.sleep(60)") as process:
        code, _, err = end_of(process, number)
    assert code == 128 + number
    assert err == ("kbx: interrupted\n" if number == signal.SIGINT else "")


@pytest.mark.parametrize("number", ENDS)
def test_signal_ends_a_main_thread_that_never_comes_back_from_native_code(
    number: signal.Signals,
) -> None:
    code = """
        import ctypes
        signal.siginterrupt(signal.SIGINT, False)
        mutex = ctypes.create_string_buffer(64)
        library = ctypes.CDLL(None)
        library.pthread_mutex_lock(mutex)
        ready()
        library.pthread_mutex_lock(mutex)  # for ever
    """
    with program(code) as process:
        assert end_of(process, number)[0] == 128 + number


def test_signal_ends_two_threads_that_wait_for_each_other_to_import(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("modules")
    (folder / "slow_module.py").write_text("import threading; threading.Event().wait()")
    code = f"""
        sys.path.insert(0, {str(folder)!r})
        threading.Thread(target=lambda: __import__("slow_module")).start()
        while "slow_module" not in sys.modules:
            time.sleep(0.01)
        ready()
        import slow_module
    """
    with program(code) as process:
        assert end_of(process, signal.SIGINT)[0] == 130


@pytest.mark.parametrize("thread", ["main", "other"])
def test_write_in_progress_is_finished_before_a_signal_ends_the_process(thread: str) -> None:
    code = f"""
        def write():
            with ending.unfinished_write():
                ready()
                time.sleep(0.5)
                print("written", flush=True)
        if {thread!r} == "main":
            write()
        else:
            threading.Thread(target=write).start()
        time.sleep(60)
    """
    with program(code) as process:
        code_, out, _ = end_of(process, signal.SIGTERM)
    assert (code_, out) == (143, "written\n")


def test_no_write_begins_once_the_process_exits() -> None:
    code = """
        def write():
            while True:
                with ending.unfinished_write(), ending.unfinished_write():
                    os.write(1, b"<")
                    time.sleep(0.001)
                    os.write(1, b">")
        ready()
        threading.Thread(target=write).start()
        time.sleep(60)
    """
    with program(code) as process:
        code_, out, _ = end_of(process, signal.SIGTERM)
    assert code_ == 143
    assert out.replace("<>", "") == ""


def test_signal_while_the_handlers_are_set_up_ends_the_process_without_a_traceback() -> None:
    setup = """
        import signal, threading
        start = threading.Thread.start
        def interrupted_start(thread):
            signal.raise_signal(signal.SIGINT)
            start(thread)
        threading.Thread.start = interrupted_start
    """
    code = f"{textwrap.dedent(setup)}{START}time.sleep(60)"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=program_environment({}),
        timeout=PATIENCE,
    )
    assert (ran.returncode, ran.stderr) == (130, "kbx: interrupted\n")


def test_write_that_never_ends_is_given_up() -> None:
    code = """
        ending.LIMIT_SECONDS = 0.2
        with ending.unfinished_write():
            ready()
            time.sleep(60)
    """
    with program(code) as process:
        assert end_of(process, signal.SIGINT)[0] == 130


def test_registered_stop_may_end_the_program_by_itself() -> None:
    code = """
        stopped = threading.Event()
        with ending.on_signal(stopped.set, "not in time"):
            ready()
            stopped.wait()
        print("tidied up")
        ending.leave(0)
    """
    with program(code) as process:
        assert end_of(process, signal.SIGINT) == (130, "tidied up\n", "")


@pytest.mark.parametrize("stop", ["lambda: None", "lambda: False", "lambda: 1 / 0"])
def test_program_that_does_not_stop_is_ended(stop: str) -> None:
    code = f"""
        ending.LIMIT_SECONDS = 0.2
        with ending.on_signal({stop}, "ended anyway"):
            ready()
            time.sleep(60)
    """
    with program(code) as process:
        assert end_of(process, signal.SIGINT) == (130, "", "kbx: ended anyway\n")


def test_terminal_is_restored_when_a_signal_ends_the_process() -> None:
    code = """
        ending.restore_with(lambda: os.write(1, b"restored"))
        ready()
        time.sleep(60)
    """
    with program(code) as process:
        assert end_of(process, signal.SIGHUP)[:2] == (129, "restored")


@pytest.mark.parametrize("number", ENDS)
def test_ignored_signal_stays_ignored(number: signal.Signals) -> None:
    setup = f"import signal; signal.signal({number}, signal.SIG_IGN)"
    with program("ready(); time.sleep(0.5); ending.leave(3)", setup) as process:
        assert end_of(process, number)[0] == 3


def test_leaving_prints_what_was_written_and_waits_for_no_thread() -> None:
    code = """
        threading.Thread(target=time.sleep, args=(60,)).start()
        ready()
        print("x" * 100_000)
        ending.leave(4)
    """
    with program(code) as process:
        code_, out, _ = end_of(process)
    assert (code_, len(out)) == (4, 100_001)


def test_signal_that_comes_while_the_process_leaves_decides_the_code() -> None:
    code = """
        ready()
        signal.raise_signal(signal.SIGTERM)
        ending.leave(0)
    """
    with program(code) as process:
        assert end_of(process)[0] == 143


def test_end_that_does_not_come_is_forced_with_its_code() -> None:
    code = """
        ending.LIMIT_SECONDS = 0.2
        ending.end_soon(0)
        ready()
        time.sleep(60)
    """
    with program(code) as process:
        assert end_of(process)[0] == 0


def test_lost_terminal_ends_the_process_even_if_it_ignores_the_signal() -> None:
    setup = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    code = """
        ready()
        ending.end_by(signal.SIGHUP)
        time.sleep(60)
    """
    with program(code, setup) as process:
        assert end_of(process)[0] == 129


@pytest.mark.parametrize(("code", "expected"), [(0, 0), (1, 129)])
def test_failure_without_the_terminal_counts_as_hang_up_even_before_its_signal(
    code: int, expected: int
) -> None:
    # A terminal that does not control the process: no signal comes when it goes.
    setup = """
        import os
        main_end, terminal = os.openpty()
        os.dup2(terminal, 0)
        os.close(terminal)
    """
    with program(f"ready(); os.close(main_end); ending.leave({code})", setup) as process:
        assert end_of(process)[0] == expected


def test_failure_with_the_terminal_there_keeps_its_code() -> None:
    setup = "import os; main_end, terminal = os.openpty(); os.dup2(terminal, 0)"
    with program("ready(); os.close(0); ending.leave(1)", setup) as process:
        assert end_of(process)[0] == 1


WAITING_FOR_INPUT = """
    with ending.end_with_input():
        ready()
        time.sleep({seconds})
    print(sys.stdin.read(), end="")
    ending.leave(3)
"""


def test_server_that_starts_ends_with_an_input_that_asks_nothing() -> None:
    with program(WAITING_FOR_INPUT.format(seconds=60)) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert end_of(process)[:2] == (0, "")


@pytest.mark.parametrize("is_closed_while_starting", [True, False])
def test_server_that_starts_keeps_what_was_sent_before_the_end_of_the_input(
    is_closed_while_starting: bool,
) -> None:
    seconds = 1.0 if is_closed_while_starting else 0.0
    with program(WAITING_FOR_INPUT.format(seconds=seconds)) as process:
        assert process.stdin is not None
        process.stdin.write("a request")
        process.stdin.close()
        assert end_of(process)[:2] == (3, "a request")


def test_ctrl_c_is_left_to_a_child_and_still_ends_the_process_afterwards() -> None:
    code = """
        with ending.interrupts_for_child():
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.2)
        ready()
        time.sleep(60)
    """
    with program(code) as process:
        assert end_of(process, signal.SIGINT)[0] == 130


def test_child_can_be_interrupted() -> None:
    code = """
        import subprocess
        child = subprocess.Popen(["sleep", "60"])
        child.send_signal(signal.SIGINT)
        child.wait()
        ready()
        print(child.returncode)
        ending.leave(0)
    """
    with program(code) as process:
        assert end_of(process)[:2] == (0, "-2\n")


def test_without_the_program_nothing_is_taken_over() -> None:
    handlers = [signal.getsignal(number) for number in ENDS]
    ending.end_by(signal.SIGTERM)
    ending.end_soon(1)
    with ending.unfinished_write(), ending.on_signal(lambda: None), ending.end_with_input():
        assert not ending.is_ending()
    assert [signal.getsignal(number) for number in ENDS] == handlers
    assert LIMIT_SECONDS < 3
