"""Bytes to text, whoever wrote them: decode never fails on text, and tells binary from it.

A byte order mark stays in the text as U+FEFF and lines end as they did, so UTF-8 can be written back byte for byte.
"""

from __future__ import annotations

import codecs

from bookwheel.errors import ParseFailed

SAMPLE = 65_536  # bytes: guessing an encoding is slow and gets no better with more
ENOUGH = 64  # bytes: less is guessed wrong more often than right

_MARKS = (  # the longer first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode(data: bytes) -> str:
    """Return the text in *data*. Raises ParseFailed if it is binary."""
    encoding = marked(data)
    text = data.decode(encoding, "replace") if encoding else unmarked(data)
    if "\0" in text:
        raise ParseFailed("this is not text: it holds NUL bytes")
    return text


def codec(data: bytes) -> str:
    """Return the encoding that decode() takes *data* to be in."""
    if b"\0" in data and not marked(data):
        return widths(data[:SAMPLE])[0]
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return marked(data) or guess(data, error.start)
    return marked(data) or "utf-8"


def marked(data: bytes) -> str:
    """Return the encoding a byte order mark names; empty where there is none."""
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), "")


def unmarked(data: bytes) -> str:
    """Return the text in *data* that has no byte order mark."""
    if b"\0" in data:
        return wide(data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data.decode(guess(data, error.start), "replace")


def wide(data: bytes) -> str:
    """Return the text in *data* if it is UTF-16 or UTF-32; with NULs where it is neither."""
    for encoding in widths(data[:SAMPLE]):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if looks_written(text[:SAMPLE]):
            return text
    return "\0"


def widths(sample: bytes) -> list[str]:
    """Return the encodings the pattern of NULs in *sample* allows: mostly in one half of every two bytes."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if even and odd:
        return ["utf-32-le", "utf-32-be"]
    return ["utf-16-be"] if even else ["utf-16-le"]


def looks_written(text: str) -> bool:
    """Say whether *text* consists of characters people write."""
    return all(letter.isprintable() or letter.isspace() or letter in "\u200b\u200c\u200d\ufeff" for letter in text)


def guess(data: bytes, strange: int) -> str:
    """Return the likeliest encoding of *data*, which is no UTF-8 from the byte at *strange* on."""
    if len(data) < ENOUGH:
        return "cp1252"
    from charset_normalizer import from_bytes  # noqa: PLC0415 - slow to import and rarely needed

    start = data.rfind(b"\n", 0, strange) + 1  # from a line's start, so as not to cut a wide character
    best = from_bytes(data[start : start + SAMPLE]).best()
    return "cp1252" if best is None or "cp1252" in best.could_be_from_charset else best.encoding
