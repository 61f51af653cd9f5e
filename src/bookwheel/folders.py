"""Which files a folder serves, and whether a name a caller gives stays inside it.

A file is served if nothing hides it: its own name, an ignore file, the folder's patterns, its size, its kind.
Patterns are those of .gitignore. Each is held against an entry itself and never against the folders above it,
because a folder that is ruled out is not entered: that is how git walks, and why `!` works as it does.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

from bookwheel.errors import Invalid, NotFound, OutsideRoots, Unreadable
from bookwheel.model import Source, Stamp

IGNORE_FILES = (".gitignore", ".bookwheelignore")  # the later one has the last word
NEVER = frozenset({".git", "node_modules", "__pycache__"})
MODE = 0o170444  # the bits of a mode that tell the kind of file and who may read it
REGULAR = 0o100444  # a regular file that everyone may read
EFFECTIVE = os.access in os.supports_effective_ids
DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]|$)|\\\\")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
DIRECTORY_MARK = "(?P<ps_d>/)"  # what pathspec writes where a pattern matches a folder
WHOLE = {".": ".+", DIRECTORY_MARK: ".*/", "/": ".+/.+"}  # pathspec's shortcuts for `*`, `*/` and `**/*/**`

Rules: TypeAlias = tuple[tuple[bool, re.Pattern[str]], ...]
"""What to say of an entry and when, the deciding rule first."""
Layers: TypeAlias = tuple[tuple[int, Rules], ...]
"""The rules of the folders above an entry, the nearest first, with the length of their own path."""


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

    @property
    def scope(self) -> str:
        """A name for this folder with these options that stays the same from run to run."""
        options = (self.library, self.include, self.exclude, sorted(self.suffixes))
        switches = (self.max_file_size, self.hidden, self.ignore_files)
        digest = blake2b(repr((options, switches)).encode("utf-8", "backslashreplace"), digest_size=6)
        return f"{self.root}#{digest.hexdigest()}"

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


def admits(folder: Folder, path: str) -> bool:
    """Return whether scan() would list *path*, relative to the root; its size and whether it can be read aside."""
    parts = path.split("/")
    if not all(parts) or any(part in {".", ".."} or objection(part) for part in parts):
        return False
    sieve, layers = Sieve(folder), upper_layers(folder)
    for depth in range(len(parts)):
        above = "/".join(parts[:depth])
        if depth and not passes(folder, sieve, above, layers):
            return False
        if folder.ignore_files:
            layers = own_layers(folder.root / above) + layers
    return sieve.shows(parts[-1]) and sieve.takes(path, layers) and not misleads(folder.root, folder.root / path)


def contain(root: Path, name: str) -> Path:
    """Return the file *name* means below *root*, under that name; percent-encoding is undone once if need be.

    Raises Invalid for an empty name, OutsideRoots for one that leads elsewhere, also through a link, or is
    spelled as if to lead elsewhere, and NotFound if there is no such file.
    """
    if not name:
        raise Invalid("the name is empty; give a path relative to the served folder", filename=name)
    base = root.resolve()
    for spelling in spellings(name):
        path = locate(base, spelling, name)
        if path is not None:
            return path
    raise NotFound(f"{shown(name)} is not in the served folder", filename=name)


def stamp(path: Path) -> Stamp:
    """Return the size and time of the file, behind a link those of its target.

    Raises NotFound if it is gone, Unreadable if the system does not say.
    """
    try:
        status = path.stat()
        return Stamp(status.st_size, status.st_mtime_ns)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"{shown(path.name)} is not there any more", filename=path.name) from error
    except OSError as error:
        raise Unreadable(f"{shown(path.name)} cannot be read", filename=path.name) from error


# Names


def spellings(name: str) -> Iterator[str]:
    """Yield what *name* can stand for: itself first, then itself decoded once."""
    yield name
    if "%" not in name:
        return
    try:
        decoded = unquote(name, errors="strict")
    except UnicodeDecodeError:
        return
    yield from () if decoded == name else (decoded,)


def locate(base: Path, spelling: str, name: str) -> Path | None:
    """Return the file at exactly this spelling below *base*, None if there is none."""
    outside = OutsideRoots(f"{shown(name)} is not a path inside the served folder", filename=name)
    if strays(spelling):
        raise outside
    path = base / spelling
    there = encodable(spelling) and os.path.isfile(path)  # noqa: PTH113 - a Path's own raises on a long name
    if encodable(spelling) and leads_out(base, path):
        raise outside
    if "\\" in spelling and not there:
        raise outside
    return path if there else None


def strays(spelling: str) -> bool:
    """Return whether the name is spelled as one that leaves its folder, on any system."""
    if spelling.startswith("/") or DRIVE.match(spelling) or CONTROL.search(spelling):
        return True
    return ".." in re.split(r"[\\/]", spelling)


def leads_out(root: Path, path: Path) -> bool:
    """Return whether *path*, its links resolved, lies outside *root*, which has none."""
    return not Path(os.path.realpath(path)).is_relative_to(root)


def objection(name: str) -> str:
    """Return why a file of this name cannot be served; empty if it can.

    These are the names that contain() would refuse.
    """
    if "\\" not in name and name.isprintable():
        return ""
    if not encodable(name):
        return "its name is not valid UTF-8"
    if CONTROL.search(name):
        return "its name has control characters"
    return "its name looks like a path that leads elsewhere" if strays(name) else ""


def encodable(name: str) -> bool:
    """Return whether the name is text, without bytes that could not be decoded."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def shown(name: str) -> str:
    """Return the name as far as a message should show it."""
    return name[:200].encode("utf-8", "backslashreplace").decode("utf-8")


