"""Sources of models: the bundled one, and folders of the user."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kbx_tui.embedding.error_text import OFFLINE_HINT
from kbx_tui.errors import EmbeddingError

Pooling = Literal["MEAN", "CLS", "LAST_TOKEN"]


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model with its files on disk."""

    name: str
    """Stored with the index; differs for models with different vectors."""
    folder: Path
    """Holds the ONNX file, tokenizer.json and tokenizer_config.json."""
    dimension: int | None
    """Length of its vectors; None if it is known only after running the model."""
    fastembed_name: str | None = None
    """Name in fastembed, which implies pooling; None for a folder of the user."""
    model_file: str = "model.onnx"
    """The ONNX file, relative to ``folder``."""
    pooling: Pooling = "MEAN"
    """How to combine token vectors; only used without ``fastembed_name``."""


BUNDLED = ModelSource(
    name="bundled/all-MiniLM-L6-v2-int8",
    folder=Path(__file__).parent / "bundled",
    dimension=384,
    fastembed_name="sentence-transformers/all-MiniLM-L6-v2",
)


def from_folder(folder: Path) -> ModelSource:
    """Return the model in ``folder``. Raises EmbeddingError naming a required file it lacks."""
    folder = folder.resolve()
    for required in ("tokenizer.json", "tokenizer_config.json"):
        if not (folder / required).is_file():
            raise EmbeddingError(f"the model folder {folder} has no {required}; {OFFLINE_HINT}")
    if (model := find_model_file(folder)) is None:
        raise EmbeddingError(f"the model folder {folder} has no model.onnx; {OFFLINE_HINT}")
    return ModelSource(
        name=f"folder/{folder.name}-{_fingerprint(model)}",
        folder=folder,
        dimension=None,
        model_file=model.relative_to(folder).as_posix(),
        pooling=_read_pooling(folder),
    )


def find_model_file(folder: Path) -> Path | None:
    """Return the ONNX file in ``folder``: one of the usual names, else the first; None if none."""
    usual = [folder / name for name in ("model.onnx", "onnx/model.onnx", "model_optimized.onnx")]
    candidates = (*usual, *sorted(folder.glob("*.onnx")))
    return next((path for path in candidates if path.is_file()), None)


def _read_pooling(folder: Path) -> Pooling:
    """Return the pooling in the sentence-transformers configuration, MEAN without one."""
    path = folder / "1_Pooling" / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return "MEAN"
    except (OSError, ValueError) as error:
        raise EmbeddingError(f"{path} cannot be read: {error}") from error
    if config.get("pooling_mode_cls_token"):
        return "CLS"
    return "LAST_TOKEN" if config.get("pooling_mode_lasttoken") else "MEAN"


def _fingerprint(path: Path, blocks: int = 64, block_size: int = 4096) -> str:
    """Return 12 hex digits that hash the size of a file and blocks spread over it.

    A sample is enough, as retrained weights differ everywhere, and fast for large files.
    """
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        for block in range(blocks):
            file.seek(size * block // blocks)
            digest.update(file.read(block_size))
    return digest.hexdigest()[:12]
