"""What stands in a section's text and is not to be read as Org: blocks of code, examples, comments, LaTeX.

A section is the text between two headlines. A block counts only if it is closed within what it is in; drawers and
other blocks hold Org again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

_OPENING = re.compile(
    r"^[ \t]*(?:#\+begin_(\S+)|#\+begin:[ \t]*\w|\\begin\{([A-Za-z0-9*]+)\}|:([\w-]+):[ \t]*$)",
    re.MULTILINE | re.IGNORECASE,
)
_LITERAL = frozenset({"comment", "example", "export", "src", "verse"})
_UNREAD_LINE = re.compile(r"[ \t]*(?:#(?:[ \n+]|$)|:(?:[ \n]|$)|CLOCK:|%%\()", re.IGNORECASE)
_VERBATIM = re.compile(r"(?:(?<=[\s\-({'\"])|^)([=~])(?=\S)[^\n]*?(?<=\S)\1(?=[\s\-.,;:!?'\")}\[]|$)", re.MULTILINE)


class Span(NamedTuple):
    """A part of the text that is not Org."""

    start: int
    end: int
    kind: str


def literal(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the parts of the section from *start* to *end* whose lines are not Org's elements."""
    limits, open_ended = [(end, end)], set[tuple[str, int]]()
    while limits:
        limit = limits[-1][0]
        opening = _OPENING.search(text, start, limit)
        if not opening:
            start = limits.pop()[1]
            continue
        start, pattern = next_line(text, opening.end(), limit), closing(opening)
        found = None if (pattern, limit) in open_ended else compiled(pattern).search(text, opening.end(), limit)
        if not found:
            open_ended.add((pattern, limit))
            continue
        resume, kind = next_line(text, found.end(), limit), "latex" if opening[2] else (opening[1] or "").lower()
        if kind in _LITERAL or opening[2]:
            yield Span(opening.start(), found.end(), kind)
            start = resume
        else:
            limits.append((found.start(), resume))


def closing(opening: re.Match[str]) -> str:
    """Return the pattern of the line that closes what a line opens."""
    name, environment, drawer = opening.groups()
    if drawer:
        return r"(?!)" if drawer.upper() == "END" else r"^[ \t]*:END:[ \t]*$"
    if environment:
        return rf"\\end\{{{re.escape(environment)}\}}[ \t]*$"
    return rf"^[ \t]*#\+end_{re.escape(name)}[ \t]*$" if name else r"^[ \t]*#\+end:?[ \t]*$"


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return *pattern* ready for use."""
    return re.compile(pattern, re.MULTILINE | re.IGNORECASE)


def next_line(text: str, position: int, limit: int) -> int:
    """Return where the line after *position* begins; *limit* if there is none before."""
    feed = text.find("\n", position, limit)
    return limit if feed < 0 else feed + 1


def holds_objects(text: str, position: int, spans: Sequence[Span]) -> bool:
    """Say whether a timestamp at *position* is text that is read, not a comment, code or an example."""
    line = text.rfind("\n", 0, position) + 1
    if _UNREAD_LINE.match(text, line) or is_verbatim(text, line, position):
        return False
    span = enclosing(spans, position)
    return span is None or span.kind == "verse"


def enclosing(spans: Sequence[Span], position: int) -> Span | None:
    """Return the one of *spans*, which are in order, that *position* is in."""
    place = bisect_right(spans, position, key=lambda span: span.start)
    return spans[place - 1] if place and position < spans[place - 1].end else None


def is_verbatim(text: str, line: int, position: int) -> bool:
    """Say whether *position* is between two `=` or `~` of its line, which begins at *line*."""
    end = next_line(text, line, len(text))
    return any(found.start() < position < found.end() for found in _VERBATIM.finditer(text, line, end))
