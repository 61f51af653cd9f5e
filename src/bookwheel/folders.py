"""Which files a folder serves.

A file is served if nothing hides it: its own name, an ignore file, the folder's patterns, its size, its kind.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bookwheel.containment import leads_out, objection, shown
from bookwheel.errors import NotFound
from bookwheel.ignore import IGNORE_FILES, Layers, Patterns, below, glob, ignored, own_layers, reach, upper_layers
from bookwheel.model import Source, Stamp

NEVER = frozenset({".git", "node_modules", "__pycache__"})
MODE = 0o170444  # the bits of a mode that tell the kind of file and who may read it
REGULAR = 0o100444  # a regular file that everyone may read
EFFECTIVE = os.access in os.supports_effective_ids


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder whose files are served, and which of them."""

    root: Path  # absolute, links resolved
    library: str
    include: tuple[str, ...] = ()  # patterns; none: every file
    exclude: tuple[str, ...] = ()
    suffixes: frozenset[str] = frozenset()  # lower case, with the dot; none: any
    max_file_size: int = 10_485_760
    hidden: bool = False
    ignore_files: bool = True
    required: tuple[str, ...] = ()  # what the front matter of a file must say for it to be a document
    titled_by: str = "title"  # what the front matter calls the title

    @property
    def scope(self) -> str:
        """The folder with its options, as a text that stays the same from run to run."""
        options = {
            "include": self.include,
            "exclude": self.exclude,
            "suffixes": sorted(self.suffixes),
            "max_file_size": self.max_file_size,
            "hidden": self.hidden,
            "ignore_files": self.ignore_files,
        }
        if self.required or self.titled_by != "title":
            options |= {"required": self.required, "titled_by": self.titled_by}
        return json.dumps({"root": str(self.root), **options}, sort_keys=True)

    @classmethod
    def from_scope(cls, scope: str, library: str) -> Folder:
        """Return the folder that a scope stands for."""
        options = json.loads(scope)
        return cls(
            Path(options["root"]),
            library,
            tuple(options["include"]),
            tuple(options["exclude"]),
            frozenset(options["suffixes"]),
            options["max_file_size"],
            options["hidden"],
            options["ignore_files"],
            tuple(options.get("required", ())),
            options.get("titled_by", "title"),
        )

    @property
    def patterns(self) -> Patterns:
        """The folder's patterns."""
        return Patterns(self.include, self.exclude)

    @property
    def depth(self) -> int | None:
        """How many levels down a served file can be, where the include patterns limit it; 1 is the root itself."""
        levels = [reach(pattern) for pattern in self.include]
        return max((level for level in levels if level), default=None) if all(levels) else None


@dataclass(frozen=True, slots=True)
class Found:
    """A file that is served."""

    source: Source
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that would be served, were it not for the reason."""

    path: str  # relative to the root, printable
    reason: str


def folder_for(path: Path, library: str, options: Folder | None = None) -> Folder:
    """Return the folder that serves *path*: the folder itself, or just that file of its parent.

    The rest is as in *options*. A file named this way is served even if it is hidden or ignored.
    Raises NotFound if there is nothing at *path*.
    """
    real = path.resolve()
    folder = replace(options or Folder(real, library), root=real, library=library)
    if real.is_file():
        only = "/" + re.sub(r"([\\*?\[\] ])", r"\\\1", real.name)
        return replace(folder, root=real.parent, include=(only,), exclude=(), hidden=True, ignore_files=False)
    if not real.is_dir():
        raise NotFound(f"there is no file or folder {path}; check the path", path=str(path))
    return folder


def scan(folder: Folder) -> Iterator[Found | Skipped]:
    """Return every file the folder serves, always in the same order, and what it would serve but cannot.

    Raises NotFound if the root is not there or is no folder.
    """
    if not folder.root.is_dir():
        raise NotFound(f"the folder {folder.root} is not there; check the path", path=str(folder.root))
    return Walk(folder).run()


def glance(folder: Folder, path: str) -> Found | Skipped | None:
    """Return what scan() would say of one file; None if it is not there or not served."""
    place = folder.root / path
    if not admits(folder, path):
        return None
    try:
        status = place.stat()
    except OSError as error:
        return complaint(path, error)
    if stat.S_ISDIR(status.st_mode):
        return None
    if reason := fault(os.fspath(place), status, folder.max_file_size):
        return Skipped(shown(path), reason)
    return Found(Source(folder.library, os.fspath(place), path), Stamp.of(status))


def admits(folder: Folder, path: str) -> bool:
    """Return whether scan() would list *path*, relative to the root; its size and whether it can be read aside."""
    parts = path.split("/")
    if not all(parts) or any(part in {".", ".."} or objection(part) for part in parts):
        return False
    sieve, layers = Sieve(folder), outer_layers(folder)
    for depth in range(len(parts)):
        above = "/".join(parts[:depth])
        if depth and not passes(folder, sieve, above, layers):
            return False
        if folder.ignore_files:
            layers = own_layers(folder.root / above) + layers
    return sieve.shows(parts[-1]) and sieve.takes(path, layers) and not misleads(folder.root, folder.root / path)


def outer_layers(folder: Folder) -> Layers:
    """Return the rules that hold at the root from above it."""
    return upper_layers(folder.root) if folder.ignore_files else ()


class Sieve:
    """What a folder's own options let through."""

    __slots__ = ("base", "exclude", "hidden", "include", "suffixes")

    def __init__(self, folder: Folder) -> None:
        self.base = below(folder.root)
        self.hidden = folder.hidden
        self.suffixes = tuple(folder.suffixes)
        self.exclude = glob(folder.exclude)
        self.include = glob(folder.patterns.included)

    def shows(self, name: str) -> bool:
        """Return whether an entry of this name is looked at."""
        return (self.hidden or name[0] != ".") and name not in NEVER

    def enters(self, path: str, layers: Layers) -> bool:
        """Return whether the folder at the relative path is entered."""
        path += "/"
        return not ((self.exclude and self.exclude(path)) or (layers and ignored(self.base + path, layers)))

    def takes(self, path: str, layers: Layers) -> bool:
        """Return whether the file at the relative path is served."""
        if self.suffixes and not path.lower().endswith(self.suffixes):
            return False
        if (self.include and not self.include(path)) or (self.exclude and self.exclude(path)):
            return False
        return not (layers and ignored(self.base + path, layers))


