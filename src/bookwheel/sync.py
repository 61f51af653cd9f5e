"""Bring a library up to date with its folder: what is new, what changed, what is gone, what is bad."""

from __future__ import annotations

import gc
import hashlib
import os
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from bookwheel import conversion
from bookwheel.errors import BookwheelError, ParseFailed, Unavailable
from bookwheel.folders import Folder, Found, Skipped, glance, scan
from bookwheel.index.chunking import split
from bookwheel.index.store import Entry, Store
from bookwheel.locks import turn
from bookwheel.model import Document, Library, Stamp, as_time

BATCH = 4_000_000  # characters that are indexed in one go: bounds memory, and what an interruption costs
AHEAD = 8  # files that may be begun before their turn
UNSEEN = Stamp(-1, -1)  # of a file that was not looked at closely enough to know when it changes

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


class Sync:
    """One pass over one folder; one bad file never stops the rest."""

    def __init__(self, store: Store, folder: Folder, library: Library, halt: threading.Event) -> None:
        self._store = store
        self._folder = folder
        self.library = library
        self._halt = halt
        self._documents: dict[str, Stamp] = {}
        self.waiting = 0

    def run(self, report: Report | None = None, paths: Collection[Path] | None = None) -> Changes:
        """Do it, for the whole folder or for *paths* alone; a halt ends it at the next file, what is done is kept."""
        lock = self._store.folder / f"sync-{self.library.number}.lock"  # others would do the same work
        with turn(lock, self._halt) as held, _without_pauses():
            names = None if paths is None else _inside(self._folder.root, paths)
            return self._run(report, names) if held else Changes()

    def _run(self, report: Report | None, names: Collection[str] | None) -> Changes:
        documents = self._documents = self._store.stamps(self.library, names)
        faults = self._store.faults(self.library, names)
        found, bad = _look(self._folder) if names is None else _glance(self._folder, names)
        self._clear(documents.keys() - found.keys() - bad.keys(), faults.keys() - found.keys() - bad.keys())
        for path, reason in bad.items():
            self._skip(path, UNSEEN, reason)
        known = documents | {path: stamp for path, (stamp, _) in faults.items()}
        changed = [one for one in found.values() if known.get(one.source.path) != one.stamp]
        indexed = sum(self._store.replace(self.library, self._batches(changed, report)))
        now, left_out = self._store.stamps(self.library, names), self._store.faults(self.library, names)
        return Changes(indexed, len(now) - indexed, len(documents.keys() - now.keys()), len(left_out))

    def _clear(self, documents: set[str], faults: set[str]) -> None:
        if documents or faults:
            self._store.drop(self.library, documents | faults)

    def _batches(self, changed: Sequence[Found], report: Report | None) -> Iterator[list[Entry]]:
        """Yield what can be read of the changed files, a good mouthful at a time."""
        batch: list[Entry] = []
        size = 0
        self.waiting = len(changed)
        for done, entry in enumerate(self._opened(changed), 1):
            if entry:
                batch.append(entry)
                size += len(entry.document.text)
            if size > BATCH:
                yield batch
                batch, size = [], 0
            self.waiting = len(changed) - done
            if report:
                report(done, len(changed))
        if batch:
            yield batch

    def _opened(self, changed: Sequence[Found]) -> Iterator[Entry | None]:
        """Yield the files in their order, until halted; what child processes read is begun before its turn."""
        with ThreadPoolExecutor(conversion.POOL.size) as pool:
            ahead: deque[Callable[[], Entry | None]] = deque()
            for found in changed:
                heavy = conversion.heavy(found.source.suffix, found.stamp.size)
                ahead.append(pool.submit(self._open, found).result if heavy else partial(self._open, found))
                if len(ahead) > AHEAD:
                    yield ahead.popleft()()
                if self._halt.is_set():
                    return
            while ahead and not self._halt.is_set():
                yield ahead.popleft()()

    def _open(self, found: Found) -> Entry | None:
        """Return a file as an entry for the index; None if it is gone, bad, or the same as before."""
        source = found.source
        if self._halt.is_set():
            return None
        try:
            data = Path(source.location).read_bytes()
            digest = hashlib.sha256(data).hexdigest()
            if source.path in self._documents and digest == self._store.digest(self.library, source.path):
                self._store.touch(self.library, source.path, found.stamp)
                return None
            document = admit(self._folder, conversion.read(source, data))
            written = as_time(os.stat(source.location).st_mtime_ns)  # noqa: PTH116 - there can be many
            return Entry(document, found.stamp, digest, split(document), last_modified=written)
        except (FileNotFoundError, Unavailable):  # gone, or we were stopped: nothing to remember
            return None
        except OSError as error:
            self._skip(source.path, found.stamp, f"it cannot be read: {error.strerror}")
        except BookwheelError as error:
            self._skip(source.path, found.stamp, error.message)
        return None

    def _skip(self, path: str, stamp: Stamp, reason: str) -> None:
        """Leave a file out."""
        self._store.skip(self.library, path, stamp, reason)


def admit(folder: Folder, document: Document) -> Document:
    """Return a document as its folder takes it; raises ParseFailed if its front matter lacks what that requires."""
    if folder.required and document.problem:
        raise ParseFailed(f"{document.problem}; mend it")
    for key in folder.required:
        value = document.metadata.get(key)
        if not isinstance(value, str) or not value.strip():
            raise ParseFailed(f"its front matter has no text under `{key}`; add one", key=key)
    return replace(document, titled_by=folder.titled_by)


def _look(folder: Folder) -> tuple[dict[str, Found], dict[str, str]]:
    """Return the files of a folder, and the reasons for those that cannot be taken."""
    found: dict[str, Found] = {}
    bad: dict[str, str] = {}
    for one in scan(folder):
        if isinstance(one, Skipped):
            bad[one.path] = one.reason
        else:
            found[one.source.path] = one
    return found, bad


def _inside(root: Path, paths: Collection[Path]) -> list[str]:
    return [path.relative_to(root).as_posix() for path in paths if path.is_relative_to(root)]


def _glance(folder: Folder, names: Collection[str]) -> tuple[dict[str, Found], dict[str, str]]:
    """Return the same as a look at the whole folder, but of a few files alone."""
    found: dict[str, Found] = {}
    bad: dict[str, str] = {}
    for name in names:
        outcome = glance(folder, name)
        if isinstance(outcome, Skipped):
            bad[name] = outcome.reason
        elif outcome:
            found[name] = outcome
    return found, bad


@contextmanager
def _without_pauses() -> Iterator[None]:
    """Keep the garbage collector from looking through the many values that indexing makes and soon drops.

    None of them is in a cycle, and looking costs a third of the whole time.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
