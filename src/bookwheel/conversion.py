"""Read any file: what is light and safe here, what is not in a child process within limits."""

from __future__ import annotations

import atexit
import codecs
from typing import TYPE_CHECKING

from bookwheel import formats
from bookwheel.children.pool import Limits, Pool
from bookwheel.errors import BookwheelError, ParseFailed
from bookwheel.formats import html
from bookwheel.model import Document, Source

if TYPE_CHECKING:
    from bookwheel.download import Downloaded

__all__ = ["POOL", "Limits", "Pool", "as_markdown", "form_of", "heavy", "read", "read_download"]

LIGHT = frozenset({".html", ".htm", ".rst", ".ipynb", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".xml"})
LARGE = 1_000_000  # bytes from which on a light format is heavy too: HTML takes forty times its size

POOL = Pool()  # one for the whole program, so that the number of children is bounded
atexit.register(POOL.rest)


def read(source: Source, data: bytes, form: str = "") -> Document:
    """Return the document in *data*, read as its *form* says: a suffix, PAGE, or by default the source's suffix.

    Raises Unreadable where there is no reader, ParseFailed or TooLarge with what to do where there is no text.
    """
    form = form or source.suffix
    if form != formats.PAGE and not formats.supported(form):
        return formats.read(source, data, form)  # for its error
    if heavy(form, len(data)):
        return POOL.read(source, data, form)
    try:
        return formats.read(source, data, form)
    except (BookwheelError, MemoryError):
        raise
    except Exception as error:  # one bad file never stops the rest
        if form in formats.PLAIN:
            raise
        raise ParseFailed(f"it cannot be read, damaged perhaps ({type(error).__name__}): save it anew") from error


def as_markdown(document: Document) -> Document:
    """Return a document whose text is Markdown: an Org document turned into it, any other as it is."""
    if document.kind != "org":
        return document
    from bookwheel.formats import made, orgdown  # noqa: PLC0415 - only where there is one

    turned = made.Made(orgdown.convert(document.text), metadata={key: document.word(key) for key in document.metadata})
    return made.document(document.source, turned, "this Org file holds no text")


def read_download(source: Source, downloaded: Downloaded) -> Document:
    """Return the document that a URL gave: of a page its main text alone, of a file all of it."""
    form = form_of(downloaded)
    codec = html.known(downloaded.charset) if form in formats.TEXTUAL | {formats.PAGE} else ""
    return read(source, _as_utf8(downloaded.data, codec) if codec else downloaded.data, form)


def form_of(downloaded: Downloaded) -> str:
    """Return the form of what a URL gave: PAGE, or the suffix of a file of that kind."""
    return formats.form_of(downloaded.content_type, downloaded.name, downloaded.data)


def _as_utf8(data: bytes, codec: str) -> bytes:
    """Return text in the encoding that its reader expects; what its server calls it goes before what it says itself."""
    try:
        return data if data.startswith(codecs.BOM_UTF8) else codecs.BOM_UTF8 + data.decode(codec).encode()
    except UnicodeDecodeError:
        return data


def heavy(form: str, size: int) -> bool:
    """Say whether a file of that *form* and *size* is read in a child process."""
    own = form in formats.PLAIN and form not in LIGHT  # Markdown, text and Org: our own readers, in one pass
    return not own and (form not in LIGHT or size >= LARGE)
