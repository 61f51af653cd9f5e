"""The vectors of one model, by what they are the vectors of.

A vector belongs to a text, known by its print, and not to a place: a passage that moves, or stands in two documents,
keeps its one vector. They are kept in a SQLite file of their own and held in memory as one matrix. Of many, only the
signs are held: they tell which are likely to be near a query, and the nearest are read from the file and compared.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bookwheel.index.database import Database, Layout
from bookwheel.index.embedding import Vectors
from bookwheel.index.postings import Integers
from bookwheel.index.signs import Signs, expected, nearest

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
PART = 8_192  # rows read at a time
MANY = 200_000  # vectors; of more only the signs are held
EXACT = 500  # vectors of each group that are then compared in full: few of the ten nearest are missed
FAR = 5  # for so many of the nearest one of the farthest, to know the range


class VectorStore:
    """Vectors in, similarities out."""

    def __init__(self, path: Path, many: int = MANY, exact: int = EXACT) -> None:
        self._database = Database(path, LAYOUT)
        self._many = many
        self._exact = exact
        self._turn = threading.Lock()
        self._let_go()

    def _let_go(self) -> None:
        """Hold nothing."""
        self._held: Matrix | Signs = Matrix()
        self._numbers: Integers = np.empty(0, np.int64)  # the row of each vector that is held, rising
        self._prints: Integers = np.empty(0, np.int64)
        self._order: Integers = np.empty(0, np.int64)  # places by print

    def __len__(self) -> int:
        with self._turn:
            self._load()
            return len(self._numbers)

    def add(self, prints: Sequence[int], vectors: Vectors) -> None:
        """Keep the vectors of texts; those that are known already stay as they are."""
        rows = ((one, vector.astype("<f2").tobytes()) for one, vector in zip(prints, vectors, strict=True))
        with self._database.writing() as db:
            db.executemany("INSERT OR IGNORE INTO vectors (print, vector) VALUES (?, ?)", rows)

    def known(self, prints: Iterable[int]) -> set[int]:
        """Return those of the prints that have a vector; none is loaded for this."""
        question = "SELECT print FROM json_each(?) JOIN vectors ON print = value"
        with self._database.reading() as db:
            return {row[0] for row in db.execute(question, (json.dumps(list(prints)),))}

    def places(self, prints: Integers) -> Integers:
        """Return where among those held the vector of each print is, or -1."""
        with self._turn:
            self._load()
            if not len(self._prints):
                return np.full(len(prints), -1, np.int64)
            ordered = self._prints[self._order]
            at = np.searchsorted(ordered, prints).clip(max=len(ordered) - 1)
            return np.where(ordered[at] == prints, self._order[at], -1)

    def similarities(self, query: Vectors, places: Integers, groups: Sequence[Integers] = ()) -> Vectors:
        """Return the cosine between the query and the vector at each place; not a number where there is none.

        Of many vectors only the nearest of each group, some of the places by their index, are compared, and the
        farthest of the first group. The others get what their signs let expect, within the bounds these set.
        """
        with self._turn:
            if isinstance(self._held, Matrix):
                return np.append(self._held.cosines(query), np.float32(np.nan))[places]
            unknown = np.uint16(len(query) + 1)
            apart = np.append(self._held.distances(query), unknown)[places]
            chosen = [group[nearest(apart[group], self._exact)] for group in groups]
            chosen += [group[nearest(unknown - 1 - apart[group], 1 + self._exact // FAR)] for group in groups[:1]]
            exact = [self._compare(query, places, some[apart[some] < unknown]) for some in chosen]
        found = expected(apart, len(query))
        if exact:
            found = found.clip(_least(exact[-1], -1.0), _least(exact[0], 1.0))
        for some, cosines in exact:
            found[some] = cosines
        return found

    def _compare(self, query: Vectors, places: Integers, some: Integers) -> tuple[Integers, Vectors]:
        """Return the cosines of the vectors at some of the places, and of which; one may be gone from the file."""
        numbers = self._numbers[places[some]]
        question = "SELECT number, vector FROM json_each(?) JOIN vectors ON number = value ORDER BY number"
        with self._database.reading() as db:
            rows = db.execute(question, (json.dumps(np.unique(numbers).tolist()),)).fetchall()
        if not rows:
            return some[:0], np.empty(0, np.float32)
        known = np.array([row[0] for row in rows])
        at = np.searchsorted(known, numbers).clip(max=len(known) - 1)
        there = known[at] == numbers
        return some[there], np.vecdot(_stack(rows).astype(np.float32), query)[at[there]]

    def prune(self, prints: Integers) -> None:
        """Forget the vectors of all texts but these."""
        keep = set(prints.tolist())
        with self._turn, self._database.writing() as db:
            known = [row[0] for row in db.execute("SELECT print FROM vectors")]
            db.executemany("DELETE FROM vectors WHERE print = ?", ((one,) for one in known if one not in keep))
            self._let_go()

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _load(self) -> None:
        """Hold what is new in the file too."""
        last = int(self._numbers[-1]) if len(self._numbers) else 0
        new: list[Integers] = []
        with self._database.reading() as db:
            rows = db.execute("SELECT number, print, vector FROM vectors WHERE number > ? ORDER BY number", (last,))
            while some := rows.fetchmany(PART):
                if not new:
                    self._choose(db.execute("SELECT COUNT(*) FROM vectors").fetchone()[0])
                self._held.add(_stack(some))
                new.append(np.array([row[:2] for row in some], np.int64))
        if new:
            numbers, prints = np.concatenate(new).T
            self._numbers = np.append(self._numbers, numbers)
            self._prints = np.append(self._prints, prints)
            self._order = np.argsort(self._prints, kind="stable")

    def _choose(self, count: int) -> None:
        """Hold signs alone from now on if there are so many vectors."""
        if isinstance(self._held, Matrix) and count > self._many:
            signs = Signs()
            signs.add(self._held.rows)
            self._held = signs


class Matrix:
    """Vectors side by side, each compared with a query."""

    def __init__(self) -> None:
        self._rows = np.empty((ROOM, 0), np.float32)
        self._size = 0

    @property
    def rows(self) -> Vectors:
        """All vectors."""
        return self._rows[: self._size]

    def add(self, vectors: Vectors) -> None:
        """Take in more vectors."""
        self._grow(self._size + len(vectors), vectors.shape[1])
        self._rows[self._size : self._size + len(vectors)] = vectors
        self._size += len(vectors)

    def _grow(self, size: int, width: int) -> None:
        """Make room for so many vectors of this width."""
        if size <= len(self._rows) and width == self._rows.shape[1]:
            return
        wider = np.empty((max(size, 2 * len(self._rows)), width), np.float32)
        if self._size:
            wider[: self._size] = self.rows
        self._rows = wider

    def cosines(self, query: Vectors) -> Vectors:
        """Return the cosine between the query and each vector."""
        return np.asarray(np.vecdot(self.rows, query))  # a matrix product's threads would spin on after it


def _least(compared: tuple[Integers, Vectors], otherwise: float) -> float:
    """Return the least of the cosines, if there are any."""
    return float(compared[1].min()) if len(compared[1]) else otherwise


def _stack(rows: Sequence[Sequence[Any]]) -> Vectors:
    """Return the vectors that come last in some rows."""
    return np.frombuffer(b"".join(row[-1] for row in rows), "<f2").reshape(len(rows), -1)
