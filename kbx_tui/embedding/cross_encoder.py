"""Cross-encoders, models that read two texts together: rerankers, and the pair model.

A reranker is a folder with an ONNX file and tokenizer.json, or a `TextCrossEncoder` of fastembed in
its cache; fastembed is slow to import and only needed to find a model by name. The pair model says
how two short texts relate: `bundled_pair_model/MODEL_CARD.md` says what it was trained on and what
it is bad at. Nothing here downloads, and only the first model loads onnxruntime and the tokenizer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from kbx_tui.embedding.embedder import (
    BUNDLED,
    OnnxModel,
    encodable,
    find_model_file,
    load_tokenizer,
    model_errors,
)
from kbx_tui.errors import EmbeddingError, RerankerError
from kbx_tui.system import usable_cores

MAX_TOKENS = 512
"""Limit of tokens per pair of query and text; the longest passage has fewer."""


class CrossEncoder:
    """A loaded reranker. Thread-safe."""

    def __init__(self, folder: Path, model_file: Path) -> None:
        """Load the model with its tokenizer. Raises RerankerError."""
        self.folder = folder
        with model_errors(RerankerError, f"the model in {folder} cannot be loaded"):
            import onnxruntime

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = usable_cores()
            options.log_severity_level = 4  # errors are raised, and stderr may be the app's screen
            self._model = OnnxModel(model_file, options)
            self._tokenizer = load_tokenizer(folder)
            self._tokenizer.enable_truncation(_read_max_tokens(folder))

    def score(self, query: str, text: str) -> float:
        """Return how well a text answers a query: a logit, unbounded, higher is better.

        Each pair is run separately, so that a score depends on nothing else: in a batch it would
        vary with the padding. Text beyond the token limit is truncated. Raises RerankerError, also
        if the output is not one finite number.
        """
        with model_errors(RerankerError, f"the model in {self.folder} cannot run"):
            first, second = encodable([query, text])
            encoding = self._tokenizer.encode(first, second)
            output = np.asarray(
                self._model.run(
                    input_ids=np.array([encoding.ids], np.int64),
                    attention_mask=np.array([encoding.attention_mask], np.int64),
                    token_type_ids=np.array([encoding.type_ids], np.int64),
                )
            )
        if output.size != 1 or not np.issubdtype(output.dtype, np.floating):
            raise RerankerError(
                f"the model in {self.folder} is no cross-encoder: it returns an output of shape "
                f"{output.shape} and not one number per text"
            )
        score = float(output.item())
        if not np.isfinite(score):
            raise RerankerError(f"the model in {self.folder} returns {score} as a score")
        return score


def open_cross_encoder(model: str, *, relative_to: Path | None = None) -> CrossEncoder:
    """Return the loaded model for the setting ``[search] reranker``; downloads nothing.

    The setting is a folder (absolute, below ``~`` or relative to ``relative_to``, by default the
    current folder) or the name of a model in fastembed's cache.
    Raises RerankerError with a message of one sentence.
    """
    folder = (relative_to or Path()).absolute() / Path(model).expanduser()
    if not folder.is_dir():
        if Path(model).is_absolute() or model.startswith((".", "~")):
            raise RerankerError(f"the folder {folder} does not exist")
        from kbx_tui.embedding.download import cached_cross_encoder  # loads fastembed

        return CrossEncoder(*cached_cross_encoder(model))
    folder = folder.resolve()
    if not (folder / "tokenizer.json").is_file():
        raise RerankerError(f"the folder {folder} has no tokenizer.json")
    if (model_file := find_model_file(folder)) is None:
        raise RerankerError(f"the folder {folder} has no model.onnx")
    return CrossEncoder(folder, model_file)


def _read_max_tokens(folder: Path) -> int:
    try:
        config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return MAX_TOKENS
    limit = config.get("model_max_length") if isinstance(config, dict) else None
    if not isinstance(limit, int | float) or not limit > 0:
        return MAX_TOKENS
    return int(min(limit, MAX_TOKENS))


JudgedRelation = Literal["same", "refines", "conflict", "different"]
"""`refines`: one text says all of the other and more."""
LABELS: tuple[JudgedRelation, ...] = get_args(JudgedRelation)
"""In the order of the model's outputs."""

PAIR_MODEL = Path(__file__).with_name("bundled_pair_model") / "model.onnx"

TOKENS_OF_TEXT = 46
"""Tokens of each text that are read; facts have 10 on average, and the model knows 96 positions."""

SLOW_FUSIONS = ["SkipLayerNormFusion", "BiasGeluFusion"]
"""Optimizations of onnxruntime whose operators take longer than those that they replace."""

_START, _END = 101, 102


class PairModel:
    """The pair model, asked about the few known facts nearest to a draft. It changes no similarity.

    Thread-safe; the result of a pair does not depend on the others.
    """

    def __init__(self, model: Path = PAIR_MODEL) -> None:
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
        words = [encode(text, add_special_tokens=False).ids[:TOKENS_OF_TEXT] for text in texts]
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
