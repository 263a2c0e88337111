"""What the settings of a base ask for that needs trust: the one list of such settings.

A base may come from elsewhere, as a clone or an archive. What its kbx.toml says about searching is
harmless; what is listed here reads or writes outside the base, sends text away, or runs programs.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from kbx_tui.config import Settings
from kbx_tui.editing.state.state_folder import STATE
from kbx_tui.errors import NotTrusted
from kbx_tui.index.index_folder import DEFAULT, index_location

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
    """Return the request for an index outside the base."""
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
    places = [root / STATE, *_entries(root / STATE)]
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
    """Return the error for what a base may not do yet."""
    wishes = " and ".join(request.wish for request in requests)
    return NotTrusted(
        f"{root} is not trusted with {wishes}: check where it comes from, then run "
        f"`kbx trust {shlex.quote(str(root))}`, or remove that"
    )


def requests_of(root: Path, settings: Settings) -> tuple[TrustRequest, ...]:
    """Return everything that the settings of a base ask for and that needs trust."""
    found = (rule(root, settings) for rule in RULES)
    return tuple(request for request in found if request is not None)
