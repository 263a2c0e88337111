import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.knowledge.decoding import BINARY, content_hash, decode

TEXT = "Köln, naïve café: 5 €\nzweite Zeile\n"


@pytest.mark.parametrize(
    ("bom", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
    ids=str,
)
def test_byte_order_mark_determines_the_encoding_and_is_dropped(bom: bytes, encoding: str) -> None:
    assert decode(bom + TEXT.encode(encoding)) == (TEXT, "")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_byte_order_mark_is_recognised(encoding: str) -> None:
    assert decode(TEXT.encode(encoding))[0] == TEXT


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_western_encoding_is_guessed_and_noted(encoding: str) -> None:
    text = TEXT.replace("€", "EUR")
    assert decode(text.encode(encoding)) == (text, "is not UTF-8, read as cp1252")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Привет, это заметки о встрече команды платформы и её планах на весну. " * 4, "cp1251"),
        (
            "会議の議事録です。来週の予定について話しました。移行は三月に始まります。" * 4,
            "shift_jis",
        ),
    ],
    ids=["cyrillic", "japanese"],
)
def test_encodings_of_other_scripts_are_detected(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding))[0] == text


def test_invalid_bytes_and_nul_characters_are_replaced_and_noted() -> None:
    text, note = decode(("Müller Jérôme Ødegård Łukasz " * 3).encode() + b"\xff end")
    assert text.startswith("Müller Jérôme") and text.endswith("\ufffd end")
    assert note

    text, note = decode(b"a\0b and some more text")
    assert text == "a\ufffdb and some more text"
    assert "NUL" in note


@pytest.mark.parametrize(
    "data",
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 4, bytes(range(32)) * 9],
    ids=["picture", "control-characters"],
)
def test_binary_content_gives_no_text(data: bytes) -> None:
    assert decode(data) == ("", BINARY)


@pytest.mark.parametrize("data", [b"a\r\nb\r\n", b"a\rb\r", b"a\nb\n"], ids=["dos", "mac", "unix"])
def test_line_ends_become_line_feeds(data: bytes) -> None:
    assert decode(data) == ("a\nb\n", "")


@given(st.binary())
def test_any_bytes_decode_to_encodable_text(data: bytes) -> None:
    text, _ = decode(data)
    text.encode("utf-8")
    assert "\0" not in text and "\r" not in text


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1))
def test_utf8_round_trips(text: str) -> None:
    assert decode(text.encode())[0] == text.removeprefix("\ufeff")


def test_content_hash_is_32_hex_characters() -> None:
    assert content_hash(b"a") != content_hash(b"b")
    assert len(content_hash(b"")) == 32 and int(content_hash(b"a"), 16)
