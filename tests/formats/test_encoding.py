"""Bytes become text in every common encoding, and binary is told from it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.errors import ParseFailed
from bookwheel.formats.encoding import decode

GERMAN = "Die Größe der Straße übersteigt das übliche Maß; schöne Grüße aus Köln und Düsseldorf, früh am Morgen.\n"
FRENCH = "L'été dernier, nous avons déjà mangé à la crêperie près de l'hôtel où tu étais allé avec ta sœur.\n"
JAPANESE = "これは日本語の文章です。文字コードを正しく判定できるかどうかを確かめるために書かれています。\n"
RUSSIAN = "Это предложение написано на русском языке, чтобы проверить определение кодировки текста.\n"
TEXT = "# Größe\r\n\nZeile €\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_unicode_is_read_with_its_line_ends(encoding: str) -> None:
    assert decode(TEXT.encode(encoding)).removeprefix("\ufeff") == TEXT


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_byte_order_mark_stays_in_the_text(encoding: str) -> None:
    data = f"\ufeff{JAPANESE}".encode(encoding)

    assert decode(data) == f"\ufeff{JAPANESE}"
    assert decode(data).encode(encoding) == data


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "latin-1"),
        (GERMAN * 50, "latin-1"),
        (FRENCH, "cp1252"),
        (JAPANESE, "shift_jis"),
        (JAPANESE * 3_000, "shift_jis"),
        (JAPANESE, "euc-jp"),
        (RUSSIAN, "cp1251"),
        ("a" * 100_000 + "\n" + JAPANESE * 3, "shift_jis"),
    ],
)
def test_older_encodings_are_recognised(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_a_short_text_is_taken_for_western() -> None:
    assert decode("Grüße € “x”".encode("cp1252")) == "Grüße € “x”"


def test_japanese_in_utf_16_without_a_mark_is_recognised_by_its_line_ends() -> None:
    assert decode(JAPANESE.encode("utf-16-le")) == JAPANESE


def test_nothing_is_empty_text() -> None:
    assert decode(b"") == ""


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\x06",
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0",
        b"text\0with a nul, odd in many ways",
        b"\0",
        b"\0" * 4_096,
        b"PK\x03\x04\x14\0\0\0\x08\0",
        "\ufeffa\0b".encode("utf-16-le"),
        b"\xef\xbb\xbfa\0b",
    ],
)
def test_binary_is_refused(data: bytes) -> None:
    with pytest.raises(ParseFailed, match="NUL"):
        decode(data)


@given(st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_utf_8_reads_back_byte_for_byte(text: str) -> None:
    assert decode(text.encode()).encode() == text.encode() or text.startswith(("\ufffe", "\ufeff"))


@given(st.binary(max_size=200))
def test_any_bytes_give_text_or_are_binary(data: bytes) -> None:
    try:
        assert "\0" not in decode(data)
    except ParseFailed:
        assert b"\0" in data
