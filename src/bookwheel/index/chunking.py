"""Cut a document into chunks small enough to rank, show and embed.

A chunk never crosses a section or a page, so its headings and page always say where it came from.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from bookwheel.model import Chunk, Document, Section

TARGET = 1_200  # characters: about 200 words, where passages rank best
_BREAKS = tuple(re.compile(one) for one in (r"\n[ \t]*\r?\n", r"[\n\r]", r"[.!?][ \t]|[。！？]", r"\s"))

_SPACE = re.compile(r"\s*")


def split(document: Document) -> list[Chunk]:
    """Return the document's chunks in reading order: at least one, none for a heading with subsections alone."""
    text = document.text
    chunks: list[Chunk] = []
    line_ends = _line_ends if "\r" in text else _new_lines
    line, counted = 1, 0
    for section, headings, start, end in _leaves(document):
        for page, first, last in _spans(document, start, end):
            line += line_ends(text, counted, first)
            end_line = line + line_ends(text, first, last)
            chunks.append(Chunk(first, last, line, end_line, section.id if section else "", headings, page))
            line, counted = end_line, last
    return chunks or [Chunk(document.body, document.body, 1, 1)]


def _new_lines(text: str, start: int, end: int) -> int:
    return text.count("\n", start, end)


def _line_ends(text: str, start: int, end: int) -> int:
    """Return how many lines end in a part of the text, whatever they end with."""
    pairs = text.count("\r\n", start, end)
    return text.count("\n", start, end) + text.count("\r", start, end) - pairs


def _leaves(document: Document) -> Iterator[tuple[Section | None, tuple[str, ...], int, int]]:
    """Yield each section's own text, up to the next heading of any level, with the titles above it."""
    sections = document.sections
    edges = [section.start for section in sections] + [len(document.text)]
    yield None, (), document.body, edges[0]
    above: list[Section] = []
    for section, end in zip(sections, edges[1:], strict=True):
        above = [one for one in above if one.level < section.level] + [section]
        if section.end == end or _has_body(document.text, section.start, end):
            yield section, tuple(one.title for one in above), section.start, end


def _spans(document: Document, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield page, start and end of each chunk of a part of the text; the page is 0 where there are none."""
    page = bisect_right(document.pages, start)
    for edge in (*document.pages[page : bisect_right(document.pages, end - 1)], end):
        for first, last in cut(document.text, start, edge):
            yield page, first, last
        page, start = page + 1, edge


def _has_body(text: str, start: int, end: int) -> bool:
    """Tell whether anything stands below the heading line."""
    below = min((at for at in (text.find("\n", start, end), text.find("\r", start, end)) if at >= 0), default=end)
    return bool(text[below:end].strip())


def cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield spans of at most TARGET characters that cover the text but for white space at their ends."""
    while (start := _SPACE.match(text, start, end).end()) < end:  # type: ignore[union-attr]
        stop = end if end - start <= TARGET else _break(text, start, start + TARGET)
        yield start, start + len(text[start:stop].rstrip())
        start = stop


def _break(text: str, start: int, limit: int) -> int:
    """Return the best place to end a chunk: after a paragraph, a line, a sentence, a word, or at the limit."""
    floor = start + TARGET // 3
    for pattern in _BREAKS:
        ends = [match.end() for match in pattern.finditer(text, floor, limit)]
        if ends:
            return ends[-1]
    return limit
