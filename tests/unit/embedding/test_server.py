"""Tests with a real server of HTTP on this machine."""

import math
from collections.abc import Iterator
from itertools import repeat
from threading import Event
from typing import Any

import numpy as np
import pytest

from kbx_tui.embedding import OTHER_KEY
from kbx_tui.embedding.local import open_embedder
from kbx_tui.embedding.server import BATCH_SIZE, GEMINI_DIMENSION, ServerEmbedder
from kbx_tui.errors import EmbeddingAuth, EmbeddingError, EmbeddingRateLimited, EmbeddingUnavailable
from kbx_tui.tools.dispatch import failure_of
from tests.embedding_server import (
    EmbeddingServer,
    Replies,
    Reply,
    embedding_server,
    texts_of,
    vectors_of,
)
from tests.waiting import PATIENCE, wait_until

MODELS = ("openai/bge-m3", "ollama/bge-m3", "gemini")
SECRET = "a-key-3f9"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    for name in ("GEMINI_API_KEY", "OPENAI_API_KEY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(OTHER_KEY, SECRET)
    with embedding_server() as running:
        yield running


@pytest.fixture(params=MODELS)
def embedder(request: pytest.FixtureRequest, server: EmbeddingServer) -> ServerEmbedder:
    if request.param == "gemini":
        server.reply = vectors_of(GEMINI_DIMENSION)
    return ServerEmbedder(request.param, server.address, timeout=5.0)


@pytest.fixture
def openai(server: EmbeddingServer) -> ServerEmbedder:
    return ServerEmbedder("openai/bge-m3", server.address, timeout=5.0)


def test_vectors_have_unit_length_and_keep_the_order_of_texts(
    embedder: ServerEmbedder, server: EmbeddingServer
) -> None:
    texts = ["x" * length for length in range(1, 51)]
    vectors = embedder.embed(texts)
    assert vectors.dtype == np.float32
    assert vectors.shape == (50, embedder.dimension)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)
    rest = 2 * math.sqrt(embedder.dimension - 1)
    expected = [length / math.hypot(length, rest) for length in range(1, 51)]
    np.testing.assert_allclose(vectors[:, 0], expected, rtol=1e-4)
    assert [len(texts_of(body)) for body in server.requests] == [BATCH_SIZE, 50 - BATCH_SIZE]


def test_each_protocol_is_spoken_as_its_servers_expect(server: EmbeddingServer) -> None:
    ServerEmbedder("openai/org/bge m3", server.address + "/").embed_query("a")
    server.reply = vectors_of(GEMINI_DIMENSION)
    gemini = ServerEmbedder("gemini/../x?", server.address)
    gemini.embed(["a"])
    gemini.embed_query("a")
    assert server.paths == ["/v1/embeddings", *["/v1/models/..%2Fx%3F:batchEmbedContents"] * 2]
    assert server.requests[0] == {"model": "org/bge m3", "input": ["a"]}
    assert [body["requests"][0] for body in server.requests[1:]] == [
        {
            "model": "models/../x?",
            "content": {"parts": [{"text": "a"}], "role": "user"},
            "taskType": task,
            "outputDimensionality": GEMINI_DIMENSION,
        }
        for task in ("RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY")
    ]
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"
    assert server.headers[1]["X-Goog-Api-Key"] == SECRET


def test_no_texts_send_no_request_once_the_dimension_is_known(
    embedder: ServerEmbedder, server: EmbeddingServer
) -> None:
    dimension, asked = embedder.dimension, len(server.requests)
    assert embedder.embed([]).shape == (0, dimension)
    assert len(server.requests) == asked <= 1


def test_a_query_says_the_dimension(openai: ServerEmbedder, server: EmbeddingServer) -> None:
    openai.embed_query("a")
    assert openai.dimension == 4
    assert server.texts == ["a"]


def test_blank_texts_can_be_embedded(embedder: ServerEmbedder, server: EmbeddingServer) -> None:
    assert len(embedder.embed(["", " \n", "\ud800"])) == 3
    assert server.texts == ["-", "-", "?"]


@pytest.mark.parametrize("model", ["gemini", "openai/x"])
@pytest.mark.parametrize("key", [None, " "])
def test_without_a_key_nothing_is_sent_to_a_service(
    monkeypatch: pytest.MonkeyPatch, server: EmbeddingServer, model: str, key: str | None
) -> None:
    variable = f"{model.partition('/')[0].upper()}_API_KEY"
    if key is not None:
        monkeypatch.setenv(variable, key)
    with pytest.raises(EmbeddingAuth, match=f"set {variable}") as caught:
        ServerEmbedder(model).embed(["a"])
    failure = failure_of(caught.value)
    assert (failure.type, failure.retryable) == ("AUTH", False)


