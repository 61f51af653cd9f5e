"""Turn headings into sections: how far each reaches, and the id that names it.

An id is the path of slugs from the outermost heading. Two documents with the same headings have the same ids.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from bookwheel.model import Section

RESERVED = ("_preamble", "_document")  # names of parts that are not sections
LONGEST = 128  # characters of a slug: children repeat it, so a long title must not multiply
SELECTORS = "\ufe0e\ufe0f"  # they choose an emoji's look and are no part of a word

_WORDS = {ord(sign): sign.lower() if sign.isalnum() or sign == "_" else " " for sign in map(chr, range(128))}


class Heading(NamedTuple):
    """A heading line: where it is and what it says."""

    level: int
    title: str
    start: int
    line: int


def outline(headings: Iterable[Heading], end: int) -> tuple[Section, ...]:
    """Return the sections of a text that is *end* characters long, in reading order."""
    found = list(headings)
    parents, ends = nest(found, end)
    ids = name(found, parents)
    return tuple(
        Section(path, heading.title, heading.level, heading.start, stop, heading.line)
        for path, heading, stop in zip(ids, found, ends, strict=True)
    )


def top(sections: Iterable[Section]) -> str:
    """Return the title of the first section of level 1; empty where there is none."""
    return next((section.title for section in sections if section.level == 1), "")


def nest(headings: list[Heading], end: int) -> tuple[list[int], list[int]]:
    """Return for each heading the index of its parent (-1 for none) and where its section ends."""
    parents, ends, open_ = [-1] * len(headings), [end] * len(headings), list[int]()
    for i, heading in enumerate(headings):
        while open_ and headings[open_[-1]].level >= heading.level:
            ends[open_.pop()] = heading.start
        if open_:
            parents[i] = open_[-1]
        open_.append(i)
    return parents, ends


def name(headings: list[Heading], parents: list[int]) -> list[str]:
    """Return an id for each heading; a repeated one gets -2, -3 or the next free number."""
    ids, used, last = list[str](), set(RESERVED), dict[str, int]()
    for heading, parent in zip(headings, parents, strict=True):
        base = slug(heading.title) if parent < 0 else f"{ids[parent]}/{slug(heading.title)}"
        path = free(base, used, last) if base in used else base
        used.add(path)
        ids.append(path)
    return ids


def free(base: str, used: set[str], last: dict[str, int]) -> str:
    """Return *base* with the next number not in *used*; *last* remembers where to go on."""
    number = last.get(base, 1) + 1
    while f"{base}-{number}" in used:
        number += 1
    last[base] = number
    return f"{base}-{number}"


def slug(title: str) -> str:
    """Return *title* in lower case, every run of characters other than letters, digits and _ one hyphen."""
    words = title.translate(_WORDS) if title.isascii() else separate(unicodedata.normalize("NFC", title.lower()))
    longest = LONGEST - words.startswith(" ")  # a hyphen in front counts, though it goes
    return "-".join(words.split())[:longest].rstrip("-") or "section"


def separate(words: str) -> str:
    """Return *words* with all that is no letter, digit or _ made a space.

    A vowel sign or accent belongs to the letter before it: it is no letter of its own to Python.
    """
    kept = " "
    letters = [kept := letter if belongs(letter, kept) else " " for letter in words]
    return "".join(letters)


def belongs(letter: str, before: str) -> bool:
    """Say whether *letter* is part of a word, given what was kept *before* it."""
    if letter.isalnum() or letter == "_":
        return True
    return before != " " and letter not in SELECTORS and unicodedata.category(letter) in ("Mn", "Mc")
