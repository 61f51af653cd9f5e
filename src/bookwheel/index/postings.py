"""Which units hold which terms how often: built for a batch of documents, merged, and read back.

A segment is one batch. Its units are numbered from 0: chunks for `body` and `heading`, documents for
the other fields. The postings of a term in a field are little-endian 32-bit numbers, the unit in the
upper 24 bits and the count in the lower 8, in rising order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bookwheel.index.analysis import analyse, terms

CHUNK_FIELDS = ("body", "heading")
PAGE_FIELDS = ("title", "path", "keywords")
FIELDS = CHUNK_FIELDS + PAGE_FIELDS
MOST = 255  # a count beyond this adds nothing to a score

Integers = npt.NDArray[np.integer[Any]]
Posting = tuple[str, int, bytes]  # term, field number, packed units and counts


@dataclass(frozen=True, slots=True)
class Segment:
    """The units of one batch: whose they are and how long."""

    pages: Integers  # row number of each document
    libraries: Integers  # number of the library of each document
    suffixes: tuple[str, ...]  # file extension of each document
    owner: Integers  # for each chunk, the document it belongs to, by its place in `pages`
    lengths: dict[str, Integers]  # field → number of terms in each unit

    def __len__(self) -> int:
        return len(self.owner)


class _Words(dict[str, int]):
    """Numbers for words in the order they are first seen."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


@dataclass(slots=True)
class Builder:
    """Collects the texts of a batch and counts their terms in one go."""

    raws: _Words = field(default_factory=_Words)
    body: list[int] = field(default_factory=list)  # every run of characters of every chunk
    runs: list[int] = field(default_factory=list)  # how many of them each chunk has
    owner: list[int] = field(default_factory=list)
    short: dict[str, list[tuple[int, str]]] = field(default_factory=dict)  # field → (unit, text)
    pages: int = 0

    def add(self, fields: dict[str, str], chunks: Iterable[tuple[str, str]]) -> None:
        """Add one document: its page fields, and for each chunk its heading and its text."""
        for name in PAGE_FIELDS:
            self.short.setdefault(name, []).append((self.pages, fields.get(name, "")))
        for heading, text in chunks:
            self.short.setdefault("heading", []).append((len(self.owner), heading))
            numbers = list(map(self.raws.__getitem__, text.split()))
            self.body += numbers
            self.runs.append(len(numbers))
            self.owner.append(self.pages)
        self.pages += 1

    def finish(self) -> tuple[Integers, dict[str, Integers], list[Posting]]:
        """Return the owner of each chunk, the lengths of all units by field, and the postings in order."""
        lengths: dict[str, Integers] = {}
        postings: list[Posting] = []
        for number, name in enumerate(FIELDS):
            units = len(self.owner) if name in CHUNK_FIELDS else self.pages
            words, found, where = self._body_terms() if name == "body" else self._short_terms(name)
            lengths[name] = np.bincount(where, minlength=units).astype(np.uint32)
            postings += _count(words, found, where, units, number)
        postings.sort()
        return np.array(self.owner, np.uint32), lengths, postings

    def _body_terms(self) -> tuple[list[str], Integers, Integers]:
        words = _Words()
        each = [[words[term] for term in analyse(raw)] for raw in self.raws]
        counts = np.array([len(one) for one in each], np.int64)
        flat = np.array([number for one in each for number in one], np.int64)
        starts = np.concatenate([[0], np.cumsum(counts)])
        raws = np.array(self.body, np.int64)
        where = np.repeat(np.arange(len(self.runs), dtype=np.int64), self.runs)
        many = counts[raws]  # terms a run stands for: none for a stop word, several for an identifier
        places = np.repeat(starts[raws], many) + _steps(many)
        return list(words), flat[places], np.repeat(where, many)

    def _short_terms(self, name: str) -> tuple[list[str], Integers, Integers]:
        words = _Words()
        pairs = [(words[term], unit) for unit, text in self.short.get(name, ()) for term in terms(text)]
        both = np.array(pairs, np.int64).reshape(-1, 2)
        return list(words), both[:, 0], both[:, 1]


