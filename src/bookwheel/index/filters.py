"""What a hit must be, field by field: the one place where a caller's conditions become SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

import numpy as np

from bookwheel.errors import Invalid
from bookwheel.index.postings import Integers
from bookwheel.index.segments import Snapshot
from bookwheel.model import Chunk

PAGE_FIELDS = {  # of a document, and how to read them from its row
    "doc_id": "doc_id",
    "source": "location",
    "title": "title",
    "file_type": "file_type",
    "last_modified": "last_modified",
    "metadata": "metadata",
}
CHUNK_FIELDS = ("page", "chunk_index", "content")
Conditions = Mapping[str, str | int]


def check(where: Conditions) -> None:
    """Raise Invalid for a field that no hit has, or a value that is neither text nor a whole number."""
    known = sorted([*PAGE_FIELDS, *CHUNK_FIELDS, "library"])
    for name, value in where.items():
        if name not in known:
            raise Invalid(f"a filter cannot ask for {name!r}; it can for: {', '.join(known)}", argument="filter")
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise Invalid(f"the filter's {name} must be a text or a whole number", argument="filter")


def narrow(db: sqlite3.Connection, now: Snapshot, mask: Integers, where: Conditions) -> Integers:
    """Return the mask without the pages that break a condition on documents."""
    asked = {name: value for name, value in where.items() if name in PAGE_FIELDS}
    if not asked:
        return mask
    conditions = " AND ".join(f"{PAGE_FIELDS[name]} = ?" for name in asked)
    rows = db.execute(f"SELECT number FROM documents WHERE {conditions}", tuple(map(str, asked.values())))  # noqa: S608 - our words
    return mask & np.isin(now.pages, [number for (number,) in rows])


def fits(chunk: Chunk, text: str, where: Conditions) -> bool:
    """Tell whether a chunk meets every condition on chunks."""
    has = {"page": chunk.page, "chunk_index": chunk.place, "content": text}
    return all(has[name] == value for name, value in where.items() if name in has)
