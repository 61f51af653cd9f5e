"""Read files of every format into Documents: bytes in, text with its title, first paragraph and sections out."""

from __future__ import annotations

from collections.abc import Callable

from bookwheel.errors import Unreadable
from bookwheel.formats import html, markdown, org, plain
from bookwheel.model import Document, Source

READERS: dict[str, Callable[[Source, bytes], Document]] = {
    ".md": markdown.read,
    ".markdown": markdown.read,
    ".mdx": markdown.read,
    ".html": html.read,
    ".htm": html.read,
    ".txt": plain.read,
    ".text": plain.read,
    ".rst": plain.read,
    ".org": org.read,
}


def supported(suffix: str) -> bool:
    """Say whether files with that *suffix*, with its dot and in any case, can be read."""
    return suffix.lower() in READERS


def read(source: Source, data: bytes) -> Document:
    """Return the document in *data*, read as its suffix says.

    Raises Unreadable for a suffix without a reader, ParseFailed for bytes that are not what the suffix promises.
    """
    reader = READERS.get(source.suffix)
    if reader is None:
        raise Unreadable(
            f"{source.path} cannot be read: {source.suffix or 'no suffix'} is not one of {', '.join(READERS)}"
        )
    return reader(source, data)
