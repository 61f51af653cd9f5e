"""Read PDF: page by page, with headings, paragraphs, lists and code told by type size, weight, gaps and fonts.

A PDF knows letters and places only. What is larger than most of the text, or bold and alone, is taken for a heading,
lines in a typewriter's font for code, a wide gap for the end of a paragraph. Tables come out as lines.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from bookwheel.errors import ParseFailed
from bookwheel.formats.made import Made, document, from_pages
from bookwheel.formats.writing import Block, heading, layout, literal
from bookwheel.model import Document, Source

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

LARGER = 1.12  # times the size of most text, from which on a line is a heading
LONGEST = 120  # characters of a heading
LEVELS = 4  # of headings by size
REPEATED = 3  # pages with the same line at their edge, from which on it is a running title or page number
GAP = 1.2  # times the usual distance of lines, from which on a paragraph ends

_MONO = re.compile(r"(?i)courier|mono|consolas|menlo|cmtt|typewriter|inconsolata")
_BOLD = re.compile(r"(?i)bold|black|heavy|semibold|demi")
_MARK = re.compile(r"(?:[•◦▪‣●○■·–]|(\d{1,3}[.)]))\s+")
_BROKEN = re.compile(r"[\x02\ufffe\u00ad](?:\r?\n)?")  # what stands for the hyphen at the end of a line
_DOTS = re.compile(r"\.(?: ?\.){3,}")  # those between a chapter and its page
_DIGITS = re.compile(r"\d+|\b[ivxl]+\b")
_CONTROL = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class Line(NamedTuple):
    """A line of a page, where it stands and how it looks; places in points, from the page's lower left corner."""

    text: str
    left: float
    head: float  # the height of its first letter, and of its last: a broken word is joined over two lines
    foot: float
    size: float
    bold: bool
    mono: bool

    @property
    def is_short(self) -> bool:
        """Whether it can be a heading by its words."""
        return len(self.text) <= LONGEST and any(sign.isalpha() for sign in self.text) and not _DOTS.search(self.text)


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
    size = raw.FPDFText_GetFontSize(letters, first) * ((matrix.b**2 + matrix.d**2) ** 0.5 or 1.0)
    fonts = [font(letters, place) for place in (first, last)]
    return Line(
        text,
        x.value,
        head.value,
        foot.value,
        round(size, 1),
        all(_BOLD.search(name) for name in fonts),
        all(_MONO.search(name) for name in fonts),
    )


def font(letters: PdfTextPage, place: int) -> str:
    """Return the name of a letter's font."""
    from pypdfium2 import raw  # noqa: PLC0415

    name = ctypes.create_string_buffer(64)
    raw.FPDFText_GetFontInfo(letters, place, name, 64, ctypes.c_int())
    return name.raw.partition(b"\0")[0].decode("ascii", "replace")


def without_margins(pages: list[list[Line]]) -> list[list[Line]]:
    """Return the pages without a first or last line that stands on most of them, but for the number in it."""
    for edge in (0, -1):
        seen = Counter(_DIGITS.sub("#", page[edge].text) for page in pages if page)
        repeated = {text for text, count in seen.items() if count >= REPEATED and count * 3 >= len(pages)}
        pages = [_but(page, edge) if page and _DIGITS.sub("#", page[edge].text) in repeated else page for page in pages]
    return pages


def _but(page: list[Line], edge: int) -> list[Line]:
    return page[1:] if edge == 0 else page[:-1]


class Levels(NamedTuple):
    """Which sizes of type are headings, and of what level."""

    body: float
    large: dict[float, int]
    bold: int  # level of bold lines of the body's size; 0: most of the text is bold
    gap: float  # the usual distance of lines, as a multiple of their size


def sizes(found: Sequence[Line]) -> Levels:
    """Return which sizes are those of headings, from the size of most text upwards."""
    weights: Counter[float] = Counter()
    for line in found:
        weights[line.size] += len(line.text)
    body = weights.most_common(1)[0][0] if weights else 0.0
    large = sorted({line.size for line in found if line.size >= body * LARGER and line.is_short}, reverse=True)
    ranks = {size: min(rank, LEVELS) for rank, size in enumerate(large, 1)}
    bold = sum(len(line.text) for line in found if line.bold)
    rare = bold * 4 < sum(weights.values())
    return Levels(body, ranks, min(len(ranks), LEVELS) + 1 if rare else 0, usual_gap(found))


def usual_gap(found: Sequence[Line]) -> float:
    """Return how far lines are apart most often, as a multiple of their size."""
    gaps = Counter(round((above.foot - line.head) / line.size, 1) for above, line in pairwise(found) if line.size)
    likely = {gap: count for gap, count in gaps.items() if 0.9 <= gap <= 3}
    return min((gap for gap, count in likely.items() if count * 3 >= max(likely.values())), default=1.2)


def blocks(page: Sequence[Line], levels: Levels) -> Iterator[Block]:
    """Yield the headings, paragraphs, items and code of a page."""
    for level, group in groupby(page, key=lambda line: level_of(line, levels)):
        run = list(group)
        if level > 0:
            yield from (
                Block("heading", heading(level, " ".join(line.text for line in one))) for one in paragraphs(run, 1.4)
            )
        elif level < 0:
            edge = min(line.left for line in run)
            yield from (Block("code", " " * indent(line, edge) + line.text) for line in run)
        else:
            yield from (block(one) for one in paragraphs(run, levels.gap))


def level_of(line: Line, levels: Levels) -> int:
    """Return the level of a heading, 0 for text, -1 for code."""
    if line.mono and line.size <= levels.body * LARGER:
        return -1
    if not line.is_short or not levels.body:
        return 0
    large = levels.large.get(line.size, 0)
    alone = line.bold and not line.text.endswith((".", ",", ";", ":"))
    return large or (levels.bold if alone and line.size >= levels.body else 0)


def paragraphs(run: Sequence[Line], gap: float) -> Iterator[list[Line]]:
    """Yield lines that stand together: a wide gap, a step up or a mark of a list begins anew."""
    current = list(run[:1])
    for above, line in pairwise(run):
        apart = above.foot - line.head
        if _MARK.match(line.text) or not -line.size <= apart <= GAP * gap * max(line.size, 1):
            yield current
            current = []
        current.append(line)
    yield current


def block(group: Sequence[Line]) -> Block:
    """Return lines that stand together as a paragraph, or as an item of a list."""
    text = "\n".join(line.text for line in group)
    if found := _MARK.match(text):
        return Block("item", text[found.end() :], 0, found[1] or "-")
    return Block("text", literal(text))


def indent(line: Line, edge: float) -> int:
    """Return how many letters a line of code is indented by."""
    return min(round((line.left - edge) / (0.6 * line.size or 1)), 40)
