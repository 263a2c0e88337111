"""What an embedder is; files of models, their tokenizers and token counts."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from kbx_tui.embedding import BUNDLED_MODEL
from kbx_tui.errors import EmbeddingError, KbxError
from kbx_tui.safe_text import replace_surrogates

if TYPE_CHECKING:
    from onnxruntime import SessionOptions
    from tokenizers import Tokenizer


Vector = NDArray[np.float32]
"""One unit vector: shape (dimension,)."""

Vectors = NDArray[np.float32]
"""Unit vectors, one per row: shape (n, dimension), row i belongs to text i."""


def normalize(vectors: Vectors) -> Vectors:
    """Return the rows of ``vectors`` scaled to length 1; zero rows stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return unit


class Embedder(Protocol):
    """Turns text into unit vectors. Thread-safe.

    Every member except ``model`` may load the model, and therefore raise EmbeddingError.
    """

    @property
    def model(self) -> str:
        """Stable name, stored with the index: vectors of different models are not comparable."""

    @property
    def dimension(self) -> int:
        """Length of every vector."""

    @property
    def max_tokens(self) -> int:
        """Tokens per chunk including the two special ones, at most 256."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one float32 unit vector per text, in order: shape (n, dimension), n >= 0.

        Longer texts than the model accepts are truncated.
        """

    def embed_query(self, text: str) -> Vector:
        """Return the float32 unit vector of a query, with low latency."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, untruncated, without special tokens."""


Pooling = Literal["MEAN", "CLS", "LAST_TOKEN"]


@dataclass(frozen=True, slots=True)
class ModelSource:
    name: str
    """Stored with the index; differs for models with different vectors."""
    folder: Path
    """Holds the ONNX file, tokenizer.json and tokenizer_config.json."""
    dimension: int | None
    """Length of its vectors; None if it is known only after running the model."""
    fastembed_name: str | None = None
    """Name in fastembed, which implies pooling; None for a folder of the user."""
    model_file: str = "model.onnx"
    pooling: Pooling = "MEAN"


BUNDLED = ModelSource(
    name=BUNDLED_MODEL,
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
    usual = [folder / name for name in ("model.onnx", "onnx/model.onnx", "model_optimized.onnx")]
    candidates = (*usual, *sorted(folder.glob("*.onnx")))
    return next((path for path in candidates if path.is_file()), None)


def _read_pooling(folder: Path) -> Pooling:
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


def _fingerprint(path: Path) -> str:
    """Return 12 hex digits that hash the size of a file and blocks spread over it.

    A sample is enough, as retrained weights differ everywhere, and fast for large files.
    """
    size, blocks, block_size = path.stat().st_size, 64, 4096
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        for block in range(blocks):
            file.seek(size * block // blocks)
            digest.update(file.read(block_size))
    return digest.hexdigest()[:12]


MAX_TOKENS = 256
"""Limit of tokens per chunk: the length at which the bundled model was trained."""

BATCH_CHARACTERS = 100_000


def encodable(texts: Sequence[str]) -> list[str]:
    """Return ``texts`` with lone surrogates, which tokenizers reject, replaced by ``?``."""
    return list(map(replace_surrogates, texts))


class TokenCounter:
    """Counts tokens for the model in a folder, whose tokenizer is loaded on first use."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def max_tokens(self) -> int:
        return read_max_tokens(self._folder)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        is_bundled = self._folder == BUNDLED.folder  # another may change on disk
        return _load_tokenizer_once(self._folder) if is_bundled else load_tokenizer(self._folder)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens.

        Text is tokenized in batches, as tokens take some 300 bytes each. A text longer than one is
        counted in pieces: where those meet, a word may count as two.
        """
        counts = [0] * len(texts)
        for batch in _batches(texts):
            pieces = encodable([piece for _, piece in batch])
            encodings = self._tokenizer.encode_batch_fast(pieces, add_special_tokens=False)
            for (index, _), encoding in zip(batch, encodings, strict=True):
                counts[index] += len(encoding)
        return counts


def _batches(texts: Sequence[str]) -> Iterator[list[tuple[int, str]]]:
    batch, characters = list[tuple[int, str]](), 0
    for index, text in enumerate(texts):
        for start in range(0, len(text), BATCH_CHARACTERS):
            piece = text[start : start + BATCH_CHARACTERS]
            if characters + len(piece) > BATCH_CHARACTERS:
                yield batch
                batch, characters = [], 0
            batch.append((index, piece))
            characters += len(piece)
    if batch:
        yield batch


def read_max_tokens(folder: Path) -> int:
    path = folder / "tokenizer_config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        limits = [config.get(key) for key in ("model_max_length", "max_length")]
    except (OSError, ValueError, AttributeError) as error:
        raise EmbeddingError(f"{path} cannot be read: {error}") from error
    return int(min([MAX_TOKENS, *(limit for limit in limits if limit)]))


def load_tokenizer(folder: Path) -> Tokenizer:
    """Return the tokenizer of the model in ``folder``, without truncation or padding.

    Raises EmbeddingError if tokenizer.json cannot be read.
    """
    # If unset, tokenizers warns on stderr, in the middle of the app, when the process forks.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises bare Exception
        raise EmbeddingError(f"{path} cannot be read: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


_load_tokenizer_once = cache(load_tokenizer)
"""Used for counting: one tokenizer, shared by all embedders of the process."""


class OnnxModel:
    """A loaded ONNX file. Thread-safe; raises the errors of onnxruntime."""

    def __init__(self, file: Path, options: SessionOptions, **more: Any) -> None:
        from onnxruntime import InferenceSession, RunOptions

        self._session = InferenceSession(str(file), options, ["CPUExecutionProvider"], **more)
        self._inputs = {node.name for node in self._session.get_inputs()}
        self._options = RunOptions()
        # Else it keeps what each run takes, in pieces that other shapes of texts do not fit into.
        self._options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")

    def run(self, **inputs: NDArray[np.int64]) -> Any:
        """Return the first output; inputs that the model does not have are left out."""
        used = {name: values for name, values in inputs.items() if name in self._inputs}
        return self._session.run(None, used, self._options)[0]


OFFLINE_HINT = 'model = "bundled" works offline'


@contextmanager
def model_errors(fault: type[KbxError], failure: str, remedy: str = "") -> Iterator[None]:
    """Raise `fault` for any error within, from a model's libraries, the hub or the system."""
    try:
        yield
    except Exception as error:
        raise fault(f"{failure} ({brief(error)}){remedy}") from error


def brief(error: Exception) -> str:
    """Return the first sentence of an error on one line, at most 160 characters."""
    sentence = " ".join(str(error).split()).partition(". ")[0]
    return sentence[:160].rstrip(". ") or type(error).__name__


T = TypeVar("T")


def wait_at_most(seconds: float, ask: Callable[[], T]) -> T:
    """Return what `ask`, a request to a server, returns. Raises its errors, and TimeoutError.

    It runs in a thread, as timeouts of clients cover neither a name lookup that hangs nor an answer
    that comes a byte at a time.
    """
    answer = Future[T]()

    def run() -> None:
        try:
            answer.set_result(ask())
        except Exception as error:  # raised again by the waiting thread
            answer.set_exception(error)

    Thread(target=run, name="ask-server", daemon=True).start()
    return answer.result(seconds)