def _steps(many: Integers) -> Integers:
    """Return 0, 1, … within each run of the given lengths."""
    ends = np.cumsum(many)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - many, many)


def _count(words: list[str], found: Integers, where: Integers, units: int, number: int) -> Iterator[Posting]:
    """Yield the postings of a field from its (term, unit) occurrences."""
    if not len(found):
        return
    keys = found * units + where
    keys.sort()
    firsts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    counts = np.minimum(np.diff(np.append(firsts, len(keys))), MOST)
    term, unit = np.divmod(keys[firsts], units)
    packed = pack(unit, counts)
    edges = np.append(np.flatnonzero(np.concatenate([[True], term[1:] != term[:-1]])), len(term))
    for which, start, end in zip(term[edges[:-1]].tolist(), edges.tolist(), edges[1:].tolist(), strict=False):
        yield words[which], number, packed[4 * start : 4 * end]


def pack(units: Integers, counts: Integers) -> bytes:
    """Return units and their counts as the bytes a posting keeps."""
    return bytes((units.astype("<u4") << np.uint32(8) | counts.astype("<u4")).tobytes())


def unpack(packed: bytes) -> tuple[Integers, Integers]:
    """Return the units and their counts."""
    numbers = np.frombuffer(packed, "<u4")
    return numbers >> np.uint32(8), numbers & np.uint32(MOST)


def merge(
    segments: Sequence[tuple[Segment, Integers]], postings: Iterable[tuple[str, int, int, bytes]]
) -> tuple[Segment, Iterator[Posting]]:
    """Return one segment in place of several, without their dead documents.

    *segments* come with the places of their living documents; *postings* are (term, field, place of the
    segment, packed) in the order of term and field.
    """
    moves = [_moves(segment, alive) for segment, alive in segments]
    pages = np.concatenate([segment.pages[alive] for segment, alive in segments])
    page_base = np.cumsum([0, *(len(alive) for _, alive in segments)])
    chunk_base = np.cumsum([0, *(int((move[0] >= 0).sum()) for move in moves)])
    owner = np.concatenate(
        [
            move[1][segment.owner[move[0] >= 0]] + base
            for (segment, _), move, base in zip(segments, moves, page_base, strict=False)
        ]
    )
    lengths = {
        name: np.concatenate(
            [
                segment.lengths[name][move[0] >= 0 if name in CHUNK_FIELDS else alive]
                for (segment, alive), move in zip(segments, moves, strict=True)
            ]
        )
        for name in FIELDS
    }
    libraries = np.concatenate([segment.libraries[alive] for segment, alive in segments])
    suffixes = tuple(segment.suffixes[i] for segment, alive in segments for i in alive.tolist())
    joined = Segment(pages, libraries, suffixes, owner.astype(np.uint32), lengths)
    return joined, _merged(moves, (chunk_base, page_base), postings)


def _moves(segment: Segment, alive: Integers) -> tuple[Integers, Integers]:
    """Return for every chunk and every page of a segment its new number among the living, or -1."""
    pages = np.full(len(segment.pages), -1, np.int64)
    pages[alive] = np.arange(len(alive))
    living = pages[segment.owner] >= 0
    chunks = np.where(living, np.cumsum(living) - 1, -1)
    return chunks, pages


def _merged(
    moves: Sequence[tuple[Integers, Integers]],
    bases: tuple[Integers, Integers],
    postings: Iterable[tuple[str, int, int, bytes]],
) -> Iterator[Posting]:
    key: tuple[str, int] | None = None
    packed: list[bytes] = []
    for term, number, place, old in postings:
        if (term, number) != key:
            if key and any(packed):
                yield *key, b"".join(packed)
            key, packed = (term, number), []
        kind = 0 if FIELDS[number] in CHUNK_FIELDS else 1
        units, counts = unpack(old)
        moved = moves[place][kind][units]
        keep = moved >= 0
        packed.append(pack(moved[keep] + bases[kind][place], counts[keep]))
    if key and any(packed):
        yield *key, b"".join(packed)
