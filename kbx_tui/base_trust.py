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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
from filelock import FileLock

from kbx_tui.config import Settings
from kbx_tui.editing.atomic_write import write_atomically
from kbx_tui.errors import KbxError, NotTrusted
from kbx_tui.index.index_folder import DEFAULT, index_location
from kbx_tui.removal import DEMO_MARKER, STATE_FOLDER
from kbx_tui.user_files import user_state_folder

BUNDLED_MODEL = "bundled"
GIT_COMMITS = "writes.auto_commit"
"""The key of the request to run git."""
OBSIDIAN = "links.open"
"""The key of the request to open documents in Obsidian."""
RERANKER = "search.reranker"
"""The key of the request to run a reranker."""


@dataclass(frozen=True, slots=True)
class TrustRequest:
    """One thing that a base asks for. Trust is granted for exactly this value."""

    key: str
    """The setting, `index.uri`, or `links`."""
    value: str
    """What is granted: the setting, or the folder that it leads to."""
    wish: str
    """What asks for it, for messages: `[index] uri = "s3://notes"`."""
    effect: str
    """What happens when it is granted, continuing "it ...": `keeps the index at s3://notes`."""
    blocks: bool
    """Whether the base cannot be opened without it."""
    without: str = ""
    """What is missing without it, if it does not block: `writes are not committed`."""


def index_elsewhere(root: Path, settings: Settings) -> TrustRequest | None:
    if not settings.index.uri:
        return None
    uri = index_location(root, settings)
    if "://" not in uri:
        uri = os.path.realpath(uri)  # not `resolve`, which raises for links in a circle
        if _is_inside(root, uri):
            return None
    wish = f'[index] uri = "{settings.index.uri}"'
    effect = f"keeps the index, which holds the texts of all pages, at {uri}"
    if "://" in uri:
        effect = f"publishes the index, which holds the texts of all pages, to {uri}, or reads it"
    return TrustRequest("index.uri", uri, wish, effect, blocks=True)


def links_out(root: Path, settings: Settings) -> TrustRequest | None:
    """Return the request to follow links out of the base where this program writes.

    Those are `.kbx` and the files and folders in it and in the index: a clone may hold a link from
    `.kbx/usage.jsonl`, to which lines are appended, to any file of the user. A link to a device, a
    pipe or a socket needs no trust: it leads to no file, and state files are not opened through
    links. Only locks are, for which opening a device may have effects.
    """
    places = [root / STATE_FOLDER, *_entries(root / STATE_FOLDER)]
    index = index_location(root, settings)
    if "://" in index:  # published from the default folder
        index = str(root / DEFAULT)
    if _is_inside(root, os.path.realpath(index)):
        places += _entries(Path(index))
    links = {
        place.relative_to(root).as_posix(): os.path.realpath(place)
        for place in places
        if place.is_symlink()
        and not _is_inside(root, os.path.realpath(place))
        and (place.suffix == ".lock" or not _is_special(place))
    }
    if not links:
        return None
    wish = ", ".join(f"a link from {name} to {target}" for name, target in sorted(links.items()))
    targets = ", ".join(sorted(set(links.values())))
    return TrustRequest("links", targets, wish, f"writes to {targets}", blocks=True)


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


def _is_inside(root: Path, resolved: str) -> bool:
    return Path(resolved).is_relative_to(os.path.realpath(root))


def other_model(root: Path, settings: Settings) -> TrustRequest | None:
    """Return the request for any model but the bundled one, which sends, downloads or runs code."""
    model = settings.embedding.model
    if model == BUNDLED_MODEL:
        return None
    if model.partition("/")[0] == "gemini":
        effect = "sends the texts of all pages and queries to Google"
    elif model.startswith((".", "/", "~")):
        effect = f"runs the model in {model}"
    else:
        effect = f"runs the model {model}, downloaded if it is not a folder"
    return TrustRequest(
        "embedding.model", model, f'[embedding] model = "{model}"', effect, blocks=True
    )


def reranker(root: Path, settings: Settings) -> TrustRequest | None:
    """Return the request for a reranker: a model is run, from any folder that the user can read."""
    model = settings.search.reranker
    if not model:
        return None
    effect = f"runs the model {model} over the first results of each search"
    wish, without = f'[search] reranker = "{model}"', "results are not reranked"
    return TrustRequest(RERANKER, model, wish, effect, blocks=False, without=without)


def git_commits(root: Path, settings: Settings) -> TrustRequest | None:
    """Return the request to run git, whose hooks, filters and signing run programs."""
    if not settings.writes.auto_commit:
        return None
    effect = "runs git after each write, with the hooks and filters that are configured in the base"
    wish, without = "[writes] auto_commit = true", "writes are not committed"
    return TrustRequest(GIT_COMMITS, "true", wish, effect, blocks=False, without=without)


def opening_in_obsidian(root: Path, settings: Settings) -> TrustRequest | None:
    """Return the request to start Obsidian, which runs the plug-ins of its vaults."""
    if settings.links.open != "obsidian":
        return None
    effect = "starts Obsidian where you open a document, with the plug-ins of the vault"
    wish, without = '[links] open = "obsidian"', "documents open in your editor"
    return TrustRequest(OBSIDIAN, "obsidian", wish, effect, blocks=False, without=without)


RULES: tuple[Callable[[Path, Settings], TrustRequest | None], ...] = (
    index_elsewhere,
    links_out,
    other_model,
    reranker,
    git_commits,
    opening_in_obsidian,
)
"""A new setting that reaches outside the base is added here, and nowhere else."""


def refusal(root: Path, requests: Iterable[TrustRequest]) -> NotTrusted:
    wishes = " and ".join(request.wish for request in requests)
    return NotTrusted(
        f"{root} is not trusted with {wishes}: check where it comes from, then run "
        f"`kbx trust {shlex.quote(str(root))}`, or remove that"
    )


def requests_of(root: Path, settings: Settings) -> tuple[TrustRequest, ...]:
    found = (rule(root, settings) for rule in RULES)
    return tuple(request for request in found if request is not None)


LOCK_SECONDS = 10.0


class TrustedBase(msgspec.Struct, omit_defaults=True):
    made_here: bool = False
    granted: dict[str, str] = {}
    declined: dict[str, str] = {}
    """What the user declined, and is not asked again."""


class _TrustFile(msgspec.Struct):
    bases: dict[str, TrustedBase] = {}


def trust_file() -> Path:
    return user_state_folder() / "trust.json"


def trusted_bases() -> Mapping[str, TrustedBase]:
    """Return what is known of each base, by its path. Raises KbxError for a damaged file."""
    return _read_trust().bases


def missing_trust(root: Path, settings: Settings) -> tuple[TrustRequest, ...]:
    """Return what a base asks for and the user has not granted to it.

    Raises NotTrusted if the base cannot be opened without it, and KbxError.
    """
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


def is_declined(root: Path, requests: Iterable[TrustRequest]) -> bool:
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
    def change(base: TrustedBase) -> None:
        base.made_here = True

    _change(root, change)


def revoke(root: Path) -> bool:
    """Forget what was allowed for a base; return whether anything was. Raises as `grant`."""
    with _locked():
        stored = _read_trust()
        known = stored.bases.pop(_key(root), None)
        if known is not None:
            _write_trust(stored)
    return known is not None


def _change(root: Path, change: Callable[[TrustedBase], None]) -> None:
    with _locked():
        stored = _read_trust()
        change(stored.bases.setdefault(_key(root), TrustedBase()))
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
    write_atomically(trust_file(), msgspec.json.format(msgspec.json.encode(stored), indent=2))
