"""Local embedding: the bundled model, and models in folders or listed by name, with fastembed.

Importing this module loads neither fastembed nor onnxruntime: the first vector does. The bundled
model does not need fastembed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kbx_tui.embedding import is_remote
from kbx_tui.embedding.embedder import (
    BUNDLED,
    OFFLINE_HINT,
    Embedder,
    ModelSource,
    OnnxModel,
    TokenCounter,
    Vector,
    Vectors,
    encodable,
    from_folder,
    load_tokenizer,
    model_errors,
    normalize,
    read_max_tokens,
)
from kbx_tui.errors import EmbeddingError
from kbx_tui.system import usable_cores

if TYPE_CHECKING:
    from tokenizers import Encoding


BATCH_SIZE = 16
"""Texts per run of the model. Chosen by the experiment "embedding batch" in docs/quality.md."""

SMALL_BATCH = 4
"""Number of texts up to which the session for queries is used, which is already loaded."""


def open_embedder(
    model: str = "bundled", *, address: str = "", threads: int | None = None
) -> Embedder:
    """Return the embedder for ``model`` and ``address``, settings of ``[embedding]``.

    A model is ``bundled``, a folder with an ONNX model and its tokenizer, that of a server (see
    `embedding/server.py`), or a name that fastembed lists, which is downloaded unless it is in
    fastembed's cache. Only such a name loads fastembed here. A local model embeds many texts with
    ``threads`` threads, by default one per usable core.
    Raises EmbeddingError within 5 seconds, with a message of one sentence.
    """
    if model == "bundled":
        return LocalEmbedder(BUNDLED, threads)
    if is_remote(model):
        from kbx_tui.embedding.server import ServerEmbedder

        return ServerEmbedder(model, address)
    if (folder := Path(model).expanduser()).is_dir():
        return LocalEmbedder(from_folder(folder), threads)
    if folder.is_absolute() or model.startswith("."):
        raise EmbeddingError(f"the model folder {folder} does not exist; {OFFLINE_HINT}")
    from kbx_tui.embedding.download import from_fastembed  # loads fastembed

    return LocalEmbedder(from_fastembed(model), threads)


class Session(Protocol):
    """A loaded model: `TextEmbedding` of fastembed, or `PooledModel`."""

    def query_embed(self, texts: list[str], /) -> Iterable[Vector]: ...

    def passage_embed(self, texts: list[str], /, batch_size: int) -> Iterable[Vector]: ...


class LocalEmbedder(TokenCounter):
    """Embeds queries with one thread, and many texts with `threads`. Thread-safe."""

    def __init__(self, source: ModelSource, threads: int | None = None) -> None:
        super().__init__(source.folder)
        self._threads = threads
        self.model = source.name
        self._source = source
        self._sessions: dict[int, Session] = {}
        self._loading = Lock()

    @cached_property
    def dimension(self) -> int:
        return self._source.dimension or len(self.embed_query("dimension"))

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        # Texts of similar length need little padding; the longest first, as memory peaks there.
        order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
        session = self._session(
            threads=1 if len(texts) <= SMALL_BATCH else self._threads or usable_cores()
        )
        ordered = encodable([texts[row] for row in order])
        with self._cannot("run"):
            rows = np.stack(list(session.passage_embed(ordered, batch_size=BATCH_SIZE)))
        vectors = np.empty_like(rows, dtype=np.float32)
        vectors[order] = rows
        return normalize(vectors)

    def embed_query(self, text: str) -> Vector:
        session = self._session(threads=1)
        with self._cannot("run"):
            (row,) = session.query_embed(encodable([text]))
        vector: Vector = normalize(np.asarray([row], dtype=np.float32))[0]
        return vector

    def _session(self, threads: int) -> Session:
        with self._loading:  # threads that ask at the same time must not load the model twice
            if threads not in self._sessions:
                with self._cannot("be loaded"):
                    self._sessions[threads] = _load(self._source, threads)
            return self._sessions[threads]

    def _cannot(self, action: str) -> AbstractContextManager[None]:
        failure = f"the model in {self._source.folder} cannot {action}"
        return model_errors(EmbeddingError, failure, f"; {OFFLINE_HINT}")


def _load(source: ModelSource, threads: int) -> Session:
    if source is not BUNDLED:
        return load_with_fastembed(source, threads)
    if threads > 1:  # freed with its embedder, as it takes much memory
        return _load_bundled(threads)
    with _loading_bundled:  # two knowledge bases must not load it twice
        return _load_bundled_once(threads)


_loading_bundled = Lock()


def _load_bundled(threads: int) -> Session:
    return PooledModel(BUNDLED.folder, BUNDLED.model_file, threads, as_int8=prefers_int8())


def preload_bundled_model() -> None:
    """Load the bundled model for queries; processes forked from this one then have it."""
    _load_bundled_once(1)


_load_bundled_once = cache(_load_bundled)
"""Used for queries: one session, shared by all embedders of the process."""


def load_with_fastembed(source: ModelSource, threads: int) -> Session:
    from fastembed import TextEmbedding

    from kbx_tui.embedding.download import silence_libraries

    silence_libraries()
    loaded: Session = TextEmbedding(
        source.fastembed_name or _register(source),
        threads=threads,
        cuda=False,
        specific_model_path=str(source.folder),
    )
    return loaded


def _register(source: ModelSource) -> str:
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource as Origin
    from fastembed.common.model_description import PoolingType

    registered = {listing["model"].lower() for listing in TextEmbedding.list_supported_models()}
    if source.name.lower() not in registered:
        TextEmbedding.add_custom_model(
            source.name,
            pooling=PoolingType(source.pooling),
            normalization=True,
            sources=Origin(url=source.folder.as_uri()),
            dim=0,
            model_file=source.model_file,
        )
    return source.name


_SHORT = 2000
"""Characters up to which a text is tokenized without releasing the GIL, as that is fast."""


class PooledModel:
    """A session of a BERT model with the interface of `TextEmbedding`.

    Raises the errors of onnxruntime.

    Its vectors are bit-identical to those of fastembed (`tests/unit/embedding/test_local.py`),
    which is slow to import.
    """

    def __init__(self, folder: Path, model_file: str, threads: int, *, as_int8: bool) -> None:
        """Load the model; int8 weights are computed ``as_int8`` or converted to float32."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        if not as_int8:
            options.add_session_config_entry("session.disable_quant_qdq", "1")
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = options.inter_op_num_threads = threads
        self._model = OnnxModel(folder / model_file, options)
        self._tokenizer = load_tokenizer(folder)
        self._tokenizer.enable_truncation(read_max_tokens(folder))
        self._tokenizer.enable_padding()  # to the longest text, with 0, [PAD] in BERT

    def query_embed(self, texts: Sequence[str]) -> Iterator[Vector]:
        return self.passage_embed(texts, batch_size=len(texts))

    def passage_embed(self, texts: Sequence[str], batch_size: int) -> Iterator[Vector]:
        for start in range(0, len(texts), batch_size):
            yield from self._run(texts[start : start + batch_size])

    def _run(self, texts: Sequence[str]) -> Vectors:
        encoded = self._encode(texts)
        ids = np.array([encoding.ids for encoding in encoded], np.int64)
        mask = np.array([encoding.attention_mask for encoding in encoded], np.int64)
        types = np.zeros_like(ids)
        token_vectors = self._model.run(input_ids=ids, attention_mask=mask, token_type_ids=types)
        return _mean_pool(token_vectors, mask)

    def _encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Return the encodings of texts; a single short one without releasing the GIL.

        Otherwise a thread that embeds one query would have to wait for other threads to release the
        GIL before it could run the model.
        """
        if len(texts) == 1 and len(texts[0]) <= _SHORT:
            return [self._tokenizer.encode(texts[0])]
        return self._tokenizer.encode_batch(list(texts))


def prefers_int8() -> bool:
    """Return whether this processor is assumed to run int8 faster than float32.

    This holds with AVX-512 and with the int8 dot product of ARM, but not with AVX2 alone. simsimd
    does not distinguish AVX-VNNI from AVX2, so such processors use float32. Chosen by the
    experiment "int8 or float32" in docs/quality.md.
    """
    import simsimd

    capabilities = simsimd.get_capabilities()
    return any(capabilities[name] for name in ("skylake", "neon_i8"))


def _mean_pool(token_vectors: Any, mask: Any) -> Vectors:
    """Return unit vectors, (n, dimension): the mean of the token vectors that are not padding.

    ``token_vectors`` has shape (n, tokens, dimension), ``mask`` (n, tokens).
    """
    is_token = mask[:, :, np.newaxis].astype(bool)
    sums = np.sum(token_vectors, axis=1, where=is_token, dtype=np.float64)
    means = sums / np.maximum(mask.sum(axis=1, keepdims=True), 1e-9)
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    pooled: Vectors = (means / np.maximum(lengths, 1e-12)).astype(token_vectors.dtype)
    return pooled
