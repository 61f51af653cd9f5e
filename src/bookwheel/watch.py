"""File events as calls: what changed, in bursts, or that a full scan is due.

The system's events are a hint and no more: they miss what is written into a folder before it is watched, and some
file systems have none. So every new folder asks for a full scan, and the clock asks for one now and then.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio.from_thread import run_sync as run_in_loop
from anyio.to_thread import run_sync as run_in_thread

from bookwheel.errors import BookwheelError
from bookwheel.folders import NEVER, Folder, Found, identity, scan
from bookwheel.ignore import IGNORE_FILES
from bookwheel.model import Stamp

if TYPE_CHECKING:
    from watchfiles import Change

QUIET = 100  # milliseconds without an event that end a burst
BURST = 1_000  # milliseconds after which a burst that does not end is told all the same
SETTLE = 0.5  # seconds after which a new folder is surely watched, so that a second scan sees what the first missed
CHECK = 0.5  # seconds between two looks whether the roots are still the same folders
POLL = 0.4  # seconds between two polls; more where a poll itself takes long
SHARE = 9  # a poll is followed by at least so many times its own duration of rest
FLOOD = 1_000  # paths in one burst from which a scan is cheaper, and the system may have dropped some

ADDED, DELETED = 1, 3  # as in watchfiles.Change, without loading it

Events = AbstractSet[tuple[int, str]]
Snapshot = dict[str, Stamp]
Changed = Callable[[set[Path] | None], Awaitable[None]]

log = logging.getLogger(__name__)


async def watch(
    folders: Sequence[Folder],
    changed: Changed,
    *,
    poll: bool = False,
    interval: float = 300.0,
    stop: anyio.Event | None = None,
) -> None:
    """Call *changed* with the paths that were touched, or with None when a full scan is due, until stopped.

    A burst of events is one call, and no call begins before the last one ended. None comes first, once changes are
    noticed at all; then every *interval* seconds, for a new, moved or lost folder, for a changed ignore file, and
    whenever events may have been missed. A path may be that of a file that is gone or is not served.
    An exception in *changed* is logged and ends nothing.
    """
    news = News()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tell, news, changed)
        tasks.start_soon(remind, news, interval)
        tasks.start_soon(repeat, news)
        tasks.start_soon(poll_all if poll else follow_all, folders, news)
        await (stop.wait() if stop else anyio.sleep_forever())
        tasks.cancel_scope.cancel()


@dataclass(slots=True)
class News:
    """What is not told yet."""

    paths: set[Path] = field(default_factory=set)
    full: bool = False
    arrived: anyio.Event = field(default_factory=anyio.Event)
    unsettled: anyio.Event = field(default_factory=anyio.Event)  # a new folder may hold more than was seen

    def add(self, paths: set[Path] | None) -> None:
        """Note the paths, or with None that a full scan is due."""
        self.full = self.full or paths is None
        self.paths |= paths or set()
        if self.full or self.paths:
            self.arrived.set()

    def take(self) -> set[Path] | None:
        """Return what is not told yet and forget it."""
        told = None if self.full else self.paths
        self.paths, self.full, self.arrived = set(), False, anyio.Event()
        return told


async def tell(news: News, changed: Changed) -> None:
    """Hand on the news as it comes."""
    while True:
        await news.arrived.wait()
        try:
            await changed(news.take())
        except Exception:
            log.exception("following a change failed; the watch goes on")


async def remind(news: News, interval: float) -> None:
    """Ask for a full scan now and then."""
    while True:
        await anyio.sleep(interval)
        news.add(None)


async def repeat(news: News) -> None:
    """Ask for a second scan some time after a new folder led to the first."""
    while True:
        await news.unsettled.wait()
        news.unsettled = anyio.Event()
        await anyio.sleep(SETTLE)
        news.add(None)


# Events of the system


async def follow_all(folders: Sequence[Folder], news: News) -> None:
    """Follow the folders through the system's events; poll once those fail."""
    try:
        while True:
            await follow_present(folders, news)
    except* (OSError, RuntimeError, ImportError) as failure:
        log.warning("the system's file events failed, changes are polled for instead: %s", failure.exceptions[0])
    await poll_all(folders, news)


