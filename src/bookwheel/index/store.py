"""Documents, chunks and postings in, records and texts out."""

from __future__ import annotations

import json
import sqlite3
import struct
import uuid
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bookwheel.index.analysis import SPOKEN
from bookwheel.index.database import Database, Layout
from bookwheel.model import FIXED, Chunk, Document, Library, Record, Source, Stamp

if TYPE_CHECKING:
    from bookwheel.index.postings import Vocabulary

FILE = "catalog.db"
LAYOUT = Layout(
    4,
    """
CREATE TABLE libraries (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, scope TEXT NOT NULL UNIQUE, root TEXT NOT NULL
);
CREATE TABLE documents (
    number INTEGER PRIMARY KEY, doc_id TEXT NOT NULL UNIQUE, library INTEGER NOT NULL, path TEXT NOT NULL,
    location TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL, digest TEXT NOT NULL,
    kind TEXT NOT NULL, suffix TEXT NOT NULL, title TEXT NOT NULL, heading TEXT NOT NULL, paragraph TEXT NOT NULL,
    metadata TEXT NOT NULL, problem TEXT NOT NULL, chunk_count INTEGER NOT NULL, created TEXT NOT NULL,
    file_type TEXT NOT NULL, last_modified TEXT NOT NULL, segment INTEGER NOT NULL, place INTEGER NOT NULL,
    UNIQUE (library, path)
);
CREATE INDEX documents_by_segment ON documents (segment);
CREATE TABLE texts (
    number INTEGER PRIMARY KEY, outline TEXT NOT NULL, spans BLOB NOT NULL, pages BLOB NOT NULL, text TEXT NOT NULL
);
CREATE TABLE skipped (
    library INTEGER NOT NULL, path TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL,
    reason TEXT NOT NULL, PRIMARY KEY (library, path)
) WITHOUT ROWID;
CREATE TABLE versions (
    library INTEGER NOT NULL, path TEXT NOT NULL, etag TEXT NOT NULL, modified TEXT NOT NULL,
    PRIMARY KEY (library, path)
) WITHOUT ROWID;
CREATE TABLE segments (
    number INTEGER PRIMARY KEY, pages BLOB NOT NULL, libraries BLOB NOT NULL, suffixes TEXT NOT NULL,
    owner BLOB NOT NULL, prints BLOB NOT NULL, lengths BLOB NOT NULL, dead BLOB NOT NULL,
    keys BLOB NOT NULL, starts BLOB NOT NULL
);
CREATE TABLE postings (place INTEGER PRIMARY KEY, packed BLOB NOT NULL);
CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO state VALUES ('generation', 1);
CREATE TABLE spoken (language TEXT NOT NULL);
INSERT INTO spoken VALUES ('english');
""",
    ("libraries", "documents", "texts", "segments", "postings", "spoken"),
)
MOST = 2**63 - 1  # the largest number that SQLite knows
MOST_SHOWN = 300  # characters of a first paragraph: lists show less
_SPAN = struct.Struct("<6i")  # start, end, first and last line, page, section
_COLUMNS = (
    "d.number, d.doc_id, l.name, d.location, d.path, d.size, d.modified, d.digest, d.kind, d.title, d.heading, "
    "d.paragraph, d.metadata, d.problem, d.chunk_count, d.created, d.library, d.file_type, d.last_modified"
)
_FROM = "FROM documents d JOIN libraries l ON l.number = d.library"


@dataclass(frozen=True, slots=True)
class Entry:
    """A document on its way into the store."""

    document: Document
    stamp: Stamp
    digest: str
    chunks: Sequence[Chunk]
    file_type: str = ""  # as the file's extension says, if not given
    last_modified: str = ""  # ISO 8601
    metadata: Mapping[str, object] | None = None  # the front matter's, if not given


