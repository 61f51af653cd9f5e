"""Everything anyone can ask of bookwheel: sync, list, read, search.

The join of the rooms: folders say which files there are, formats what is in them, the index where to find it.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from bookwheel import formats
from bookwheel.containment import contain, stamp
from bookwheel.errors import BookwheelError, Forbidden, NotFound, TooLarge
from bookwheel.folders import Folder, Found, Skipped, admits, scan
from bookwheel.index.chunking import split
from bookwheel.index.store import Entry, Store
from bookwheel.model import Document, Library, Progress, Query, Record, Results, Source, Stamp

if TYPE_CHECKING:
    from bookwheel.index.search import Searcher

BATCH = 8_000_000  # characters that are indexed in one go: bounds memory, and what an interruption costs
PATIENCE = 10.0  # seconds a search waits for the first scan

log = logging.getLogger(__name__)
Report = Callable[[int, int], None]  # called with how many files are done and how many there are


@dataclass(frozen=True, slots=True)
class Changes:
    """What a sync did."""

    indexed: int = 0
    unchanged: int = 0
    dropped: int = 0
    skipped: int = 0

    def __bool__(self) -> bool:
        """Tell whether any list of documents looks different now."""
        return bool(self.indexed or self.dropped)

    def __add__(self, other: Changes) -> Changes:
        return Changes(
            self.indexed + other.indexed,
            self.unchanged + other.unchanged,
            self.dropped + other.dropped,
            self.skipped + other.skipped,
        )


class Catalog:
    """The documents of some folders and libraries, kept in one store."""

    def __init__(self, store: Path, folders: Sequence[Folder] = ()) -> None:
        self._folder = store
        self._wanted = tuple(folders)
        self._ready = threading.Event()
        self._turn = threading.Lock()
        self._waiting = 0
        self._stopped = False
        if not folders:
            self._ready.set()

    @cached_property
    def store(self) -> Store:
        """The store, opened when it is first needed."""
        return Store(self._folder)

    @cached_property
    def folders(self) -> tuple[tuple[Folder, Library], ...]:
        """The served folders, each with the library that keeps its documents."""
        libraries = [self.store.register(one.library, one.scope, str(one.root)) for one in self._wanted]
        return tuple(
            (replace(folder, library=library.name), library)
            for folder, library in zip(self._wanted, libraries, strict=True)
        )

    def stop(self) -> None:
        """End a sync under way at the next file; what it has indexed is kept."""
        self._stopped = True
        self._ready.set()

    def close(self) -> None:
        """Let go of the store."""
        self.stop()
        if "store" in self.__dict__:
            with self._turn:
                self.store.close()

    # names: what a caller calls a document

    def name(self, source: Source) -> str:
        """Return the name a document goes by: its path, behind its library where there are several."""
        return source.path if len(self._wanted) == 1 else f"{source.library}/{source.path}"

    def locate(self, name: str) -> tuple[Folder, str]:
        """Return the folder and the path inside it that a caller's name means.

        Raises OutsideRoots if it leads out of the folder, NotFound if nothing is served under it.
        """
        folder, inner = self._whose(name)
        path = contain(folder.root, inner).relative_to(folder.root).as_posix()
        if not admits(folder, path):
            raise NotFound(f"{name} is not served here", name=name)
        return folder, path

    def _whose(self, name: str) -> tuple[Folder, str]:
        if len(self._wanted) == 1:
            return self._wanted[0], name
        head, _, tail = name.partition("/")
        for folder, _ in self.folders:
            if folder.library == head:
                return folder, tail
        raise NotFound(f"{name} is not served here; names begin with a library's name", name=name)

    # list and read

    def records(self, after: str = "", limit: int = -1) -> Iterator[Record]:
        """Yield the documents of the served folders by name, from the first one after the name *after*."""
        self.wait()
        left = limit
        for _, library in sorted(self.folders, key=lambda one: one[1].name):
            start = _start(library, after, alone=len(self.folders) == 1)
            if start is None or left == 0:
                continue
            found = self.store.records(library, start, left)
            left -= len(found) if limit > 0 else 0
            yield from found

    def read(self, name: str) -> Document:
        """Return the document a caller names, as it is on disk now."""
        folder, path = self.locate(name)
        place = folder.root / path
        now = stamp(place)
        if now.size > folder.max_file_size:
            raise _too_large(name, now, folder)
        return _read(Source(folder.library, str(place), path), now)

    # sync

    def sync(self, report: Report | None = None) -> Changes:
        """Bring the index up to date with the served folders; one bad file never stops the rest."""
        total = Changes()
        with self._turn:
            for folder, library in self.folders:
                with _alone(self.store.folder, library):
                    total += self._sync(folder, library, report)
            self._waiting = 0
            self._ready.set()
        return total

    def _sync(self, folder: Folder, library: Library, report: Report | None) -> Changes:
        known = self.store.stamps(library)
        found, faults = _look(folder)
        changed = [one for one in found.values() if known.get(one.source.path) != one.stamp]
        gone = known.keys() - found.keys() - faults.keys()
        if gone:
            self.store.drop(library, gone)
        troubles = dict(self.store.skipped(library))
        for path, reason in faults.items():
            if troubles.get(path) != reason:
                self._skip(library, path, Stamp(-1, -1), reason, troubles)
        indexed, same, bad = self._take_in(library, changed, troubles, report)
        return Changes(indexed, len(found) - len(changed) + same, len(gone - troubles.keys()), bad + len(faults))

    def _take_in(
        self, library: Library, changed: Sequence[Found], troubles: dict[str, str], report: Report | None
    ) -> tuple[int, int, int]:
        """Read and index files batch by batch; return how many were indexed, the same, and bad."""
        batch: list[Entry] = []
        indexed = same = bad = 0
        self._waiting = len(changed)
        for done, one in enumerate(changed, 1):
            outcome = self._open(library, one, troubles)
            if isinstance(outcome, Entry):
                batch.append(outcome)
            same, bad = same + (outcome == "same"), bad + (outcome == "bad")
            if batch and (done == len(changed) or self._stopped or sum(len(e.document.text) for e in batch) > BATCH):
                self.store.replace(library, batch)
                indexed, batch = indexed + len(batch), []
                self._waiting = len(changed) - done
            if report:
                report(done, len(changed))
            if self._stopped:
                break
        return indexed, same, bad

    def _open(self, library: Library, found: Found, troubles: dict[str, str]) -> Entry | str | None:
        """Return a file as an entry for the index, or "same" or "bad"; None if it vanished."""
        source = found.source
        try:
            data = Path(source.location).read_bytes()
            digest = hashlib.sha256(data).hexdigest()
            known = self.store.record(library, source.path)
            if known and known.digest == digest:
                self.store.touch(library, source.path, found.stamp)
                return "same"
            document = formats.read(source, data)
            return Entry(document, found.stamp, digest, split(document))
        except FileNotFoundError:
            return None
        except (OSError, BookwheelError) as error:
            reason = error.message if isinstance(error, BookwheelError) else f"cannot be read: {error.strerror}"
            self._skip(library, source.path, found.stamp, reason, troubles)
            return "bad"

    def _skip(self, library: Library, path: str, now: Stamp, reason: str, troubles: dict[str, str]) -> None:
        if troubles.get(path) != reason:
            log.warning("%s/%s is left out: %s", library.name, path, reason)
        self.store.skip(library, path, now, reason)
        troubles[path] = reason

    # search

    def search(self, query: Query) -> Results:
        """Return the documents that answer a query.

        Waits for the first sync; if that takes longer than PATIENCE, says what share is indexed. A hit whose
        file changed since it was indexed is never shown: the index is brought up to date first.
        """
        self.wait()
        results = self._search(query)
        if any(_stale(hit.record) for hit in results.hits):
            self.sync()
            results = self._search(query)
        return results

    def _search(self, query: Query) -> Results:
        libraries = self._libraries(query.libraries)
        return Results(tuple(self._searcher.search(query, libraries)), self.progress())

    @cached_property
    def _searcher(self) -> Searcher:
        from bookwheel.index.search import Searcher  # noqa: PLC0415 - brings numpy, which listing does not need

        return Searcher(self.store)

    def _libraries(self, names: Sequence[str]) -> frozenset[int] | None:
        """Return the numbers of the named libraries, of the served ones, or None for all there are."""
        if not names:
            return frozenset(library.number for _, library in self.folders) if self._wanted else None
        known = {library.name: library.number for library in self.store.libraries()}
        for name in names:
            if name not in known:
                raise NotFound(f"there is no library {name}; there are: {', '.join(sorted(known))}", library=name)
        return frozenset(known[name] for name in names)

    def wait(self, patience: float = PATIENCE) -> bool:
        """Wait for the first sync to end; tell whether it has."""
        return self._ready.wait(patience)

    def progress(self) -> Progress:
        """Return how far the index is."""
        served = {library.number for _, library in self.folders}
        known = [one for one in self.store.libraries() if one.number in served or not served]
        skipped = tuple(row for library in known for row in self.store.skipped(library))
        return Progress(sum(one.document_count for one in known), self._waiting, skipped)


def _start(library: Library, after: str, alone: bool) -> str | None:
    """Return the path in a library that listing goes on after, or None if the library is done."""
    if alone or not after:
        return after
    head, _, tail = after.partition("/")
    if head == library.name:
        return tail
    return "" if head < library.name else None


def _look(folder: Folder) -> tuple[dict[str, Found], dict[str, str]]:
    """Return the files of a folder, and the reasons for those that cannot be taken."""
    found: dict[str, Found] = {}
    faults: dict[str, str] = {}
    for one in scan(folder):
        if isinstance(one, Skipped):
            faults[one.path] = one.reason
        else:
            found[one.source.path] = one
    return found, faults


@contextmanager
def _alone(store: Path, library: Library) -> Iterator[None]:
    """Keep other processes from syncing the same library meanwhile: they would do the same work."""
    with open(store / f"sync-{library.number}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@lru_cache(maxsize=8)
def _read(source: Source, now: Stamp) -> Document:  # noqa: ARG001 - part of the cache's key
    """Return a file as a document; *now* makes an old answer unusable once the file has changed."""
    try:
        return formats.read(source, Path(source.location).read_bytes())
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
