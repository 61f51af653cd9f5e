"""Tell headings, paragraphs, lists, code and tables from lines of type: their places, sizes, fonts and gaps.

What is larger than most of the text, or bold and alone, is taken for a heading, lines in a typewriter's font for code,
a wide gap for the end of a paragraph, and lines whose wide gaps stand below each other for a table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from bookwheel.formats.writing import Block, heading, literal, table

LARGER = 1.12  # times the size of most text, from which on a line is a heading
LONGEST = 120  # characters of a heading
LEVELS = 4  # of headings by size
REPEATED = 3  # pages with the same line at their edge, from which on it is a running title or page number
ROWS = 4  # times its size, from which on a row belongs to another table
GAP = 1.2  # times the usual distance of lines, from which on a paragraph ends

_MARK = re.compile(r"(?:[•◦▪‣●○■·–]|(\d{1,3}[.)]))\s+")
_COUNT = re.compile(r"[•◦▪‣●○■·–-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]+)[.)]|\[\d+\]|\d{1,2}(?:\.\d+)*")
_DOTS = re.compile(r"\.(?: ?\.){3,}")  # those between a chapter and its page
_DIGITS = re.compile(r"\d+|\b[ivxl]+\b")


Reach = tuple[float, float]  # from where to where, from left to right


class Cell(NamedTuple):
    """A part of a line with a wide gap before or after it."""

    text: str
    left: float
    right: float


class Line(NamedTuple):
    """A line of a page, where it stands and how it looks; places in points, from the page's lower left corner."""

    text: str
    left: float
    head: float  # the height of its first letter, and of its last: a broken word is joined over two lines
    foot: float
    size: float
    bold: bool
    mono: bool
    cells: tuple[Cell, ...] = ()  # where it has wide gaps

    @property
    def is_short(self) -> bool:
        """Whether it can be a heading by its words."""
        return len(self.text) <= LONGEST and any(sign.isalpha() for sign in self.text) and not _DOTS.search(self.text)


def without_margins(pages: list[list[Line]]) -> list[list[Line]]:
    """Return the pages without a first or last line that stands on most of them, but for the number in it.

    A large one stays: chapters are numbered too.
    """
    small = body_size(line for page in pages for line in page) * LARGER
    for edge in (0, -1):
        edges = [_DIGITS.sub("#", page[edge].text) if page and page[edge].size < small else "" for page in pages]
        repeated = {text for text, count in Counter(edges).items() if count >= max(REPEATED, len(pages) / 3)} - {""}
        pages = [_but(page, edge) if text in repeated else page for page, text in zip(pages, edges, strict=True)]
    return pages


def _but(page: list[Line], edge: int) -> list[Line]:
    return page[1:] if edge == 0 else page[:-1]


def body_size(found: Iterable[Line]) -> float:
    """Return the size of most of the text."""
    weights: Counter[float] = Counter()
    for line in found:
        weights[line.size] += len(line.text)
    return weights.most_common(1)[0][0] if weights else 0.0


class Levels(NamedTuple):
    """Which sizes of type are headings, and of what level."""

    body: float
    large: dict[float, int]
    bold: int  # level of bold lines of the body's size; 0: most of the text is bold
    gap: float  # the usual distance of lines, as a multiple of their size


def sizes(found: Sequence[Line]) -> Levels:
    """Return which sizes are those of headings, from the size of most text upwards."""
    body = body_size(found)
    large = sorted({line.size for line in found if line.size >= body * LARGER and line.is_short}, reverse=True)
    ranks = {size: min(rank, LEVELS) for rank, size in enumerate(large, 1)}
    bold = sum(len(line.text) for line in found if line.bold)
    rare = bold * 4 < sum(len(line.text) for line in found)
    return Levels(body, ranks, min(len(ranks), LEVELS) + 1 if rare else 0, usual_gap(found))


def usual_gap(found: Sequence[Line]) -> float:
    """Return how far lines are apart most often, as a multiple of their size."""
    gaps = Counter(round((above.foot - line.head) / line.size, 1) for above, line in pairwise(found) if line.size)
    likely = {gap: count for gap, count in gaps.items() if 0.9 <= gap <= 3}
    return min((gap for gap, count in likely.items() if count * 3 >= max(likely.values())), default=1.2)


def blocks(page: Sequence[Line], levels: Levels) -> Iterator[Block]:
    """Yield the headings, paragraphs, items, code and tables of a page."""
    plain: list[Line] = []
    for run in runs(page):
        grid = columns(run) if run[0].cells else []
        if not grid:
            plain += run
            continue
        yield from flow(plain, levels)
        yield Block("table", table([fill(line, grid) for line in run]))
        plain = []
    yield from flow(plain, levels)


def runs(page: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield lines that may be rows of one table, and those between them."""
    for _, group in groupby(page, key=lambda line: bool(line.cells) and not line.mono):
        current: list[Line] = []
        for line in group:
            if current and not 0 < current[-1].foot - line.head < ROWS * max(line.size, 1) and line.cells:
                yield current
                current = []
            current.append(line)
        yield current


def columns(rows: Sequence[Line]) -> list[Reach]:
    """Return from where to where the columns of a table reach; none where the lines are no table."""
    found = joined(rows, reaches(rows))
    enough = len(rows) > (2 if len(found) == 2 else 1)
    listed = all(_COUNT.fullmatch(row.cells[0].text) for row in rows)  # numbers before the items of a list
    apart = all(len({place(cell, found) for cell in row.cells}) == len(row.cells) for row in rows)
    return found if len(found) > 1 and enough and apart and not listed else []


def reaches(rows: Sequence[Line]) -> list[Reach]:
    """Return where there are cells in any of the rows, from left to right."""
    found: list[Reach] = []
    for left, right in sorted((cell.left, cell.right) for row in rows for cell in row.cells):
        if found and left < found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], right))
        else:
            found.append((left, right))
    return found


def joined(rows: Sequence[Line], grid: Sequence[Reach]) -> list[Reach]:
    """Return the columns with those made one that no row has both of: a head stands in the middle of its column."""
    used = [{place(cell, grid) for cell in row.cells} for row in rows]
    found: list[Reach] = []
    since = 0  # the first of the columns that the last one is made of
    for number, reach in enumerate(grid):
        if found and not any(number in row and row & set(range(since, number)) for row in used):
            found[-1] = (found[-1][0], reach[1])
        else:
            found.append(reach)
            since = number
    return found


def place(cell: Cell, grid: Sequence[Reach]) -> int:
    """Return the column a cell is in."""
    return next(number for number, (left, right) in enumerate(grid) if left <= cell.left <= right)


def fill(row: Line, grid: Sequence[Reach]) -> list[str]:
    """Return a row with its cells in their columns."""
    texts = {place(cell, grid): cell.text for cell in row.cells}
    return [texts.get(number, "") for number in range(len(grid))]


def flow(page: Sequence[Line], levels: Levels) -> Iterator[Block]:
    """Yield the headings, paragraphs, items and code of lines that are no table."""
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
