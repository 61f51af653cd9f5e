"""Segments of the lexical index as rows of the database: written, buried in parts, merged, read as one."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bookwheel.index.postings import (
    CHUNK_FIELDS,
    FIELDS,
    Builder,
    Integers,
    Lexicon,
    Postings,
    Segment,
    Vocabulary,
    merge,
    unpack,
)
from bookwheel.index.prints import fingerprint, passage
from bookwheel.model import Library

if TYPE_CHECKING:
    from bookwheel.index.store import Entry

Floats = npt.NDArray[np.float32]
Span = tuple[int, int, int, int]
PART = 8_192  # numbers in one row of postings: a look-up reads few rows, a rare term not much of one
_PATH_BREAKS = str.maketrans("/._-", "    ")
FANOUT = 6  # so many segments of about one size become one


def count(library: Library, entries: Sequence[Entry], vocabulary: Vocabulary) -> tuple[Segment, Postings]:
    """Count the terms of a batch of documents."""
    builder = Builder(vocabulary)
    prints: list[int] = []
    for entry in entries:
        document = entry.document
        prints += _prints(entry)
        fields = {
            "title": document.title,
            "path": document.source.path.translate(_PATH_BREAKS),
            "keywords": " ".join([*document.words("keywords"), *document.words("tags")]),
            "description": document.word("description"),
        }
        texts = ((" ".join(chunk.headings), document.text[chunk.start : chunk.end]) for chunk in entry.chunks)
        builder.add(fields, texts)
    owner, lengths, postings = builder.finish()
    suffixes = tuple(entry.document.source.suffix for entry in entries)
    numbers = np.full(len(entries), library.number, np.int32)
    nowhere = np.zeros(len(entries), np.int64)  # the rows are known only when they are written
    return Segment(nowhere, numbers, suffixes, owner, np.array(prints, np.int64), lengths), postings


def _prints(entry: Entry) -> list[int]:
    """Return the print of what is embedded for each chunk."""
    document = entry.document
    return [
        fingerprint(passage(document.title, chunk.headings, document.text[chunk.start : chunk.end]))
        for chunk in entry.chunks
    ]


def free_number(db: sqlite3.Connection) -> int:
    """Return a number that no segment ever had: readers know a segment by it."""
    question = "INSERT INTO state VALUES ('segment', 1) ON CONFLICT DO UPDATE SET value = value + 1 RETURNING value"
    return int(db.execute(question).fetchone()[0])


def write(db: sqlite3.Connection, number: int, segment: Segment, pages: Sequence[int], postings: Postings) -> None:
    """Add a segment under a new number, for the documents stored in the rows *pages*."""
    row = (
        number,
        np.array(pages, "<i8").tobytes(),
        segment.libraries.astype("<i4").tobytes(),
        "\n".join(segment.suffixes),
        segment.owner.astype("<u4").tobytes(),
        segment.prints.astype("<i8").tobytes(),
        b"".join(segment.lengths[name].astype("<u4").tobytes() for name in FIELDS),
        bytes(len(segment.pages)),
        "".join(key + "\n" for key in postings.keys).encode(),
        postings.starts.tobytes(),
    )
    db.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    packed = postings.packed.tobytes()
    parts = range(0, len(packed), 4 * PART)
    rows = ((_part(number, place), packed[start : start + 4 * PART]) for place, start in enumerate(parts))
    db.executemany("INSERT INTO postings VALUES (?, ?)", rows)


def _part(segment: int, part: int) -> int:
    """Return the row that holds a part of a segment's postings."""
    return segment << 24 | part


def _packed(db: sqlite3.Connection, segment: int, start: int, end: int) -> bytes:
    """Return the packed postings of a segment from one number to another."""
    first, last = start // PART, (end - 1) // PART
    between = (_part(segment, first), _part(segment, last))
    rows = db.execute("SELECT packed FROM postings WHERE place BETWEEN ? AND ? ORDER BY place", between)
    offset = first * PART
    return b"".join(row[0] for row in rows)[4 * (start - offset) : 4 * (end - offset)]


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


def untidy(db: sqlite3.Connection) -> list[list[int]]:
    """Return which segments should become one: those of about one size, and each that is mostly dead."""
    tiers: dict[int, list[int]] = defaultdict(list)
    rotten: list[list[int]] = []
    for number, size, dead in db.execute("SELECT number, LENGTH(owner) / 4, dead FROM segments ORDER BY number"):
        if dead.count(1) * 2 > len(dead):
            rotten.append([number])
        else:
            tiers[_tier(size)].append(number)
    return rotten + [numbers for numbers in tiers.values() if len(numbers) >= FANOUT]


def tidy(db: sqlite3.Connection) -> None:
    """Merge what should become one."""
    for numbers in untidy(db):
        _merge(db, numbers)


def _tier(size: int) -> int:
    return int(np.log(size + 1) / np.log(FANOUT))


