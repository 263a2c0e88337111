"""Embedding with a server: one that speaks OpenAI's protocol, or Google's Gemini API.

    [embedding]
    model = "ollama/bge-m3"                   # Ollama on this machine
    model = "openai/text-embedding-3-small"   # OpenAI
    model = "gemini"                          # gemini-embedding-001 with 768 numbers
    address = "http://localhost:1234/v1"      # LM Studio, vLLM, llama.cpp or another of their kind

Texts go to that address alone: redirects are not followed, a proxy of the environment is not used
for this machine, and a key goes with them only as `KEY_VARIABLES` says.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from http import HTTPStatus
from http.client import HTTPException
from threading import RLock
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import msgspec
import numpy as np

from kbx_tui.embedding import KEY_VARIABLES, OTHER_KEY, SERVERS, is_loopback, server_address
from kbx_tui.embedding.embedder import (
    BUNDLED,
    OFFLINE_HINT,
    TokenCounter,
    Vector,
    Vectors,
    encodable,
    wait_at_most,
)
from kbx_tui.errors import (
    RATE_LIMIT_SECONDS,
    EmbeddingAuth,
    EmbeddingError,
    EmbeddingRateLimited,
    EmbeddingUnavailable,
)
from kbx_tui.formatting import format_count

GEMINI_MODEL, GEMINI_DIMENSION = "gemini-embedding-001", 768
BATCH_SIZE = 32
"""Texts per request: as many as a run of indexing embeds between two reports of its progress."""
TIMEOUT, QUERY_TIMEOUT = 120.0, 20.0
"""Seconds for a batch, which a large model on a processor may need, and for a query."""
MAX_NUMBERS, BYTES_PER_TEXT = 16_384, 500_000
"""The longest vector, and how long an answer may be for each text."""
RETRIES, RETRY_SECONDS, LONGEST_WAIT = 2, 1.0, 10.0
"""How often a batch is sent again to a busy server, after how many seconds unless it says when."""
AWAY_SECONDS = 10.0
"""How long queries fail at once after one had no answer: each key typed would wait for the next."""
OTHERWISE = "--fast searches by words alone, as does m in the app when it says fast"

log = logging.getLogger(__name__)


class _OpenAiRow(msgspec.Struct):
    embedding: list[float]
    index: int = -1


class _OpenAiAnswer(msgspec.Struct):
    data: list[_OpenAiRow]


class _GeminiRow(msgspec.Struct):
    values: list[float]


class _GeminiAnswer(msgspec.Struct):
    embeddings: list[_GeminiRow]


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *args: Any) -> None:
        """Return no request, so that the answer is raised as an error."""


class ServerEmbedder(TokenCounter):
    """Embeds texts with a server, with chunks as long as for the bundled model. Thread-safe.

    Errors repeat nothing that the server says: it could be the key, or a text.
    """

    def __init__(self, model: str, address: str = "", *, timeout: float = TIMEOUT) -> None:
        """Raises EmbeddingError if `model` names none; `address` is that of kbx.toml, or empty."""
        super().__init__(BUNDLED.folder)
        self._service, _, name = model.partition("/")
        self._address, self._timeout = server_address(model, address), timeout
        self._is_gemini = self._service == "gemini"
        self._name = name or (GEMINI_MODEL if self._is_gemini else "")
        if not self._name:
            raise EmbeddingError(f"[embedding] model {model} names no model: write {model}/NAME")
        self._dimension = GEMINI_DIMENSION if self._is_gemini else 0
        numbers = f"@{GEMINI_DIMENSION}" if self._is_gemini else ""
        self.model = f"{self._service}/{self._name}{numbers}"
        self._first = RLock()  # held by the first request, which makes the dimension known
        self._away = 0.0, ""  # until when queries fail at once, and what they say
        proxies = ProxyHandler({}) if is_loopback(self._address) else ProxyHandler()
        self._opener = build_opener(proxies, _NoRedirects)

    @property
    def dimension(self) -> int:
        if not self._dimension:
            with self._first:
                if not self._dimension:
                    self.embed_query("dimension")
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        batches = [texts[at : at + BATCH_SIZE] for at in range(0, len(texts), BATCH_SIZE)]
        if not batches:
            return np.empty((0, self.dimension), np.float32)
        return np.concatenate([self._embed_patiently(batch) for batch in batches])

    def embed_query(self, text: str) -> Vector:
        if time.monotonic() < self._away[0]:
            raise EmbeddingUnavailable(self._away[1])
        try:
            vector: Vector = self._embed([text], "QUERY", min(self._timeout, QUERY_TIMEOUT))[0]
        except EmbeddingUnavailable as error:
            self._away = time.monotonic() + AWAY_SECONDS, str(error)
            raise
        return vector

    def _embed_patiently(self, texts: Sequence[str]) -> Vectors:
        for _ in range(RETRIES):
            wait = RETRY_SECONDS
            try:
                return self._embed(texts, "DOCUMENT", self._timeout)
            except EmbeddingRateLimited as error:
                if (wait := error.retry_after_seconds) > LONGEST_WAIT:
                    raise
            except EmbeddingUnavailable as error:
                if not isinstance(error.__cause__, HTTPError):  # nobody is there
                    raise
            time.sleep(wait)
        return self._embed(texts, "DOCUMENT", self._timeout)

    def _embed(self, texts: Sequence[str], task: str, seconds: float) -> Vectors:
        """Return the vectors that one request yields. Raises EmbeddingError."""
        with nullcontext() if self._dimension else self._first:
            request = self._request(
                [text if text.strip() else "-" for text in encodable(texts)], task
            )
            most = BYTES_PER_TEXT * len(texts)
            try:
                body = wait_at_most(seconds, lambda: self._read(request, seconds, most))
            except (OSError, HTTPException, ValueError, OverflowError) as error:
                cause = error.reason if isinstance(error, URLError) else error
                words = getattr(cause, "strerror", None) or type(cause).__name__
                if isinstance(cause, TimeoutError):
                    words = f"for {seconds:g} seconds"
                raise EmbeddingUnavailable(
                    f"no answer from {self._address} ({words}): is it running? {OTHERWISE}"
                ) from error
            return self._vectors(body, len(texts))

    def _request(self, texts: Sequence[str], task: str) -> Request:
        headers, key = {"Content-Type": "application/json", "User-Agent": "kbx-tui"}, self._key()
        if self._is_gemini:
            url = f"{self._address}/models/{quote(self._name, safe='')}:batchEmbedContents"
            each = {
                "model": f"models/{self._name}",
                "taskType": f"RETRIEVAL_{task}",
                "outputDimensionality": GEMINI_DIMENSION,
            }
            contents = [{"content": {"parts": [{"text": text}], "role": "user"}} for text in texts]
            body: Any = {"requests": [each | content for content in contents]}
            headers |= {"X-Goog-Api-Key": key} if key else {}
        else:
            url, body = f"{self._address}/embeddings", {"model": self._name, "input": texts}
            headers |= {"Authorization": f"Bearer {key}"} if key else {}
        return Request(url, msgspec.json.encode(body), headers)

    @property
    def _key_variable(self) -> str:
        """The variable with the key for this address: that of a service is for it alone."""
        is_its_own = self._address == SERVERS[self._service]
        return KEY_VARIABLES.get(self._service, OTHER_KEY) if is_its_own else OTHER_KEY

    def _key(self) -> str:
        """Return the key of the environment, which a service needs and other servers may."""
        variable = self._key_variable
        key = os.environ.get(variable, "").strip()
        if not key and variable != OTHER_KEY:
            raise EmbeddingAuth(
                f"model {self._service} needs a key: set {variable}; {OFFLINE_HINT}, without a key"
            )
        if any(not "!" <= letter <= "~" for letter in key):
            raise EmbeddingAuth(f"the key in {variable} holds characters that no key has")
        return key

    def _read(self, request: Request, seconds: float, most: int) -> bytes:
        """Return the body of the answer. Raises OSError, and EmbeddingError for any but vectors."""
        deadline, parts, size = time.monotonic() + seconds, list[bytes](), 0
        try:
            response = self._opener.open(request, timeout=seconds)
        except HTTPError as error:
            raise self._refusal(error) from error
        with response:
            while part := response.read1(65_536):
                parts.append(part)
                size += len(part)
                if size > most:
                    raise EmbeddingError(
                        f"the answer of {self._address} is too long for vectors: is that a server "
                        "for embeddings?"
                    )
                if time.monotonic() > deadline:
                    raise TimeoutError
        return b"".join(parts)

    def _refusal(self, error: HTTPError) -> EmbeddingError:
        """Return what an answer that is not 200 means."""
        said = b""
        with error, suppress(OSError, HTTPException):
            said = error.read1(BYTES_PER_TEXT)
        code, where = error.code, self._address
        status = f"{code} {HTTPStatus(code).phrase}" if code in list(HTTPStatus) else str(code)
        if code in (401, 403) or (code == 400 and b"api key" in said.lower()):
            variable = self._key_variable
            if not os.environ.get(variable):
                return EmbeddingAuth(f"{where} wants a key ({status}): set {variable}")
            return EmbeddingAuth(f"{where} rejected {variable} ({status}); set another key")
        if code == 429:
            wait = _stated_delay(error, said)
            text = f"{where} limits requests ({status}); try again in {wait:.0f} seconds"
            return EmbeddingRateLimited(text, wait)
        if code == 408 or code >= 500:
            return EmbeddingUnavailable(f"{where} failed ({status}); try again. {OTHERWISE}")
        if 300 <= code < 400:
            text = "sends on to another address, which is not followed: write the right one"
        elif code == 404:
            text = f"has no model {self._name}, or is no such server: most addresses end in /v1"
        else:
            text = f"refuses the texts: is {self._name} a model for embeddings?"
        return EmbeddingError(f"{where} {text} ({status}); {OFFLINE_HINT}")

    def _vectors(self, body: bytes, count: int) -> Vectors:
        """Return the unit vectors of an answer. Raises EmbeddingError for any other answer."""
        try:
            if self._is_gemini:
                listed = msgspec.json.decode(body, type=_GeminiAnswer).embeddings
                rows = dict(enumerate(row.values for row in listed))
            else:
                data = msgspec.json.decode(body, type=_OpenAiAnswer).data
                rows = {
                    at if row.index < 0 else row.index: row.embedding for at, row in enumerate(data)
                }
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise self._unusable("no list of vectors of numbers") from error
        if rows.keys() != set(range(count)):
            counted = f"{format_count(len(rows), 'vector')} for {format_count(count, 'text')}"
            raise self._unusable(counted)
        lengths = {len(row) for row in rows.values()}
        wanted = self._dimension or lengths.pop()
        if others := lengths - {wanted}:
            words = f"a vector of {others.pop():,} numbers instead of {wanted:,}"
            raise self._unusable(f"{words}, so another model than before")
        if not 1 <= wanted <= MAX_NUMBERS:
            raise self._unusable(f"vectors of {wanted:,} numbers")
        matrix = np.array([rows[at] for at in range(count)])
        with np.errstate(over="ignore"):
            norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not (np.isfinite(norms) & (norms > 0)).all():
            raise self._unusable("a vector without a direction")
        self._dimension = wanted
        vectors: Vectors = (matrix / norms).astype(np.float32)
        return vectors

    def _unusable(self, what: str) -> EmbeddingError:
        hint = f"name another model than {self._name}, or {OFFLINE_HINT}"
        return EmbeddingError(f"{self._address} returned {what}; {hint}")


def _stated_delay(error: HTTPError, body: bytes) -> float:
    """Return the seconds that a rate-limit answer states in its body or header.

    The body may have `{"error": {"details": [{"@type": ".../RetryInfo", "retryDelay": "31s"}]}}`.
    """
    stated: list[Any] = []
    with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError, LookupError, TypeError):
        stated += [
            each.get("retryDelay")
            for each in msgspec.json.decode(body)["error"]["details"]
            if isinstance(each, dict)
        ]
    for text in (*stated, error.headers.get("Retry-After")):
        with suppress(ValueError):
            seconds = float(str(text).strip().removesuffix("s"))
            if 0.0 <= seconds < math.inf:
                return seconds
    return RATE_LIMIT_SECONDS
