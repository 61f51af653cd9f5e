"""Take documents into libraries of their own: files, texts, URLs, whole folders.

The new version is read and embedded first and then takes the place of the old in one step, so that whatever goes
wrong before leaves the old one as it was. What has the same bytes as before is left alone.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from bookwheel import conversion, formats
from bookwheel.download import ANYWHERE, Limits, Validators, download
from bookwheel.errors import (
    BookwheelError,
    Forbidden,
    Invalid,
    NotFound,
    ParseFailed,
    TooLarge,
    Unavailable,
    Unsupported,
)
from bookwheel.folders import NEVER
from bookwheel.index.chunking import split
from bookwheel.index.store import Entry, Store
from bookwheel.model import FIXED, INGESTED, Document, Ingested, Library, Source, Stamp, Terms, as_time

if TYPE_CHECKING:
    from bookwheel.index.semantics import Semantics

DEFAULT = "default"

log = logging.getLogger(__name__)

Metadata = Mapping[str, object]
Report = Callable[[int, int], None]  # called with how many files are done and how many there are


@dataclass(frozen=True, slots=True)
class Incoming:
    """Something on its way in: where it is from, and its bytes' digest."""

    location: str
    digest: str
    read: Callable[[Source], Document]
    file_type: str
    last_modified: str
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A folder to take in, and how."""

    folder: str
    library: str = DEFAULT
    metadata: Metadata = field(default_factory=dict)
    recursive: bool = True
    concurrency: int = 4

    def check(self) -> None:
        """Raise Invalid if it cannot be taken in like this."""
        if not self.folder.strip():
            raise Invalid("folder is empty; give the path of a folder")
        if self.concurrency < 1:
            raise Invalid("max_concurrency must be at least 1")


@dataclass(frozen=True, slots=True)
class FolderIngested:
    """What became of the files of a folder."""

    folder: str
    library: str
    results: tuple[Ingested, ...]
    errors: tuple[tuple[str, str], ...]  # file and message
    stopped: bool = False

    def count(self, status: str) -> int:
        """Return how many files ended so."""
        return sum(one.status == status for one in self.results)


class Ingest:
    """Takes documents into one store."""

    def __init__(self, store: Store, semantics: Semantics | None, terms: Terms) -> None:
        self._store = store
        self._terms = terms
        self._semantics = semantics
        self._commit = threading.Lock()

    # what can be taken in

    def file(self, path: str, library: str = DEFAULT, metadata: Metadata | None = None) -> Ingested:
        """Take in a file of this machine."""
        place = self._allowed(path)
        if not os.path.isfile(place):  # noqa: PTH113 - says no to names that are too long, where Path raises
            raise NotFound(f"there is no file {path}; check the path, or pass the text to ingest_content")
        return self._take(library, self._opened(place, str(place), place.name, metadata))

    def check(self, path: str) -> dict[str, object]:
        """Tell whether a file can be taken in from here, and if not why; nothing of what lies where it may not be."""
        facts: dict[str, object] = {"path": path, "resolved": path, "parent_exists": False}
        try:
            place = self._allowed(path)
            facts |= {"resolved": str(place), "parent_exists": place.parent.is_dir()}
            return {**facts, "readable": True, "size_bytes": _size(place)}
        except BookwheelError as error:
            return {**facts, "readable": False, "error": error.message}
        except OSError as error:
            return {**facts, "readable": False, "error": f"it cannot be read: {error.strerror}"}

    def _allowed(self, path: str) -> Path:
        """Return the file or folder that a path means; raises Forbidden if it is outside the folders one may name."""
        place = _real(path)
        if self._terms.roots and not any(place.is_relative_to(root) for root in self._terms.roots):
            raise Forbidden(f"{path} is outside the folders that files may be taken in from")
        return place

    def upload(self, path: Path, name: str, library: str = DEFAULT, metadata: Metadata | None = None) -> Ingested:
        """Take in a file that was sent, under the name it had."""
        base = name.replace("\\", "/").rpartition("/")[2]
        return self._take(library, self._opened(path, base, base, metadata))

    def _opened(self, place: Path, location: str, name: str, metadata: Metadata | None) -> Incoming:
        suffix = Source("", "", name).suffix
        if not formats.supported(suffix):
            raise Unsupported(f"Unsupported format: {suffix or name}", suffix=suffix)
        try:
            if place.stat().st_size > self._terms.most:
                raise TooLarge(f"{name} has more than {self._terms.most} bytes, which is the limit")
            data = place.read_bytes()
            modified = as_time(place.stat().st_mtime_ns)
        except PermissionError as error:
            raise Forbidden(f"{name} may not be read by this server") from error
        except OSError as error:
            raise NotFound(f"{name} cannot be read: {error.strerror}") from error
        return Incoming(
            location,
            hashlib.sha256(data).hexdigest(),
            lambda source: conversion.read(source, data, suffix),
            suffix.removeprefix("."),
            modified,
            metadata or {},
        )

    def content(self, text: str, source: str, library: str = DEFAULT, metadata: Metadata | None = None) -> Ingested:
        """Take in a text under a label."""
        if not source.strip():
            raise Invalid("source is empty; give a label for where the text is from")
        if not text.strip():
            raise Invalid("content is empty; give the text to index")
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > self._terms.most:
            raise TooLarge(f"content has more than {self._terms.most} bytes, which is the limit")
        incoming = Incoming(
            source,
            hashlib.sha256(data).hexdigest(),
            lambda made: formats.markdown.read(made, data),
            _extension(source) or "text",
            _now(),
            metadata or {},
        )
        return self._take(library, incoming)

    def url(self, url: str, library: str = DEFAULT, metadata: Metadata | None = None) -> Ingested:
        """Fetch a URL and take in what it gives; asks only for what has changed since."""
        kept = self._library(library)
        known = self._store.record(kept, url)
        limits = Limits(self._terms.most, private=ANYWHERE if self._terms.private else ())
        found = download(url, limits, Validators(*self._store.version(kept, url)) if known else None)
        if known and found.not_modified:
            return Ingested("skipped", known.doc_id, url, library, 0)
        form = conversion.form_of(found)
        incoming = Incoming(
            url,
            hashlib.sha256(found.data).hexdigest(),
            lambda source: conversion.read_download(source, found),
            "url" if form == formats.PAGE or form not in formats.DOCUMENTS else form.removeprefix("."),
            _moment(found.validators.modified),
            metadata or {},
        )
        done = self._take(library, incoming)
        self._store.note_version(kept, url, found.validators.etag, found.validators.modified)
        return done

    # whole folders

    def folder(
        self, wanted: Wanted, report: Report | None = None, halt: threading.Event | None = None
    ) -> FolderIngested:
        """Take in every file of a folder that can be read; one that fails is told, and the rest go on.

        A halt ends it soon: files whose turn has not come are told as not taken in.
        """
        wanted.check()
        place = self._allowed(wanted.folder)
        if not os.path.isdir(place):  # noqa: PTH112 - the same
            raise NotFound(f"{wanted.folder} is no folder; check the path")
        halt = halt or threading.Event()
        files = sorted(_files(place, wanted.recursive))
        results: dict[str, Ingested] = {}
        errors: dict[str, str] = {}
        with ThreadPoolExecutor(wanted.concurrency) as pool:
            waiting = {pool.submit(self._unless, halt, file, wanted): file for file in files}
            for done, future in enumerate(as_completed(waiting), 1):
                _settle(future, waiting[future], results, errors)
                if report:
                    report(done, len(files))
        ordered = tuple(results[file] for file in files if file in results)
        failed = tuple((_shown(file), errors[file]) for file in files if file in errors)
        return FolderIngested(str(place), wanted.library, ordered, failed, halt.is_set())

    def _unless(self, halt: threading.Event, file: str, wanted: Wanted) -> Ingested:
        if halt.is_set():
            raise Unavailable("stopped before its turn; run it again to go on")
        return self.file(file, wanted.library, wanted.metadata)

    # how it is taken in

    def _library(self, name: str) -> Library:
        if not name.strip():
            raise Invalid("library is empty; give it a name")
        return self._store.register(name, INGESTED + name, "")

    def _take(self, name: str, incoming: Incoming) -> Ingested:
        _check(incoming.metadata)
        library, location = self._library(name), incoming.location
        known = self._store.record(library, location)
        if known and known.digest == incoming.digest:
            return Ingested("skipped", known.doc_id, location, name, 0)
        entry = _entry(Source(name, location, location), incoming)
        if self._semantics:
            self._semantics.prepare(entry)
        with self._commit:
            known = self._store.record(library, location)
            if known and known.digest == incoming.digest:  # another has taken it in meanwhile
                return Ingested("skipped", known.doc_id, location, name, 0)
            sum(self._store.replace(library, [[entry]]))
            now = self._store.record(library, location)
        if now is None:
            raise Unavailable(f"{location} was removed while it was taken in; try again")
        return Ingested("replaced" if known else "indexed", now.doc_id, location, name, len(entry.chunks))


def _entry(source: Source, incoming: Incoming) -> Entry:
    """Return a document ready for the index; raises ParseFailed if there is no text in it."""
    document = _read(source, incoming)
    if not document.text[document.body :].strip():
        raise ParseFailed(
            "there is no text in it; if it is a scan or an image, pass its text to ingest_content",
            source=source.location,
        )
    title = document.sections[0].title if document.sections else ""
    named = replace(document, metadata={**document.metadata, "title": title or _last(source.location)})
    stamp = Stamp(len(document.text), FIXED)
    return Entry(
        named,
        stamp,
        incoming.digest,
        split(named),
        incoming.file_type,
        incoming.last_modified,
        dict(incoming.metadata),
    )


def _read(source: Source, incoming: Incoming) -> Document:
    try:
        return conversion.as_markdown(incoming.read(source))
    except Unsupported:
        raise
    except ParseFailed as error:
        raise ParseFailed(f"{error.message}; or pass its text to ingest_content", source=source.location) from error


def _check(metadata: Metadata) -> None:
    """Raise Invalid for metadata that cannot be told as JSON: numbers without end, half characters."""
    try:
        json.dumps(metadata, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid("metadata must be an object of plain JSON values") from error


def _last(location: str) -> str:
    """Return the last part of a path, a URL or a label."""
    path = unquote(urlsplit(location).path) if "://" in location else location
    return path.rstrip("/").replace("\\", "/").rpartition("/")[2] or location


def _extension(label: str) -> str:
    """Return the extension of a label, if it has one: a version number or the end of a sentence is none."""
    found = Source("", "", _last(label)).suffix.removeprefix(".")
    return found if found.isalnum() and not found.isdecimal() else ""


def _real(path: str) -> Path:
    if not path.strip() or "\0" in path:
        raise Invalid("the path is empty or no path at all; give the path of a file or folder")
    try:
        place = Path(path).expanduser().resolve()
        str(place).encode()
        return place  # noqa: TRY300 - all that can fail is above
    except UnicodeEncodeError as error:
        raise Invalid("its name is not written in UTF-8; rename it") from error
    except (OSError, RuntimeError) as error:
        raise NotFound(f"{path} cannot be found: {error}") from error


def _size(place: Path) -> int:
    """Return the size of a file that can be read; raises NotFound for what is none, OSError if it may not be."""
    if not place.is_file():  # a pipe would be waited for
        raise NotFound("it is no file")
    with place.open("rb") as file:
        return os.fstat(file.fileno()).st_size


def _files(folder: Path, recursive: bool) -> Iterator[str]:
    """Yield every file that has a reader, hidden ones and those of tools apart."""
    for place, inner, names in os.walk(folder):
        inner[:] = [name for name in inner if recursive and name[0] != "." and name not in NEVER]
        for name in names:
            if name[0] != "." and formats.supported(Source("", "", name).suffix):
                yield str(Path(place, name))


def _settle(future: Future[Ingested], file: str, results: dict[str, Ingested], errors: dict[str, str]) -> None:
    try:
        results[file] = future.result()
    except BookwheelError as error:
        errors[file] = error.message
    except Exception:  # one bad file never stops the rest
        log.exception("%s was not taken in", _shown(file))
        errors[file] = "it could not be taken in, and the server's log says why"


def _shown(file: str) -> str:
    """Return a path as text, also where the system has it in no encoding."""
    return file.encode("utf-8", "backslashreplace").decode()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _moment(said: str) -> str:
    """Return the date that a server gave as ISO 8601; this moment if it gave none."""
    try:
        moment = parsedate_to_datetime(said)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()
    except (TypeError, ValueError):
        return _now()
