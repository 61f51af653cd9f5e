"""Read PDF: page by page, the lines of letters with their places, sizes and fonts; typeset.py tells what they mean."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from bookwheel.errors import ParseFailed
from bookwheel.formats.made import Made, document, from_pages
from bookwheel.formats.typeset import Cell, Line, blocks, sizes, without_margins
from bookwheel.formats.writing import layout
from bookwheel.model import Document, Source

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

GUTTER = 1.2  # times the size of type: a wider gap in a line parts two cells

MOST_BOXES = 40  # pieces of a line: more is a drawing

Box = tuple[float, float, float, float]  # left, bottom, right, top

_MONO = re.compile(r"(?i)courier|mono|consolas|menlo|cmtt|typewriter|inconsolata")
_BOLD = re.compile(r"(?i)bold|black|heavy|semibold|demi")
_BROKEN = re.compile(r"[\x02\ufffe\u00ad](?:\r?\n)?")  # what stands for the hyphen at the end of a line
_CONTROL = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def read(source: Source, data: bytes) -> Document:
    """Return the document in *data*; its text is Markdown, with the pages of the file."""
    nothing = "this PDF has no text, pictures of pages perhaps: run text recognition (OCR) on it, and try again"
    return document(source, convert(data), nothing)


def convert(data: bytes) -> Made:
    """Return a PDF as Markdown, page by page."""
    import pypdfium2  # noqa: PLC0415 - only where a PDF is read

    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise ParseFailed("this PDF is encrypted: save a copy without a password, and try again") from error
        raise ParseFailed(
            "this is not a PDF, or it is damaged: open it in a viewer and print it to a new PDF"
        ) from error
    pages = without_margins([list(lines(page)) for page in each(pdf)])
    levels = sizes([line for page in pages for line in page])
    known = pdf.get_metadata_dict()
    pdf.close()
    metadata = {
        "title": known.get("Title", ""),
        "description": known.get("Subject", ""),
        "keywords": known.get("Keywords", ""),
    }
    return from_pages((layout(blocks(page, levels)) for page in pages), metadata)


def each(pdf: PdfDocument) -> Iterator[PdfPage | None]:
    """Yield the pages, one open at a time; None for one that is damaged."""
    import pypdfium2  # noqa: PLC0415

    for number in range(len(pdf)):
        try:
            page = pdf[number]
        except pypdfium2.PdfiumError:
            yield None
            continue
        yield page
        page.close()


def lines(page: PdfPage | None) -> Iterator[Line]:
    """Yield the lines of a page in the order of the file."""
    if page is None:
        return
    letters = page.get_textpage()
    text = letters.get_text_range()
    at = 0
    for raw in _BROKEN.sub(lambda found: "\x02" * len(found[0]), text).split("\n"):
        if shown := _CONTROL.sub("", raw).strip():
            first = at + len(raw) - len(raw.lstrip())
            last = at + len(raw.rstrip()) - 1
            yield measured(letters, shown, first, last)
        at += len(raw) + 1
    letters.close()


def measured(letters: PdfTextPage, text: str, *ends: int) -> Line:
    """Return a line with its place and look, by its first letter and its last."""
    from pypdfium2 import raw  # noqa: PLC0415

    first, last = (raw.FPDFText_GetCharIndexFromTextIndex(letters, end) for end in ends)
    matrix, x, head, foot = raw.FS_MATRIX(), ctypes.c_double(), ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetMatrix(letters, first, matrix)
    raw.FPDFText_GetCharOrigin(letters, last, x, foot)
    raw.FPDFText_GetCharOrigin(letters, first, x, head)
    size = round(raw.FPDFText_GetFontSize(letters, first) * ((matrix.b**2 + matrix.d**2) ** 0.5 or 1.0), 1)
    fonts = [font(letters, place) for place in (first, last)]
    bold, mono = (all(kind.search(name) for name in fonts) for kind in (_BOLD, _MONO))
    level = abs(head.value - foot.value) < size / 2
    parts = tuple(cells(letters, first, last, size)) if level else ()
    return Line(text, x.value, head.value, foot.value, size, bold, mono, parts)


def cells(letters: PdfTextPage, first: int, last: int, size: float) -> Iterator[Cell]:
    """Yield the parts of a line between its wide gaps; none where it has no such gap."""
    count = letters.count_rects(first, last - first + 1)
    boxes = [letters.get_rect(number) for number in range(count)] if 1 < count <= MOST_BOXES else []
    groups: list[list[Box]] = []
    for box in boxes:
        near = groups and -size < box[0] - groups[-1][-1][2] <= GUTTER * size
        groups[-1].append(box) if near else groups.append([box])
    for group in groups if len(groups) > 1 else ():
        left, bottom, right, top = group[0][0], min(b[1] for b in group), group[-1][2], max(b[3] for b in group)
        text = letters.get_text_bounded(left, bottom, right, top)
        if shown := " ".join(_CONTROL.sub("", text).split()):
            yield Cell(shown, left, max(left, right))


def font(letters: PdfTextPage, place: int) -> str:
    """Return the name of a letter's font."""
    from pypdfium2 import raw  # noqa: PLC0415

    name = ctypes.create_string_buffer(64)
    raw.FPDFText_GetFontInfo(letters, place, name, 64, ctypes.c_int())
    return name.raw.partition(b"\0")[0].decode("ascii", "replace")
