"""Counting tokens the way a model does, with its tokenizer alone: no ONNX session is needed."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kbx_tui.errors import EmbeddingError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_TOKENS = 256
"""Most tokens a chunk may have: the bundled model was trained at this length."""


def encodable(texts: Sequence[str]) -> list[str]:
    """Return ``texts`` with lone surrogates, which tokenizers refuse, replaced by ``?``."""
    return [text.encode("utf-8", "replace").decode("utf-8") for text in texts]


def read_max_tokens(folder: Path) -> int:
    """Return the token limit of the model in ``folder``, special tokens included, at most 256.

    Raises EmbeddingError when tokenizer_config.json cannot be read.
    """
    path = folder / "tokenizer_config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        limits = [config.get(key) for key in ("model_max_length", "max_length")]
    except (OSError, ValueError, AttributeError) as error:
        raise EmbeddingError(f"{path} cannot be read: {error}") from error
    return int(min([MAX_TOKENS, *(limit for limit in limits if limit)]))


def load_tokenizer(folder: Path) -> Tokenizer:
    """Return the tokenizer of the model in ``folder``, neither truncating nor padding.

    Raises EmbeddingError when tokenizer.json cannot be read.
    """
    # Unset, it warns on stderr, over a terminal app, once a process forks after a parallel count.
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


def count_tokens(tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    """Return the number of tokens of each text, special ones left out."""
    encodings = tokenizer.encode_batch_fast(encodable(texts), add_special_tokens=False)
    return [len(encoding) for encoding in encodings]
