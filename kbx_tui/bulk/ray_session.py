"""Starting Ray on this machine, or connecting to a cluster. Errors of Ray become EngineFault."""

from __future__ import annotations

import logging
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kbx_tui.errors import ConfigError, EngineFault
from kbx_tui.removal import RAY_FOLDER, remove_ray_folder

EXTRA = 'pip install "kbx-tui[ray]"'

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # reports of use to the makers of Ray
    "RAY_DEDUP_LOGS": "1",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # lines that it does not print on stdout: all
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # a warning on stderr about graphics cards
}
PATIENT = {"RAY_gcs_server_port_wait_time_s": "120"}
START_ATTEMPTS = 3
"""How often Ray is started on a machine so busy that it gives up after its 30 s."""
LOOPBACK_ONLY = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Makes Ray listen on 127.0.0.1 on any system; by default it does not on Linux."""
TOKEN_VARIABLES = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN")
"""How processes know each other; without a token given, Ray writes one to the home folder."""

STORE_BYTES = 150_000_000
"""Memory shared by the processes of Ray on this machine, for tasks and results on their way."""

CONNECT_SECONDS, JOIN_SECONDS = 5.0, 30.0
"""Time in which a cluster must answer, and in which it must accept a process."""

JOIN = """
import sys, ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False, logging_level=50)
except Exception as error:
    print(error)
    sys.exit(1)
"""
"""Joins a cluster in a process of its own: Ray tries for minutes, and ends the process if it fails.
"""

SOCKET_FOLDER_LENGTH = 24
"""Longest name of the folder for temporary files in which Ray's sockets can have theirs."""


def require_ray() -> None:
    if find_spec("ray") is None:
        raise EngineFault(f"`--engine ray` needs the package ray: {EXTRA}")


@contextmanager
def ray_session(address: str | None, cpus: int) -> Iterator[Any]:
    """Yield the module `ray`, connected to the cluster at `address`, "auto" or HOST:PORT.

    Without an address Ray is started on this machine, for `cpus` workers, and ended afterwards;
    then it listens on loopback only. A connection that the program has already is used and kept.
    Raises EngineFault.
    """
    require_ray()
    variables = dict(QUIET)
    if not address:
        variables |= LOOPBACK_ONLY | PATIENT
        variables |= zip(TOKEN_VARIABLES, ("token", secrets.token_hex(32)), strict=True)
    if "ray" not in sys.modules:  # it reads some of them when it is imported, some later
        for name, value in variables.items():
            os.environ.setdefault(name, value)
    if address:
        _require_answer(address)
        _require_cluster(address)
    import ray

    if ray.is_initialized():
        yield ray
        return
    folder = None if address else _make_folder()
    options: dict[str, Any] = {"address": address}
    if folder is not None:
        options = {
            "address": "local",
            "num_cpus": cpus,
            "include_dashboard": False,
            "object_store_memory": STORE_BYTES,
            "_temp_dir": str(folder / "ray"),  # Ray lets anyone read it, but not its parent
        }
    try:
        with _own_signals():
            _connect(ray, options)
        yield ray
    finally:
        ray.shutdown()
        if folder is not None:
            remove_ray_folder(folder)


def _connect(ray: Any, options: dict[str, Any]) -> None:
    is_local, attempts = options["address"] == "local", 0
    while True:
        attempts += 1
        try:
            with warnings.catch_warnings():  # Ray forks, but only to run its own programs
                warnings.filterwarnings("ignore", "lancedb fork support", RuntimeWarning)
                ray.init(log_to_driver=False, logging_level=logging.CRITICAL, **options)
            return
        except Exception as error:  # of any kind: ConnectionError, RuntimeError, ValueError
            ray.shutdown()
            if not is_local:
                raise _unusable(options["address"], last_words(error)) from error
            if attempts == START_ATTEMPTS or "timed out during startup" not in str(error):
                raise EngineFault(f"Ray cannot be started ({last_words(error)})") from error


def require_address(address: str) -> None:
    host, colon, port = address.rpartition(":")
    is_number = port.isascii() and port.isdigit() and int(port) < 65_536
    if address != "auto" and not (host and colon and is_number and "/" not in host):
        raise ConfigError(
            "--ray-address must be HOST:PORT, or auto on a machine of a cluster, not "
            + (address or "empty")
        )


def _require_answer(address: str) -> None:
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, UnicodeError) as error:  # UnicodeError: no name of a host
        reason = getattr(error, "strerror", None) or str(error) or "no answer"
        raise EngineFault(f"no Ray cluster answers at {address} ({reason})") from error


def _require_cluster(address: str) -> None:
    try:
        joined = subprocess.run(
            [sys.executable, "-c", JOIN, address],
            capture_output=True,
            timeout=JOIN_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _unusable(address, f"no answer within {JOIN_SECONDS:.0f} s") from None
    if b"InvalidAuthToken" in joined.stderr:
        raise EngineFault(
            f"the Ray cluster at {address} asks for a token: set RAY_AUTH_MODE=token, and "
            "RAY_AUTH_TOKEN unless it is in ~/.ray"
        )
    if joined.returncode:
        raise _unusable(address, last_words(joined.stdout.decode("utf-8", "replace")))


def _unusable(address: str, reason: str) -> EngineFault:
    return EngineFault(
        f"cannot use the Ray cluster at {address} ({reason}): run the command on one of its "
        "machines, with the same versions of Python and Ray"
    )


def _make_folder() -> Path:
    """Return a new folder that only this user can read, for sockets and logs of Ray.

    Raises EngineFault.
    """
    parent = tempfile.gettempdir()
    if len(parent) > SOCKET_FOLDER_LENGTH and os.name == "posix":
        parent = "/tmp"
    try:
        return Path(tempfile.mkdtemp(prefix=RAY_FOLDER, dir=parent))
    except OSError as error:
        raise EngineFault(
            f"no folder for sockets and logs of Ray can be made in {parent} ({error.strerror}): "
            "make room there, or run without --engine ray"
        ) from error


@contextmanager
def _own_signals() -> Iterator[None]:
    """Restore the handler of SIGTERM, which Ray replaces by one of its own."""
    before: Any = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        with suppress(ValueError):  # not on the main thread, where Ray replaces none
            signal.signal(signal.SIGTERM, before)


_CONTROL = re.compile(r"\x1b\[[0-9;]*m")


def last_words(error: BaseException | str) -> str:
    """Return what an error, or its text, says, on one line of at most 160 characters.

    That is its last line where it holds the traceback of another process.
    """
    lines = [line for text in str(error).splitlines() if (line := _CONTROL.sub("", text).strip())]
    if not lines:
        return "no reason was given" if isinstance(error, str) else type(error).__name__
    is_traceback = any("Traceback" in line for line in lines)
    return lines[-1 if is_traceback else 0][:160].rstrip(". ")
