"""Read plain text: the first line is its heading, the next three describe it."""

from __future__ import annotations

from bookwheel.formats import lines
from bookwheel.formats.encoding import decode
from bookwheel.model import Document, Source


def read(source: Source, data: bytes) -> Document:
    """Return the document in *data*; its text is the file's own."""
    text = decode(data)
    body = lines.skip_mark(text)
    first, *rest = lines.level(text[body:]).split("\n", 4)
    return Document(
        source, text, "plain", body=body, heading=lines.brief(first), paragraph=lines.brief(" ".join(rest[:3]))
    )
