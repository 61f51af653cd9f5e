"""Everything anyone can ask of bookwheel: sync, list, read, search.

The join of the rooms: folders say which files there are, formats what is in them, the index where to find it.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from bookwheel import conversion, formats
from bookwheel.containment import contain, stamp
from bookwheel.errors import BookwheelError, Forbidden, NotFound, TooLarge
from bookwheel.folders import Folder, admits
from bookwheel.index.store import FILE, Store
from bookwheel.model import Document, Hit, Library, Progress, Query, Record, Results, Source, Stamp
from bookwheel.sync import Changes, Report, Sync

if TYPE_CHECKING:
    from bookwheel.index.search import Searcher
    from bookwheel.index.semantics import Semantics

NONE = "none"  # the name of no embedder
PATIENCE = 10.0  # seconds a search waits for the first scan


class Catalog:
    """The documents of some folders and libraries, kept in one store."""

    def __init__(
        self,
        store: Path,
        folders: Sequence[Folder] = (),
        embedder: str = NONE,
        model_folder: Path | None = None,
        language: str | None = None,
    ) -> None:
        self._folder = store
        self._embedder = embedder
        self._model_folder = model_folder
        self._language = language
        self._wanted = tuple({folder.scope: folder for folder in folders}.values())  # one named twice is served once
        self._ready = threading.Event()
        self._store: Store | None = None
        self._opening = threading.Lock()
        self._turn = threading.Lock()
        self._embedding = threading.Lock()
        self._halt = threading.Event()
        self._current: Sync | None = None
        if not folders:
            self._ready.set()

    @property
    def store(self) -> Store:
        """The store, opened when it is first needed."""
        with self._opening:
            self._store = self._store or Store(self._folder, self._language)
            return self._store

    @cached_property
    def folders(self) -> tuple[tuple[Folder, Library], ...]:
        """The served folders, each with the library that keeps its documents."""
        libraries = [self.store.register(one.library, one.scope, str(one.root)) for one in self._wanted]
        return tuple(
            (replace(folder, library=library.name), library)
            for folder, library in zip(self._wanted, libraries, strict=True)
        )

    @property
    def stopped(self) -> bool:
        """Whether it was told to stop."""
        return self._halt.is_set()

    def stop(self) -> None:
        """End a sync under way at the next file; what it has indexed is kept."""
        self._halt.set()
        self._ready.set()
        conversion.POOL.cancel()

    def close(self) -> None:
        """Let go of the store."""
        self.stop()
        with self._turn, self._embedding:
            if "semantics" in self.__dict__ and self.semantics:
                self.semantics.close()
            if self._store:
                self._store.close()

    # names: what a caller calls a document

    def name(self, source: Source) -> str:
        """Return the name a document goes by: its path, behind its library where there are several."""
        return source.path if len(self._wanted) == 1 else f"{source.library}/{source.path}"

    def locate(self, name: str, encoded: bool = False) -> tuple[Folder, str]:
        """Return the folder and the path inside it that a caller's name, or *encoded* part of a URI, means.

        Raises OutsideRoots if it leads out of the folder, NotFound if nothing is served under it.
        """
        folder, inner = self._whose(name)
        path = contain(folder.root, inner, encoded).relative_to(folder.root).as_posix()
        if not admits(folder, path):
            raise NotFound(f"{name} is not served here", name=name)
        return folder, path

    def _whose(self, name: str) -> tuple[Folder, str]:
        if len(self._wanted) == 1:
            return self._wanted[0], name
        head, _, tail = name.partition("/")
        for folder, _ in self.folders:
            if folder.library in {head, unquote(head)}:
                return folder, tail
        raise NotFound(f"{name} is not served here; names begin with a library's name", name=name)

    # list and read

    def records(self, after: str = "", limit: int = -1, suffixes: frozenset[str] = frozenset()) -> Iterator[Record]:
        """Yield the documents of the served folders by name, from the first one after the name *after*."""
        self.wait()
        left = limit
        for _, library in sorted(self.folders, key=lambda one: one[1].name):
            start = _start(library, after, alone=len(self.folders) == 1)
            if start is None or left == 0:
                continue
            found = self.store.records(library, start, left, suffixes)
            left -= len(found) if limit > 0 else 0
            yield from found

    def generation(self) -> int:
        """Return a number that is another one after every change of the index."""
        return self.store.generation()

    def read(self, name: str, encoded: bool = False) -> Document:
        """Return the document a caller names, as it is on disk now."""
        folder, path = self.locate(name, encoded)
        place = folder.root / path
        now = stamp(place)
        if now.size > folder.max_file_size:
            raise _too_large(name, now, folder)
        return self._kept(folder, path, now) or _read(Source(folder.library, str(place), path))

    def _kept(self, folder: Folder, path: str, now: Stamp) -> Document | None:
        """Return what was made of a file before, if it has not changed: converting it again would give the same."""
        if not formats.converted(path) or not (self._folder / FILE).exists():
            return None
        library = self.store.library(folder.scope)
        found = self.store.content(library, path) if library else None
        if found is None or found[0].stamp != now:
            return None
        record, text, pages = found
        sections = formats.markdown.sections(text)
        return Document(
            record.source, text, record.kind, record.metadata, record.problem, 0, record.heading, record.paragraph,
            sections, pages,
        )  # fmt: skip

    # sync

    def sync(self, report: Report | None = None, paths: Collection[Path] | None = None) -> Changes:
        """Bring the index up to date with the served folders, or with these files in them."""
        total = Changes()
        with self._turn:
            for folder, library in self.folders:
                self._current = Sync(self.store, folder, library, self._halt)
                total += self._current.run(report, paths)
            self._ready.set()
        return total

    # search

    def search(self, query: Query) -> Results:
        """Return the documents that answer a query.

        Waits for the first sync; if that takes longer than PATIENCE, says what share is indexed. A hit whose
        file changed since it was indexed is never shown: the index is brought up to date first.
        """
        self.wait()
        results = self._search(query)
        stale = [Path(hit.record.source.location) for hit in results.hits if _stale(hit.record)]
        if not stale:
            return results
        self.sync(paths=stale)
        results = self._search(query)
        return replace(results, hits=tuple(hit for hit in results.hits if not _stale(hit.record)))

    def _search(self, query: Query) -> Results:
        libraries = self._libraries(query.libraries)
        return Results(tuple(self._searcher.search(query, libraries)), self.progress())

    @cached_property
    def _searcher(self) -> Searcher:
        from bookwheel.index.search import Searcher  # noqa: PLC0415 - brings numpy, which listing does not need

        return Searcher(self.store, self.semantics)

    @cached_property
    def semantics(self) -> Semantics | None:
        """What compares by meaning, unless that is switched off."""
        if self._embedder == NONE:
            return None
        from bookwheel.index.embedding import load  # noqa: PLC0415 - brings numpy
        from bookwheel.index.semantics import Semantics  # noqa: PLC0415 - the same

        return Semantics(self.store, load(self._embedder, self._model_folder))

    def embed(self, report: Report | None = None) -> int:
        """Make the vectors that are missing; return how many were made. A stop ends it soon, and what is made stays."""
        with self._embedding:
            return self.semantics.fill(self._halt, report) if self.semantics else 0

    def _libraries(self, names: Sequence[str]) -> frozenset[int] | None:
        """Return the numbers of the named libraries, of the served ones, or None for all there are."""
        if not names:
            return frozenset(library.number for _, library in self.folders) if self._wanted else None
        known = {library.name: library.number for library in self.store.libraries()}
        for name in names:
            if name not in known:
                raise NotFound(f"there is no library {name}; there are: {', '.join(sorted(known))}", library=name)
        return frozenset(known[name] for name in names)

    def passage(self, hit: Hit) -> str:
        """Return the whole passage of a hit."""
        return self.store.text(hit.record.number, hit.chunk.start, hit.chunk.end)

    @property
    def model(self) -> str:
        """The model that compares by meaning, and what is wrong with it if anything."""
        if not self.semantics:
            return NONE
        problem = self.semantics.problem
        return f"{self._embedder} ({problem})" if problem else self._embedder

    def prune(self) -> None:
        """Forget the vectors of passages that are gone."""
        if self.semantics:
            self.semantics.prune()

    def wait(self, patience: float = PATIENCE) -> bool:
        """Wait for the first sync to end; tell whether it has."""
        return self._ready.wait(patience)

    def progress(self) -> Progress:
        """Return how far the index is."""
        served = {library.number for _, library in self.folders}
        known = [one for one in self.store.libraries() if one.number in served or not served]
        skipped = tuple((path, why) for one in known for path, (_, why) in self.store.faults(one).items())
        waiting = self._current.waiting if self._current else 0
        embedded = self.semantics.share() if self.semantics else 1.0
        return Progress(sum(one.document_count for one in known), waiting, skipped, embedded)


def _start(library: Library, after: str, alone: bool) -> str | None:
    """Return the path in a library that listing goes on after, or None if the library is done."""
    if alone or not after:
        return after
    head, _, tail = after.partition("/")
    if head == library.name:
        return tail
    return "" if head < library.name else None


def _read(source: Source) -> Document:
    """Return a file as a document."""
    try:
        return conversion.read(source, Path(source.location).read_bytes())
    except PermissionError as error:
        raise Forbidden(f"{source.path} may not be read by this server", name=source.path) from error
    except OSError as error:
        raise NotFound(f"{source.path} is not there any more", name=source.path) from error


def _stale(record: Record) -> bool:
    try:
        return stamp(Path(record.source.location)) != record.stamp
    except BookwheelError:
        return True


def _too_large(name: str, now: Stamp, folder: Folder) -> TooLarge:
    return TooLarge(
        f"{name} has {now.size} bytes, more than the limit of {folder.max_file_size}", name=name, size=now.size
    )
