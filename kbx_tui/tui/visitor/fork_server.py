"""Starts processes of the app for visitors as copies of itself, in which the program is loaded.

    python -P -m kbx_tui.tui.visitor.fork_server DESCRIPTOR [ARGUMENT ...]

DESCRIPTOR is a socket of the server. It receives requests, JSON objects with `number`, `columns`,
`rows` and `arguments`, each with two sockets: for stdin and stdout of the new process, and for its
stderr.
ARGUMENT and `arguments` are those of `kbx_tui.tui.visitor`.
Each request is answered with its `number` and the `pid` of the process, whose end is reported with
`pid` and `code`.
The fork server ends when its server does.

Copies share the memory of what is loaded until one of them writes to it. No thread of Python runs
here, and no base is opened: LanceDB, which has threads, is loaded by the copies. Linux only.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from typing import Any, NoReturn

MESSAGE_BYTES = 65_536
UNREADABLE = 70
"""Exit code of a copy that fails before the app runs, as in sysexits.h."""


def main() -> None:
    descriptor, *arguments = sys.argv[1:]
    control = socket.socket(fileno=int(descriptor))
    preload()
    wakened, wakening = socket.socketpair()
    wakened.setblocking(False)
    wakening.setblocking(False)
    signal.set_wakeup_fd(wakening.fileno())
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    while True:
        ready, _, _ = select.select([control, wakened], [], [])
        if wakened in ready:
            with suppress(BlockingIOError):
                wakened.recv(MESSAGE_BYTES)
            with suppress(ChildProcessError):
                while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                    _send(control, pid=ended[0], code=os.waitstatus_to_exitcode(ended[1]))
        if control in ready:
            message, sockets, _, _ = socket.recv_fds(control, MESSAGE_BYTES, 2)
            if not message:
                return
            request = json.loads(message)
            pid = os.fork()
            if pid == 0:
                control.close()
                wakened.close()
                wakening.close()
                _become(request, sockets, arguments)
            for each in sockets:
                os.close(each)
            _send(control, number=request["number"], pid=pid)


def preload() -> None:
    """Load what every copy needs, except what starts a Python thread.

    Raises RuntimeError if a thread is running: a process with threads must not be forked.
    """
    with suppress(ImportError):  # most of the time that importing LanceDB takes, but not our own
        import lance_namespace  # noqa: F401

    import kbx_tui.tui.visitor.visitor_app
    import kbx_tui.tui.visitor.visitor_engine  # noqa: F401
    from kbx_tui.embedding.local import preload_bundled_model

    preload_bundled_model()
    if threading.active_count() > 1:
        raise RuntimeError("a thread is running")
    gc.collect()
    gc.freeze()  # a collection would write to the memory of all objects


def _become(request: dict[str, Any], sockets: list[int], arguments: list[str]) -> NoReturn:
    try:
        from kbx_tui.tui.visitor import __main__ as visitor

        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()  # ctrl+c is for the server
        terminal, errors = sockets
        for target in (0, 1):
            os.dup2(terminal, target)
        os.dup2(errors, 2)
        for each in sockets:
            os.close(each)
        os.environ["COLUMNS"], os.environ["ROWS"] = str(request["columns"]), str(request["rows"])
        sys.argv[1:] = [*arguments, *request["arguments"]]
        visitor.main()
    except BaseException:  # otherwise the reason of the failure would be lost
        traceback.print_exc()
    finally:
        os._exit(UNREADABLE)


def _send(control: socket.socket, **fields: int) -> None:
    with suppress(OSError):  # the server is gone, which the next read says too
        control.send(json.dumps(fields).encode())


if __name__ == "__main__":
    main()
