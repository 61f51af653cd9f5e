"""Documents, chunks and postings in, records and texts out."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bookwheel.index.database import Database
from bookwheel.model import Chunk, Document, Library, Record, Source, Stamp

FILE = "catalog.db"
_COLUMNS = (
    "d.number, d.doc_id, l.name, d.location, d.path, d.size, d.modified, d.digest, d.kind, d.title, d.heading, "
    "d.paragraph, d.metadata, d.problem, d.chunk_count, d.created"
)
_FROM = "FROM documents d JOIN libraries l ON l.number = d.library"


@dataclass(frozen=True, slots=True)
class Entry:
    """A document on its way into the store."""

    document: Document
    stamp: Stamp
    digest: str
    chunks: Sequence[Chunk]


class Store:
    """What the index keeps, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = Database(folder / FILE)

    # libraries

    def register(self, name: str, scope: str, root: str) -> Library:
        """Return the library of *scope*, made under *name* (or `name-2`, …) if it is new."""
        if known := self._library(scope):
            return known
        with self.database.writing() as db:
            taken = {row[0] for row in db.execute("SELECT name FROM libraries")}
            free = next(one for one in _names(name) if one not in taken)
            db.execute("INSERT OR IGNORE INTO libraries (name, scope, root) VALUES (?, ?, ?)", (free, scope, root))
        return self.register(name, scope, root)

    def _library(self, scope: str) -> Library | None:
        return next((one for one in self.libraries() if one.scope == scope), None)

    def libraries(self) -> list[Library]:
        """Return every library with its counts, by name."""
        counts = "COUNT(d.number), COALESCE(SUM(d.chunk_count), 0)"
        with self.database.reading() as db:
            rows = db.execute(
                f"SELECT l.number, l.name, l.scope, l.root, {counts} FROM libraries l "  # noqa: S608 - our own words
                "LEFT JOIN documents d ON d.library = l.number GROUP BY l.number ORDER BY l.name"
            ).fetchall()
        return [Library(*row) for row in rows]

    # documents out

    def stamps(self, library: Library) -> dict[str, Stamp]:
        """Return path and stamp of everything seen in a library, also of what could not be read."""
        question = "SELECT path, size, modified FROM {} WHERE library = ?"
        with self.database.reading() as db:
            rows = [
                row
                for table in ("documents", "skipped")
                for row in db.execute(question.format(table), (library.number,))
            ]
        return {path: Stamp(size, modified) for path, size, modified in rows}

    def skipped(self, library: Library) -> list[tuple[str, str]]:
        """Return path and reason of every file that could not be read."""
        with self.database.reading() as db:
            return db.execute(
                "SELECT path, reason FROM skipped WHERE library = ? ORDER BY path", (library.number,)
            ).fetchall()

    def record(self, library: Library, path: str) -> Record | None:
        """Return what is known of one document."""
        with self.database.reading() as db:
            row = db.execute(
                f"SELECT {_COLUMNS} {_FROM} WHERE d.library = ? AND d.path = ?",
                (library.number, path),
            ).fetchone()
        return _record(row) if row else None

    def records(self, library: Library, after: str = "", limit: int = -1) -> list[Record]:
        """Return the documents of a library by path, from the first one after *after*."""
        with self.database.reading() as db:
            rows = db.execute(
                f"SELECT {_COLUMNS} {_FROM} WHERE d.library = ? AND d.path > ? ORDER BY d.path LIMIT ?",
                (library.number, after, limit),
            ).fetchall()
        return [_record(row) for row in rows]

    # documents in

    def replace(self, library: Library, entries: Sequence[Entry]) -> None:
        """Make these versions the current ones, all at once."""
        import numpy as np  # noqa: PLC0415 - not needed to list or to read

        from bookwheel.index import segments  # noqa: PLC0415 - the same

        batch = segments.count(library, entries)
        with self.database.writing() as db:
            _forget(db, library, [entry.document.source.path for entry in entries])
            number = segments.free_number(db)
            pages = [_insert(db, library, entry, number, place) for place, entry in enumerate(entries)]
            segments.write(db, number, replace(batch.segment, pages=np.array(pages, np.int64)), batch.postings)
            segments.tidy(db)

    def drop(self, library: Library, paths: Iterable[str]) -> None:
        """Forget these documents."""
        with self.database.writing() as db:
            _forget(db, library, paths)

    def skip(self, library: Library, path: str, stamp: Stamp, reason: str) -> None:
        """Remember that a file cannot be read, so that it is not tried again until it changes."""
        with self.database.writing() as db:
            _forget(db, library, [path])
            row = (library.number, path, stamp.size, stamp.modified, reason)
            db.execute("INSERT OR REPLACE INTO skipped VALUES (?, ?, ?, ?, ?)", row)

    def touch(self, library: Library, path: str, stamp: Stamp) -> None:
        """Remember a new stamp for unchanged content."""
        with self.database.writing() as db:
            db.execute(
                "UPDATE documents SET size = ?, modified = ? WHERE library = ? AND path = ?",
                (stamp.size, stamp.modified, library.number, path),
            )

    def close(self) -> None:
        """Let go of the files."""
        self.database.close()


