"""Search by meaning: makes the vectors of all passages in the background, and compares a query with them."""

from __future__ import annotations

import logging
import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import takewhile

import numpy as np

from bookwheel.errors import Unavailable
from bookwheel.index.embedding import Embedder, Vectors
from bookwheel.index.postings import Integers
from bookwheel.index.prints import fingerprint, passage
from bookwheel.index.segments import Floats, Snapshot, snapshot
from bookwheel.index.store import Entry, Store, is_there, read_chunk, read_record, read_span
from bookwheel.index.vectors import VectorStore
from bookwheel.locks import turn

BATCH = 4  # texts at a time: padding makes larger ones slower, and memory grows
SAVE = 64  # texts between two writes
AT_ONCE = 2  # threads that embed documents on their way in: the model leaves some 50 MB behind in each
LOW = 10  # niceness of the thread that embeds

log = logging.getLogger(__name__)
Report = Callable[[int, int], None]


class Semantics:
    """The vectors of everything in a store, by one model."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self.embedder = embedder
        self.problem = ""  # why there is none, if the model cannot be had
        self._last: Snapshot | None = None
        self._places: tuple[tuple[int, int], Integers] = ((-1, -1), np.empty(0, np.int64))
        self._share = 1.0
        self._desk = ThreadPoolExecutor(AT_ONCE)  # for documents on their way in, whoever brings them

    @cached_property
    def vectors(self) -> VectorStore:
        """The vectors made so far."""
        return VectorStore(self._store.folder / f"vectors-{self.embedder.name}.db")

    def close(self) -> None:
        """Let go of the file."""
        self._desk.shutdown(wait=False)
        if "vectors" in self.__dict__:
            self.vectors.close()

    def share(self) -> float:
        """Return the part of all passages that has a vector, from 0 to 1."""
        with self._store.database.reading() as db:
            self._last = now = snapshot(db, self._last)
        self._where(now)
        return self._share

    def embed_query(self, text: str) -> Vectors | None:
        """Return the vector of a query; None if there is nothing to compare it with."""
        if self.problem or not len(self.vectors):
            return None
        try:
            return self.embedder.embed_query(text)
        except Unavailable as error:
            self._give_up(error)
            return None

    def similar(self, query: Vectors, now: Snapshot, groups: Sequence[Integers]) -> Floats:
        """Return how close every chunk is to a query; not a number where a chunk has no vector.

        Where there are many it is exact for the nearest of each group of chunks, and estimated for the rest.
        """
        return self.vectors.similarities(query, self._where(now), groups)

    def _where(self, now: Snapshot) -> Integers:
        """Return where the vector of each chunk is, or -1; found anew only after a change, like the share."""
        key = (now.generation, len(self.vectors))
        if self._places[0] != key:
            places = self.vectors.places(now.prints)
            alive = places[now.alive[now.owner]]
            self._share = float((alive >= 0).mean()) if len(alive) else 1.0
            self._places = (key, places)
        return self._places[1]

    def _give_up(self, error: Unavailable) -> None:
        self.problem = error.message
        log.warning("search goes on by words alone: %s", error.message)

    def prune(self) -> None:
        """Forget the vectors of passages that are gone."""
        with self._store.database.reading() as db:
            self._last = now = snapshot(db, self._last)
        self.vectors.prune(now.prints[now.alive[now.owner]])

    # making vectors

    def prepare(self, entry: Entry) -> None:
        """Make the vectors of a document that is about to be stored; without a model it goes by words alone."""
        document = entry.document
        texts = [
            passage(document.title, chunk.headings, document.text[chunk.start : chunk.end]) for chunk in entry.chunks
        ]
        by_print = {fingerprint(text): text for text in texts}
        known = self.vectors.known(by_print)
        missing = [one for one in by_print if one not in known]
        for start in range(0, len(missing) if not self.problem else 0, SAVE):
            some = missing[start : start + SAVE]
            try:
                vectors = self._desk.map(lambda one: self.embedder.embed([by_print[one]]), some)  # alone: no padding
                self.vectors.add(some, np.concatenate(list(vectors)))
            except Unavailable as error:
                self._give_up(error)
                return

    def fill(self, halt: threading.Event, report: Report | None = None) -> int:
        """Embed what has no vector yet, short texts first, until done or halted; return how many were made.

        One process at a time does this for a store; another finds the lock taken and returns at once.
        """
        with turn(self._store.folder / f"embed-{self.embedder.name}.lock") as held:
            if not held:
                return 0
            try:
                with ThreadPoolExecutor(1, initializer=_step_back) as behind:
                    return behind.submit(self._fill, halt, report).result()
            except Unavailable as error:
                self._give_up(error)
                return 0

    def _fill(self, halt: threading.Event, report: Report | None) -> int:
        with self._store.database.reading() as db:
            self._last = now = snapshot(db, self._last)
        waiting = self._waiting(now)
        self._explain(len(waiting))
        made = 0
        for start in range(0, len(waiting), SAVE):
            if halt.is_set():
                break
            made += self._make(now, waiting[start : start + SAVE], halt)
            if report:
                report(min(start + SAVE, len(waiting)), len(waiting))
        return made

    def _explain(self, waiting: int) -> None:
        """Say so if the model is another one than before: vectors of two models cannot be compared."""
        others = [
            file for file in self._store.folder.glob("vectors-*.db") if file.stem != f"vectors-{self.embedder.name}"
        ]
        if waiting and others and not len(self.vectors):
            log.info(
                "the model is now %s: %d passages get new vectors, and search goes by words until they have them; "
                "`bookwheel reindex` does it in one go, and the vectors of other models are kept",
                self.embedder.name,
                waiting,
            )

    def _waiting(self, now: Snapshot) -> list[int]:
        """Return the chunks without a vector, one for each text, the short ones first."""
        missing = np.flatnonzero((self._where(now) < 0) & now.alive[now.owner])
        once = missing[np.unique(now.prints[missing], return_index=True)[1]]
        ordered: list[int] = once[np.argsort(now.norms["body"][once], kind="stable")].tolist()
        return ordered

    def _make(self, now: Snapshot, chunks: Sequence[int], halt: threading.Event) -> int:
        """Embed these chunks, or those that come before a halt, and keep their vectors."""
        with self._store.database.reading() as db:
            texts = {int(now.prints[chunk]): text for chunk in chunks if (text := self._text(db, now, chunk))}
        some = list(texts.values())
        batches = takewhile(lambda _: not halt.is_set(), range(0, len(some), BATCH))
        vectors = [self.embedder.embed(some[start : start + BATCH]) for start in batches]
        if not vectors:
            return 0
        made = np.concatenate(vectors)
        self.vectors.add(list(texts)[: len(made)], made)
        return len(made)

    def _text(self, db: sqlite3.Connection, now: Snapshot, chunk: int) -> str:
        """Return what is to be embedded for a chunk; nothing if its document has been replaced meanwhile."""
        page = int(now.owner[chunk])
        number = int(now.pages[page])
        if not is_there(db, number):
            return ""
        one = read_chunk(db, number, chunk - int(now.first[page]))
        return passage(read_record(db, number).title, one.headings, read_span(db, number, one.start, one.end))


def _step_back() -> None:
    """Let every other thread go first; a thread cannot take this back, so it is one made for the purpose."""
    if sys.platform == "linux":  # elsewhere this would be the whole process
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOW)
