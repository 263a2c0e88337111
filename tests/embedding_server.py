"""A server of embeddings with OpenAI's and Gemini's protocols, which records what it is sent."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple


class Reply(NamedTuple):
    status: int
    answer: Any
    """JSON, or the bytes of the body, or pieces of it that are sent without saying how many."""
    headers: Mapping[str, str] = {}


Replies = Callable[[Any], Reply]


class EmbeddingServer:
    """Answers every request with `reply`; `address` is the setting `[embedding] address`."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.paths: list[str] = []
        self.headers: list[Mapping[str, str]] = []
        self.reply: Replies = vectors_of(4)
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                recorder.requests.append(body)
                recorder.paths.append(self.path)
                recorder.headers.append(dict(self.headers))
                reply = recorder.reply(body)
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                pieces: Iterable[bytes]
                if isinstance(reply.answer, Iterator):
                    pieces = reply.answer
                else:
                    given = isinstance(reply.answer, bytes)
                    payload = reply.answer if given else json.dumps(reply.answer).encode()
                    self.send_header("content-length", str(len(payload)))
                    pieces = [payload]
                self.end_headers()
                try:
                    for piece in pieces:
                        self.wfile.write(piece)
                except OSError:  # the client has had enough
                    self.close_connection = True

            def log_message(self, *args: Any) -> None:
                return None

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def texts(self) -> list[str]:
        return [text for body in self.requests for text in texts_of(body)]


def texts_of(body: Any) -> list[str]:
    if "input" in body:
        return list(body["input"])
    return [request["content"]["parts"][0]["text"] for request in body["requests"]]


def rows_reply(body: Any, rows: Iterable[Any]) -> Reply:
    if "input" in body:
        data = [
            {"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)
        ]
        return Reply(200, {"object": "list", "data": data[::-1], "model": "m", "usage": {}})
    return Reply(200, {"embeddings": [{"values": row} for row in rows]})


def vectors_of(dimension: int) -> Replies:
    """Reply with a vector for each text: its length, then twos."""
    return lambda body: rows_reply(
        body, [[float(len(text)), *[2.0] * (dimension - 1)] for text in texts_of(body)]
    )


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    running = EmbeddingServer()
    try:
        yield running
    finally:
        running.server.shutdown()
        running.server.server_close()
