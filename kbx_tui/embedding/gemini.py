"""Embedding by Google's Gemini API. Texts leave this machine; nothing else here does that.

    [embedding]
    model = "gemini"        # gemini-embedding-001 with 768 dimensions
    model = "gemini/NAME"   # another model of theirs, 768 dimensions as well

Needs the extra `kbx-tui[gemini]` and GEMINI_API_KEY. Nothing is sent without a key.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from kbx_tui.embedding import tokens
from kbx_tui.embedding.embedder import Vector, Vectors
from kbx_tui.embedding.error_text import OFFLINE_HINT, brief
from kbx_tui.embedding.source import BUNDLED
from kbx_tui.errors import (
    EmbeddingAuth,
    EmbeddingError,
    EmbeddingRateLimited,
    EmbeddingUnavailable,
)

if TYPE_CHECKING:
    from google.genai import Client
    from tokenizers import Tokenizer

KEY = "GEMINI_API_KEY"
DEFAULT_MODEL = "gemini-embedding-001"
DIMENSION = 768
BATCH_SIZE = 100
"""Texts per request: their limit."""
TIMEOUT = 20.0
"""Seconds for one request."""

Task = Literal["RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]


class GeminiEmbedder:
    """Asks the service for vectors. Chunks are cut as for the bundled model."""

    def __init__(
        self, model: str = DEFAULT_MODEL, *, base_url: str | None = None, timeout: float = TIMEOUT
    ) -> None:
        """Connect to nothing yet. `base_url` is another place that speaks the same protocol."""
        self._name, self._base_url, self._timeout = model, base_url, timeout

    @property
    def model(self) -> str:
        return f"gemini/{self._name}@{DIMENSION}"

    @property
    def dimension(self) -> int:
        return DIMENSION

    @cached_property
    def max_tokens(self) -> int:
        return tokens.read_max_tokens(BUNDLED.folder)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return tokens.load_tokenizer(BUNDLED.folder)

    @cached_property
    def _client(self) -> Client:
        key = os.environ.get(KEY, "").strip()
        if not key:
            raise EmbeddingAuth(
                f"model gemini needs a key: set {KEY}; {OFFLINE_HINT}, without a key"
            )
        try:
            from google.genai import Client
            from google.genai.types import HttpOptions
        except ImportError as error:
            raise EmbeddingError(
                f"model gemini needs a package: `pip install 'kbx-tui[gemini]'`; {OFFLINE_HINT}"
            ) from error
        options = HttpOptions(base_url=self._base_url, timeout=int(self._timeout * 1000))
        return Client(api_key=key, vertexai=False, http_options=options)

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for start in range(0, len(texts), BATCH_SIZE):
            batch = texts[start : start + BATCH_SIZE]
            vectors[start : start + len(batch)] = self._ask(batch, "RETRIEVAL_DOCUMENT")
        return vectors

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self._ask([text], "RETRIEVAL_QUERY")[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return tokens.count_tokens(self._tokenizer, texts)

    def _ask(self, texts: Sequence[str], task: Task) -> Vectors:
        client = self._client
        from google.genai.types import EmbedContentConfig

        sent = [text if text.strip() else "-" for text in tokens.encodable(list(texts))]
        try:
            answer = client.models.embed_content(
                model=self._name,
                contents=sent,  # type: ignore[arg-type]  # a list of texts is one of the choices
                config=EmbedContentConfig(task_type=task, output_dimensionality=DIMENSION),
            )
        except Exception as error:
            raise translated(error) from error
        return _unit_vectors([one.values or [] for one in answer.embeddings or []], len(texts))


def translated(error: Exception) -> EmbeddingError:
    """Return our error for one of the client or of its transport."""
    code = getattr(error, "code", None)
    said = brief(error)
    if code in (401, 403) or (code == 400 and "api key" in str(error).casefold()):
        return EmbeddingAuth(f"Gemini does not take the key in {KEY} ({said}); set another one")
    if code == 429:
        return EmbeddingRateLimited(f"Gemini asks to wait ({said}); try again in a minute")
    if code == 408 or (isinstance(code, int) and code >= 500):
        return EmbeddingUnavailable(f"Gemini has a fault of its own ({said}); try again")
    if isinstance(error, OSError) or type(error).__module__.partition(".")[0].startswith("http"):
        return EmbeddingUnavailable(f"Gemini cannot be reached ({said}); try again, {OFFLINE_HINT}")
    return EmbeddingError(f"Gemini gave no vectors ({said}); {OFFLINE_HINT}")


def _unit_vectors(rows: Sequence[Sequence[float]], wanted: int) -> Vectors:
    """Return the rows as unit vectors; theirs are, but only at full length."""
    if len(rows) != wanted:
        raise EmbeddingError(f"Gemini gave {len(rows)} vectors for {wanted} texts; {OFFLINE_HINT}")
    for row in rows:
        if len(row) != DIMENSION:
            raise EmbeddingError(
                f"Gemini gave a vector of {len(row)} numbers where {DIMENSION} were asked for: the "
                f"model cannot be used here; name another one, or {OFFLINE_HINT}"
            )
    vectors = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return unit
