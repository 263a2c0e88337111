"""A sentence model run by onnxruntime and tokenizers alone: mean pooling, unit length.

Its vectors are bit-identical to those of fastembed (`tests/unit/embedding/test_pooled.py`),
which is slow to import.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kbx_tui.embedding import tokens
from kbx_tui.embedding.embedder import Vector, Vectors

if TYPE_CHECKING:
    from tokenizers import Encoding

_SHORT = 2000
"""Characters up to which tokenizing is fast enough to keep Python's lock."""


class PooledModel:
    """A session of a BERT model with the interface of `TextEmbedding`.

    Raises the errors of onnxruntime.
    """

    def __init__(self, folder: Path, model_file: str, threads: int, *, as_int8: bool) -> None:
        """Load the model; int8 weights are computed ``as_int8`` or converted to float32."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        if not as_int8:
            options.add_session_config_entry("session.disable_quant_qdq", "1")
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = options.inter_op_num_threads = threads
        self._session = onnxruntime.InferenceSession(
            str(folder / model_file), sess_options=options, providers=["CPUExecutionProvider"]
        )
        self._inputs = {node.name for node in self._session.get_inputs()}
        self._tokenizer = tokens.load_tokenizer(folder)
        self._tokenizer.enable_truncation(tokens.read_max_tokens(folder))
        self._tokenizer.enable_padding()  # to the longest text, with 0, [PAD] in BERT

    def query_embed(self, texts: Sequence[str]) -> Iterator[Vector]:
        """Yield the unit vectors of queries, in order, in one batch."""
        return self.passage_embed(texts, batch_size=len(texts))

    def passage_embed(self, texts: Sequence[str], batch_size: int) -> Iterator[Vector]:
        """Yield one unit vector per text, in order."""
        for start in range(0, len(texts), batch_size):
            yield from self._run(texts[start : start + batch_size])

    def _run(self, texts: Sequence[str]) -> Vectors:
        encoded = self._encode(texts)
        ids = np.array([encoding.ids for encoding in encoded], np.int64)
        mask = np.array([encoding.attention_mask for encoding in encoded], np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        supported = {name: values for name, values in inputs.items() if name in self._inputs}
        (token_vectors, *_) = self._session.run(None, supported)
        return _mean_pool(token_vectors, mask)

    def _encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Return the encodings of texts; a single short one without releasing Python's lock.

        A thread that embeds one query would otherwise wait for other threads to release the lock
        before it could run the model.
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
