"""Which units hold which terms how often: counted for a batch of documents, merged, looked up.

A segment is one batch. Its units are numbered from 0: chunks for `body` and `heading`, documents for the other
fields. A key is a term, a space and the digit of a field; keys are sorted. The postings of a key are 32-bit
numbers in rising order, the unit in the upper 24 bits and its count in the lower 8, and those of all keys stand
end to end.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from bookwheel.index.analysis import analyse_all, terms

CHUNK_FIELDS = ("body", "heading")
PAGE_FIELDS = ("title", "path", "keywords", "description")
FIELDS = CHUNK_FIELDS + PAGE_FIELDS
MOST = 255  # a count beyond this adds nothing to a score

Integers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Postings:
    """The postings of a segment, and where each key's begin; one more start marks the end."""

    keys: list[str]
    starts: Integers
    packed: Integers


@dataclass(frozen=True, slots=True)
class Segment:
    """The units of one batch: whose they are and how long."""

    pages: Integers  # row number of each document
    libraries: Integers  # number of the library of each document
    suffixes: tuple[str, ...]  # file extension of each document
    owner: Integers  # for each chunk, the document it belongs to, by its place in `pages`
    prints: Integers  # for each chunk, the print of what is embedded for it
    lengths: dict[str, Integers]  # field → number of terms in each unit

    def __len__(self) -> int:
        return len(self.owner)


class _Numbers(dict[str, int]):
    """Numbers for words in the order they are first seen."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class Vocabulary:
    """What every run of characters stands for, learnt once for all the batches of a sync."""

    def __init__(self) -> None:
        self.runs = _Numbers()  # every different run of characters without white space
        self.terms = _Numbers()
        self._counts: list[int] = []  # how many terms each run stands for: none, one or several
        self._flat: list[int] = []  # those of all runs, end to end

    def learn(self) -> tuple[Integers, Integers]:
        """Return, for every run met so far, how many terms it stands for, and all of them end to end."""
        new = list(islice(self.runs, len(self._counts), None))
        for found in analyse_all(new):
            self._counts.append(len(found))
            self._flat += [self.terms[term] for term in found]
        return np.array(self._counts, np.int32), np.array(self._flat, np.int32)


class Builder:
    """Collects the texts of a batch and counts their terms in one go."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._body: list[int] = []  # the runs of every chunk, by number
        self._sizes: list[int] = []  # how many of them each chunk has
        self._owner: list[int] = []
        self._short: dict[str, list[str]] = {name: [] for name in FIELDS if name != "body"}

    def add(self, fields: dict[str, str], chunks: Iterable[tuple[str, str]]) -> None:
        """Add one document: its page fields, and for each chunk its heading and its text."""
        page = len(self._short["title"])
        for name in PAGE_FIELDS:
            self._short[name].append(fields.get(name, ""))
        number = self._vocabulary.runs.__getitem__
        for heading, text in chunks:
            numbers = list(map(number, text.split()))
            self._body += numbers
            self._sizes.append(len(numbers))
            self._owner.append(page)
            self._short["heading"].append(heading)

    def finish(self) -> tuple[Integers, dict[str, Integers], Postings]:
        """Return the owner of each chunk, the lengths of all units by field, and the postings."""
        found = {"body": self._body_terms()} | {name: self._short_terms(name) for name in self._short}
        units = {name: len(self._sizes if name in CHUNK_FIELDS else self._short["title"]) for name in FIELDS}
        lengths: dict[str, Integers] = {
            name: np.bincount(where, minlength=units[name]).astype(np.uint32) for name, (_, where) in found.items()
        }
        key = np.concatenate([found[name][0] << 3 | place for place, name in enumerate(FIELDS)])
        unit = np.concatenate([found[name][1] for name in FIELDS])
        names, ranks = self._names(key)
        return np.array(self._owner, np.uint32), lengths, _count(names, ranks[key], unit)

    def _body_terms(self) -> tuple[Integers, Integers]:
        """Return every term of the texts, by number, and the chunk it is in."""
        counts, flat = self._vocabulary.learn()
        starts = np.cumsum(counts) - counts
        runs = np.array(self._body, np.int32)
        where = np.repeat(np.arange(len(self._sizes), dtype=np.int64), self._sizes)
        many = counts[runs]
        one, more = many == 1, many > 1
        times = many[more]
        places = np.repeat(starts[runs[more]], times) + _steps(times)
        numbers = np.concatenate([flat[starts[runs[one]]], flat[places]]).astype(np.int64)
        return numbers, np.concatenate([where[one], np.repeat(where[more], times)])

    def _short_terms(self, name: str) -> tuple[Integers, Integers]:
        number = self._vocabulary.terms.__getitem__
        each = [list(map(number, _terms(text))) for text in self._short[name]]
        numbers = np.fromiter(chain.from_iterable(each), np.int64)
        return numbers, np.repeat(np.arange(len(each), dtype=np.int64), list(map(len, each)))

    def _names(self, key: Integers) -> tuple[list[str], Integers]:
        """Return the names of all keys that occur, in order, and for each key its place among them."""
        present = np.flatnonzero(np.bincount(key)).tolist()
        words = list(self._vocabulary.terms)
        names = [f"{words[one >> 3]} {one & 7}" for one in present]
        order = sorted(range(len(names)), key=names.__getitem__)
        ranks = np.zeros(max(present, default=0) + 1, np.int64)
        ranks[np.array(present, np.int64)[order]] = np.arange(len(names))
        return [names[place] for place in order], ranks


