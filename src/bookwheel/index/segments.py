"""Segments of the lexical index as rows of the database: written, buried in parts, merged, read as one."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bookwheel.index.postings import CHUNK_FIELDS, FIELDS, Builder, Integers, Posting, Segment, merge, unpack
from bookwheel.model import Library

if TYPE_CHECKING:
    from bookwheel.index.store import Entry

Floats = npt.NDArray[np.float32]
FANOUT = 6  # so many segments of about one size become one


@dataclass(frozen=True, slots=True)
class Batch:
    """A segment that is not written yet."""

    segment: Segment
    postings: Sequence[Posting]


def count(library: Library, entries: Sequence[Entry]) -> Batch:
    """Count the terms of a batch of documents."""
    builder = Builder()
    for entry in entries:
        document = entry.document
        fields = {
            "title": document.title,
            "path": document.source.path.translate(str.maketrans("/._-", "    ")),
            "keywords": " ".join([*document.words("keywords"), *document.words("tags"), document.word("description")]),
        }
        texts = ((" \n".join(chunk.headings), document.text[chunk.start : chunk.end]) for chunk in entry.chunks)
        builder.add(fields, texts)
    owner, lengths, postings = builder.finish()
    suffixes = tuple(entry.document.source.suffix for entry in entries)
    numbers = np.full(len(entries), library.number, np.int32)
    return Batch(Segment(np.zeros(len(entries), np.int64), numbers, suffixes, owner, lengths), postings)


def free_number(db: sqlite3.Connection) -> int:
    """Return a number that no segment ever had: readers know a segment by it."""
    return int(
        db.execute(
            "INSERT INTO state VALUES ('segment', 1) ON CONFLICT DO UPDATE SET value = value + 1 RETURNING value"
        ).fetchone()[0]
    )


def write(db: sqlite3.Connection, number: int, segment: Segment, postings: Iterable[Posting]) -> None:
    """Add a segment under a new number."""
    lengths = b"".join(segment.lengths[name].astype("<u4").tobytes() for name in FIELDS)
    row = (
        number,
        segment.pages.astype("<i8").tobytes(),
        segment.libraries.astype("<i4").tobytes(),
        "\n".join(segment.suffixes),
        segment.owner.astype("<u4").tobytes(),
        lengths,
        bytes(len(segment.pages)),
    )
    db.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    db.executemany(
        "INSERT INTO postings VALUES (?, ?, ?, ?)", ((number, term, name, packed) for term, name, packed in postings)
    )


def bury(db: sqlite3.Connection, places: Iterable[tuple[int, int]]) -> None:
    """Mark documents, given as (segment, place), as no longer there."""
    graves: dict[int, list[int]] = defaultdict(list)
    for number, place in places:
        graves[number].append(place)
    for number, dead in graves.items():
        marks = bytearray(db.execute("SELECT dead FROM segments WHERE number = ?", (number,)).fetchone()[0])
        for place in dead:
            marks[place] = 1
        db.execute("UPDATE segments SET dead = ? WHERE number = ?", (bytes(marks), number))


def tidy(db: sqlite3.Connection) -> None:
    """Merge segments of about one size, and rewrite those that are mostly dead."""
    tiers: dict[int, list[int]] = defaultdict(list)
    for number, size, dead in db.execute("SELECT number, LENGTH(owner) / 4, dead FROM segments ORDER BY number"):
        if dead.count(1) * 2 > len(dead):
            _merge(db, [number])
        else:
            tiers[_tier(size)].append(number)
    for numbers in tiers.values():
        if len(numbers) >= FANOUT:
            _merge(db, numbers)


def _tier(size: int) -> int:
    return int(np.log(size + 1) / np.log(FANOUT))


def _merge(db: sqlite3.Connection, numbers: Sequence[int]) -> None:
    marks = ", ".join("?" * len(numbers))
    loaded = [_load(db, number) for number in numbers]
    alive = [np.flatnonzero(_dead(db, number) == 0) for number in numbers]
    place = {number: i for i, number in enumerate(numbers)}
    rows = db.execute(
        f"SELECT term, field, segment, packed FROM postings WHERE segment IN ({marks}) ORDER BY term, field, segment",  # noqa: S608
        numbers,
    ).fetchall()
    joined, postings = merge(
        list(zip(loaded, alive, strict=True)), ((t, f, place[s], packed) for t, f, s, packed in rows)
    )
    db.execute(f"DELETE FROM postings WHERE segment IN ({marks})", numbers)  # noqa: S608
    db.execute(f"DELETE FROM segments WHERE number IN ({marks})", numbers)  # noqa: S608
    if len(joined.pages):
        number = free_number(db)
        write(db, number, joined, postings)
        db.executemany(
            "UPDATE documents SET segment = ?, place = ? WHERE number = ?",
            ((number, i, page) for i, page in enumerate(joined.pages.tolist())),
        )


def _load(db: sqlite3.Connection, number: int) -> Segment:
    pages, libraries, suffixes, owner, lengths = db.execute(
        "SELECT pages, libraries, suffixes, owner, lengths FROM segments WHERE number = ?", (number,)
    ).fetchone()
    whose = np.frombuffer(owner, "<u4")
    page_numbers = np.frombuffer(pages, "<i8")
    sizes = [len(whose) if name in CHUNK_FIELDS else len(page_numbers) for name in FIELDS]
    parts = np.split(np.frombuffer(lengths, "<u4"), np.cumsum(sizes)[:-1])
    return Segment(
        page_numbers,
        np.frombuffer(libraries, "<i4"),
        tuple(suffixes.split("\n")),
        whose,
        dict(zip(FIELDS, parts, strict=True)),
    )


def _dead(db: sqlite3.Connection, number: int) -> Integers:
    return np.frombuffer(db.execute("SELECT dead FROM segments WHERE number = ?", (number,)).fetchone()[0], np.uint8)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All segments as one: their arrays end to end."""

    generation: int
    pages: Integers
    alive: Integers
    libraries: Integers
    suffixes: Integers  # codes; `kinds` says which
    kinds: tuple[str, ...]
    owner: Integers
    first: Integers  # the first chunk of each page
    norms: dict[str, Floats]  # field → how much longer than the average each unit is
    sizes: dict[str, Floats]  # the same for whole pages, by the fields of their chunks
    bases: dict[int, tuple[int, int]]  # segment → number of its first chunk and of its first page
    parts: dict[int, Segment] = field(default_factory=dict)


