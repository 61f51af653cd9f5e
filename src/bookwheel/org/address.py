"""Addresses of headlines: titles from the top down, percent-encoded, parted by slashes.

`Plan/Q4%2FQ1` is the headline `Q4/Q1` below `Plan`. Of equal siblings the first is meant, unless the address ends in
`?n=2`, `?n=3`: then it is that one. An empty title is an empty segment. Where the file is, is not told here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from urllib.parse import quote, unquote

from bookwheel.errors import NotFound
from bookwheel.org.outline import Headline, Outline

_NTH = re.compile(r"\?n=([1-9][0-9]{0,8})$")
_SAFE = "!$&'()*+,;=:@~"  # what a segment may hold as it is; a slash and a question mark it may not


def address(headline: Headline) -> str:
    """Return the address of *headline* within its file."""
    path = "/".join(map(_segment, headline.path))
    place = headline.outline.places[headline.number]
    return f"{path}?n={place + 1}" if place else path


@lru_cache(maxsize=65_536)
def _segment(title: str) -> str:
    return quote(title, safe=_SAFE)


def find(outline: Outline, text: str) -> Headline:
    """Return the headline the address *text* means. Raises NotFound if there is none."""
    nth = _NTH.search(text)
    path = tuple(unquote(segment) for segment in (text[: nth.start()] if nth else text).split("/"))
    headline = find_path(outline, path, int(nth[1]) if nth else 1)
    if headline is None:
        raise NotFound(f"there is no headline {' / '.join(path)}", path=list(path), known=near(outline, path))
    return headline


def find_path(outline: Outline, path: Sequence[str], number: int = 1) -> Headline | None:
    """Return the *number*-th headline whose titles from the top down are *path*."""
    wanted = tuple(path)
    same = [one for one in saying(outline, path[-1]) if one.path == wanted] or outline.by_path.get(wanted, [])
    return same[number - 1] if 0 < number <= len(same) else None


def saying(outline: Outline, title: str) -> Iterator[Headline]:
    """Yield the headlines with *title* in their line, without a look at all the others; none for an empty one."""
    start = outline.text.find(title) if title else -1
    while start >= 0:
        headline = outline.at(start)
        if headline and start < headline.line_end:
            yield headline
            start = headline.line_end
        start = outline.text.find(title, start + 1)


def near(outline: Outline, path: Sequence[str]) -> list[str]:
    """Return the titles that stand where the first part of *path* that leads nowhere was looked for."""
    below = outline.top
    for title in path[:-1]:
        step = next((one for one in below if one.title == title), None)
        if step is None:
            break
        below = step.children
    return [one.title for one in below[:20]]
