"""Embedding on this machine: the bundled model, and through fastembed a folder or a name it knows.

Importing this module loads neither fastembed nor onnxruntime; the first vector does. The bundled
model needs no fastembed at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import numpy as np

from kbx_tui.embedding import tokens
from kbx_tui.embedding.embedder import Embedder, Vector, Vectors
from kbx_tui.embedding.error_text import OFFLINE_HINT, brief
from kbx_tui.embedding.source import BUNDLED, ModelSource, from_folder
from kbx_tui.errors import EmbeddingError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

BATCH_SIZE = 16
"""Texts per run of the model: 8-32 are 2-3 times faster than 128 (reference/embedding.md)."""

FEW = 4
"""Up to this many texts the one-thread session answers: it is there already, and quick."""


def open_embedder(model: str = "bundled", *, cache_dir: Path | None = None) -> Embedder:
    """Return the embedder that ``[embedding] model`` names.

    ``bundled``, a folder holding an ONNX model and its tokenizer, ``gemini`` (a service, see
    `embedding/gemini.py`), or a name fastembed lists, which is downloaded into ``cache_dir`` unless
    it is there. Only such a name loads fastembed here.
    Raises EmbeddingError, one sentence, within 5 seconds.
    """
    if model == "bundled":
        return LocalEmbedder(BUNDLED)
    if model.partition("/")[0] == "gemini":
        from kbx_tui.embedding.gemini import DEFAULT_MODEL, GeminiEmbedder

        return GeminiEmbedder(model.partition("/")[2] or DEFAULT_MODEL)
    if (folder := Path(model).expanduser()).is_dir():
        return LocalEmbedder(from_folder(folder))
    if folder.is_absolute() or model.startswith("."):
        raise EmbeddingError(f"the model folder {folder} does not exist; {OFFLINE_HINT}")
    from kbx_tui.embedding.download import from_fastembed  # loads fastembed

    return LocalEmbedder(from_fastembed(model, cache_dir))


class Session(Protocol):
    """A loaded model: fastembed's `TextEmbedding`, or `PooledModel`."""

    def query_embed(self, texts: list[str], /) -> Iterable[Vector]: ...

    def passage_embed(self, texts: list[str], /, batch_size: int) -> Iterable[Vector]: ...


class LocalEmbedder:
    """Drives one model: a session with one thread for queries, one with all cores.

    Any number of threads may ask at once.
    """

    def __init__(self, source: ModelSource) -> None:
        self._source = source
        self._sessions: dict[int, Session] = {}
        self._loading = Lock()

    @property
    def model(self) -> str:
        return self._source.name

    @cached_property
    def dimension(self) -> int:
        return self._source.dimension or len(self.embed_query("dimension"))

    @cached_property
    def max_tokens(self) -> int:
        return tokens.read_max_tokens(self._source.folder)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return tokens.load_tokenizer(self._source.folder)

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        # Neighbours of like length need little padding; the longest first, as memory peaks there.
        order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
        session = self._session(threads=1 if len(texts) <= FEW else _usable_cores())
        ordered = tokens.encodable([texts[row] for row in order])
        try:
            rows = np.stack(list(session.passage_embed(ordered, batch_size=BATCH_SIZE)))
        except Exception as error:  # onnxruntime's and fastembed's own, whichever they are
            raise self._failed("run", error) from error
        vectors = np.empty_like(rows, dtype=np.float32)
        vectors[order] = rows
        return _unit(vectors)

    def embed_query(self, text: str) -> Vector:
        session = self._session(threads=1)
        try:
            (row,) = session.query_embed(tokens.encodable([text]))
        except Exception as error:  # as in embed
            raise self._failed("run", error) from error
        vector: Vector = _unit(np.asarray([row], dtype=np.float32))[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return tokens.count_tokens(self._tokenizer, texts)

    def _session(self, threads: int) -> Session:
        with self._loading:  # two threads asking at once must not load the model twice
            if threads not in self._sessions:
                try:
                    self._sessions[threads] = _load(self._source, threads)
                except Exception as error:  # onnxruntime's and fastembed's own, as above
                    raise self._failed("be loaded", error) from error
            return self._sessions[threads]

    def _failed(self, what: str, error: Exception) -> EmbeddingError:
        return EmbeddingError(
            f"the model in {self._source.folder} cannot {what} ({brief(error)}); {OFFLINE_HINT}"
        )


def _load(source: ModelSource, threads: int) -> Session:
    if source is not BUNDLED:
        return load_with_fastembed(source, threads)
    if threads > 1:  # it belongs to who embeds much, and goes with them
        return _load_bundled(threads)
    with _sharing:  # two bases opened at once must not load it twice
        return _bundled_for_queries()


_sharing = Lock()


@cache
def _bundled_for_queries() -> Session:
    """Return the bundled model with one thread, which all bases of a process share."""
    return _load_bundled(threads=1)


def _load_bundled(threads: int) -> Session:
    from kbx_tui.embedding.pooled import PooledModel, multiplies_int8

    return PooledModel(BUNDLED.folder, BUNDLED.model_file, threads, as_int8=multiplies_int8())


def load_with_fastembed(source: ModelSource, threads: int) -> Session:
    """Load any model; fastembed knows how each is read."""
    from fastembed import TextEmbedding

    from kbx_tui.embedding.download import hush

    hush()
    loaded: Session = TextEmbedding(
        source.known_as or _register(source),
        threads=threads,
        cuda=False,
        specific_model_path=str(source.folder),
    )
    return loaded


def _register(source: ModelSource) -> str:
    """Tell fastembed how to read a model it does not know; return the name it now has there."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource as Origin
    from fastembed.common.model_description import PoolingType

    known = {listing["model"].lower() for listing in TextEmbedding.list_supported_models()}
    if source.name.lower() not in known:
        TextEmbedding.add_custom_model(
            source.name,
            pooling=PoolingType(source.pooling),
            normalization=True,
            sources=Origin(url=source.folder.as_uri()),
            dim=0,
            model_file=source.model_file,
        )
    return source.name


def _unit(vectors: Vectors) -> Vectors:
    """Return ``vectors`` scaled to length 1; not every fastembed model does it."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return scaled


def _usable_cores() -> int:
    """Cores this process may run on; fewer than the machine's in a container."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