@lru_cache(maxsize=4_096)
def _terms(text: str) -> list[str]:
    return terms(text)


def _steps(many: Integers) -> Integers:
    """Return 0, 1, … within each run of the given lengths."""
    ends = np.cumsum(many)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - many, many)


def _count(names: list[str], key: Integers, unit: Integers) -> Postings:
    """Return the postings of occurrences, given as the key and the unit of each."""
    both = key << 24 | unit
    both.sort()
    firsts = np.flatnonzero(np.concatenate([[True], both[1:] != both[:-1]])) if len(both) else np.empty(0, np.int64)
    counts = np.minimum(np.diff(firsts, append=len(both)), MOST)
    return _place(names, both[firsts] << 8 | counts)


def _place(names: list[str], whole: Integers) -> Postings:
    """Return the postings of sorted numbers that hold key, unit and count."""
    starts = np.searchsorted(whole, np.arange(len(names) + 1, dtype=np.int64) << 32)
    return Postings(names, starts.astype("<u4"), (whole & 0xFFFFFFFF).astype("<u4"))


def unpack(packed: bytes) -> tuple[Integers, Integers]:
    """Return the units and their counts."""
    numbers = np.frombuffer(packed, "<u4")
    return numbers >> np.uint32(8), numbers & np.uint32(MOST)


class Lexicon:
    """The keys of a segment as one text, to be looked up without a string for each."""

    def __init__(self, text: bytes, starts: bytes) -> None:
        self._text = text  # keys in order, each with a line end
        self._starts = memoryview(starts).cast("I")
        ends = np.flatnonzero(np.frombuffer(text, np.uint8) == 10)
        self._ends = memoryview(ends.astype("<u4").tobytes()).cast("I")  # of each key in the text

    @cached_property
    def terms(self) -> frozenset[bytes]:
        """All terms, for when many are asked for at once."""
        return frozenset(key[:-2] for key in self._text.split(b"\n"))

    def _key(self, place: int) -> bytes:
        """Return the key at a place."""
        return self._text[self._ends[place - 1] + 1 if place else 0 : self._ends[place]]

    def find(self, term: str) -> Iterator[tuple[int, int, int]]:
        """Yield for each field that has the term its number, and where the postings begin and end."""
        start = term.encode() + b" "
        place = bisect_left(range(len(self._ends)), start, key=self._key)
        while place < len(self._ends) and (key := self._key(place)).startswith(start):
            yield int(key[len(start) :]), self._starts[place], self._starts[place + 1]
            place += 1

    def beginning(self, start: str, most: int) -> Iterator[str]:
        """Yield the terms of the first keys that begin with *start*."""
        begin = start.encode()
        first = bisect_left(range(len(self._ends)), begin, key=self._key)
        for place in range(first, min(len(self._ends), first + most * len(FIELDS))):
            key = self._key(place)
            if not key.startswith(begin):
                return
            yield key[:-2].decode()