def _names(name: str) -> Iterable[str]:
    yield name
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1


def _forget(db: sqlite3.Connection, library: Library, paths: Iterable[str]) -> None:
    """Remove documents; their postings stay behind, marked dead, until segments are merged."""
    from bookwheel.index import segments  # noqa: PLC0415

    gone: list[tuple[int, int, int]] = []
    for path in paths:
        key = (library.number, path)
        gone += db.execute("SELECT number, segment, place FROM documents WHERE library = ? AND path = ?", key)
        db.execute("DELETE FROM skipped WHERE library = ? AND path = ?", key)
    numbers = [(number,) for number, _, _ in gone]
    db.executemany("DELETE FROM documents WHERE number = ?", numbers)
    db.executemany("DELETE FROM texts WHERE number = ?", numbers)
    db.executemany("DELETE FROM chunks WHERE document = ?", numbers)
    segments.bury(db, [(segment, place) for _, segment, place in gone])


def _insert(db: sqlite3.Connection, library: Library, entry: Entry, segment: int, place: int) -> int:
    document, source = entry.document, entry.document.source
    row = (
        str(uuid.uuid4()),
        library.number,
        source.path,
        source.location,
        entry.stamp.size,
        entry.stamp.modified,
        entry.digest,
        document.kind,
        source.suffix,
        document.title,
        document.heading,
        document.paragraph,
        json.dumps(document.metadata, ensure_ascii=False),
        document.problem,
        len(entry.chunks),
        datetime.now(UTC).isoformat(timespec="microseconds"),
        segment,
        place,
    )
    number = db.execute(f"INSERT INTO documents VALUES (NULL{', ?' * len(row)})", row).lastrowid  # noqa: S608
    db.execute("INSERT INTO texts VALUES (?, ?)", (number, document.text))
    db.executemany(
        "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (number, i, c.start, c.end, c.line, c.end_line, c.section, "\n".join(c.headings), c.page)
            for i, c in enumerate(entry.chunks)
        ],
    )
    return int(number or 0)


def _record(row: Sequence[Any]) -> Record:
    number, doc_id, library, location, path, size, modified, digest, kind, title, heading, paragraph, *rest = row
    metadata, problem, chunk_count, created = rest
    source = Source(library, location, path)
    known = json.loads(metadata) if metadata != "{}" else {}
    return Record(
        number, doc_id, source, Stamp(size, modified), digest, kind, title, heading, paragraph, known,
        problem, chunk_count, created,
    )  # fmt: skip


def read_record(db: sqlite3.Connection, number: int) -> Record:
    """Return the document stored under a row number."""
    return _record(db.execute(f"SELECT {_COLUMNS} {_FROM} WHERE d.number = ?", (number,)).fetchone())


def read_chunk(db: sqlite3.Connection, number: int, place: int) -> Chunk:
    """Return one chunk of a document."""
    first, last, line, end_line, section, headings, page = db.execute(
        "SELECT first, last, line, end_line, section, headings, page FROM chunks WHERE document = ? AND place = ?",
        (number, place),
    ).fetchone()
    return Chunk(first, last, line, end_line, section, tuple(headings.split("\n")) if headings else (), page)


def read_span(db: sqlite3.Connection, number: int, start: int = 0, end: int | None = None) -> str:
    """Return a document's text, or the part of it from *start* to *end*."""
    length = -1 if end is None else end - start
    question = "SELECT CASE WHEN ?2 < 0 THEN text ELSE substr(text, ?3 + 1, ?2) END FROM texts WHERE number = ?1"
    return str(db.execute(question, (number, length, start)).fetchone()[0])