@pytest.mark.parametrize("model", MODELS)
def test_the_key_of_a_service_goes_to_no_other_server(
    monkeypatch: pytest.MonkeyPatch, server: EmbeddingServer, model: str
) -> None:
    for name in ("GEMINI_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "service-key")
    monkeypatch.delenv(OTHER_KEY)
    if model == "gemini":
        server.reply = vectors_of(GEMINI_DIMENSION)
    ServerEmbedder(model, server.address).embed_query("a")
    assert "service-key" not in str(server.headers)


def test_a_key_that_is_none_is_not_repeated(
    monkeypatch: pytest.MonkeyPatch, openai: ServerEmbedder, server: EmbeddingServer
) -> None:
    monkeypatch.setenv(OTHER_KEY, f"{SECRET}\nX-Other: 1")
    with pytest.raises(EmbeddingAuth, match=OTHER_KEY) as caught:
        openai.embed_query("a")
    assert SECRET not in str(caught.value)
    assert server.requests == []


@pytest.mark.parametrize(
    ("details", "seconds"),
    [
        ([{"@type": "x/RetryInfo", "retryDelay": "31s"}], 31.0),
        ([{"@type": "x/QuotaFailure"}, {"retryDelay": "0.5s"}], 0.5),
        ([{"retryDelay": "soon"}], 7.0),
        ([{"retryDelay": "-3s"}], 7.0),
        ([{"retryDelay": "infs"}], 7.0),
        ("not a list", 7.0),
        (None, 7.0),
    ],
    ids=str,
)
def test_a_rate_limit_says_when_to_try_again(
    openai: ServerEmbedder, server: EmbeddingServer, details: Any, seconds: float
) -> None:
    answer = {"error": {"message": "slow down", "details": details}}
    server.reply = lambda body: Reply(429, answer, {"Retry-After": "7"})
    with pytest.raises(EmbeddingRateLimited) as caught:
        openai.embed_query("a")
    error = failure_of(caught.value).error_json()
    assert (error["retryable"], error["retry_after_seconds"]) == (True, seconds)


@pytest.mark.parametrize(
    ("status", "message", "error_class", "failure_type", "says"),
    [
        (400, "API key not valid. Please pass a valid API key.", EmbeddingAuth, "AUTH", OTHER_KEY),
        (401, "who are you", EmbeddingAuth, "AUTH", OTHER_KEY),
        (403, "not you", EmbeddingAuth, "AUTH", OTHER_KEY),
        (429, "slow down", EmbeddingRateLimited, "RATE_LIMIT", "in 60 seconds"),
        (500, "oh", EmbeddingUnavailable, "TRANSIENT", "500 Internal Server Error"),
        (503, "later", EmbeddingUnavailable, "TRANSIENT", "503 Service Unavailable"),
        (599, "odd", EmbeddingUnavailable, "TRANSIENT", "(599)"),
        (307, "elsewhere", EmbeddingError, "INTERNAL", "another address, which is not followed"),
        (400, "no such field", EmbeddingError, "INTERNAL", "a model for embeddings"),
        (404, "no such model", EmbeddingError, "INTERNAL", "has no model bge-m3"),
    ],
)
def test_the_kind_of_a_refusal_is_reported_without_words_of_the_server(
    openai: ServerEmbedder,
    server: EmbeddingServer,
    status: int,
    message: str,
    error_class: type[EmbeddingError],
    failure_type: str,
    says: str,
) -> None:
    with embedding_server() as other:
        said = {"error": {"message": f"{message} {SECRET} a secret text"}}
        server.reply = lambda body: Reply(status, said, {"Location": other.address})
        with pytest.raises(EmbeddingError) as caught:
            openai.embed_query("a secret text")
        assert other.requests == []
    assert type(caught.value) is error_class
    failure = failure_of(caught.value)
    assert failure.type == failure_type
    assert failure.retryable is (failure_type in ("RATE_LIMIT", "TRANSIENT"))
    assert says in failure.message
    assert SECRET not in failure.message
    assert "secret text" not in failure.message


@pytest.mark.parametrize(
    ("status", "error_class"), [(400, EmbeddingError), (429, EmbeddingRateLimited)]
)
def test_a_refusal_whose_text_cannot_be_read_counts_by_its_status(
    openai: ServerEmbedder, server: EmbeddingServer, status: int, error_class: type[EmbeddingError]
) -> None:
    server.reply = lambda body: Reply(status, iter([b"x"]), {"Transfer-Encoding": "chunked"})
    with pytest.raises(EmbeddingError, match=rf"\({status} ") as caught:
        openai.embed_query("a")
    assert type(caught.value) is error_class


def test_a_batch_is_sent_again_to_a_busy_server_and_a_query_is_not(
    openai: ServerEmbedder, server: EmbeddingServer
) -> None:
    server.reply = lambda body: Reply(429, {}, {"Retry-After": "0"})
    with pytest.raises(EmbeddingRateLimited):
        openai.embed_query("a")
    assert len(server.requests) == 1
    with pytest.raises(EmbeddingRateLimited):
        openai.embed(["a"])
    assert len(server.requests) == 4
    busy = iter([Reply(429, {}, {"Retry-After": "0"})])
    server.reply = lambda body: next(busy, None) or vectors_of(4)(body)
    assert openai.embed(["a"]).shape == (1, 4)


def drip() -> Iterator[bytes]:
    for _ in range(10_000):
        yield b" "
        Event().wait(0.02)


def test_an_answer_that_takes_too_long_is_given_up_and_not_asked_for_again(
    server: EmbeddingServer,
) -> None:
    given_up = Event()

    def slow(body: Any) -> Reply:
        given_up.wait(PATIENCE)
        return Reply(200, {})

    unfinished = Reply(429, drip(), {"Transfer-Encoding": "chunked"})
    replies: list[Replies] = [slow, lambda _: Reply(200, drip()), lambda _: unfinished]
    for reply in replies:
        server.requests.clear()
        server.reply = reply
        embedder = ServerEmbedder("openai/bge-m3", server.address, timeout=0.2)
        for text in ("first", "second"):
            with pytest.raises(EmbeddingUnavailable, match=r"for 0.2 seconds"):
                embedder.embed_query(text)
        wait_until(lambda: server.texts)  # perhaps only when nobody waits any more
        assert server.texts == ["first"]
    given_up.set()


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:1", "http://127.0.0.1:99999/v1", "http://a..b", f"http://{'a' * 70}.x"],
)
def test_a_server_that_is_not_there_is_named(server: EmbeddingServer, address: str) -> None:
    with pytest.raises(EmbeddingUnavailable, match="no answer from http://") as caught:
        ServerEmbedder("openai/x", address, timeout=2.0).embed(["a"])
    assert "\n" not in str(caught.value)


