"""Tokenizers and token counts, without loading the model itself."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kbx_tui.errors import EmbeddingError
from kbx_tui.safe_text import replace_surrogates

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_TOKENS = 256
"""Limit of tokens per chunk: the length at which the bundled model was trained."""

BATCH_CHARACTERS = 100_000
"""Characters tokenized at once when tokens are counted."""


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
        return load_tokenizer(self._folder)

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
    """Yield pieces of texts, each with the index of its text, up to `BATCH_CHARACTERS` together."""
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
    """Return the token limit of the model in ``folder`` including special tokens, at most 256.

    Raises EmbeddingError if tokenizer_config.json cannot be read.
    """
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
