"""Small stores for the tests of the index: texts in, hits out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bookwheel import formats
from bookwheel.index import segments
from bookwheel.index.chunking import split
from bookwheel.index.search import Searcher
from bookwheel.index.store import Entry, Store
from bookwheel.model import Hit, Library, Query, Source, Stamp


def entry(library: Library, path: str, text: str) -> Entry:
    """Return *text* as the store takes it in."""
    data = text.encode()
    document = formats.read(Source(library.name, f"/{library.name}/{path}", path), data)
    return Entry(document, Stamp(len(data), 1), hashlib.sha256(data).hexdigest(), split(document))


def replace(store: Store, library: Library, texts: Mapping[str, str]) -> None:
    """Make *texts*, by path, the current ones."""
    batch = [entry(library, path, text) for path, text in texts.items()]
    assert list(store.replace(library, [batch])) == [len(batch)]


def shelve(store: Store, texts: Mapping[str, str], name: str = "shelf") -> Library:
    """Return a library that holds *texts* by path."""
    library = store.register(name, name, f"/{name}")
    replace(store, library, texts)
    return library


def merge_all(store: Store) -> None:
    """Make one segment of all there are, without the dead."""
    with store.database.writing() as db:
        numbers = [row[0] for row in db.execute("SELECT number FROM segments ORDER BY number")]
        if numbers:
            segments._merge(db, numbers)


def search(store: Store, text: str, limit: int = 1_000) -> list[Hit]:
    return Searcher(store).search(Query(text, limit=limit))


def paths(hits: list[Hit]) -> list[str]:
    return [hit.record.source.path for hit in hits]


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    """Give the store in *folder* and let go of it."""
    store = Store(folder)
    try:
        yield store
    finally:
        store.close()
