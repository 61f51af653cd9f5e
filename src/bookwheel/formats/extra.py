"""Read pictures and recordings, if the package markitdown is installed beside us."""

from __future__ import annotations

import io
from importlib.util import find_spec

from bookwheel.errors import ParseFailed
from bookwheel.formats.made import Made, document
from bookwheel.model import Document, Source

SUFFIXES = (".jpg", ".jpeg", ".png", ".wav", ".mp3", ".m4a", ".mp4")


def installed() -> bool:
    """Say whether markitdown is there."""
    return find_spec("markitdown") is not None


def read(source: Source, data: bytes) -> Document:
    """Return what markitdown makes of *data*."""
    import markitdown  # noqa: PLC0415 - optional, and slow to import

    try:
        found = markitdown.MarkItDown().convert_stream(io.BytesIO(data), file_extension=source.suffix)
    except Exception as error:
        raise ParseFailed(
            f"markitdown could not read it ({type(error).__name__}); describe it in a text file beside it"
        ) from error
    nothing = "markitdown found no text in it; describe it in a text file beside it"
    return document(source, Made(found.markdown), nothing)
