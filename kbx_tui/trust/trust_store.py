"""What the user allowed each base to do: `trust.json` in the user's state folder.

A base is known by its resolved path, as git's `safe.directory`. A base made on this machine is
trusted in everything; any other only for the values that were granted, so that a change of its
kbx.toml asks again, as with direnv.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
from filelock import FileLock

from kbx_tui.editing.atomic_write import write_atomically
from kbx_tui.errors import KbxError
from kbx_tui.removal import DEMO_MARKER
from kbx_tui.trust.trust_requests import TrustRequest
from kbx_tui.user_folders import user_state_folder

LOCK_SECONDS = 10.0


class TrustedBase(msgspec.Struct, omit_defaults=True):
    """What is allowed for one base."""

    made_here: bool = False
    """Whether everything is."""
    granted: dict[str, str] = {}
    """Value by setting."""
    declined: dict[str, str] = {}
    """What the user declined, and is not asked again."""


class _TrustFile(msgspec.Struct):
    bases: dict[str, TrustedBase] = {}


def trust_file() -> Path:
    """Return the file that lists trusted bases."""
    return user_state_folder() / "trust.json"


def trusted_bases() -> Mapping[str, TrustedBase]:
    """Return what is known of each base, by its path. Raises KbxError for a damaged file."""
    return _read().bases


def ungranted(root: Path, requests: Iterable[TrustRequest]) -> tuple[TrustRequest, ...]:
    """Return those requests that the user has not granted to the base. Raises KbxError."""
    requests = tuple(requests)
    if not requests or _is_demo(root):
        return ()
    known = trusted_bases().get(_key(root), TrustedBase())
    if known.made_here:
        return ()
    return tuple(request for request in requests if known.granted.get(request.key) != request.value)


def is_declined(root: Path, requests: Iterable[TrustRequest]) -> bool:
    """Return whether the user has declined all these requests before."""
    declined = trusted_bases().get(_key(root), TrustedBase()).declined
    return all(declined.get(request.key) == request.value for request in requests)


def grant(root: Path, requests: Iterable[TrustRequest]) -> None:
    """Allow a base what it asks for. Raises KbxError when that cannot be stored."""
    values = {request.key: request.value for request in requests}

    def change(base: TrustedBase) -> None:
        base.granted |= values
        base.declined = {key: value for key, value in base.declined.items() if key not in values}

    _change(root, change)


def decline(root: Path, requests: Iterable[TrustRequest]) -> None:
    """Remember that the user declined these requests. Raises as `grant`."""
    values = {request.key: request.value for request in requests}

    def change(base: TrustedBase) -> None:
        base.declined |= values

    _change(root, change)


def trust_made_here(root: Path) -> None:
    """Trust a base that was made on this machine, whatever its kbx.toml says later."""

    def change(base: TrustedBase) -> None:
        base.made_here = True

    _change(root, change)


def revoke(root: Path) -> bool:
    """Forget what was allowed for a base; return whether anything was. Raises as `grant`."""
    with _locked():
        stored = _read()
        known = stored.bases.pop(_key(root), None)
        if known is not None:
            _write(stored)
    return known is not None


def _change(root: Path, change: Callable[[TrustedBase], None]) -> None:
    with _locked():
        stored = _read()
        change(stored.bases.setdefault(_key(root), TrustedBase()))
        _write(stored)


def _key(root: Path) -> str:
    return str(root.resolve())


def _is_demo(root: Path) -> bool:
    from kbx_tui.demo.install import demo_folder  # only bases that ask for something

    return root.resolve() == demo_folder().resolve() and (root / DEMO_MARKER).is_file()


@contextmanager
def _locked() -> Iterator[None]:
    """Keep other processes from changing the file. Raises KbxError when it cannot be locked."""
    folder = user_state_folder()
    lock = FileLock(folder / "trust.lock", timeout=LOCK_SECONDS)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as error:  # a timeout is one too
        reason = error.strerror or "another process is writing it"
        raise KbxError(f"{trust_file()} cannot be written: {reason}") from error
    try:
        yield
    finally:
        lock.release()


def _read() -> _TrustFile:
    file = trust_file()
    try:
        return msgspec.json.decode(file.read_bytes(), type=_TrustFile)
    except FileNotFoundError:
        return _TrustFile()
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise KbxError(
            f"{file} cannot be read ({error}), so that no base is trusted: repair or delete it, "
            "then run `kbx trust` for each base"
        ) from error


def _write(stored: _TrustFile) -> None:
    write_atomically(trust_file(), msgspec.json.format(msgspec.json.encode(stored), indent=2))