def _merge(db: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """Put one segment in the place of these."""
    parts = [(_load(db, number), np.flatnonzero(_dead(db, number) == 0), _postings(db, number)) for number in numbers]
    joined, postings = merge(parts)
    for number in numbers:
        db.execute("DELETE FROM segments WHERE number = ?", (number,))
        db.execute("DELETE FROM postings WHERE place BETWEEN ? AND ?", (_part(number, 0), _part(number + 1, 0) - 1))
    if len(joined.pages):
        number = free_number(db)
        write(db, number, joined, joined.pages.tolist(), postings)
        places = ((number, place, page) for place, page in enumerate(joined.pages.tolist()))
        db.executemany("UPDATE documents SET segment = ?, place = ? WHERE number = ?", places)


def _postings(db: sqlite3.Connection, number: int) -> Postings:
    keys, starts = db.execute("SELECT keys, starts FROM segments WHERE number = ?", (number,)).fetchone()
    where = np.frombuffer(starts, "<u4")
    packed = np.frombuffer(_packed(db, number, 0, int(where[-1])), "<u4")
    return Postings(keys.decode().split("\n")[:-1], where, packed)


def _load(db: sqlite3.Connection, number: int) -> Segment:
    pages, libraries, suffixes, owner, prints, lengths = db.execute(
        "SELECT pages, libraries, suffixes, owner, prints, lengths FROM segments WHERE number = ?", (number,)
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
        np.frombuffer(prints, "<i8"),
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
    prints: Integers  # of what is embedded for each chunk
    first: Integers  # the first chunk of each page
    norms: dict[str, Floats]  # field → how much longer than the average each unit is
    sizes: dict[str, Floats]  # the same for whole pages, by the fields of their chunks
    titles: Integers  # the number of terms in each page's title
    bases: dict[int, tuple[int, int]]  # segment → number of its first chunk and of its first page
    parts: dict[int, Segment]
    lexicons: dict[int, Lexicon]


def snapshot(db: sqlite3.Connection, last: Snapshot | None) -> Snapshot:
    """Return the index as it is now; what *last* already holds is not read again."""
    generation = db.execute("SELECT value FROM state WHERE name = 'generation'").fetchone()[0]
    if last and last.generation == generation:
        return last
    known = last.parts if last else {}
    words = last.lexicons if last else {}
    dead = db.execute("SELECT number, dead FROM segments ORDER BY number").fetchall()
    parts = {number: known.get(number) or _load(db, number) for number, _ in dead}
    lexicons = {number: words.get(number) or _lexicon(db, number) for number, _ in dead}
    return _join(generation, parts, lexicons, np.frombuffer(b"".join(marks for _, marks in dead), np.uint8))


def _lexicon(db: sqlite3.Connection, number: int) -> Lexicon:
    return Lexicon(*db.execute("SELECT keys, starts FROM segments WHERE number = ?", (number,)).fetchone())


def _join(generation: int, parts: dict[int, Segment], lexicons: dict[int, Lexicon], dead: Integers) -> Snapshot:
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
        _chain([one.prints for one in segments], np.int64),
        np.searchsorted(owner, np.arange(int(page_bases[-1]))),
        {name: _norm(lengths[name]) for name in FIELDS},
        {name: _norm(_sums(lengths[name], owner, int(page_bases[-1]))) for name in CHUNK_FIELDS},
        lengths["title"],
        dict(zip(parts, zip(chunk_bases.tolist(), page_bases.tolist(), strict=False), strict=False)),
        parts,
        lexicons,
    )


def _chain(arrays: Sequence[Integers], kind: type[np.integer]) -> Integers:
    return np.concatenate(arrays) if arrays else np.empty(0, kind)


def _sums(lengths: Integers, owner: Integers, pages: int) -> Integers:
    return np.bincount(owner, weights=lengths, minlength=pages).astype(np.uint32)


def _norm(lengths: Integers) -> Floats:
    filled = lengths[lengths > 0]
    return (lengths / (filled.mean() if len(filled) else 1.0)).astype(np.float32)


def spans(now: Snapshot, term: str) -> list[Span]:
    """Return where the postings of a term are: segment, field, begin, end."""
    return [(segment, *span) for segment, lexicon in now.lexicons.items() for span in lexicon.find(term)]


def known(now: Snapshot, words: Iterable[str]) -> list[str]:
    """Return those of the words that are terms somewhere, in order."""
    return [word for word in words if any(word.encode() in lexicon.terms for lexicon in now.lexicons.values())]


def occurrences(
    db: sqlite3.Connection, now: Snapshot, where: Mapping[str, Sequence[Span]]
) -> dict[tuple[str, str], tuple[Integers, Integers]]:
    """Return, for each (term, field) that occurs, the units and counts over all segments."""
    found: dict[tuple[str, str], list[tuple[Integers, Integers]]] = defaultdict(list)
    for term, places in where.items():
        for segment, number, start, end in places:
            base = now.bases[segment][0 if FIELDS[number] in CHUNK_FIELDS else 1]
            units, counts = unpack(_packed(db, segment, start, end))
            found[term, FIELDS[number]].append((units + np.uint32(base), counts))
    return {key: _together(rows) for key, rows in found.items()}


def completions(now: Snapshot, start: str, most: int) -> list[str]:
    """Return the first terms that begin with *start*."""
    found = {term for lexicon in now.lexicons.values() for term in lexicon.beginning(start, most)}
    return sorted(found)[:most]


def _together(rows: list[tuple[Integers, Integers]]) -> tuple[Integers, Integers]:
    if len(rows) == 1:
        return rows[0]
    return np.concatenate([units for units, _ in rows]), np.concatenate([counts for _, counts in rows])
