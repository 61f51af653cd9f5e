"""The vectors of one model, by what they are the vectors of.

A vector belongs to a text, known by its print, and not to a place: a passage that moves, or stands in two documents,
keeps its one vector. They are kept in a SQLite file of their own and held in memory as one matrix.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bookwheel.index.database import Database, Layout
from bookwheel.index.embedding import Vectors
from bookwheel.index.postings import Integers

LAYOUT = Layout(
    1,
    """
    CREATE TABLE vectors (
        number INTEGER PRIMARY KEY AUTOINCREMENT, print INTEGER NOT NULL UNIQUE, vector BLOB NOT NULL
    );
    CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO state VALUES ('generation', 1);
    """,
    ("vectors",),
)
ROOM = 1_024  # rows the matrix has to begin with


class VectorStore:
    """Vectors in, similarities out."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, LAYOUT)
        self._turn = threading.Lock()
        self._last = 0  # the last row that is in the matrix
        self._prints = np.empty(ROOM, np.int64)
        self._matrix = np.empty((ROOM, 0), np.float32)
        self._size = 0
        self._order: Integers = np.empty(0, np.int64)  # places in the matrix, by print

    def __len__(self) -> int:
        with self._turn:
            self._load()
            return self._size

    def add(self, prints: Sequence[int], vectors: Vectors) -> None:
        """Keep the vectors of texts; those that are known already stay as they are."""
        rows = ((one, vector.astype("<f2").tobytes()) for one, vector in zip(prints, vectors, strict=True))
        with self._database.writing() as db:
            db.executemany("INSERT OR IGNORE INTO vectors (print, vector) VALUES (?, ?)", rows)

    def places(self, prints: Integers) -> Integers:
        """Return where in the matrix the vector of each print is, or -1."""
        with self._turn:
            self._load()
            if not self._size:
                return np.full(len(prints), -1, np.int64)
            ordered = self._prints[self._order]
            at = np.searchsorted(ordered, prints).clip(max=self._size - 1)
            return np.where(ordered[at] == prints, self._order[at], -1)

    def similarities(self, query: Vectors, places: Integers) -> Vectors:
        """Return the cosine between the query and the vector at each place; not a number where there is none."""
        with self._turn:
            everyone = np.vecdot(self._matrix[: self._size], query)  # a matrix product's threads would spin on after it
        everyone = np.append(everyone, np.float32(np.nan))
        return np.asarray(everyone[places], np.float32)

    def prune(self, prints: Integers) -> None:
        """Forget the vectors of all texts but these."""
        keep = set(prints.tolist())
        with self._turn, self._database.writing() as db:
            known = [row[0] for row in db.execute("SELECT print FROM vectors")]
            db.executemany("DELETE FROM vectors WHERE print = ?", ((one,) for one in known if one not in keep))
            self._last = self._size = 0

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _load(self) -> None:
        """Add to the matrix what is new in the file."""
        with self._database.reading() as db:
            rows = db.execute("SELECT number, print, vector FROM vectors WHERE number > ?", (self._last,)).fetchall()
        if not rows:
            return
        joined = np.frombuffer(b"".join(vector for _, _, vector in rows), "<f2").reshape(len(rows), -1)
        self._grow(self._size + len(rows), joined.shape[1])
        new = slice(self._size, self._size + len(rows))
        self._prints[new] = [one for _, one, _ in rows]
        self._matrix[new] = joined
        self._last, self._size = rows[-1][0], new.stop
        self._order = np.argsort(self._prints[: self._size], kind="stable")

    def _grow(self, size: int, width: int) -> None:
        """Make room for so many vectors of this width."""
        if size <= len(self._prints) and width == self._matrix.shape[1]:
            return
        room = max(size, 2 * len(self._prints))
        self._prints = np.resize(self._prints, room)
        wider = np.empty((room, width), np.float32)
        if self._size:
            wider[: self._size] = self._matrix[: self._size]
        self._matrix = wider