# Patterns


@lru_cache(maxsize=512)
def compiled(lines: tuple[str, ...]) -> Rules:
    """Return the lines of an ignore file as rules, neighbours with the same verdict as one."""
    runs: list[tuple[bool, list[str]]] = []
    for verdict, expression in filter(None, map(translated, reversed(lines))):
        if not runs or runs[-1][0] is not verdict:
            runs.append((verdict, []))
        runs[-1][1].append(expression)
    return tuple((verdict, re.compile("|".join(run), re.DOTALL)) for verdict, run in runs)


def translated(line: str) -> tuple[bool, str] | None:
    """Return whether the line hides or shows what its expression fully matches; None for a line without a pattern.

    A folder's path is to be matched with a slash at its end.
    """
    line = line.removesuffix("\r")
    if not line or line.startswith("#"):
        return None  # most lines that say nothing need no pathspec
    from pathspec.patterns.gitignore.base import GitIgnorePatternError  # noqa: PLC0415 - start-up does not pay for it
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # noqa: PLC0415

    try:
        expression, verdict = GitIgnoreSpecPattern.pattern_to_regex(spelled_out(line))
    except GitIgnorePatternError:
        return None  # git lets such a line match nothing
    if expression is None or verdict is None:
        return None
    return verdict, WHOLE.get(expression, expression).replace(DIRECTORY_MARK, "/").removeprefix(
        "^"
    )  # it is matched in full


def spelled_out(line: str) -> str:
    """Return the line with a final `**` written so that it matches entries one by one, not just their folder."""
    bare = line.rstrip(" ")
    if bare.endswith("/**"):
        return bare + "/*"
    return bare + "*/" if bare.endswith("/**/") else line


def literal(pattern: str) -> str:
    """Return a folder's pattern as a line of an ignore file: `!` and `#` are letters, `./` is the root."""
    pattern = pattern[1:] if pattern.startswith("./") else pattern
    return "\\" + pattern if pattern[:1] in {"!", "#"} else pattern


def reach(pattern: str) -> int:
    """Return how many levels down the pattern can match; 0 if there is no limit."""
    inner = pattern.removeprefix("./").removeprefix("/")
    if "**" in pattern or pattern.endswith("/") or "/" not in pattern:
        return 0
    return inner.count("/") + 1


def ignored(path: str, layers: Layers) -> bool:
    """Return whether the nearest rule that matches the absolute path hides it."""
    for start, rules in layers:
        for verdict, expression in rules:
            if expression.fullmatch(path, start):
                return verdict
    return False


# Ignore files


def own_layers(place: Path) -> Layers:
    """Return the rules of the ignore files in this very folder."""
    lines = tuple(line for name in IGNORE_FILES for line in lines_of(place / name))
    rules = compiled(lines) if lines else ()
    return ((len(below(place)), rules),) if rules else ()


def lines_of(path: Path) -> list[str]:
    """Return the lines of an ignore file; none unless it is a regular file that can be read.

    Like git, this does not follow a link, which could lead anywhere.
    """
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return []
        return path.read_text("utf-8-sig", "surrogateescape").split("\n")
    except OSError:
        return []


def upper_layers(folder: Folder) -> Layers:
    """Return the rules of the folders above the root, up to the top of its git work tree.

    None, if they hide the root itself: who serves an ignored folder does so on purpose.
    """
    layers: Layers = ()
    for place in lineage(folder.root) if folder.ignore_files else ():
        if ignored(below(place), layers):
            return ()
        layers = layers if place == folder.root else own_layers(place) + layers
    return layers


def lineage(root: Path) -> list[Path]:
    """Return the folders from the top of the git work tree down to the root; none if it is in none."""
    line = [root, *root.parents]
    top = next((depth for depth, place in enumerate(line) if os.path.lexists(place / ".git")), 0)
    return line[top::-1] if top else []


def below(place: Path) -> str:
    """Return the folder's path with a slash at its end."""
    return place.as_posix().rstrip("/") + "/"


# The walk


class Sieve:
    """What a folder's own options let through."""

    __slots__ = ("base", "exclude", "hidden", "include", "suffixes")

    def __init__(self, folder: Folder) -> None:
        self.base = below(folder.root)
        self.hidden = folder.hidden
        self.suffixes = tuple(folder.suffixes)
        self.exclude = glob(folder.exclude)
        self.include = glob(tuple(one + "**" if one.endswith("/") else one for one in folder.include))

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


def glob(patterns: tuple[str, ...]) -> Callable[[str], object] | None:
    """Return what tells whether a relative path matches one of the patterns; None without patterns."""
    if not patterns:
        return None
    rules = compiled(tuple(map(literal, patterns)))
    return rules[0][1].fullmatch if rules else lambda _: False


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
    sieve, layers, above = Sieve(folder), upper_layers(folder), ""
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
        yield from self.descend(Place(os.fspath(self.folder.root), "", upper_layers(self.folder)))
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
        if reason := objection(entry.name) or ("" if usual else self.fault(entry.path, status)):
            return Skipped(shown(path), reason)
        return Found(Source(self.library, entry.path, path), Stamp(status.st_size, status.st_mtime_ns))

    def fault(self, location: str, status: os.stat_result) -> str:
        """Return why the file of this status cannot be served; empty if it can."""
        if not stat.S_ISREG(status.st_mode):
            return "it is a device, socket or pipe, not a file"
        if status.st_size > self.limit:
            return f"it has {status.st_size} bytes, more than the limit of {self.limit}"
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
