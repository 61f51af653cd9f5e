"""The line to show of a passage: where most of the query's words stand close together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from bookwheel.index.analysis import analyse

WIDTH = 160  # characters
LONG = 40  # characters: more without a space is no word
_RUN = re.compile(r"\S+")


def excerpt(text: str, terms: Set[str], width: int = WIDTH) -> str:
    """Return one line of *text* with as many different *terms* as fit, cut at words with `…`."""
    runs = [(start, end, frozenset(analyse(text[start:end])) & terms) for start, end in _runs(text)]
    if not runs:
        return ""
    start = _best_start(runs, width)
    first = max(0, _lead(runs, start, width))
    last = first
    while last + 1 < len(runs) and runs[last + 1][1] - runs[first][0] <= width:
        last += 1
    line = " ".join(text[runs[first][0] : runs[last][1]].split())
    return ("…" if first else "") + line + ("…" if last + 1 < len(runs) else "")


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the words are; a long stretch without spaces, as in Chinese, comes in pieces."""
    for match in _RUN.finditer(text):
        start, end = match.span()
        if end - start <= LONG:
            yield start, end
        else:
            yield from ((place, min(place + LONG // 2, end)) for place in range(start, end, LONG // 2))


def _best_start(runs: list[tuple[int, int, frozenset[str]]], width: int) -> int:
    """Return the run that opens the window with the most different terms; the first of equals."""
    places = [i for i, run in enumerate(runs) if run[2]]
    best, most = 0, 0
    for i in places:
        inside: set[str] = set()
        for j in range(i, len(runs)):
            if runs[j][1] - runs[i][0] > width * 3 // 4:
                break
            inside |= runs[j][2]
        if len(inside) > most:
            best, most = i, len(inside)
    return best


def _lead(runs: list[tuple[int, int, frozenset[str]]], start: int, width: int) -> int:
    """Return a run a few words before *start*, for context."""
    first = start
    while first > 0 and runs[start][0] - runs[first - 1][0] <= width // 4:
        first -= 1
    return first
