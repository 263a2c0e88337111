"""Ways in which a state file can be damaged, or be something else than a file."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

HUGE = 2 * 1024 * 1024 * 1024
"""Size of a sparse file, above every limit."""


def content(data: bytes) -> Callable[[Path], None]:
    return lambda file: _write(file, data)


def _write(file: Path, data: bytes) -> None:
    file.write_bytes(data)


def cut_off(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: max(1, len(data) // 2)])


def one_bad_byte(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF  # it may be 0xFF, as in metadata of LanceDB
    file.write_bytes(data)


def zeros(file: Path) -> None:
    file.write_bytes(b"\0" * max(64, file.stat().st_size))


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()
    (file / "inside").write_text("kept", encoding="utf-8")


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def listening_socket(file: Path) -> None:
    file.unlink()
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(file.parent)  # the path of a socket may have 107 bytes
        try:
            server.bind(file.name)
        finally:
            os.chdir(here)


def link(file: Path) -> None:
    target = file.parent / "elsewhere"
    target.write_bytes(b"not ours")
    file.unlink()
    file.symlink_to(target)


def endless_device(file: Path) -> None:
    file.unlink()
    file.symlink_to("/dev/zero")


def too_large(file: Path) -> None:
    with file.open("r+b") as stream:
        stream.truncate(HUGE)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "empty": content(b""),
    "cut off": cut_off,
    "one bad byte": one_bad_byte,
    "zeros": zeros,
    "text": content(b"nonsense\n"),
    "a list": content(b"[1, 2]\n"),
    "wrong types": content(b'{"id": 5, "path": [], "number": "x", "theme": 7, "queries": {}}\n'),
    "deep": content(b'{"path":' + b"[" * 100_000 + b"\n"),
    "same key twice": content(b'{"path": "a", "at": 1, "path": "b", "id": "c", "id": "d"}\n'),
    "huge numbers": content(b'{"path": "a", "at": 1e999, "number": ' + b"9" * 5000 + b"}\n"),
    "a folder": folder,
    "a pipe": pipe,
    "a socket": listening_socket,
    "a link": link,
    "a device": endless_device,
    "too large": too_large,
}


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Fail instead of waiting for ever, as for the writer of a pipe."""

    def fail(*_: object) -> None:
        raise TimeoutError(f"still running after {seconds} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