async def follow_present(folders: Sequence[Folder], news: News) -> None:
    """Follow the roots that are there, until one of them comes, goes or is replaced.

    Begins with a full scan: what happened before had no watcher.
    """
    roots, halt, threads = identities(folders), threading.Event(), anyio.CapacityLimiter(2)
    present = [folder for folder in folders if roots[folder.root]]
    if not present:
        news.add(None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(guard, folders, roots, halt)
        for alike in (level(present, flat=True), level(present, flat=False)):
            if alike:
                tasks.start_soon(partial(run_in_thread, Follower(alike, news, halt).run, limiter=threads))


def identities(folders: Sequence[Folder]) -> dict[Path, tuple[int, int] | None]:
    """Return which folder is at each root now; None where there is none."""
    return {folder.root: identity(os.fspath(folder.root)) for folder in folders}


def level(folders: Sequence[Folder], *, flat: bool) -> list[Folder]:
    """Return the folders that serve files of the root itself only, or the others: their subfolders need no watch."""
    return [folder for folder in folders if (folder.depth == 1) is flat]


async def guard(folders: Sequence[Folder], roots: dict[Path, tuple[int, int] | None], halt: threading.Event) -> None:
    """Set *halt* once the roots are not the same folders any more, or when cancelled."""
    try:
        while identities(folders) == roots and not halt.is_set():
            await anyio.sleep(CHECK)
    finally:
        halt.set()  # a thread cannot be cancelled: it looks at this every QUIET milliseconds


class Follower:
    """One watcher of the system, in a thread of its own."""

    def __init__(self, folders: list[Folder], news: News, halt: threading.Event) -> None:
        self.folders = folders
        self.news = news
        self.halt = halt
        self.in_place = False

    def run(self) -> None:
        """Note what happens in the folders until halted or one of the roots is gone."""
        try:
            for events in self.bursts():
                self.hear(events)
        except FileNotFoundError:
            if all(folder.root.is_dir() for folder in self.folders):
                raise
        self.halt.set()

    def bursts(self) -> Iterator[set[tuple[Change, str]]]:
        """Return the system's events, burst by burst."""
        from watchfiles import watch as bursts  # noqa: PLC0415 - start-up does not pay for it

        return bursts(
            *[folder.root for folder in self.folders],
            watch_filter=lambda _, path: any(concerns(folder, path) for folder in self.folders),
            debounce=BURST,
            step=QUIET,
            stop_event=self,
            rust_timeout=0,
            recursive=self.folders[0].depth != 1,
            ignore_permission_denied=True,
        )

    def is_set(self) -> bool:
        """Return whether to stop; the watcher asks for the first time once it is in place."""
        if not self.in_place:
            self.in_place = True
            run_in_loop(self.news.add, None)
        return self.halt.is_set()

    def hear(self, events: Events) -> None:
        """Note one burst; a root that is gone ends the watch."""
        if any(change == DELETED and path == str(folder.root) for change, path in events for folder in self.folders):
            self.halt.set()
        touched, unsettled = sift(events, endings(self.folders))
        run_in_loop(self.news.add, touched)
        if unsettled:
            run_in_loop(self.news.unsettled.set)


def concerns(folder: Folder, path: str) -> bool:
    """Return whether an event at the path can matter to the folder."""
    place = Path(path)
    if not place.is_relative_to(folder.root):
        return False
    *above, name = place.relative_to(folder.root).parts or (".",)
    seen = [part not in NEVER and (folder.hidden or part[0] != ".") for part in above]
    return all(seen) and name not in NEVER and (folder.hidden or name[0] != "." or name in {".", *IGNORE_FILES})


def endings(folders: Sequence[Folder]) -> tuple[str, ...]:
    """Return how the names of served files can end; a single empty ending if one of the folders serves any."""
    return tuple({ending for folder in folders for ending in folder.suffixes or {""}})


def sift(events: Events, endings: tuple[str, ...]) -> tuple[set[Path] | None, bool]:
    """Return the touched files, or None if only a full scan can tell; and whether there is a new folder."""
    verdicts = [(path, judge(change, path, endings)) for change, path in unique(events)]
    unsettled = any(verdict is Verdict.NEW_FOLDER for _, verdict in verdicts)
    if unsettled or len(verdicts) > FLOOD or any(verdict is Verdict.SCAN for _, verdict in verdicts):
        return None, unsettled
    return {Path(path) for path, verdict in verdicts if verdict is Verdict.FILE}, False


def unique(events: Events) -> set[tuple[int, str]]:
    """Return the events without the deletions of what was made in the same burst: temporary files of editors."""
    made = {path for change, path in events if change == ADDED}
    return {(change, path) for change, path in events if change != DELETED or path not in made}


class Verdict(Enum):
    """What an event asks for."""

    FILE = "this file"
    SCAN = "a full scan"
    NEW_FOLDER = "a full scan, twice"
    NOTHING = "nothing"


def judge(change: int, path: str, endings: tuple[str, ...]) -> Verdict:
    """Return what the event asks for."""
    if os.path.basename(path) in IGNORE_FILES:  # noqa: PTH119 - there can be many
        return Verdict.SCAN
    served = path.lower().endswith(endings)
    if change == DELETED:
        return Verdict.FILE if served and "" not in endings else Verdict.SCAN  # it may have been a folder
    if Path(path).is_dir():
        return Verdict.NEW_FOLDER if change == ADDED else Verdict.NOTHING
    return Verdict.FILE if served else Verdict.NOTHING


# Polls


async def poll_all(folders: Sequence[Folder], news: News) -> None:
    """Compare the folders with what they were a moment ago, again and again; begins with a full scan."""
    before, cost = await measured(folders)
    news.add(None)
    while True:
        await anyio.sleep(max(POLL, cost * SHARE))
        after, cost = await measured(folders)
        touched = {Path(path) for path, _ in before.items() ^ after.items()}
        news.add(touched if len(touched) <= FLOOD else None)
        before = after


async def measured(folders: Sequence[Folder]) -> tuple[Snapshot, float]:
    """Return the files as they are now and the seconds it took to see them."""
    start = time.monotonic()
    files = await run_in_thread(snapshot, folders, abandon_on_cancel=True)
    return files, time.monotonic() - start


def snapshot(folders: Sequence[Folder]) -> Snapshot:
    """Return the stamps of all files of the folders that are there."""
    return {item.source.location: item.stamp for folder in folders for item in files_of(folder)}


def files_of(folder: Folder) -> list[Found]:
    """Return the files of the folder; none if its root is gone."""
    try:
        return [item for item in scan(folder) if isinstance(item, Found)]
    except BookwheelError:
        return []
