"""The line to show of a passage: where most of the query's words stand close together."""

from __future__ import annotations

import re
from collections.abc import Set

from bookwheel.index.analysis import analyse

WIDTH = 160  # characters
LONG = 40  # characters: more without a space is no word
_BREAK = re.compile(r"\s")


def excerpt(text: str, terms: Set[str], width: int = WIDTH) -> str:
    """Return one line of *text* with as many different *terms* as fit, cut at words with `…`."""
    places = _places(text, terms)
    focus = _focus(places, width * 3 // 4)
    start = _word_start(text, max(0, focus - width // 4), focus) if focus > width // 4 else 0
    end = _word_end(text, start, min(len(text), start + width))
    line = " ".join(text[start:end].split())
    return ("…" if text[:start].strip() else "") + line + ("…" if text[end:].strip() else "")


def _places(text: str, terms: Set[str]) -> list[tuple[int, str]]:
    """Return where which of the terms are: what looks like one is analysed, the rest is not worth it."""
    stems = {re.escape(term[:-1] if len(term) > 3 or term.endswith("i") else term) for term in terms}
    if not stems:
        return []
    likely = re.compile("|".join(sorted(stems)), re.IGNORECASE) if text.isascii() else re.compile(r"\S+")
    found: list[tuple[int, str]] = []
    end = -1
    for match in likely.finditer(text):
        if match.start() < end:
            continue  # in a word that was looked at
        start, end = _word(text, match.start())
        found += [(place, term) for place, term in _spots(text, start, end) if term in terms]
    return found


def _word(text: str, place: int) -> tuple[int, int]:
    """Return where the run of characters around a place begins and ends."""
    start = max(text.rfind(" ", 0, place), text.rfind("\n", 0, place), text.rfind("\t", 0, place)) + 1
    after = _BREAK.search(text, place)
    return start, after.start() if after else len(text)


def _spots(text: str, start: int, end: int) -> list[tuple[int, str]]:
    """Return the terms of a run and where they are; in a long one without spaces, as in Chinese, each in its place."""
    run = text[start:end]
    if len(run) <= LONG:
        return [(start, term) for term in analyse(run)]
    return [(start + max(0, run.lower().find(term)), term) for term in dict.fromkeys(analyse(run))]


def _focus(places: list[tuple[int, str]], reach: int) -> int:
    """Return the place from which most different terms are within reach; the first of equals."""
    best, most = 0, 0
    for i, (place, _) in enumerate(places):
        near = {term for other, term in places[i : i + 40] if place <= other < place + reach}
        if len(near) > most:
            best, most = place, len(near)
    return best


def _word_start(text: str, start: int, focus: int) -> int:
    """Return the beginning of the first whole word from *start* on, or *start* where there is none before *focus*."""
    found = _BREAK.search(text, start, focus)
    return found.end() if found and start else start


def _word_end(text: str, start: int, end: int) -> int:
    """Return the end of the last whole word before *end*, or *end* in a long stretch without spaces."""
    if end >= len(text) or text[end].isspace():
        return end
    cut = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
    return cut if cut > start + (end - start) // 2 else end
