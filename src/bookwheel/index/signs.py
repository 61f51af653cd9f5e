"""Vectors as their signs, one bit a dimension: a million of 384 take 48 MB and are compared in some ten milliseconds.

The share of signs in which two vectors differ is, but for chance, the angle between them in half turns.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bookwheel.index.embedding import Vectors
from bookwheel.index.postings import Integers

BLOCK = 8_192  # vectors side by side: what is made of them on the way stays near the processor
Bits = npt.NDArray[np.uint64]


class Signs:
    """The signs of many vectors."""

    def __init__(self) -> None:
        self._blocks: list[Bits] = []  # a row for each 64 dimensions, a column for each vector
        self._size = 0

    def add(self, vectors: Vectors) -> None:
        """Take in the signs of more vectors."""
        packed = _pack(vectors)
        while packed.shape[1]:
            free = self._free(len(packed))
            some = packed[:, : free.shape[1]]
            free[:, : some.shape[1]] = some
            self._size += some.shape[1]
            packed = packed[:, some.shape[1] :]

    def _free(self, height: int) -> Bits:
        """Return the part of the last block that is free, of a new one if there is none."""
        used = self._size % BLOCK
        if not used:
            self._blocks.append(np.empty((height, BLOCK), np.uint64))
        return self._blocks[-1][:, used:]

    def distances(self, query: Vectors) -> Integers:
        """Return in how many signs each vector differs from the query."""
        signs = _pack(query[None])
        found = np.empty((len(self._blocks), BLOCK), np.uint16)
        for block, row in zip(self._blocks, found, strict=True):
            np.bitwise_count(block ^ signs).sum(axis=0, dtype=np.uint16, out=row)
        return found.ravel()[: self._size]


def expected(distances: Integers, width: int) -> Vectors:
    """Return the cosines to expect of vectors that differ in so many signs; not a number for more than there are."""
    cosines = np.cos(np.pi * np.arange(width + 2) / width)
    cosines[-1] = np.nan
    return np.asarray(cosines.astype(np.float32)[distances])


def _pack(vectors: Vectors) -> Bits:
    """Return the signs of vectors, 64 to a number, a column for each vector."""
    packed = np.packbits(np.signbit(vectors), axis=1)
    padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    return np.ascontiguousarray(padded.view(np.uint64).T)


def nearest(distances: Integers, most: int) -> Integers:
    """Return the places of the smallest distances, so many at most; in linear time, for distances are small numbers."""
    if len(distances) <= most:
        return np.arange(len(distances))
    limit = int(np.searchsorted(np.bincount(distances).cumsum(), most))
    places = np.flatnonzero(distances <= limit)
    return places[np.argsort(distances[places], kind="stable")[:most]]
