"""What stands in a section's text and is not to be read as Org: blocks of code, examples, comments, LaTeX.

A section is the text between two headlines. A block counts only if it is closed within what it is in; drawers and
other blocks hold Org again.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_OPENING = re.compile(
    r"^[ \t]*(?:#\+begin_(\S+)|(#\+begin:)[ \t]*\w|\\begin\{([A-Za-z0-9*]+)\}|:([\w-]+):[ \t]*$)",
    re.MULTILINE | re.IGNORECASE,
)
_CLOSING = re.compile(
    r"^[ \t]*#\+end_(\S+)[ \t]*$|^[ \t]*(#\+end:?)[ \t]*$|\\end\{([A-Za-z0-9*]+)\}[ \t]*$|^[ \t]*:(END):[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_LITERAL = frozenset({"comment", "example", "export", "src", "verse"})
_UNREAD_LINE = re.compile(r"[ \t]*(?:#(?:[ \n+]|$)|:(?:[ \n]|$)|CLOCK:|%%\()", re.IGNORECASE)
_VERBATIM = re.compile(
    r"(?:(?<=[\s\-({'\"])|^)([=~])(?=\S)[^\n]{0,300}?(?<=\S)\1(?=[\s\-.,;:!?'\")}\[]|$)", re.MULTILINE
)  # no longer than that, or a line of nothing but = takes forever


class Span(NamedTuple):
    """A part of the text that is not Org."""

    start: int
    end: int
    kind: str


def literal(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the parts of the section from *start* to *end* whose lines are not Org's elements."""
    if not _OPENING.search(text, start, end):
        return
    closings, limits = closing_lines(text, start, end), [(end, end)]
    while limits:
        limit = limits[-1][0]
        opening = _OPENING.search(text, start, limit)
        if not opening:
            start = limits.pop()[1]
            continue
        start = next_line(text, opening.end(), limit)
        kind, name = kind_of(opening)
        found = first_after(closings.get((kind, name), []), opening.end(), limit)
        if not found:
            continue
        resume = next_line(text, found[1], limit)
        if kind == "latex" or name in _LITERAL:
            yield Span(opening.start(), found[1], name if kind == "block" else kind)
            start = resume
        else:
            limits.append((found[0], resume))


def closing_lines(text: str, start: int, end: int) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """Return where lines that close something begin and end, by what they close."""
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for closing in _CLOSING.finditer(text, start, end):
        found.setdefault(kind_of(closing), []).append(closing.span())
    return found


def kind_of(line: re.Match[str]) -> tuple[str, str]:
    """Return what a line opens or closes: a block of a name, any dynamic block, a LaTeX environment, any drawer."""
    block, dynamic, environment, _ = line.groups()
    if block:
        return "block", block.lower()
    if dynamic:
        return "dynamic", ""
    return ("latex", environment.lower()) if environment else ("drawer", "")


def first_after(places: list[tuple[int, int]], start: int, limit: int) -> tuple[int, int] | None:
    """Return the first of *places* that begins at *start* or later and ends before *limit*."""
    place = bisect_left(places, (start, 0))
    return places[place] if place < len(places) and places[place][1] <= limit else None


def next_line(text: str, position: int, limit: int) -> int:
    """Return where the line after *position* begins; *limit* if there is none before."""
    feed = text.find("\n", position, limit)
    return limit if feed < 0 else feed + 1


def holds_objects(text: str, position: int, spans: Sequence[Span]) -> bool:
    """Say whether a timestamp at *position* is text that is read: no comment, and in none of *spans* but verse."""
    line = text.rfind("\n", 0, position) + 1
    span = enclosing(spans, position)
    return not _UNREAD_LINE.match(text, line) and (span is None or span.kind == "verse")


def verbatim(text: str) -> list[Span]:
    """Return the parts of *text* between two `=` or `~`."""
    return [Span(found.start(), found.end(), "verbatim") for found in _VERBATIM.finditer(text)]


def enclosing(spans: Sequence[Span], position: int) -> Span | None:
    """Return the one of *spans*, which are in order, that *position* is in."""
    place = bisect_right(spans, position, key=lambda span: span.start)
    return spans[place - 1] if place and position < spans[place - 1].end else None
