"""Where a model's files are: bundled, in a folder of the user's, or fetched by fastembed."""

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
    """A model whose files are on this disk."""

    name: str
    """Stored with the index; changes when the vectors do."""

    folder: Path
    """Holds the ONNX file, tokenizer.json and tokenizer_config.json."""

    dimension: int | None
    """Length of its vectors; None when only running the model tells."""

    known_as: str | None = None
    """fastembed's name for it, which settles file and pooling; None for the user's own folder."""

    model_file: str = "model.onnx"
    """The ONNX file, relative to ``folder``."""

    pooling: Pooling = "MEAN"
    """How token vectors become one vector; read only when fastembed does not know the model."""


BUNDLED = ModelSource(
    name="bundled/all-MiniLM-L6-v2-int8",
    folder=Path(__file__).parent / "bundled",
    dimension=384,
    known_as="sentence-transformers/all-MiniLM-L6-v2",
)


def from_folder(folder: Path) -> ModelSource:
    """Return the model in ``folder``. Raises EmbeddingError, naming the file that is missing."""
    folder = folder.resolve()
    for required in ("tokenizer.json", "tokenizer_config.json"):
        if not (folder / required).is_file():
            raise EmbeddingError(f"the model folder {folder} holds no {required}; {OFFLINE_HINT}")
    usual = [folder / name for name in ("model.onnx", "onnx/model.onnx", "model_optimized.onnx")]
    found = [path for path in [*usual, *sorted(folder.glob("*.onnx"))] if path.is_file()]
    if not found:
        raise EmbeddingError(f"the model folder {folder} holds no model.onnx; {OFFLINE_HINT}")
    return ModelSource(
        name=f"folder/{folder.name}-{_fingerprint(found[0])}",
        folder=folder,
        dimension=None,
        model_file=found[0].relative_to(folder).as_posix(),
        pooling=_read_pooling(folder),
    )


def _read_pooling(folder: Path) -> Pooling:
    """Return what sentence-transformers' pooling file says, mean pooling without one."""
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
    """Return 12 hex digits of the size and of blocks spread over the file.

    Weights trained again differ everywhere, so a sample tells, and a gigabyte opens at once.
    """
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        for block in range(blocks):
            file.seek(size * block // blocks)
            digest.update(file.read(block_size))
    return digest.hexdigest()[:12]
