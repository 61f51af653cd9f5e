"""Everything anyone can ask of bookwheel: sync, list, read, search.

The join of the rooms: folders say which files there are, formats what is in them, the index where to find it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from bookwheel import conversion, formats
from bookwheel.containment import contain, stamp
from bookwheel.errors import BookwheelError, Forbidden, NotFound, TooLarge
from bookwheel.folders import Folder, admits
from bookwheel.index.store import FILE, Store, numbered
from bookwheel.model import FIXED, Document, Hit, Library, Progress, Query, Record, Results, Source, Stamp, Terms
from bookwheel.sync import Changes, Report, Sync, admit

if TYPE_CHECKING:
    from bookwheel.index.search import Searcher
    from bookwheel.index.semantics import Semantics
    from bookwheel.ingest import Ingest

NONE = "none"  # the name of no embedder
PATIENCE = 10.0  # seconds a search waits for the first scan
MOST_WARNINGS = 20  # files left out that are named in one go

log = logging.getLogger(__name__)


class Shelf:
    """What a caller may see of a catalog: some of its libraries, or all."""

    def __init__(self, catalog: Catalog, only: frozenset[str] | None = None) -> None:
        self._catalog = catalog
        self._only = only

    def limited_to(self, names: Collection[str] | None) -> Shelf:
        """Return the part of this shelf with these libraries, or all of it."""
        if names is None:
            return self
        return Shelf(self._catalog, frozenset(names) & (frozenset(names) if self._only is None else self._only))

    @property
    def folders(self) -> tuple[tuple[Folder, Library], ...]:
        """The folders on this shelf, each with the library that keeps its documents; both by their served name."""
        return tuple(one for one in self._catalog.served if self.shows(one[1].name))

    def shows(self, name: str) -> bool:
        """Tell whether a library may be seen."""
        return self._only is None or name in self._only

    def libraries(self) -> list[Library]:
        """Return the libraries on this shelf with their counts, by name: folders, and what was taken in."""
        known = self._catalog.store.libraries()
        if self._catalog.whole:
            return [one for one in known if self.shows(one.name)]
        names = {library.number: library.name for _, library in self._catalog.served}
        taken_in = {one.number: one.own_name for one in known if one.ingested and one.document_count}
        names |= _apart(names.values(), taken_in)
        shown = [replace(one, name=names[one.number]) for one in known if one.number in names]
        return sorted((one for one in shown if self.shows(one.name)), key=lambda one: one.name)

    def library(self, name: str) -> Library:
        """Return one library; raises NotFound if there is none of that name on this shelf."""
        shown = {one.name: one for one in self.libraries()}
        if name not in shown:
            raise NotFound(f"there is no library {name}; there are: {', '.join(shown) or 'none'}", library=name)
        return shown[name]

    # names: what a caller calls a document

    @property
    def single(self) -> bool:
        """Whether there is but one folder, so that names need not say which."""
        return sum(self.shows(folder.library) for folder in self._catalog.wanted) == 1

    def name(self, source: Source) -> str:
        """Return the name a document goes by: its path, behind its library where there are several."""
        return source.path if self.single else source.label

    def locate(self, name: str, encoded: bool = False, also: frozenset[str] = frozenset()) -> tuple[Folder, str]:
        """Return the folder and the path inside it that a caller's name, or *encoded* part of a URI, means.

        *also* are kinds of file that no scan picks up, yet may be named.

        Raises OutsideRoots if it leads out of the folder, NotFound if nothing is served under it.
        """
        folder, inner = self._whose(name)
        return folder, _place(folder, inner, encoded, also)

    def _whose(self, name: str) -> tuple[Folder, str]:
        shown = [folder for folder in self._catalog.wanted if self.shows(folder.library)]
        if len(shown) == 1:
            return shown[0], name
        head, _, tail = name.partition("/")
        for folder in shown:
            if folder.library in {head, unquote(head)}:
                return folder, tail
        raise NotFound(f"{name} is not served here; names begin with a library's name", name=name)

    # list and read

    def records(self, after: str = "", limit: int = -1, suffixes: frozenset[str] = frozenset()) -> Iterator[Record]:
        """Yield the documents of the folders by name, from the first one after the name *after*."""
        self.wait()
        left = limit
        for _, library in sorted(self.folders, key=lambda one: one[1].name):
            start = _start(library, after, self.single)
            if start is None or left == 0:
                continue
            found = self._catalog.store.records(library, start, left, suffixes)
            left -= len(found) if limit > 0 else 0
            yield from (_renamed(record, library.name) for record in found)

    def holds(self, suffixes: frozenset[str]) -> bool:
        """Tell whether there is a document of these kinds, as far as is known by now."""
        store = self._catalog.store
        return any(store.records(library, "", 1, suffixes) for _, library in self.folders)

    def latest(self, library: str = "", limit: int = 20, offset: int = 0) -> list[Record]:
        """Return the documents of one library, or of all, the newest first."""
        self.wait()
        names = {one.number: one.name for one in self.libraries() if library in {"", one.name}}
        found = self._catalog.store.latest(list(names), limit, offset)
        return [_renamed(record, names[record.library]) for record in found]

    def document(self, doc_id: str) -> Record:
        """Return the document of that id; raises NotFound if there is none on this shelf."""
        names = {one.number: one.name for one in self.libraries()}
        record = self._catalog.store.find(doc_id)
        if record is None or record.library not in names:
            raise NotFound(f"there is no document {doc_id}; list_documents names those there are", doc_id=doc_id)
        return _renamed(record, names[record.library])

    def text(self, record: Record) -> str:
        """Return the whole text of a document, as it was indexed."""
        return self._catalog.store.text(record.number)

    def delete(self, doc_id: str) -> int:
        """Remove a document that was taken in; return how many passages it had, 0 if there was none."""
        try:
            record = self.document(doc_id)
        except NotFound:
            return 0
        library = next(one for one in self.libraries() if one.number == record.library)
        if not library.ingested:
            raise Forbidden(f"{record.source.path} is a file of the served folder {library.name}: the folder decides")
        self._catalog.store.drop(library, [record.source.path])
        return record.chunk_count

    def ingest(self, library: str) -> Ingest:
        """Return what takes documents into a library; raises Forbidden for one that is a folder or may not be seen."""
        if any(folder.library == library for folder in self._catalog.wanted):
            raise Forbidden(f"{library} is a served folder, and the folder decides what is in it; name another library")
        if not self.shows(library):
            raise Forbidden(f"{library} is not open to you; name another library")
        return self._catalog.intake

    def note(self, paths: Collection[Path]) -> None:
        """Bring the index up to date with files that were changed by one who sees this shelf, behind their back."""
        threading.Thread(target=self._catalog.catch_up, args=(list(paths),), daemon=True).start()

    def check_path(self, path: str) -> dict[str, object]:
        """Tell whether a file of this machine can be read, for a caller that may see everything."""
        if self._only is not None:
            raise Forbidden("paths of this machine are not open to you")
        return self._catalog.intake.check(path)

    def generation(self) -> int:
        """Return a number that is another one after every change of the index."""
        return self._catalog.store.generation()

    def read(self, name: str, encoded: bool = False) -> Document:
        """Return the document a caller names, as it is on disk now."""
        folder, path = self.locate(name, encoded)
        return self._read(folder, path)

    def read_in(self, library: str, name: str, encoded: bool = False) -> Document:
        """Return the document of that name in one library."""
        folder = next((one for one, _ in self.folders if one.library == library), None)
        if folder is None:
            raise NotFound(f"there is no library {library}", library=library)
        return self._read(folder, _place(folder, name, encoded))

    def _read(self, folder: Folder, path: str) -> Document:
        place = folder.root / path
        now = stamp(place)
        if now.size > folder.max_file_size:
            raise _too_large(path, now, folder)
        return self._kept(folder, path, now) or admit(folder, _read(Source(folder.library, str(place), path)))

    def _kept(self, folder: Folder, path: str, now: Stamp) -> Document | None:
        """Return what was made of a file before, if it has not changed: converting it again would give the same."""
        if not formats.converted(path) or not self._catalog.has_store:
            return None
        store = self._catalog.store
        library = store.library(folder.scope)
        found = store.content(library, path) if library else None
        if found is None or found[0].stamp != now:
            return None
        record, text, pages = found
        return Document(
            Source(folder.library, record.source.location, path),
            text,
            record.kind,
            record.metadata,
            record.problem,
            heading=record.heading,
            paragraph=record.paragraph,
            sections=formats.markdown.sections(text),
            pages=pages,
        )

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
        self._catalog.sync(paths=stale)
        results = self._search(query)
        return replace(results, hits=tuple(hit for hit in results.hits if not _stale(hit.record)))

    def _search(self, query: Query) -> Results:
        names = {library.number: library.name for library in self._asked(query.libraries)}
        found = self._catalog.searcher.search(query, frozenset(names))
        return Results(tuple(_shown(hit, names) for hit in found), self.progress())

    def _asked(self, names: Sequence[str]) -> list[Library]:
        """Return the named libraries, or all on this shelf."""
        return [self.library(name) for name in names] if names else self.libraries()

    def passage(self, hit: Hit) -> str:
        """Return the whole passage of a hit."""
        return self._catalog.store.text(hit.record.number, hit.chunk.start, hit.chunk.end)

    def wait(self, patience: float = PATIENCE) -> bool:
        """Wait for the first sync to end; tell whether it has."""
        return self._catalog.ready.wait(patience)

    def progress(self) -> Progress:
        """Return how far the index is."""
        known = self.libraries()
        store, semantics, current = self._catalog.store, self._catalog.semantics, self._catalog.current
        skipped = tuple((path, why) for one in known for path, (_, why) in store.faults(one).items())
        waiting = current.waiting if current and self.shows(current.library.name) else 0
        return Progress(
            sum(one.document_count for one in known), waiting, skipped, semantics.share() if semantics else 1.0
        )


class Catalog(Shelf):
    """The documents of some folders and libraries, kept in one store: the shelf with everything on it."""

    def __init__(
        self,
        store: Path,
        folders: Sequence[Folder] = (),
        embedder: str = NONE,
        model_folder: Path | None = None,
        language: str | None = None,
    ) -> None:
        super().__init__(self)
        self.whole = not folders  # everything in the store is shown, also what others serve
        self._folder = store
        self._embedder = embedder
        self._model_folder = model_folder
        self._language = language
        once = {folder.scope: folder for folder in folders}  # one that is named twice is served once
        self.wanted = tuple(_uniquely_named(once.values()))
        self.ready = threading.Event()
        self._store: Store | None = None
        self._opening = threading.Lock()
        self._turn = threading.Lock()
        self._embedding = threading.Lock()
        self._halt = threading.Event()
        self.current: Sync | None = None
        self._untold = Changes()
        self.terms = Terms()  # on which documents are taken in
        self._listeners: list[Callable[[], None]] = []  # called at the stop
        self._told: frozenset[tuple[str, str, str]] = frozenset()  # files left out, that were warned of
        if not folders:
            self.ready.set()

    @property
    def store(self) -> Store:
        """The store, opened when it is first needed."""
        with self._opening:
            self._store = self._store or Store(self._folder, self._language)
            return self._store

    @property
    def has_store(self) -> bool:
        """Whether there is a store, opened or not."""
        return (self._folder / FILE).exists()

    @cached_property
    def served(self) -> tuple[tuple[Folder, Library], ...]:
        """The folders, each with the library that keeps its documents, both by the same name."""
        kept = [self.store.register(one.library, one.scope, str(one.root)) for one in self.wanted]
        return tuple(
            (folder, replace(library, name=folder.library)) for folder, library in zip(self.wanted, kept, strict=True)
        )

    def register(self) -> None:
        """Let the store know the folders, before anything in them is indexed."""
        _ = self.served

    @property
    def stopped(self) -> bool:
        """Whether it was told to stop."""
        return self._halt.is_set()

    def stop(self) -> None:
        """End a sync under way at the next file; what it has indexed is kept."""
        self._halt.set()
        self.ready.set()
        for tell in self._listeners:
            tell()
        conversion.POOL.cancel()

    def when_stopped(self, tell: Callable[[], None]) -> None:
        """Call *tell* when this is told to stop."""
        self._listeners.append(tell)

    def close(self) -> None:
        """Let go of the store."""
        self.stop()
        with self._turn, self._embedding:
            if "semantics" in self.__dict__ and self.semantics:
                self.semantics.close()
            if self._store:
                self._store.close()

    def sync(self, report: Report | None = None, paths: Collection[Path] | None = None) -> Changes:
        """Bring the index up to date with the served folders, or with these files in them."""
        total = Changes()
        with self._turn:
            for folder, library in self.served if not self.stopped else ():
                self.current = Sync(self.store, folder, library, self._halt)
                try:
                    total += self.current.run(report, paths)
                except NotFound as error:  # the whole folder is gone: it may come back, and the others go on
                    log.warning("%s is not brought up to date: %s", library.name, error.message)
            self._warn()
            self._untold += total
            self.ready.set()
        return total

    def catch_up(self, paths: Collection[Path]) -> None:
        """Bring the index up to date with these files, or log why not: the next sync finds them all the same."""
        try:
            self.sync(paths=paths)
        except BookwheelError as error:
            log.warning("the index could not be brought up to date: %s", error.message)

    def news(self) -> Changes:
        """Return what has changed since this was last asked, whoever brought the index up to date."""
        with self._turn:
            news, self._untold = self._untold, Changes()
        return news

    def _warn(self) -> None:
        """Say which files are left out and why, once each as long as it stays so."""
        bad = {(one.name, path, why) for _, one in self.served for path, (_, why) in self.store.faults(one).items()}
        news = sorted(bad - self._told)
        for library, path, reason in news[:MOST_WARNINGS]:
            log.warning("%s/%s is left out: %s", library, path, reason)
        if len(news) > MOST_WARNINGS:
            log.warning("%d more files are left out; `bookwheel info` names them", len(news) - MOST_WARNINGS)
        self._told = frozenset(bad)

    @cached_property
    def searcher(self) -> Searcher:
        """What answers queries."""
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

    @cached_property
    def intake(self) -> Ingest:
        """What takes documents in."""
        from bookwheel.ingest import Ingest  # noqa: PLC0415 - most servers only show what is there

        return Ingest(self.store, self.semantics, self.terms)

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


def _place(folder: Folder, name: str, encoded: bool, also: frozenset[str] = frozenset()) -> str:
    """Return the path inside a folder that a caller's name means; raises if there is nothing, or it leads out."""
    path = contain(folder.root, name, encoded).relative_to(folder.root).as_posix()
    if not admits(replace(folder, suffixes=folder.suffixes and folder.suffixes | also), path):
        raise NotFound(f"{name} is not served here", name=name)
    return path


