"""Cross-encoders that fastembed supports by name: from its cache, downloaded only on request."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.embedding.download import (
    Listing,
    cached_files,
    download_files,
    find_listing,
    silence_libraries,
)
from kbx_tui.embedding.error_text import brief
from kbx_tui.errors import RerankerError


def cached(name: str, cache_dir: Path | None = None) -> tuple[Path, Path]:
    """Return folder and ONNX file of a model in the cache of fastembed; uses no network.

    Raises RerankerError for an unknown name, and for a model that has not been downloaded.
    """
    listing, cache = _find(name, cache_dir)
    if (folder := cached_files(listing, cache)) is None:
        model = listing["model"]
        raise RerankerError(
            f"the model {model!r} has not been downloaded; `kbx reranker {model} --download` does"
        )
    return folder, folder / listing["model_file"]


def download(name: str, cache_dir: Path | None = None) -> None:
    """Download a model into the cache of fastembed, unless it is there.

    Raises RerankerError: at once for an unknown name, within 5 seconds if the hub is unreachable.
    """
    listing, cache = _find(name, cache_dir)
    if cached_files(listing, cache) is None:
        try:
            download_files(listing, cache)
        except Exception as error:  # of huggingface_hub, httpx or the system
            raise RerankerError(
                f"the model {listing['model']!r} could not be downloaded ({brief(error)}); a "
                "folder with model.onnx and tokenizer.json works offline"
            ) from error


def _find(name: str, cache_dir: Path | None) -> tuple[Listing, str]:
    try:
        from fastembed.common.utils import define_cache_dir
        from fastembed.rerank.cross_encoder import TextCrossEncoder
    except ImportError as error:
        raise RerankerError(f"fastembed cannot be imported ({brief(error)})") from error
    silence_libraries()
    listing, guess = find_listing(name, TextCrossEncoder.list_supported_models())
    if listing is None:
        raise RerankerError(f"{name!r} is neither a folder nor a cross-encoder of fastembed{guess}")
    return listing, str(define_cache_dir(str(cache_dir) if cache_dir else None))
