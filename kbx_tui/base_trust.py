"""What a base from elsewhere may do only after the user has allowed it, and what was allowed.

A base may come as a clone or an archive. What its kbx.toml says about searching is harmless; what
is listed here reads or writes outside the base, sends text away, or runs programs. `trust.json` in
the user's state folder knows a base by its resolved path, as git's `safe.directory`. A base made on
this machine is trusted in everything; any other only for the values that were granted, so that a
change of its kbx.toml asks again, as with direnv.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
from filelock import FileLock

from kbx_tui.config import Settings
from kbx_tui.editing.state_files import write_atomically
from kbx_tui.embedding import is_loopback, is_remote, server_address
from kbx_tui.errors import KbxError, NotTrusted
from kbx_tui.index.index_folder import DEFAULT, index_location
from kbx_tui.index.ownership import allow, forget, index_id, is_foreign
from kbx_tui.knowledge.vault import MEMORY
from kbx_tui.removal import DEMO_MARKER, STATE_FOLDER
from kbx_tui.settings_file import load_settings
from kbx_tui.user_files import user_state_folder

BUNDLED_MODEL = "bundled"
GIT_COMMITS = "writes.auto_commit"
OBSIDIAN = "links.open"
RERANKER = "search.reranker"
INDEX = "index"
"""Keys of requests without which a base can be opened."""


@dataclass(frozen=True, slots=True)
class TrustRequest:
    """One thing that a base asks for. Trust is granted for exactly this value."""

    key: str
    """The setting, `index.uri`, `index`, or `links`."""
    value: str
    """What is granted: the setting, the folder that it leads to, or the id of an index."""
    wish: str
    """The line of kbx.toml that asks for it, for messages: `[index] uri = "s3://notes"`."""
    effect: str
    """What happens when it is granted, continuing "it ...": `keeps the index at s3://notes`."""
    blocks: bool = False
    """Whether the base cannot be opened without it."""
    without: str = ""
    """What is missing without it, if it does not block: `writes are not committed`."""


def requests_of(root: Path, settings: Settings) -> tuple[TrustRequest, ...]:
    """Return everything that the settings of a base ask for and that needs trust."""
    return tuple(_requests(root, settings))


def _requests(root: Path, settings: Settings) -> Iterator[TrustRequest]:
    """Yield the trust requests: a setting that reaches outside the base needs one here."""
    if settings.index.uri and (uri := _outside(root, index_location(root, settings))):
        wish = f'[index] uri = "{settings.index.uri}"'
        effect = f"keeps the index, which holds the texts of all pages, at {uri}"
        if "://" in uri:
            effect = (
                f"publishes the index, which holds the texts of all pages, to {uri}, or reads it"
            )
        yield TrustRequest("index.uri", uri, wish, effect, blocks=True)
    if links := _links_out(root, settings):
        wish = ", ".join(f"a link from {name} to {leads}" for name, leads in sorted(links.items()))
        targets = ", ".join(sorted(set(links.values())))
        effect = f"reads and writes in {targets}"
        yield TrustRequest("links", targets, wish, effect, blocks=True)
    if (model := settings.embedding.model) != BUNDLED_MODEL:
        effect, value = f"runs the model {model}, downloaded if it is not a folder", model
        wish = f'[embedding] model = "{model}"'
        if is_remote(model):
            address = settings.embedding.address
            server = server_address(model, address)
            value = f"{model} at {server}"
            wish += f' and address = "{address}"' if address else ""
            effect = f"sends the texts of all pages and queries, redacted ones too, to {server}"
            if is_loopback(server):
                effect += ", a program on this machine"
            elif server.startswith("http:"):
                effect += ", unencrypted"
        elif model.startswith((".", "/", "~")):
            effect = f"runs the model in {model}"
        yield TrustRequest("embedding.model", value, wish, effect, blocks=True)
    if model := settings.search.reranker:  # any folder that the user can read
        yield TrustRequest(
            RERANKER,
            model,
            f'[search] reranker = "{model}"',
            f"runs the model {model} over the first results of each search",
            without="results are not reranked",
        )
    folder = _index_folder(root, settings)
    is_published = "://" in settings.index.uri
    if not is_published and (known := index_id(folder)) and is_foreign(folder):
        yield TrustRequest(
            INDEX,
            known,
            f"an index that was not made here, in {folder}",
            "shows the texts in that index as those of your pages",
            without="that index is put aside, and made again from the pages",
        )
    if settings.writes.auto_commit:
        yield TrustRequest(
            GIT_COMMITS,
            "true",
            "[writes] auto_commit = true",
            "runs git after each write, with the hooks and filters that are configured in the base",
            without="writes are not committed",
        )
    if settings.links.open == "obsidian":
        yield TrustRequest(
            OBSIDIAN,
            "obsidian",
            '[links] open = "obsidian"',
            "starts Obsidian where you open a document, with the plug-ins of the vault",
            without="documents open in your editor",
        )


def _outside(root: Path, place: str) -> str:
    """Return an object store, or what a path outside the base leads to; empty for one in it."""
    if "://" in place:
        return place
    resolved = os.path.realpath(place)  # not `resolve`, which raises for links in a circle
    return "" if Path(resolved).is_relative_to(os.path.realpath(root)) else resolved


def _links_out(root: Path, settings: Settings) -> dict[str, str]:
    """Return the links out of the base where this program writes, and where each of them leads.

    Those are `memory`, `.kbx`, the files and folders in it and in the index, and what is beside the
    index with a longer name: a clone may hold a link from `.kbx/usage.jsonl`, to which lines are
    appended, to any file of the user. A link to a device, a
    pipe or a socket needs no trust: it leads to no file, and state files are not opened through
    links. Only locks are, for which opening a device may have effects.
    """
    places = [root / MEMORY, root / STATE_FOLDER, *_entries(root / STATE_FOLDER)]
    index = _index_folder(root, settings)
    if not _outside(root, str(index)):
        beside = _entries(index.parent) if index.name else []
        places += [place for place in beside if place.name.startswith(f"{index.name}.")]
        places += _entries(index)
    return {
        place.relative_to(root).as_posix(): target
        for place in places
        if place.is_symlink()
        and (target := _outside(root, str(place)))
        and (place.suffix == ".lock" or not _is_special(place))
    }


def _index_folder(root: Path, settings: Settings) -> Path:
    index = index_location(root, settings)
    return root / DEFAULT if "://" in index else Path(index)  # published from the default folder


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:  # it does not exist, or is a circle of links
        return []


def _is_special(place: Path) -> bool:
    """Return whether a link leads to something that is neither a file nor a folder."""
    try:
        mode = place.stat().st_mode
    except OSError:  # it leads nowhere, where a file could be made
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def refusal(root: Path, requests: Iterable[TrustRequest]) -> NotTrusted:
    wishes = " and ".join(request.wish for request in requests)
    return NotTrusted(
        f"{root} is not trusted with {wishes}: check where it comes from, then run "
        f"`kbx trust {shlex.quote(str(root))}`, or remove that"
    )


LOCK_SECONDS = 10.0


class TrustedBase(msgspec.Struct, omit_defaults=True):
    made_here: bool = False
    granted: dict[str, str] = {}
    declined: dict[str, str] = {}
    """What the user declined, by key: a request with this value is not put to them again."""


class _TrustFile(msgspec.Struct):
    bases: dict[str, TrustedBase] = {}


def trust_file() -> Path:
    return user_state_folder() / "trust.json"


def trusted_bases() -> Mapping[str, TrustedBase]:
    """Return what is known of each base, by its path. Raises KbxError for a damaged file."""
    return _read_trust().bases


def missing_trust(root: Path, settings: Settings) -> tuple[TrustRequest, ...]:
    """Return what is not granted to a base. Raises NotTrusted if it cannot be opened without."""
    missing = ungranted(root, requests_of(root, settings))
    if blocking := [request for request in missing if request.blocks]:
        raise refusal(root, blocking)
    return missing


def ungranted(root: Path, requests: Iterable[TrustRequest]) -> tuple[TrustRequest, ...]:
    """Return those requests that the user has not granted to the base. Raises KbxError."""
    requests = tuple(requests)
    if not requests or _is_demo(root):
        return ()
    known = trusted_bases().get(_key(root), TrustedBase())
    if known.made_here:
        return ()
    return tuple(request for request in requests if known.granted.get(request.key) != request.value)


def trust_for_now(root: Path, settings: Settings) -> None:
    """Let this process open the index of a base, whoever made it."""
    allow(_index_folder(root, settings), lasting=False)


def is_declined(root: Path, requests: Iterable[TrustRequest]) -> bool:
    declined = trusted_bases().get(_key(root), TrustedBase()).declined
    return all(declined.get(request.key) == request.value for request in requests)


def grant(root: Path, requests: Iterable[TrustRequest]) -> None:
    """Allow a base what it asks for. Raises KbxError when that cannot be stored."""
    values = {request.key: request.value for request in requests}
    if known := values.get(INDEX):
        folder = _index_folder(root, load_settings(root))
        if index_id(folder) == known:  # else it was replaced meanwhile
            allow(folder)
    with _changing(root) as base:
        base.granted |= values
        base.declined = {key: value for key, value in base.declined.items() if key not in values}


def decline(root: Path, requests: Iterable[TrustRequest]) -> None:
    """Remember that the user declined these requests. Raises as `grant`."""
    with _changing(root) as base:
        base.declined |= {request.key: request.value for request in requests}


def trust_made_here(root: Path) -> None:
    """Trust a base that was made here, whatever its kbx.toml says later. Raises as `grant`."""
    with _changing(root) as base:
        base.made_here = True


def revoke(root: Path) -> bool:
    """Forget what was allowed for a base; return whether anything was. Raises as `grant`."""
    with _locked():
        stored = _read_trust()
        known = stored.bases.pop(_key(root), None)
        if known is not None:
            if index := known.granted.get(INDEX):
                forget(index)
            _write_trust(stored)
    return known is not None


@contextmanager
def _changing(root: Path) -> Iterator[TrustedBase]:
    with _locked():
        stored = _read_trust()
        yield stored.bases.setdefault(_key(root), TrustedBase())
        _write_trust(stored)


def _key(root: Path) -> str:
    return str(root.resolve())


def _is_demo(root: Path) -> bool:
    from kbx_tui.demo import demo_folder  # only bases that ask for something

    return root.resolve() == demo_folder().resolve() and (root / DEMO_MARKER).is_file()


@contextmanager
def _locked() -> Iterator[None]:
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


def _read_trust() -> _TrustFile:
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


def _write_trust(stored: _TrustFile) -> None:
    try:
        data = msgspec.json.encode(stored)
    except UnicodeEncodeError as error:
        reason = "a path or setting is not valid text"
        raise KbxError(f"{trust_file()} cannot be written: {reason}") from error
    write_atomically(trust_file(), msgspec.json.format(data, indent=2))