def passes(folder: Folder, sieve: Sieve, path: str, layers: Layers) -> bool:
    """Return whether the walk comes through the folder at the relative path.

    It does not through a link to a folder that it enters by its own name.
    """
    place = folder.root / path
    if not sieve.shows(place.name) or not sieve.enters(path, layers):
        return False
    link = os.path.islink(place)  # noqa: PTH114 - a Path's own raises on a long name
    return not link or not (leads_out(folder.root, place) or enters_itself(folder, place))


def enters_itself(folder: Folder, link: Path) -> bool:
    """Return whether the walk enters the folder behind the link by its own name, or never enters it at all."""
    path = Path(os.path.realpath(link)).relative_to(folder.root)
    return not path.parts or not NEVER.isdisjoint(path.parts) or reached(folder, path.parts)


def reached(folder: Folder, parts: tuple[str, ...]) -> bool:
    """Return whether the walk enters the folder of these parts, none of which is a link."""
    sieve, layers, above = Sieve(folder), outer_layers(folder), ""
    for part in parts:
        layers = own_layers(folder.root / above) + layers if folder.ignore_files else layers
        above = f"{above}/{part}".lstrip("/")
        if not sieve.shows(part) or not sieve.enters(above, layers):
            return False
    return True


@dataclass(frozen=True, slots=True)
class Place:
    """A folder on the way: where it is, what its entries' names begin with, the rules from above."""

    location: str
    prefix: str
    layers: Layers


