"""Decoding of files. Any bytes are accepted; a note says what was guessed."""

from __future__ import annotations

import codecs
import hashlib

_BOMS = (  # UTF-32 before UTF-16, whose little-endian mark is a prefix
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 16_384
_CONTROL_BYTES = bytes([*range(0x09), *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F])
_BINARY_SHARE = 0.1
_BINARY_SHARE_OF_UTF8 = 0.3
_DETECT_SHARE = 0.2

BINARY = "holds binary content, not text"


def content_hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def decode(data: bytes) -> tuple[str, str]:
    """Return the text of a file, and a note, which is empty if nothing had to be guessed.

    Binary content gives no text and the note ``BINARY``. NUL characters become U+FFFD, line ends
    become ``\\n``; a byte order mark is dropped.
    """
    text, note = _to_text(data)
    if note == BINARY:
        return "", note
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
        note = note or "holds NUL characters, shown as \ufffd"
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, note


def encoding_of(data: bytes) -> tuple[bytes, str]:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return bom, encoding
    wide = _wide_encoding(data) if b"\0" in data else ""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return b"", wide or _detect(data[:_SAMPLE])
    return b"", wide or "utf-8"


def _to_text(data: bytes) -> tuple[str, str]:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _decode_as(data[len(bom) :], encoding)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _guess(data)
    if "\0" in text and (wide := _wide_encoding(data)):
        return _decode_as(data, wide)
    sample = text[:_SAMPLE]
    encoded = sample.encode()
    controls = len(encoded) - len(encoded.translate(None, _CONTROL_BYTES))
    return text, BINARY if controls > _BINARY_SHARE_OF_UTF8 * len(sample) else ""


def _decode_as(data: bytes, encoding: str) -> tuple[str, str]:
    try:
        return data.decode(encoding), ""
    except UnicodeDecodeError:
        return data.decode(encoding, "replace"), f"is not entirely valid {encoding}"


def _guess(data: bytes) -> tuple[str, str]:
    if wide := _wide_encoding(data):
        return _decode_as(data, wide)
    sample = data[:_SAMPLE]
    if len(sample.translate(None, _CONTROL_BYTES)) < len(sample) * (1 - _BINARY_SHARE):
        return "", BINARY
    encoding = _detect(sample)
    return data.decode(encoding, "replace"), f"is not UTF-8, read as {encoding}"


def _detect(sample: bytes) -> str:
    high = sum(byte > 0x7F for byte in sample)
    if high >= 8 and sample.decode("utf-8", "replace").count("\ufffd") * 8 <= high:
        return "utf-8"  # UTF-8 with a few invalid bytes
    if high > _DETECT_SHARE * len(sample):
        from charset_normalizer import from_bytes  # imported late: few files need it

        best = from_bytes(sample).best()
        if best is not None:
            return best.encoding
    try:
        sample.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def _wide_encoding(data: bytes) -> str:
    sample = data[: _SAMPLE // 2 * 2]
    half = len(sample) // 2
    if half < 2 or len(data) % 2:
        return ""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > 0.6 * half and even < 0.1 * half:
        return "utf-16-le"
    if even > 0.6 * half and odd < 0.1 * half:
        return "utf-16-be"
    return ""