class Store:
    """What the index keeps, in one folder."""

    def __init__(self, folder: Path, language: str | None = None) -> None:
        self.folder = folder
        self.database = Database(folder / FILE, LAYOUT)
        self._counted: tuple[int, tuple[Library, ...]] = (-1, ())  # the libraries as of a generation
        self._speak(language)

    def _speak(self, language: str | None) -> None:
        """Go on in the language of the store, or over to another: its documents are then read anew."""
        with self.database.reading() as db:
            spoken = str(db.execute("SELECT language FROM spoken").fetchone()[0])
        SPOKEN.speak(language or spoken)
        if language in {None, spoken}:
            return
        with self.database.writing() as db:
            db.execute("UPDATE spoken SET language = ?", (language,))
            db.execute("UPDATE documents SET digest = ''")
            db.execute("UPDATE documents SET modified = -1 WHERE modified != ?", (FIXED,))

    # libraries

    def register(self, name: str, scope: str, root: str) -> Library:
        """Return the library of *scope*, made under *name* (or `name-2`, …) if it is new."""
        if known := self.library(scope):
            return known
        with self.database.writing() as db:
            taken = {row[0] for row in db.execute("SELECT name FROM libraries")}
            free = next(one for one in numbered(name) if one not in taken)
            db.execute("INSERT OR IGNORE INTO libraries (name, scope, root) VALUES (?, ?, ?)", (free, scope, root))
        return self.register(name, scope, root)

    def library(self, scope: str) -> Library | None:
        """Return the library of *scope*, if there is one, without its counts: counting looks at every document."""
        with self.database.reading() as db:
            row = db.execute("SELECT number, name, scope, root FROM libraries WHERE scope = ?", (scope,)).fetchone()
        return Library(*row) if row else None

    def libraries(self) -> list[Library]:
        """Return every library with its counts, by name."""
        counts = "COUNT(d.number), COALESCE(SUM(d.chunk_count), 0)"
        with self.database.reading() as db:
            generation = read_generation(db)
            if self._counted[0] == generation:
                return list(self._counted[1])
            rows = db.execute(
                f"SELECT l.number, l.name, l.scope, l.root, {counts} FROM libraries l "  # noqa: S608 - our own words
                "LEFT JOIN documents d ON d.library = l.number GROUP BY l.number ORDER BY l.name"
            ).fetchall()
        self._counted = (generation, tuple(Library(*row) for row in rows))
        return list(self._counted[1])

    def generation(self) -> int:
        """Return a number that is another one after every change."""
        with self.database.reading() as db:
            return read_generation(db)

    # documents out

    def stamps(self, library: Library, paths: Collection[str] | None = None) -> dict[str, Stamp]:
        """Return path and stamp of every document of a library, or of these."""
        with self.database.reading() as db:
            rows = _of(db, "SELECT path, size, modified FROM documents", library, paths)
        return {path: Stamp(size, modified) for path, size, modified in rows}

    def faults(self, library: Library, paths: Collection[str] | None = None) -> dict[str, tuple[Stamp, str]]:
        """Return path, stamp and reason of every file of a library that could not be read, or of these."""
        with self.database.reading() as db:
            rows = _of(db, "SELECT path, size, modified, reason FROM skipped", library, paths)
        return {path: (Stamp(size, modified), reason) for path, size, modified, reason in rows}

    def record(self, library: Library, path: str) -> Record | None:
        """Return what is known of one document."""
        with self.database.reading() as db:
            row = db.execute(
                f"SELECT {_COLUMNS} {_FROM} WHERE d.library = ? AND d.path = ?",
                (library.number, path),
            ).fetchone()
        return _record(row) if row else None

    def digest(self, library: Library, path: str) -> str:
        """Return the digest of one document; empty if there is none."""
        with self.database.reading() as db:
            key = (library.number, path)
            row = db.execute("SELECT digest FROM documents WHERE library = ? AND path = ?", key).fetchone()
        return row[0] if row else ""

    def records(
        self, library: Library, after: str = "", limit: int = -1, suffixes: frozenset[str] = frozenset()
    ) -> list[Record]:
        """Return the documents of a library by path, from the first one after *after*, of these kinds or of all."""
        where = "d.library = ? AND d.path > ?"
        if suffixes:
            where += f" AND d.suffix IN ({', '.join('?' * len(suffixes))})"
        question = f"SELECT {_COLUMNS} {_FROM} WHERE {where} ORDER BY d.path LIMIT ?"
        with self.database.reading() as db:
            rows = db.execute(question, (library.number, after, *suffixes, limit)).fetchall()
        return [_record(row) for row in rows]

    def latest(self, libraries: Sequence[int], limit: int, offset: int) -> list[Record]:
        """Return documents of these libraries, the newest first."""
        where = f"d.library IN ({', '.join('?' * len(libraries))})"
        question = f"SELECT {_COLUMNS} {_FROM} WHERE {where} ORDER BY d.created DESC, d.number DESC LIMIT ? OFFSET ?"
        with self.database.reading() as db:
            return [_record(row) for row in db.execute(question, (*libraries, limit, min(offset, MOST)))]

    def find(self, doc_id: str) -> Record | None:
        """Return the document of that id."""
        with self.database.reading() as db:
            row = db.execute(f"SELECT {_COLUMNS} {_FROM} WHERE d.doc_id = ?", (doc_id,)).fetchone()
        return _record(row) if row else None

    def version(self, library: Library, path: str) -> tuple[str, str]:
        """Return what a server said of the version that was fetched: its tag and its date; empty if nothing."""
        with self.database.reading() as db:
            key = (library.number, path)
            row = db.execute("SELECT etag, modified FROM versions WHERE library = ? AND path = ?", key).fetchone()
        return (row[0], row[1]) if row else ("", "")

    def note_version(self, library: Library, path: str, etag: str, modified: str) -> None:
        """Keep what a server said of the version that was fetched."""
        with self.database.writing() as db:
            row = (library.number, path, etag, modified)
            db.execute("INSERT OR REPLACE INTO versions VALUES (?, ?, ?, ?)", row)

    def text(self, number: int, start: int = 0, end: int | None = None) -> str:
        """Return a document's text, or a part of it."""
        with self.database.reading() as db:
            return read_span(db, number, start, end)

    def content(self, library: Library, path: str) -> tuple[Record, str, tuple[int, ...]] | None:
        """Return what is known of one document with its whole text, and where in it each page begins."""
        record = self.record(library, path)
        if record is None:
            return None
        with self.database.reading() as db:
            row = db.execute("SELECT text, pages FROM texts WHERE number = ?", (record.number,)).fetchone()
        return (record, row[0], tuple(array("i", row[1]))) if row else None

    # documents in

    def replace(self, library: Library, batches: Iterable[Sequence[Entry]]) -> Iterator[int]:
        """Make the versions of each batch the current ones, all of a batch at once; yield how many."""
        vocabulary: Vocabulary | None = None
        for entries in batches:
            from bookwheel.index import segments  # noqa: PLC0415 - brings numpy, which listing does not need
            from bookwheel.index.postings import Vocabulary  # noqa: PLC0415 - the same

            vocabulary = vocabulary or Vocabulary()
            segment, postings = segments.count(library, entries, vocabulary)
            with self.database.writing() as db:
                _forget(db, library, [entry.document.source.path for entry in entries])
                number = segments.free_number(db)
                pages = [_insert(db, library, entry, number, place) for place, entry in enumerate(entries)]
                segments.write(db, number, segment, pages, postings)
            self._tidy()
            yield len(entries)

    def _tidy(self) -> None:
        """Merge segments if that is due; a change can be found before the merge that it leads to."""
        from bookwheel.index import segments  # noqa: PLC0415 - brings numpy

        with self.database.reading() as db:
            due = segments.untidy(db)
        if due:
            with self.database.writing() as db:
                segments.tidy(db)

    def drop(self, library: Library, paths: Iterable[str]) -> None:
        """Forget these documents."""
        with self.database.writing() as db:
            _forget(db, library, paths)

    def skip(self, library: Library, path: str, stamp: Stamp, reason: str) -> None:
        """Remember that a file cannot be read, so that it is not tried again until it changes."""
        row = (library.number, path, stamp.size, stamp.modified, reason)
        with self.database.reading() as db:
            known = db.execute("SELECT * FROM skipped WHERE library = ? AND path = ?", row[:2]).fetchone()
        if known == row:
            return
        with self.database.writing() as db:
            _forget(db, library, [path])
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