def snapshot(db: sqlite3.Connection, last: Snapshot | None) -> Snapshot:
    """Return the index as it is now; what *last* already holds is not read again."""
    generation = db.execute("SELECT value FROM state WHERE name = 'generation'").fetchone()[0]
    if last and last.generation == generation:
        return last
    known = last.parts if last else {}
    dead = db.execute("SELECT number, dead FROM segments ORDER BY number").fetchall()
    parts = {number: known.get(number) or _load(db, number) for number, _ in dead}
    return _join(generation, parts, np.frombuffer(b"".join(marks for _, marks in dead), np.uint8))


def _join(generation: int, parts: dict[int, Segment], dead: Integers) -> Snapshot:
    segments = list(parts.values())
    chunk_bases = np.cumsum([0, *(len(one) for one in segments)])
    page_bases = np.cumsum([0, *(len(one.pages) for one in segments)])
    owner = _chain([one.owner + np.uint32(base) for one, base in zip(segments, page_bases, strict=False)], np.uint32)
    codes = {suffix: code for code, suffix in enumerate(sorted({s for one in segments for s in one.suffixes}))}
    suffixes = np.array([codes[suffix] for one in segments for suffix in one.suffixes], np.int16)
    lengths = {name: _chain([one.lengths[name] for one in segments], np.uint32) for name in FIELDS}
    return Snapshot(
        generation,
        _chain([one.pages for one in segments], np.int64),
        dead == 0,
        _chain([one.libraries for one in segments], np.int32),
        suffixes,
        tuple(codes),
        owner,
        np.searchsorted(owner, np.arange(int(page_bases[-1]))),
        {name: _norm(lengths[name]) for name in FIELDS},
        {name: _norm(_sums(lengths[name], owner, int(page_bases[-1]))) for name in CHUNK_FIELDS},
        dict(zip(parts, zip(chunk_bases.tolist(), page_bases.tolist(), strict=False), strict=False)),
        parts,
    )


def _chain(arrays: Sequence[Integers], kind: type[np.integer]) -> Integers:
    return np.concatenate(arrays) if arrays else np.empty(0, kind)


def _sums(lengths: Integers, owner: Integers, pages: int) -> Integers:
    return np.bincount(owner, weights=lengths, minlength=pages).astype(np.uint32)


def _norm(lengths: Integers) -> Floats:
    filled = lengths[lengths > 0]
    return (lengths / (filled.mean() if len(filled) else 1.0)).astype(np.float32)


def occurrences(
    db: sqlite3.Connection, now: Snapshot, wanted: Iterable[str]
) -> dict[tuple[str, str], tuple[Integers, Integers]]:
    """Return, for each (term, field) that occurs, the units and counts over all segments."""
    words = list(wanted)
    marks = ", ".join("?" * len(words))
    found: dict[tuple[str, str], list[tuple[Integers, Integers]]] = defaultdict(list)
    where = f"segment IN ({_list(now.bases)}) AND term IN ({marks})"
    question = f"SELECT term, field, segment, packed FROM postings WHERE {where}"  # noqa: S608 - numbers and marks
    for term, number, segment, packed in db.execute(question, words):
        name = FIELDS[number]
        units, counts = unpack(packed)
        base = now.bases[segment][0 if name in CHUNK_FIELDS else 1]
        found[term, name].append((units + np.uint32(base), counts))
    return {key: _together(rows) for key, rows in found.items()}


def vocabulary(db: sqlite3.Connection, now: Snapshot, wanted: Iterable[str]) -> set[str]:
    """Return those of the wanted terms that occur."""
    words = list(wanted)
    found: set[str] = set()
    for start in range(0, len(words), 900):
        some = words[start : start + 900]
        where = f"segment IN ({_list(now.bases)}) AND term IN ({', '.join('?' * len(some))})"
        found |= {row[0] for row in db.execute(f"SELECT DISTINCT term FROM postings WHERE {where}", some)}  # noqa: S608
    return found


def completions(db: sqlite3.Connection, now: Snapshot, start: str, limit: int) -> list[str]:
    """Return the first terms that begin with *start*."""
    where = f"segment IN ({_list(now.bases)}) AND term >= ? AND term < ?"
    question = f"SELECT DISTINCT term FROM postings WHERE {where} LIMIT ?"  # noqa: S608 - numbers alone
    return [row[0] for row in db.execute(question, (start, start + "\U0010ffff", limit))]


def _list(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _together(rows: list[tuple[Integers, Integers]]) -> tuple[Integers, Integers]:
    if len(rows) == 1:
        return rows[0]
    rows.sort(key=lambda row: row[0][0])  # segment by segment, so that units rise
    return np.concatenate([units for units, _ in rows]), np.concatenate([counts for _, counts in rows])
