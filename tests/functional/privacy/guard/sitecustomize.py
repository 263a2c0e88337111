"""Imported by every Python started with this folder on its path: reports and stops what leaves it.

Calls of Python are seen by an audit hook, which writes a line to the file KBX_GUARD_LOG. On Linux,
native libraries are seen too: the kernel ends the process when it connects anywhere.
"""

import ctypes
import os
import platform
import struct
import sys
from pathlib import Path
from typing import Any

LOG = os.open(os.environ["KBX_GUARD_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
HOME = Path(os.environ["HOME"]).resolve()
ALLOWED = [Path(folder).resolve() for folder in os.environ["KBX_GUARD_ALLOWED"].split(os.pathsep)]
DEVICES, SHARED_MEMORY = Path("/dev"), Path("/dev/shm")
"""Folders of devices, of which the second holds files."""

LOOPBACK = ("127.0.0.1", "::1", "localhost", "")
CONNECTING = ("socket.connect", "socket.sendto")
RESOLVING = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
CHANGING = ("os.remove", "os.rename", "os.link", "os.symlink", "os.truncate", "sqlite3.connect")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
KILL, PERMIT = 0x80000000, 0x7FFF0000
NUMBER, ARCHITECTURE, ADDRESS_LOW, ADDRESS_HIGH = 0, 4, 48, 52
"""Offsets in what the kernel shows a filter; the fifth argument of sendto is an address."""
CALLS = {"x86_64": (0xC000003E, 42, 44), "aarch64": (0xC00000B7, 203, 206)}
"""Machine: its number, and those of connect and sendto."""


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    """Write down a connection, a name lookup or a change of a file outside the allowed folders."""
    if event in CONNECTING and isinstance(arguments[1], tuple):
        report(event, arguments[1])
    elif event in RESOLVING and (arguments[0] or "") not in LOOPBACK:
        report(event, arguments[0])
    elif event == "open":
        path, _, flags = arguments
        if isinstance(path, str | bytes | os.PathLike) and flags & WRITING:
            check(event, path)
    elif event in CHANGING:
        folder = folder_of(arguments[1]) if event == "os.remove" else ""
        for path in arguments[:2]:
            if isinstance(path, str | bytes | os.PathLike):
                check(event, os.path.join(folder, os.fsdecode(path)))  # noqa: PTH118


def check(event: str, path: Any) -> None:
    """Report a path that is in none of the allowed folders."""
    place = Path(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100  # `resolve` would be audited
    is_device = place.is_relative_to(DEVICES) and not place.is_relative_to(SHARED_MEMORY)
    inside = is_device or any(place.is_relative_to(folder) for folder in ALLOWED)
    ours = place.is_relative_to(HOME) and "kbx-tui" in place.relative_to(HOME).parts
    if not inside and not ours and os.fsdecode(path) != ":memory:":
        report(event, place)


def folder_of(descriptor: int) -> str:
    """Return the folder that a removed path is relative to; empty for the working folder."""
    return os.readlink(f"/proc/self/fd/{descriptor}") if descriptor >= 0 else ""  # noqa: PTH115


def report(event: str, what: object) -> None:
    """Write one line to the log, and refuse the call."""
    os.write(LOG, f"{event} {what}\n".encode())
    raise PermissionError(f"the guard refuses {event} {what}")


def guard_native_calls() -> None:
    """Let the kernel end this process and its children when they connect or send anywhere."""
    if sys.platform != "linux" or platform.machine() not in CALLS:
        return
    machine, connect, sendto = CALLS[platform.machine()]
    program = b"".join(
        struct.pack("HBBI", *instruction)
        for instruction in (
            (LOAD, 0, 0, ARCHITECTURE),
            (JUMP_IF_EQUAL, 0, 8, machine),
            (LOAD, 0, 0, NUMBER),
            (JUMP_IF_EQUAL, 5, 0, connect),
            (JUMP_IF_EQUAL, 0, 5, sendto),
            (LOAD, 0, 0, ADDRESS_LOW),
            (JUMP_IF_EQUAL, 0, 2, 0),
            (LOAD, 0, 0, ADDRESS_HIGH),
            (JUMP_IF_EQUAL, 1, 0, 0),
            (RETURN, 0, 0, KILL),
            (RETURN, 0, 0, PERMIT),
        )
    )

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))

    kernel = ctypes.CDLL(None, use_errno=True)
    kernel.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    compiled = Program(len(program) // 8, program)
    kernel.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(compiled), 0, 0)


guard_native_calls()
sys.addaudithook(watch)