GOOD = [1.0, 2.0]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (b"<html>", "no list of vectors"),
        (b"\xff\xfe", "no list of vectors"),
        (b"", "no list of vectors"),
        (b"[" * 100_000, "no list of vectors"),
        (b'{"data": ' + b"[" * 100_000, "no list of vectors"),
        ({"data": [{"embedding": ["1", "2"]}] * 2}, "no list of vectors"),
        (b'{"data": [{"embedding": [NaN]}, {"embedding": [1]}]}', "no list of vectors"),
        (b'{"data": [{"embedding": [1e999]}, {"embedding": [1]}]}', "no list of vectors"),
        ({"data": [{"embedding": [1e200, 1e200]}] * 2}, "without a direction"),
        ({"data": [{"embedding": [0.0, 0.0]}] * 2}, "without a direction"),
        ({"data": [{"embedding": GOOD}]}, "1 vector for 2 texts"),
        ({"data": [{"embedding": GOOD}] * 3}, "3 vectors for 2 texts"),
        ({"data": [{"embedding": GOOD, "index": 1}] * 2}, "1 vector for 2 texts"),
        ({"data": []}, "0 vectors for 2 texts"),
        ({"data": [{"embedding": GOOD}, {"embedding": [1.0]}]}, "numbers instead of"),
        ({"data": [{"embedding": []}] * 2}, "vectors of 0 numbers"),
        ({"data": [{"embedding": [1.0] * 20_000}] * 2}, "vectors of 20,000 numbers"),
        (repeat(b" " * 65_536), "too long for vectors"),
    ],
)
def test_an_answer_that_is_not_what_was_asked_is_said(
    openai: ServerEmbedder, server: EmbeddingServer, answer: Any, says: str
) -> None:
    server.reply = lambda body: Reply(200, answer)
    with pytest.raises(EmbeddingError, match=says) as caught:
        openai.embed(["a", "b"])
    assert type(caught.value) is EmbeddingError
    assert server.requests[1:] == []


def test_vectors_of_another_length_than_before_are_refused(
    embedder: ServerEmbedder, server: EmbeddingServer
) -> None:
    before = embedder.dimension
    server.reply = vectors_of(5)
    with pytest.raises(EmbeddingError, match=f"of 5 numbers instead of {before}"):
        embedder.embed_query("a")


def test_texts_for_this_machine_pass_no_proxy(
    monkeypatch: pytest.MonkeyPatch, server: EmbeddingServer
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    assert ServerEmbedder("openai/x", server.address).embed(["a"]).shape == (1, 4)


def test_settings_select_the_model_and_tokens_are_those_of_the_bundled_one() -> None:
    assert open_embedder("gemini").model == "gemini/gemini-embedding-001@768"
    assert open_embedder("gemini/other").model == "gemini/other@768"
    assert open_embedder("ollama/bge-m3").model == "ollama/bge-m3"
    with pytest.raises(EmbeddingError, match="write openai/NAME"):
        open_embedder("openai", address="http://localhost:1/v1")

    embedder, bundled = ServerEmbedder("openai/x"), open_embedder("bundled")
    assert embedder.max_tokens == bundled.max_tokens
    assert embedder.count_tokens(["one two three"]) == bundled.count_tokens(["one two three"])
