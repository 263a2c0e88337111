"""Packets between the server and a process of the app: the protocol of textual-serve.

After the line `GREETING` of the process, each side sends packets: a byte for the kind, the length
of the payload in four bytes (big-endian), and the payload. Kind D is text for or from the terminal,
M a message in JSON.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, NamedTuple

GREETING = b"__GANGLION__\n"
DATA, MESSAGE = b"D", b"M"
PAYLOAD_BYTES = 16_000_000
"""A screen takes less than a hundredth of it."""


class Packet(NamedTuple):
    """One packet of a process."""

    kind: bytes
    payload: bytes


class BrokenPacket(Exception):
    """A process sent what is not a packet."""


def encode_packet(kind: bytes, payload: bytes) -> bytes:
    """Return the bytes of one packet."""
    return b"%b%b%b" % (kind, len(payload).to_bytes(4, "big"), payload)


def encode_message(message: dict[str, Any]) -> bytes:
    """Return the bytes of a packet with a message."""
    return encode_packet(MESSAGE, json.dumps(message).encode())


async def read_greeting(reader: asyncio.StreamReader) -> None:
    """Read what precedes the packets. Raises BrokenPacket, also if the process ends before."""
    try:
        line = await reader.readline()
    except ValueError:
        line = b""
    if line != GREETING:
        raise BrokenPacket("the process did not start with the greeting of the protocol")


async def read_packet(reader: asyncio.StreamReader) -> Packet | None:
    """Return the next packet, or None when the process has ended. Raises BrokenPacket."""
    try:
        header = await reader.readexactly(5)
        size = int.from_bytes(header[1:], "big")
        if size > PAYLOAD_BYTES:
            raise BrokenPacket(f"a packet of {size:,} bytes is too large")
        return Packet(header[:1], await reader.readexactly(size))
    except asyncio.IncompleteReadError:
        return None
