"""Write Markdown: what readers of other formats say in headings, lists, tables, code and emphasis.

Text is left as its author wrote it. Only what would make another block of a line is escaped: R&D, a < b and x_y stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

ROOM = 4  # times as many cells as are written, that a table may have

_STRUCTURE = re.compile(
    r"^(?P<space> *)(?:(?P<number>\d{1,9})(?P<dot>[.)])(?=[ \t]|$)"
    r"|(?P<mark>#{1,6}(?=[ \t]|$)|[-+*>](?=[ \t]|$)|```|~~~|<(?=[a-zA-Z/!?])|(?:-[ \t]*){3,}$|=+[ \t]*$))",
    re.MULTILINE,
)
_TICKS = re.compile(r"`+")
_TICK_LINES = re.compile(r"^ *(`{3,})", re.MULTILINE)
_BLANKS = re.compile(r"\n{3,}")


class Span(NamedTuple):
    """A piece of a line with one look."""

    text: str
    bold: bool = False
    italic: bool = False
    struck: bool = False
    code: bool = False
    link: str = ""


class Block(NamedTuple):
    """A paragraph with the part it plays: "text", "heading", "item", "code", "quote" or "table"."""

    role: str
    text: str
    depth: int = 0  # of an item
    marker: str = ""  # of an item: "-", or a number with its dot


def layout(blocks: Iterable[Block]) -> str:
    """Return blocks as text: the items of a list close together, lines of code in one fence."""
    seen = (block for block in blocks if block.text.strip() or block.role == "code")
    return join(text for role, group in groupby(seen, key=lambda block: block.role) for text in _group(role, group))


def _group(role: str, blocks: Iterable[Block]) -> Iterator[str]:
    if role == "code":
        lines = "\n".join(block.text for block in blocks).strip("\n")
        yield fence(lines) if lines.strip() else ""
    elif role == "item":
        yield "\n".join(_items(blocks))
    else:
        yield from (quote(block.text) if role == "quote" else block.text for block in blocks)


def _items(blocks: Iterable[Block]) -> Iterator[str]:
    widths: list[int] = []  # of the markers that the next deeper item is indented by
    for _, text, depth, marker in blocks:
        widths = [*widths[:depth], len(marker) + 1]
        pad = sum(widths[:-1])
        yield f"{' ' * pad}{marker} {indent(text, pad + len(marker) + 1)}"


def literal(text: str) -> str:
    """Return *text* with a backslash where a line would begin a heading, list, quote, fence, rule or raw HTML."""
    return _STRUCTURE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    if found["number"]:
        return f"{found['space']}{found['number']}\\{found['dot']}"
    return f"{found['space']}\\{found['mark']}"


def inline(spans: Iterable[Span]) -> str:
    """Return pieces of a line as Markdown, equal looks side by side as one."""
    parts: list[str] = []
    for link, linked in groupby(spans, key=lambda span: span.link):
        shown = "".join(_dress(look, group) for look, group in groupby(linked, key=lambda span: span._replace(text="")))
        parts.append(f"[{shown.strip()}](<{link}>)" if link and _odd(link) else f"[{shown}]({link})" if link else shown)
    return "".join(parts)


def _odd(link: str) -> bool:
    return bool(re.search(r"[ ()]", link))


def _dress(look: Span, group: Iterable[Span]) -> str:
    text = "".join(span.text for span in group)
    inner = text.strip()
    if not inner:
        return text
    start = text.index(inner)
    before, after = text[:start], text[start + len(inner) :]
    mark = "**" * look.bold + "*" * look.italic
    if look.code:
        inner = code(inner)
    elif inner.count("*") > 1:
        inner = inner.replace("*", "\\*")  # 5*3*2 is no emphasis
    dressed = f"{mark}{inner}{mark[::-1]}"
    return before + (f"~~{dressed}~~" if look.struck else dressed) + after


def code(text: str) -> str:
    """Return *text* as code within a line."""
    ticks = "`" * (max(map(len, _TICKS.findall(text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def heading(level: int, title: str) -> str:
    """Return a heading; empty where the title is."""
    line = " ".join(title.split())
    return f"{'#' * min(max(level, 1), 6)} {line}" if line else ""


def fence(text: str, language: str = "") -> str:
    """Return *text* as a block of code."""
    longest = max(map(len, _TICK_LINES.findall(text)), default=2)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def quote(text: str) -> str:
    """Return *text* as a block quote."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def indent(text: str, width: int) -> str:
    """Return *text* with its lines after the first below the first one's content."""
    return re.sub(r"\n(?=[^\n])", "\n" + " " * width, text)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return *rows* as a table, the first as its head; empty without any text.

    Short rows are filled up, unless that would make far more of them than there is.
    """
    width, cells = max((len(row) for row in rows), default=0), sum(map(len, rows))
    if not any(cell.strip() for row in rows for cell in row):
        return ""
    full = width if width * len(rows) <= ROOM * cells + 1_000 else 0
    head, *body = [[cell_of(cell) for cell in row] + [""] * (full - len(row)) for row in rows]
    head += [""] * (width - len(head))
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * width, *body))


def cell_of(text: str) -> str:
    """Return *text* as it stands in a table: on one line, its bars escaped."""
    return " ".join(text.split()).replace("|", "\\|")


def join(blocks: Iterable[str]) -> str:
    """Return blocks as one text, a blank line between them; empty ones are left out."""
    return "\n\n".join(filter(None, (block.strip("\n") for block in blocks)))


def finish(text: str) -> str:
    """Return *text* as a whole document: no runs of blank lines, one line end at its end."""
    return _BLANKS.sub("\n\n", text.strip("\n").replace("\0", "")) + "\n" if text.strip() else ""
