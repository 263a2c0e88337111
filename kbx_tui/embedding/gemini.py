"""Embedding with Google's Gemini API, the only embedder that sends texts to a service.

    [embedding]
    model = "gemini"        # gemini-embedding-001 with 768 dimensions
    model = "gemini/NAME"   # another Gemini model, also with 768 dimensions

Requires the extra `kbx-tui[gemini]` and GEMINI_API_KEY. Nothing is sent without a key.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from kbx_tui.embedding.embedder import (
    BUNDLED,
    OFFLINE_HINT,
    TokenCounter,
    Vector,
    Vectors,
    brief,
    encodable,
    normalize,
)
from kbx_tui.errors import (
    RATE_LIMIT_SECONDS,
    EmbeddingAuth,
    EmbeddingError,
    EmbeddingRateLimited,
    EmbeddingUnavailable,
)

if TYPE_CHECKING:
    from google.genai import Client

KEY_VARIABLE = "GEMINI_API_KEY"
DEFAULT_MODEL = "gemini-embedding-001"
DIMENSION = 768
BATCH_SIZE = 100
"""Texts per request: the API's maximum."""
TIMEOUT = 20.0

Task = Literal["RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]


class GeminiEmbedder(TokenCounter):
    """Embeds texts with the Gemini API. Chunks are as long as for the bundled model."""

    dimension = DIMENSION

    def __init__(
        self, model: str = DEFAULT_MODEL, *, base_url: str | None = None, timeout: float = TIMEOUT
    ) -> None:
        super().__init__(BUNDLED.folder)
        self.model = f"gemini/{model}@{DIMENSION}"
        self._name, self._base_url, self._timeout = model, base_url, timeout

    @cached_property
    def _client(self) -> Client:
        key = os.environ.get(KEY_VARIABLE, "").strip()
        if not key:
            raise EmbeddingAuth(
                f"model gemini needs a key: set {KEY_VARIABLE}; {OFFLINE_HINT}, without a key"
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
            vectors[start : start + len(batch)] = self._request(batch, "RETRIEVAL_DOCUMENT")
        return vectors

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self._request([text], "RETRIEVAL_QUERY")[0]
        return vector

    def _request(self, texts: Sequence[str], task: Task) -> Vectors:
        client = self._client
        from google.genai.types import EmbedContentConfig

        contents = [text if text.strip() else "-" for text in encodable(texts)]
        try:
            response = client.models.embed_content(
                model=self._name,
                contents=contents,  # type: ignore[arg-type]  # a list of texts is allowed
                config=EmbedContentConfig(task_type=task, output_dimensionality=DIMENSION),
            )
        except Exception as error:
            raise translated(error) from error
        rows = [embedding.values or [] for embedding in response.embeddings or []]
        return _unit_vectors(rows, len(texts))


def translated(error: Exception) -> EmbeddingError:
    code = getattr(error, "code", None)
    reason = brief(error)
    if code in (401, 403) or (code == 400 and "api key" in str(error).casefold()):
        return EmbeddingAuth(f"Gemini rejected {KEY_VARIABLE} ({reason}); set another key")
    if code == 429:
        wait = retry_delay(error)
        text = f"Gemini limits requests ({reason}); try again in {wait:.0f} seconds"
        return EmbeddingRateLimited(text, wait)
    if code == 408 or (isinstance(code, int) and code >= 500):
        return EmbeddingUnavailable(f"Gemini failed ({reason}); try again")
    if isinstance(error, OSError) or type(error).__module__.partition(".")[0].startswith("http"):
        return EmbeddingUnavailable(f"no answer from Gemini ({reason}); try again, {OFFLINE_HINT}")
    return EmbeddingError(f"Gemini returned no vectors ({reason}); {OFFLINE_HINT}")


def retry_delay(error: Exception) -> float:
    """Return the delay in seconds that a rate-limit response states in its body or header.

    The body has `{"error": {"details": [{"@type": ".../RetryInfo", "retryDelay": "31s"}]}}`.
    """
    body = getattr(error, "details", None)
    failure = body.get("error", body) if isinstance(body, dict) else {}
    details = failure.get("details") if isinstance(failure, dict) else None
    stated = [item.get("retryDelay") for item in details or () if isinstance(item, dict)]
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    for text in (*stated, headers.get("retry-after")):
        with suppress(TypeError, ValueError):
            seconds = float(str(text).strip().removesuffix("s"))
            if 0.0 < seconds < math.inf:
                return seconds
    return RATE_LIMIT_SECONDS


def _unit_vectors(rows: Sequence[Sequence[float]], expected: int) -> Vectors:
    """Return the rows scaled to norm 1: the API normalizes only full-dimension vectors.

    Raises EmbeddingError for a wrong number or dimension of rows.
    """
    if len(rows) != expected:
        raise EmbeddingError(
            f"Gemini returned {len(rows)} vectors for {expected} texts; {OFFLINE_HINT}"
        )
    for row in rows:
        if len(row) != DIMENSION:
            raise EmbeddingError(
                f"Gemini returned a vector of {len(row)} numbers instead of {DIMENSION}: the model "
                f"is not supported; name another one, or {OFFLINE_HINT}"
            )
    return normalize(np.asarray(rows, dtype=np.float32))
