"""The pair model: how two short texts relate, read by a small cross-encoder.

It is asked about the few known facts nearest to a draft and never changes a similarity score.
`bundled_pair_model/MODEL_CARD.md` says what it was trained on and what it is bad at. Importing this
module loads neither onnxruntime nor the tokenizer: the first pair does.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from kbx_tui.embedding.embedder import BUNDLED, OnnxModel, encodable, load_tokenizer, model_errors
from kbx_tui.errors import EmbeddingError

JudgedRelation = Literal["same", "refines", "conflict", "different"]
"""`refines`: one text says all of the other and more."""
LABELS: tuple[JudgedRelation, ...] = get_args(JudgedRelation)
"""In the order of the model's outputs."""

MODEL = Path(__file__).with_name("bundled_pair_model") / "model.onnx"

MAX_TOKENS = 46
"""Tokens of each text that are read; facts have 10 on average, and the model knows 96 positions."""

SLOW_FUSIONS = ["SkipLayerNormFusion", "BiasGeluFusion"]
"""Optimizations of onnxruntime whose operators take longer than those that they replace."""

_START, _END = 101, 102


class PairModel:
    """A loaded model. Thread-safe; the result of a pair does not depend on the others."""

    def __init__(self, model: Path = MODEL) -> None:
        """Load the model. Raises EmbeddingError with a message of one sentence."""
        self._file = model
        with self._cannot("be loaded"):
            import onnxruntime

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1  # two threads are slower where another program is busy
            options.log_severity_level = 4  # stderr may be the app's screen
            self._model = OnnxModel(model, options, disabled_optimizers=SLOW_FUSIONS)
            self._tokenizer = load_tokenizer(BUNDLED.folder)

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return the probabilities of `LABELS` for pairs of a known and a drafted text.

        Shape (pairs, 4), each row sums to 1. Swapping the texts of a pair changes its most likely
        label in 2 of 100 labelled pairs. Raises EmbeddingError if the model cannot run.
        """
        if not pairs:
            return np.zeros((0, len(LABELS)), np.float32)
        texts = encodable([text for pair in pairs for text in pair])
        encode = self._tokenizer.encode  # one by one: threads take longer to start than to work
        words = [encode(text, add_special_tokens=False).ids[:MAX_TOKENS] for text in texts]
        rows = [join_tokens(*two) for two in zip(words[::2], words[1::2], strict=True)]
        width = max(len(ids) for ids, _ in rows)
        ids, kinds = (np.zeros((len(rows), width), np.int64) for _ in range(2))
        for row, (tokens, token_kinds) in enumerate(rows):
            ids[row, : len(tokens)] = tokens
            kinds[row, : len(tokens)] = token_kinds
        with self._cannot("run"):
            output = self._model.run(input_ids=ids, token_kinds=kinds)
        return np.asarray(output, np.float32)

    def _cannot(self, action: str) -> AbstractContextManager[None]:
        failure = f"the pair model {self._file} cannot {action}"
        return model_errors(EmbeddingError, failure, "; install kbx-tui again")


def join_tokens(one: list[int], other: list[int]) -> tuple[list[int], list[int]]:
    """Return the tokens of a pair and their kinds: 0 or 1 is the text, 2 more if both have it."""
    shared = set(one) & set(other)
    kinds = [0, *(2 * (t in shared) for t in one), 0, *(1 + 2 * (t in shared) for t in other), 1]
    return [_START, *one, _END, *other, _END], kinds


_loading = Lock()


def bundled_pair_model() -> PairModel:
    """Return the model, loaded when it is first asked for and kept.

    Raises EmbeddingError if it cannot be loaded; a later call tries again.
    """
    with _loading:
        return _load()


_load = cache(PairModel)
