"""Models that fastembed supports by name: from its cache, else downloaded, failing fast.

Imports of fastembed take seconds, so this module is imported when such a model is asked for.
"""

from __future__ import annotations

import difflib
import logging
from pathlib import Path
from typing import Any

from kbx_tui.embedding.embedder import OFFLINE_HINT, ModelSource, model_errors, wait_at_most
from kbx_tui.errors import EmbeddingError, RerankerError

Listing = dict[str, Any]
"""One row of ``list_supported_models()`` of ``TextEmbedding`` or ``TextCrossEncoder``."""

HUB_TIMEOUT = 2.0
"""Seconds to wait for the hub; leaves room in 5 seconds for importing fastembed."""


def from_fastembed(name: str) -> ModelSource:
    """Return the embedding model that fastembed lists as ``name``, downloading it if needed.

    The cache is that of fastembed ($FASTEMBED_CACHE_PATH, else a temporary folder).
    Raises EmbeddingError: at once for an unknown name, within 5 seconds if the hub is unreachable.
    """
    from fastembed import TextEmbedding

    silence_libraries()
    listing, guess = _find(name, TextEmbedding.list_supported_models())
    if listing is None:
        raise EmbeddingError(
            f"{name!r} is neither a folder nor a model of fastembed{guess}; {OFFLINE_HINT}"
        )
    failure = f"the model {listing['model']!r} could not be downloaded"
    with model_errors(EmbeddingError, failure, f"; {OFFLINE_HINT}"):
        folder = _cached(listing) or _download(listing)
    return ModelSource(
        name=listing["model"],
        folder=folder,
        dimension=listing["dim"],
        fastembed_name=listing["model"],
        model_file=listing["model_file"],
    )


def cached_cross_encoder(name: str) -> tuple[Path, Path]:
    """Return folder and ONNX file of a cross-encoder in the cache of fastembed; uses no network.

    Raises RerankerError for an unknown name, and for a model that has not been downloaded.
    """
    listing = _cross_encoder(name)
    if (folder := _cached(listing)) is None:
        model = listing["model"]
        raise RerankerError(
            f"the model {model!r} has not been downloaded; `kbx reranker {model} --download` does"
        )
    return folder, folder / listing["model_file"]


def download(name: str) -> None:
    """Download a cross-encoder into the cache of fastembed, unless it is there.

    Raises RerankerError: at once for an unknown name, within 5 seconds if the hub is unreachable.
    """
    listing = _cross_encoder(name)
    failure = f"the model {listing['model']!r} could not be downloaded"
    remedy = "; a folder with model.onnx and tokenizer.json works offline"
    with model_errors(RerankerError, failure, remedy):
        if _cached(listing) is None:
            _download(listing)


def silence_libraries() -> None:
    """Stop fastembed and the client of the hub from writing to stderr, which garbles the app."""
    from huggingface_hub.utils.tqdm import disable_progress_bars
    from loguru import logger

    logger.disable("fastembed")
    logging.getLogger("huggingface_hub").setLevel(logging.CRITICAL)
    disable_progress_bars()


def _cross_encoder(name: str) -> Listing:
    with model_errors(RerankerError, "fastembed cannot be imported"):
        from fastembed.rerank.cross_encoder import TextCrossEncoder
    silence_libraries()
    listing, guess = _find(name, TextCrossEncoder.list_supported_models())
    if listing is None:
        raise RerankerError(f"{name!r} is neither a folder nor a cross-encoder of fastembed{guess}")
    return listing


def _find(name: str, listings: list[Listing]) -> tuple[Listing | None, str]:
    by_name = {listing["model"].lower(): listing for listing in listings}
    if (listing := by_name.get(name.lower())) is not None:
        return listing, ""
    nearest = difflib.get_close_matches(name.lower(), by_name, n=1)
    return None, f", the nearest is {by_name[nearest[0]]['model']!r}" if nearest else ""


def _cached(listing: Listing) -> Path | None:
    try:
        return _fetch(listing, local_files_only=True)
    except Exception:  # whatever is wrong with the cache, downloading fixes it
        return None


def _download(listing: Listing) -> Path:
    """Download a model into the cache; raises within 5 seconds if no server answers."""
    _require_answer(listing["sources"]["hf"])
    return _fetch(listing, local_files_only=False)


def _fetch(listing: Listing, *, local_files_only: bool) -> Path:
    # Not TextEmbedding(name), which sleeps between retries for too long before it fails.
    from fastembed import TextEmbedding
    from fastembed.common.utils import define_cache_dir

    cache = str(define_cache_dir())
    files = [listing["model_file"], *listing["additional_files"]]
    folder = Path(
        TextEmbedding.download_files_from_huggingface(
            listing["sources"]["hf"], cache, files, local_files_only=local_files_only
        )
    )
    for file in files:
        if not (folder / file).exists():
            raise FileNotFoundError(f"{file} is missing in {folder}")
    return folder


def _require_answer(repository: str) -> None:
    """Raise an exception unless the hub confirms ``repository`` within HUB_TIMEOUT seconds."""
    from huggingface_hub import constants, model_info

    try:
        wait_at_most(HUB_TIMEOUT, lambda: model_info(repository, timeout=HUB_TIMEOUT))
    except TimeoutError as error:
        raise TimeoutError(f"no answer from {constants.ENDPOINT}") from error
