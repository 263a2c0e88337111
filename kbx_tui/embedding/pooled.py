"""A sentence model run by onnxruntime and tokenizers alone: mean over its tokens, unit length.

What fastembed does for such a model, to the last bit (`tests/unit/embedding/test_pooled_model.py`),
without importing it: that takes half a second, for the models of images and the hub it brings.
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
"""Characters that are read in no time; a pasted file would hold the lock for a second."""


class PooledModel:
    """One session of a BERT model, read as `TextEmbedding` is. Raises what onnxruntime raises.

    Weights stored as int8 are multiplied so, as fastembed does it, or widened as they are loaded.
    """

    def __init__(self, folder: Path, model_file: str, threads: int, *, as_int8: bool) -> None:
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
        self._tokenizer.enable_padding()  # to the longest of a batch, with BERT's [PAD], 0

    def query_embed(self, texts: Sequence[str]) -> Iterator[Vector]:
        """Yield the unit vectors of queries, in order; they are embedded as any text is."""
        return self.passage_embed(texts, batch_size=len(texts))

    def passage_embed(self, texts: Sequence[str], batch_size: int) -> Iterator[Vector]:
        """Yield one unit vector per text, in order."""
        for start in range(0, len(texts), batch_size):
            yield from self._run(texts[start : start + batch_size])

    def _run(self, texts: Sequence[str]) -> Vectors:
        encoded = self._encode(texts)
        ids = np.array([one.ids for one in encoded], np.int64)
        mask = np.array([one.attention_mask for one in encoded], np.int64)
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        given = {name: values for name, values in known.items() if name in self._inputs}
        (by_token, *_) = self._session.run(None, given)
        return _pool(by_token, mask)

    def _encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Return the tokens of texts; of a single one without letting go of Python's lock.

        Else a thread that embeds one query at the side of others would get it back only when these
        pause, and would begin to run the model then.
        """
        if len(texts) == 1 and len(texts[0]) <= _SHORT:
            return [self._tokenizer.encode(texts[0])]
        return self._tokenizer.encode_batch(list(texts))


def multiplies_int8() -> bool:
    """Tell whether this processor is taken to be quicker with int8 than with fp32.

    With AVX-512, nearly always with VNNI, and with ARM's products of int8. With AVX2 alone a query
    of 12 words takes a sixth to a third longer as int8, and many texts twice as long. simsimd does
    not tell AVX-VNNI from AVX2: fp32 is what such a processor gets.
    """
    import simsimd

    known = simsimd.get_capabilities()
    return any(known[name] for name in ("skylake", "neon_i8"))


def _pool(by_token: Any, mask: Any) -> Vectors:
    """Return the mean over the tokens that are no padding, (n, dimension), at unit length."""
    real = mask[:, :, np.newaxis].astype(bool)
    sums = np.sum(by_token, axis=1, where=real, dtype=np.float64)
    means = sums / np.maximum(mask.sum(axis=1, keepdims=True), 1e-9)
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    pooled: Vectors = (means / np.maximum(lengths, 1e-12)).astype(by_token.dtype)
    return pooled
