"""Models fastembed knows by name: from its cache, else from the hub, with a quick plain no."""

from __future__ import annotations

import difflib
import logging
import threading
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from kbx_tui.embedding.error_text import OFFLINE_HINT, brief
from kbx_tui.embedding.source import ModelSource
from kbx_tui.errors import EmbeddingError

Listing = dict[str, Any]
"""One row of ``TextEmbedding.list_supported_models()``."""

PATIENCE = 2.0
"""Seconds the hub has to answer; with the time fastembed takes to import, half of the promise."""


def from_fastembed(name: str, cache_dir: Path | None = None) -> ModelSource:
    """Return the model fastembed lists as ``name``, downloading it unless it is in the cache.

    ``cache_dir`` defaults to fastembed's own ($FASTEMBED_CACHE_PATH, else a temporary folder).
    Raises EmbeddingError: an unknown name at once, a hub that cannot be had within 5 seconds.
    """
    from fastembed.common.utils import define_cache_dir

    hush()
    listing = _listing(name)
    cache = str(define_cache_dir(str(cache_dir) if cache_dir else None))
    return ModelSource(
        name=listing["model"],
        folder=_cached(listing, cache) or _download(listing, cache),
        dimension=listing["dim"],
        known_as=listing["model"],
        model_file=listing["model_file"],
    )


def hush() -> None:
    """Stop fastembed and the hub's client from writing to stderr, over a terminal app."""
    from huggingface_hub.utils.tqdm import disable_progress_bars
    from loguru import logger

    logger.disable("fastembed")
    logging.getLogger("huggingface_hub").setLevel(logging.CRITICAL)
    disable_progress_bars()


def _listing(name: str) -> Listing:
    from fastembed import TextEmbedding

    rows: list[Listing] = TextEmbedding.list_supported_models()
    known = {row["model"].lower(): row for row in rows}
    if (found := known.get(name.lower())) is not None:
        return found
    near = difflib.get_close_matches(name.lower(), known, n=1)
    guess = f", the nearest is {known[near[0]]['model']!r}" if near else ""
    raise EmbeddingError(
        f"{name!r} is neither a folder nor a model fastembed knows{guess}; {OFFLINE_HINT}"
    )


def _cached(listing: Listing, cache: str) -> Path | None:
    try:
        return _fetch(listing, cache, local_files_only=True)
    except Exception:  # whatever is wrong with the cache, downloading is the remedy
        return None


def _download(listing: Listing, cache: str) -> Path:
    try:
        _require_answer(listing["sources"]["hf"])
        return _fetch(listing, cache, local_files_only=False)
    except Exception as error:  # huggingface_hub's, httpx's, OSError: one sentence for all
        failed = f"the model {listing['model']!r} could not be downloaded ({brief(error)})"
        raise EmbeddingError(f"{failed}; {OFFLINE_HINT}") from error


def _fetch(listing: Listing, cache: str, *, local_files_only: bool) -> Path:
    # Not TextEmbedding(name), whose three attempts sleep 39 s between them before they fail.
    from fastembed import TextEmbedding

    wanted = [listing["model_file"], *listing["additional_files"]]
    folder = Path(
        TextEmbedding.download_files_from_huggingface(
            listing["sources"]["hf"], cache, wanted, local_files_only=local_files_only
        )
    )
    for file in wanted:
        if not (folder / file).exists():
            raise FileNotFoundError(f"{file} is missing in {folder}")
    return folder


def _require_answer(repository: str) -> None:
    """Raise unless the hub knows ``repository`` and says so within PATIENCE seconds.

    In a thread of its own, because no timeout of the client covers a name lookup that hangs.
    """
    from huggingface_hub import constants, model_info

    answers: SimpleQueue[Exception | None] = SimpleQueue()

    def ask() -> None:
        try:
            model_info(repository, timeout=PATIENCE)
            answers.put(None)
        except Exception as error:  # handed over to the thread that waits
            answers.put(error)

    threading.Thread(target=ask, name="ask-model-hub", daemon=True).start()
    try:
        failure = answers.get(timeout=PATIENCE)
    except Empty:
        failure = TimeoutError(f"no answer from {constants.ENDPOINT}")
    if failure is not None:
        raise failure