class Walk:
    """One pass over a folder: every folder once, by its own name if it has one that is served."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.library = folder.library
        self.limit = folder.max_file_size
        self.base = below(folder.root)
        self.sieve = Sieve(folder)
        self.depth = folder.depth
        self.seen: set[tuple[int, int]] = set()
        self.inner: list[Place] = []
        self.links: list[Place] = []

    def run(self) -> Iterator[Found | Skipped]:
        """Yield what is in the folders, then what is behind links to folders that were not met so far."""
        yield from self.descend(Place(os.fspath(self.folder.root), "", outer_layers(self.folder)))
        while self.links:
            link = self.links.pop(0)
            if identity(link.location) in self.seen:
                yield Skipped(link.prefix[:-1], "it is a link to a folder that is listed under another name")
            else:
                yield from self.descend(link)

    def descend(self, top: Place) -> Iterator[Found | Skipped]:
        """Yield what is in this folder and below it, the files of a folder before its folders."""
        waiting = [top]
        while waiting:
            yield from self.visit(waiting.pop())
            waiting += reversed(self.inner)
            self.inner.clear()

    def visit(self, place: Place) -> Iterator[Found | Skipped]:
        """Yield what is in this very folder; the folders in it are for later."""
        entries = self.entries(place)
        if isinstance(entries, Skipped):
            yield entries
            return
        layers = self.layers(place, entries)
        prefix, shows, meet = place.prefix, self.sieve.shows, self.meet
        for entry in entries:
            if shows(entry.name):
                met = meet(entry, prefix + entry.name, layers)
                if met is not None:
                    yield met

    def entries(self, place: Place) -> list[os.DirEntry[str]] | Skipped:
        """Return the sorted entries of the place; none if it is gone or was visited before, by whatever name."""
        key = identity(place.location)
        if key in self.seen:
            return []
        self.seen |= {key} if key else set()
        try:
            with os.scandir(place.location) as listing:
                return sorted(listing, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError:
            return Skipped(place.prefix[:-1] or ".", "the folder cannot be read")

    def layers(self, place: Place, entries: list[os.DirEntry[str]]) -> Layers:
        """Return the rules for the entries of the place."""
        if not self.folder.ignore_files or not any(entry.name in IGNORE_FILES for entry in entries):
            return place.layers
        return own_layers(Path(place.location)) + place.layers

    def meet(self, entry: os.DirEntry[str], path: str, layers: Layers) -> Found | Skipped | None:
        """Return what is to be said of one entry."""
        if entry.is_symlink():
            return self.meet_link(entry, path, layers)
        if entry.is_dir(follow_symlinks=False):
            return self.keep(self.inner, entry, path, layers)
        if not self.sieve.takes(path, layers):
            return None
        try:
            return self.judge(entry, path, entry.stat(follow_symlinks=False))
        except OSError as error:
            return complaint(path, error)

    def meet_link(self, entry: os.DirEntry[str], path: str, layers: Layers) -> Found | Skipped | None:
        """Return what is to be said of a link; where it leads comes first, to say nothing of what lies outside."""
        if ignored(self.base + path, layers):
            return None
        if reason := misleads(self.folder.root, entry.path):
            return Skipped(shown(path), reason)
        try:
            status = entry.stat()
        except OSError as error:
            return complaint(path, error, "it is a link that leads nowhere")
        if stat.S_ISDIR(status.st_mode):
            return self.keep(self.links, entry, path, layers)
        return self.judge(entry, path, status) if self.sieve.takes(path, layers) else None

    def keep(self, places: list[Place], entry: os.DirEntry[str], path: str, layers: Layers) -> Skipped | None:
        """Add the folder to *places* if it is to be entered."""
        if not self.sieve.enters(path, layers) or (self.depth and path.count("/") + 2 > self.depth):
            return None
        if reason := objection(entry.name):
            return Skipped(shown(path), reason)
        places.append(Place(entry.path, path + "/", layers))
        return None

    def judge(self, entry: os.DirEntry[str], path: str, status: os.stat_result) -> Found | Skipped:
        """Return the file as found, or why it cannot be served."""
        usual = status.st_mode & MODE == REGULAR and status.st_size <= self.limit  # spares most files two calls
        if reason := objection(entry.name) or ("" if usual else fault(entry.path, status, self.limit)):
            return Skipped(shown(path), reason)
        return Found(Source(self.library, entry.path, path), Stamp.of(status))


def fault(location: str, status: os.stat_result, limit: int) -> str:
    """Return why the file of this status cannot be served; empty if it can."""
    if not stat.S_ISREG(status.st_mode):
        return "it is a device, socket or pipe, not a file"
    if status.st_size > limit:
        return f"it has {status.st_size} bytes, more than the limit of {limit}"
    readable = os.access(location, os.R_OK, effective_ids=EFFECTIVE)
    return "" if readable else "it cannot be read: permission denied"


def identity(location: str) -> tuple[int, int] | None:
    """Return what two names of the same folder have in common; None if it is gone."""
    try:
        status = os.stat(location)  # noqa: PTH116 - a Path for each folder is slow
    except OSError:
        return None
    return status.st_dev, status.st_ino


def misleads(root: Path, location: str | Path) -> str:
    """Return why a link is not followed; empty if it leads to what may be served."""
    real = Path(os.path.realpath(location))
    if not real.is_relative_to(root):
        return "it is a link that leads out of the served folder"
    inside = NEVER.isdisjoint(real.relative_to(root).parts)
    return "" if inside else "it is a link into a folder that is never served"


def complaint(path: str, error: OSError, missing: str = "") -> Skipped | None:
    """Return why the system did not show the file; None if that is only because it is gone by now."""
    if error.errno == errno.ELOOP:
        return Skipped(shown(path), "it is a link that leads back to itself")
    if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return Skipped(shown(path), "it cannot be read: permission denied")
    return Skipped(shown(path), missing) if missing else None
