"""Stands in for the app where it is not what is tested: speaks its protocol, does as typed.

A text that is typed comes back after `typed:`, a message after `message:`. `crash!` ends the
process with an error, `leave!` without one, `environment?` and `arguments?` are answered in JSON,
`flood!` prints much, and `say ` is followed by a message to the page.
"""

import json
import os
import sys
from typing import BinaryIO


def send(kind: bytes, payload: bytes) -> None:
    out = sys.stdout.buffer
    out.write(kind + len(payload).to_bytes(4, "big") + payload)
    out.flush()


def answer(kind: bytes, payload: bytes) -> None:
    text = payload.decode()
    if kind == b"M":
        send(b"D", b"message:" + payload)
    elif text == "crash!":
        sys.exit("crashed as asked")
    elif text == "leave!":
        sys.exit(0)
    elif text == "environment?":
        send(b"D", json.dumps(dict(os.environ)).encode())
    elif text == "arguments?":
        send(b"D", json.dumps(sys.argv[1:]).encode())
    elif text == "flood!":
        for _ in range(30):
            send(b"D", b"x" * 100_000)
    elif text.startswith("say "):
        send(b"M", text[4:].encode())
    else:
        send(b"D", b"typed:" + payload)


def run(read: BinaryIO) -> None:
    sys.stdout.buffer.write(b"__GANGLION__\n")
    send(b"D", b"welcome")
    while header := read.read(5):
        answer(header[:1], read.read(int.from_bytes(header[1:], "big")))


run(sys.stdin.buffer)
