"""Cross-encoders: models that read a query and a text together and score how well it answers.

A model is a folder with an ONNX file and tokenizer.json, or a `TextCrossEncoder` of fastembed in
its cache. Both run with onnxruntime and tokenizers alone: fastembed is slow to import and only
needed to find a model by name. Nothing here downloads.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from kbx_tui.embedding.embedder import (
    OnnxModel,
    encodable,
    find_model_file,
    load_tokenizer,
    model_errors,
)
from kbx_tui.errors import RerankerError
from kbx_tui.system import usable_cores

MAX_TOKENS = 512
"""Limit of tokens per pair of query and text; the longest passage has fewer."""


class CrossEncoder:
    """A loaded model. Thread-safe."""

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