def _uniquely_named(folders: Iterable[Folder]) -> list[Folder]:
    """Return the folders, a later one of an equal name with `-2`, `-3`, … behind it."""
    named: dict[str, Folder] = {}
    for folder in folders:
        free = next(name for name in numbered(folder.library) if name not in named)
        named[free] = replace(folder, library=free)
    return list(named.values())


def _renamed(record: Record, library: str) -> Record:
    """Return a record with its library as it is called here, whatever the store calls it."""
    if record.source.library == library:
        return record
    return replace(record, source=replace(record.source, library=library))


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


def _shown(hit: Hit, names: Mapping[int, str]) -> Hit:
    """Return a hit with its libraries as they are called here."""
    also = tuple(_renamed(one, names[one.library]) for one in hit.also)
    return replace(hit, record=_renamed(hit.record, names[hit.record.library]), also=also)


def _apart(taken: Iterable[str], names: Mapping[int, str]) -> dict[int, str]:
    """Return the names, those that a folder has already with `-2`, `-3`, … behind them."""
    given = set(taken)
    return {number: next(one for one in numbered(name) if one not in given) for number, name in names.items()}


def _stale(record: Record) -> bool:
    if record.stamp.modified == FIXED:
        return False
    try:
        return stamp(Path(record.source.location)) != record.stamp
    except BookwheelError:
        return True


def _too_large(name: str, now: Stamp, folder: Folder) -> TooLarge:
    return TooLarge(
        f"{name} has {now.size} bytes, more than the limit of {folder.max_file_size}", name=name, size=now.size
    )
