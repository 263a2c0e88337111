"""Tests with the real Gemini client and a local service."""

import json
import math
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

from kbx_tui.embedding.gemini import DIMENSION, KEY_VARIABLE, GeminiEmbedder
from kbx_tui.embedding.local import open_embedder
from kbx_tui.errors import (
    EmbeddingAuth,
    EmbeddingError,
    EmbeddingRateLimited,
    EmbeddingUnavailable,
)
from kbx_tui.tools.dispatch import failure_of
from tests.waiting import PATIENCE

pytest.importorskip("google.genai", reason="the extra `gemini` is not installed")

Reply = Callable[[Any], tuple[int, Any]]


class Service:
    """Answers every request with `reply` and records the requests."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.keys: list[str | None] = []
        self.reply: Reply = vectors_of(DIMENSION)
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                service.requests.append(body)
                service.keys.append(self.headers.get("x-goog-api-key"))
                status, answer = service.reply(body)
                payload = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *args: Any) -> None:
                return None

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        Thread(target=self.server.serve_forever, daemon=True).start()


def vectors_of(dimension: int) -> Reply:
    """Return a reply with one vector per text: its length, then twos."""

    def reply(body: Any) -> tuple[int, Any]:
        texts = [request["content"]["parts"][0]["text"] for request in body["requests"]]
        rows = [[float(len(text)), *[2.0] * (dimension - 1)] for text in texts]
        return 200, {"embeddings": [{"values": row} for row in rows]}

    return reply


def failing(status: int, message: str, **more: Any) -> Reply:
    error = {"code": status, "message": message, "status": "X", **more}
    return lambda body: (status, {"error": error})


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv(KEY_VARIABLE, "a-key")
    running = Service()
    yield running
    running.server.shutdown()
    running.server.server_close()


@pytest.fixture
def embedder(service: Service) -> GeminiEmbedder:
    return GeminiEmbedder(base_url=service.url, timeout=5.0)


def test_vectors_have_unit_length_and_keep_the_order_of_texts(
    embedder: GeminiEmbedder, service: Service
) -> None:
    texts = ["x" * length for length in range(1, 151)]
    vectors = embedder.embed(texts)
    assert vectors.shape == (150, DIMENSION)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)
    expected = [
        length / math.hypot(length, 2 * math.sqrt(DIMENSION - 1)) for length in range(1, 151)
    ]
    np.testing.assert_allclose(vectors[:, 0], expected, rtol=1e-4)
    assert [len(body["requests"]) for body in service.requests] == [100, 50]
    assert set(service.keys) == {"a-key"}


def test_documents_and_queries_use_different_task_types(
    embedder: GeminiEmbedder, service: Service
) -> None:
    embedder.embed(["a"])
    embedder.embed_query("a")
    tasks = [body["requests"][0]["taskType"] for body in service.requests]
    assert tasks == ["RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]
    assert {body["requests"][0]["outputDimensionality"] for body in service.requests} == {DIMENSION}


def test_no_texts_send_no_request(embedder: GeminiEmbedder, service: Service) -> None:
    assert embedder.embed([]).shape == (0, DIMENSION)
    assert service.requests == []


def test_blank_texts_can_be_embedded(embedder: GeminiEmbedder) -> None:
    assert embedder.embed(["", " \n", "\ud800"]).shape == (3, DIMENSION)


@pytest.mark.parametrize("key", [None, "", "  "])
def test_without_a_key_nothing_is_sent(
    embedder: GeminiEmbedder, service: Service, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    monkeypatch.delenv(KEY_VARIABLE)
    if key is not None:
        monkeypatch.setenv(KEY_VARIABLE, key)
    with pytest.raises(EmbeddingAuth, match=KEY_VARIABLE) as caught:
        embedder.embed(["a"])
    assert service.requests == []
    failure = failure_of(caught.value)
    assert (failure.type, failure.retryable) == ("AUTH", False)


@pytest.mark.parametrize(
    ("details", "seconds"),
    [
        ([{"@type": "x/RetryInfo", "retryDelay": "31s"}], 31.0),
        ([{"@type": "x/QuotaFailure"}, {"retryDelay": "0.5s"}], 0.5),
        ([{"retryDelay": "soon"}], 60.0),
        ([{"retryDelay": "-3s"}], 60.0),
        ([{"retryDelay": "infs"}], 60.0),
        ("not a list", 60.0),
        (None, 60.0),
    ],
    ids=str,
)
def test_a_rate_limit_says_when_to_try_again(
    embedder: GeminiEmbedder, service: Service, details: Any, seconds: float
) -> None:
    service.reply = failing(429, "slow down", details=details)
    with pytest.raises(EmbeddingRateLimited) as caught:
        embedder.embed_query("a")
    error = failure_of(caught.value).error_json()
    assert (error["retryable"], error["retry_after_seconds"]) == (True, seconds)


@pytest.mark.parametrize(
    ("status", "message", "error_class", "failure_type"),
    [
        (400, "API key not valid. Please pass a valid API key.", EmbeddingAuth, "AUTH"),
        (401, "who are you", EmbeddingAuth, "AUTH"),
        (403, "not you", EmbeddingAuth, "AUTH"),
        (429, "slow down", EmbeddingRateLimited, "RATE_LIMIT"),
        (500, "oh", EmbeddingUnavailable, "TRANSIENT"),
        (503, "later", EmbeddingUnavailable, "TRANSIENT"),
        (400, "no such field", EmbeddingError, "INTERNAL"),
        (404, "no such model", EmbeddingError, "INTERNAL"),
    ],
)
def test_service_errors_are_translated_by_kind(
    embedder: GeminiEmbedder,
    service: Service,
    status: int,
    message: str,
    error_class: type[EmbeddingError],
    failure_type: str,
) -> None:
    service.reply = failing(status, message)
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed_query("a")
    assert type(caught.value) is error_class
    failure = failure_of(caught.value)
    assert failure.type == failure_type
    assert failure.retryable is (failure_type in ("RATE_LIMIT", "TRANSIENT"))
    assert "a-key" not in failure.message


def test_timeout_raises_embedding_unavailable(service: Service) -> None:
    given_up = Event()

    def slow(body: Any) -> tuple[int, Any]:
        given_up.wait(PATIENCE)
        return 200, {}

    service.reply = slow
    with pytest.raises(EmbeddingUnavailable):
        GeminiEmbedder(base_url=service.url, timeout=0.2).embed_query("a")
    given_up.set()


def test_refused_connection_raises_embedding_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "a-key")
    with pytest.raises(EmbeddingUnavailable):
        GeminiEmbedder(base_url="http://127.0.0.1:1", timeout=2.0).embed_query("a")


def test_vectors_of_unexpected_dimension_raise_embedding_error(
    embedder: GeminiEmbedder, service: Service
) -> None:
    service.reply = vectors_of(3072)
    with pytest.raises(EmbeddingError, match="3072 numbers instead of 768") as caught:
        embedder.embed(["a"])
    assert (failure_of(caught.value).type, failure_of(caught.value).retryable) == (
        "INTERNAL",
        False,
    )


def test_too_few_vectors_raise_embedding_error(embedder: GeminiEmbedder, service: Service) -> None:
    service.reply = lambda body: (200, {"embeddings": []})
    with pytest.raises(EmbeddingError, match="0 vectors for 1"):
        embedder.embed(["a"])


def test_gemini_setting_selects_the_model() -> None:
    assert open_embedder("gemini").model == "gemini/gemini-embedding-001@768"
    assert open_embedder("gemini/other").model == "gemini/other@768"


def test_tokens_are_counted_as_for_the_bundled_model(embedder: GeminiEmbedder) -> None:
    bundled = open_embedder("bundled")
    assert embedder.max_tokens == bundled.max_tokens
    assert embedder.count_tokens(["one two three"]) == bundled.count_tokens(["one two three"])