def merge(parts: Sequence[tuple[Segment, Integers, Postings]]) -> tuple[Segment, Postings]:
    """Return one segment in place of several, each given with the places of its living documents."""
    moves = [_moves(segment, alive) for segment, alive, _ in parts]
    bases = np.cumsum(
        [[0, 0], *([int((chunks >= 0).sum()), int((pages >= 0).sum())] for chunks, pages in moves)], axis=0
    )
    keys = sorted({key for _, _, postings in parts for key in postings.keys})
    ranks = {key: place for place, key in enumerate(keys)}
    whole = [
        _moved(postings, move, base, ranks) for (_, _, postings), move, base in zip(parts, moves, bases, strict=False)
    ]
    together = np.concatenate(whole)
    together.sort()
    used, where = np.unique(together >> 32, return_inverse=True)  # some keys had only the dead
    living = [keys[place] for place in used.tolist()]
    return _joined(parts, moves, bases), _place(living, where << 32 | together & 0xFFFFFFFF)


def _moves(segment: Segment, alive: Integers) -> tuple[Integers, Integers]:
    """Return for every chunk and every page of a segment its new number among the living, or -1."""
    pages = np.full(len(segment.pages), -1, np.int64)
    pages[alive] = np.arange(len(alive))
    living = pages[segment.owner] >= 0
    return np.where(living, np.cumsum(living) - 1, -1), pages


def _moved(postings: Postings, move: tuple[Integers, Integers], base: Integers, ranks: dict[str, int]) -> Integers:
    """Return the living postings of one part as numbers that hold their new key and unit, and the count."""
    key = np.fromiter((ranks[one] for one in postings.keys), np.int64, len(postings.keys))
    paged = np.fromiter((one[-1] not in "01" for one in postings.keys), np.bool_, len(postings.keys))
    many = postings.starts[1:].astype(np.int64) - postings.starts[:-1]
    of_page = np.repeat(paged, many)
    unit = (postings.packed >> np.uint32(8)).astype(np.int64)
    new = np.empty(len(unit), np.int64)
    for kind, mask in enumerate((~of_page, of_page)):
        moved = move[kind][unit[mask]]
        new[mask] = np.where(moved >= 0, moved + base[kind], -1)
    whole = np.repeat(key, many) << 32 | new << 8 | (postings.packed & np.uint32(MOST)).astype(np.int64)
    return whole[new >= 0]


def _joined(
    parts: Sequence[tuple[Segment, Integers, Postings]], moves: Sequence[tuple[Integers, Integers]], bases: Integers
) -> Segment:
    owner = [
        pages[segment.owner[chunks >= 0]] + base[1]
        for (segment, _, _), (chunks, pages), base in zip(parts, moves, bases, strict=False)
    ]
    lengths = {
        name: np.concatenate(
            [
                segment.lengths[name][chunks >= 0 if name in CHUNK_FIELDS else alive]
                for (segment, alive, _), (chunks, _) in zip(parts, moves, strict=True)
            ]
        )
        for name in FIELDS
    }
    return Segment(
        np.concatenate([segment.pages[alive] for segment, alive, _ in parts]),
        np.concatenate([segment.libraries[alive] for segment, alive, _ in parts]),
        tuple(segment.suffixes[place] for segment, alive, _ in parts for place in alive.tolist()),
        np.concatenate(owner).astype(np.uint32),
        np.concatenate(
            [segment.prints[chunks >= 0] for (segment, _, _), (chunks, _) in zip(parts, moves, strict=True)]
        ),
        lengths,
    )