def _of(db: sqlite3.Connection, question: str, library: Library, paths: Collection[str] | None) -> list[Any]:
    """Return the rows of a whole library, or of some of its paths."""
    if paths is None:
        return db.execute(f"{question} WHERE library = ? ORDER BY path", (library.number,)).fetchall()
    one = f"{question} WHERE library = ? AND path = ?"
    return [row for path in paths for row in db.execute(one, (library.number, path))]


def numbered(name: str) -> Iterator[str]:
    """Yield a name, and then it with `-2`, `-3`, … behind it."""
    yield name
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1


def _forget(db: sqlite3.Connection, library: Library, paths: Iterable[str]) -> None:
    """Remove documents; their postings stay behind, marked dead, until segments are merged."""
    gone: list[tuple[int, int, int]] = []
    for path in paths:
        key = (library.number, path)
        gone += db.execute("SELECT number, segment, place FROM documents WHERE library = ? AND path = ?", key)
        db.execute("DELETE FROM skipped WHERE library = ? AND path = ?", key)
    numbers = [(number,) for number, _, _ in gone]
    db.executemany("DELETE FROM documents WHERE number = ?", numbers)
    db.executemany("DELETE FROM texts WHERE number = ?", numbers)
    if gone:
        from bookwheel.index import segments  # noqa: PLC0415 - brings numpy

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
        document.paragraph[:MOST_SHOWN],
        json.dumps(document.metadata if entry.metadata is None else entry.metadata, ensure_ascii=False),
        document.problem,
        len(entry.chunks),
        datetime.now(UTC).isoformat(timespec="microseconds"),
        entry.file_type or source.suffix.removeprefix("."),
        entry.last_modified,
        segment,
        place,
    )
    number = db.execute(f"INSERT INTO documents VALUES (NULL{', ?' * len(row)})", row).lastrowid  # noqa: S608
    outline, spans = _spans(document, entry.chunks)
    pages = array("i", document.pages).tobytes()
    db.execute("INSERT INTO texts VALUES (?, ?, ?, ?, ?)", (number, outline, spans, pages, document.text))
    return int(number or 0)


