"""The Org files of a shelf as outlines: kept as long as a file does not change, and edited on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bookwheel.catalog import Shelf
from bookwheel.containment import contain, spellings, stamp
from bookwheel.errors import BookwheelError, Invalid, NotFound, Unreadable
from bookwheel.formats.encoding import codec, decode
from bookwheel.model import Record, Stamp
from bookwheel.org import Edited, Headline, Outline, Settings, find, parse
from bookwheel.swap import rewrite

SUFFIXES = frozenset({".org", ".org_archive"})
MOMENT = 2.0  # seconds
Change = Callable[[Headline], Edited]
Stamps = dict[Path, Stamp | None]  # of files, None for one that is not there


@dataclass(frozen=True, slots=True)
class OrgFile:
    """An Org file: what callers call it, and where it is."""

    name: str
    path: Path
    root: Path


@dataclass(frozen=True, slots=True)
class Place:
    """A headline, by its ID or its address in a file: it may move until it is looked up."""

    file: OrgFile
    address: str
    identity: str = ""

    def find(self, outline: Outline) -> Headline:
        """Return the headline as the file is now."""
        if not self.identity:
            return find(outline, self.address)
        if found := outline.by_id(self.identity):
            return found
        raise NotFound(f"there is no headline with the ID {self.identity} any more", id=self.identity)


class Outlines:
    """Every Org file on a shelf."""

    def __init__(self, catalog: Shelf, settings: Settings) -> None:
        self._catalog = catalog
        self.settings = settings
        self._kept: dict[Path, tuple[Stamps, Outline]] = {}

    @property
    def present(self) -> bool:
        """Whether there is any Org file, as far as is known."""
        try:
            return self._catalog.holds(SUFFIXES)
        except BookwheelError:  # there is no index: whoever asks it for more is told why
            return False

    def settle(self) -> None:
        """Wait a moment for the first look at the folders."""
        self._catalog.wait(MOMENT)

    def files(self, names: Sequence[str] = ()) -> list[OrgFile]:
        """Return these files, or all; raises NotFound for one that is not served."""
        if names:
            return [self.file(name) for name in names]
        roots = {folder.library: folder.root for folder, _ in self._catalog.folders}
        return [self._known(record, roots) for record in self._catalog.records(suffixes=SUFFIXES)]

    def known(self, record: Record) -> OrgFile:
        """Return the file of a document that search has found."""
        return self._known(record, {folder.library: folder.root for folder, _ in self._catalog.folders})

    def _known(self, record: Record, roots: dict[str, Path]) -> OrgFile:
        if record.source.library not in roots:
            raise NotFound(f"{record.source.path} is not on this shelf")
        return OrgFile(self._catalog.name(record.source), Path(record.source.location), roots[record.source.library])

    def file(self, name: str, encoded: bool = False) -> OrgFile:
        """Return the file that a caller names, by its path or, if that is enough, by the end of it."""
        try:
            folder, path = self._catalog.locate(name, encoded, SUFFIXES)
        except BookwheelError:
            same = [one for one in self.files() if f"/{one.name}".endswith(tuple(f"/{n}" for n in spellings(name)))]
            if len(same) > 1:
                among = ", ".join(one.name for one in same)
                raise Invalid(f"{name} could be any of {among}; give the whole path", file=name) from None
            if same:
                return same[0]
            raise
        if Path(path).suffix not in SUFFIXES:
            raise NotFound(f"{name} is no Org file", file=name)
        shown = path if self._catalog.single else f"{folder.library}/{path}"
        return OrgFile(shown, folder.root / path, folder.root)

    def open(self, file: OrgFile) -> Outline:
        """Return a file's outline as it is on disk now."""
        stamps, outline = self._kept.get(file.path, ({}, None))
        if outline and all(_stamp(path) == then for path, then in stamps.items()):
            return outline
        stamps = {file.path: stamp(file.path)}
        outline = self._parse(file, decode(self._read(file)), stamps)
        self._kept[file.path] = (stamps, outline)
        return outline

    def _read(self, file: OrgFile) -> bytes:
        try:
            return file.path.read_bytes()
        except OSError as error:
            raise Unreadable(f"{file.name} cannot be read: {error.strerror}", file=file.name) from error

    def _parse(self, file: OrgFile, text: str, stamps: Stamps) -> Outline:
        """Return the outline of a text; *stamps* gets those of the setup files it depends on."""

        def load(name: str, base: str) -> tuple[str, str] | None:
            place = (Path(base).parent if base else file.path.parent) / name
            stamps[place] = _stamp(place)
            return _setup(file.root, place)

        return parse(text, self.settings, name=str(file.path), load=load)

    def all(self, names: Sequence[str] = ()) -> Iterator[tuple[OrgFile, Outline]]:
        """Yield these files, or all that can be read, with their outlines."""
        for file in self.files(names):
            try:
                yield file, self.open(file)
            except BookwheelError:
                if names:
                    raise

    def by_id(self, identity: str) -> tuple[OrgFile, Headline]:
        """Return the headline of that ID; a file outside the shelf is as if it were not there."""
        for file, outline in self.all():
            if found := outline.by_id(identity):
                return file, found
        raise NotFound(f"there is no headline with the ID {identity}", id=identity)

    def edit(self, place: Place, changes: Sequence[Change], locks: Path) -> Edited:
        """Change a headline on disk, all changes in one step; it is looked up again in the file as it is then.

        Raises Conflict if the file cannot be had, NotFound if the headline is gone.
        """
        file = place.file
        done: list[Edited] = []

        def apply(data: bytes) -> bytes | None:
            text, coding = decode(data), codec(data)
            if text.encode(coding, "replace") != data:
                raise Unreadable(
                    f"{file.name} is in an encoding that cannot be written back as it is: save it as UTF-8"
                )
            done.append(self._changed(place, text, changes))
            return _encoded(done[-1].source, coding, file.name) if done[-1].changed else None

        rewrite(file.path, apply, locks)
        self._kept.pop(file.path, None)
        self._catalog.note([file.path])
        return done[-1]

    def _changed(self, place: Place, text: str, changes: Sequence[Change]) -> Edited:
        """Return a text with the changes made to a headline, one after the other."""
        done = changes[0](place.find(self._parse(place.file, text, {})))
        for change in changes[1:]:
            more = change(self._parse(place.file, done.source, {}).headlines[done.number])
            done = replace(more, previous=done.previous, changed=done.changed or more.changed)
        return done


def _stamp(path: Path) -> Stamp | None:
    try:
        return stamp(path)
    except BookwheelError:
        return None


def _encoded(text: str, coding: str, name: str) -> bytes:
    try:
        return text.encode(coding)
    except UnicodeEncodeError as error:
        strange = error.object[error.start : error.end]
        raise Invalid(
            f"{name} is kept in {coding}, which cannot write {strange}: leave it out, or save it as UTF-8", file=name
        ) from error


def _setup(root: Path, place: Path) -> tuple[str, str] | None:
    """Return a setup file's location and text; nothing if it is not inside the served folder."""
    try:
        path = contain(root, place.resolve().relative_to(root).as_posix())
        return str(path), decode(path.read_bytes())
    except (ValueError, OSError, BookwheelError):
        return None
