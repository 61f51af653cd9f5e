"""Read plain text: the first line is its heading, the next three describe it."""

from __future__ import annotations

from bookwheel.formats.encoding import decode
from bookwheel.formats.lines import brief, level, skip_mark
from bookwheel.model import Document, Source


def read(source: Source, data: bytes) -> Document:
    """Return the document in *data*; its text is the file's own."""
    text = decode(data)
    body = skip_mark(text)
    first, *rest = level(text[body:]).split("\n", 4)
    return Document(source, text, "plain", body=body, heading=brief(first), paragraph=brief(" ".join(rest[:3])))