def _record(row: Sequence[Any]) -> Record:
    number, doc_id, library, location, path, size, modified, digest, kind, title, heading, paragraph, *rest = row
    metadata, problem, chunk_count, created, shelved, file_type, last_modified = rest
    source = Source(library, location, path)
    known = json.loads(metadata) if metadata != "{}" else {}
    return Record(
        number, doc_id, source, Stamp(size, modified), digest, kind, title, heading, paragraph, known,
        problem, chunk_count, created, shelved, file_type, last_modified,
    )  # fmt: skip


def read_generation(db: sqlite3.Connection) -> int:
    """Return the number of the last change."""
    return int(db.execute("SELECT value FROM state WHERE name = 'generation'").fetchone()[0])


def is_there(db: sqlite3.Connection, number: int) -> bool:
    """Tell whether a row number still stands for a document."""
    return db.execute("SELECT 1 FROM documents WHERE number = ?", (number,)).fetchone() is not None


def read_record(db: sqlite3.Connection, number: int) -> Record:
    """Return the document stored under a row number."""
    return _record(db.execute(f"SELECT {_COLUMNS} {_FROM} WHERE d.number = ?", (number,)).fetchone())


def read_chunk(db: sqlite3.Connection, number: int, place: int) -> Chunk:
    """Return one chunk of a document."""
    outline, spans = db.execute("SELECT outline, spans FROM texts WHERE number = ?", (number,)).fetchone()
    start, end, line, end_line, page, section = _SPAN.unpack_from(spans, place * _SPAN.size)
    if section < 0:
        return Chunk(start, end, line, end_line, page=page, place=place)
    titles: list[tuple[int, str]] = []
    for _, title, level in (rows := json.loads(outline)[: section + 1]):
        titles = [one for one in titles if one[0] < level] + [(level, title)]
    return Chunk(start, end, line, end_line, rows[-1][0], tuple(title for _, title in titles), page, place)


def _spans(document: Document, chunks: Sequence[Chunk]) -> tuple[str, bytes]:
    """Return a document's sections and where its chunks are, as they are stored."""
    places = {section.id: place for place, section in enumerate(document.sections)}
    outline = json.dumps([(one.id, one.title, one.level) for one in document.sections], ensure_ascii=False)
    packed = [
        _SPAN.pack(one.start, one.end, one.line, one.end_line, one.page, places.get(one.section, -1)) for one in chunks
    ]
    return outline, b"".join(packed)


def read_span(db: sqlite3.Connection, number: int, start: int = 0, end: int | None = None) -> str:
    """Return a document's text, or the part of it from *start* to *end*."""
    length = -1 if end is None else end - start
    question = "SELECT CASE WHEN ?2 < 0 THEN text ELSE substr(text, ?3 + 1, ?2) END FROM texts WHERE number = ?1"
    return str(db.execute(question, (number, length, start)).fetchone()[0])
