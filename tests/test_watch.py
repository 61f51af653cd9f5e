"""The watch: real files, real events."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from bookwheel.folders import Folder, Found, folder_for, scan
from bookwheel.watch import watch

pytestmark = pytest.mark.anyio
MARKDOWN = frozenset({".md"})
PATIENCE = 10.0  # seconds after which something that was to happen did not


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A served folder with one file."""
    root = (tmp_path / "root").resolve()
    root.mkdir()
    (root / "a.md").write_text("a")
    return root


@pytest.fixture
def folder(root: Path) -> Folder:
    return Folder(root, "lib", suffixes=MARKDOWN)


Call = set[Path] | None


class Calls:
    """The calls of a watch so far."""

    def __init__(self) -> None:
        self.all: list[Call] = []
        self.times: list[float] = []
        self.news = anyio.Event()

    async def __call__(self, paths: Call) -> None:
        self.all.append(paths)
        self.times.append(time.monotonic())
        self.news.set()
        self.news = anyio.Event()

    async def until(self, satisfied: Callable[[], bool]) -> None:
        """Wait for the calls that make it so."""
        with anyio.fail_after(PATIENCE):
            while not satisfied():
                await self.news.wait()

    async def next(self, act: Callable[[], object], expected: Callable[[Call], bool]) -> Call:
        """Do something and return the first call after it that is as expected."""
        start = len(self.all)
        act()
        await self.until(lambda: any(map(expected, self.all[start:])))
        return next(call for call in self.all[start:] if expected(call))


def full(call: Call) -> bool:
    return call is None


def names(call: Call) -> set[str]:
    return {path.name for path in call or ()}


def naming(*expected: str) -> Callable[[Call], bool]:
    return lambda call: set(expected) <= names(call)


@asynccontextmanager
async def watching(*folders: Folder, poll: bool = False, interval: float = 300.0) -> AsyncIterator[Calls]:
    """A running watch whose first call has come."""
    calls = Calls()
    async with anyio.create_task_group() as tasks:

        async def run() -> None:
            await watch(folders, calls, poll=poll, interval=interval)

        tasks.start_soon(run)
        await calls.until(lambda: bool(calls.all))
        yield calls
        tasks.cancel_scope.cancel()


def served(folder: Folder) -> set[str]:
    return {item.source.path for item in scan(folder) if isinstance(item, Found)}


async def test_a_full_scan_comes_first(folder: Folder) -> None:
    async with watching(folder) as calls:
        assert calls.all == [None]


async def test_a_write_is_told_within_half_a_second(folder: Folder) -> None:
    async with watching(folder) as calls:
        start = time.monotonic()
        call = await calls.next(lambda: (folder.root / "a.md").write_text("new"), naming("a.md"))

        assert call == {folder.root / "a.md"}
        assert calls.times[-1] - start < 0.5


async def test_a_burst_is_one_call(folder: Folder) -> None:
    paths = {folder.root / f"{number}.md" for number in range(50)}

    async with watching(folder) as calls:
        call = await calls.next(lambda: [path.write_text("x") for path in paths], naming("49.md"))

        assert call == paths


async def test_a_deletion_is_told(folder: Folder) -> None:
    async with watching(folder) as calls:
        call = await calls.next((folder.root / "a.md").unlink, naming("a.md"))

        assert call == {folder.root / "a.md"}


async def test_a_deletion_of_what_may_have_been_a_folder_asks_for_a_scan(root: Path) -> None:
    async with watching(Folder(root, "lib")) as calls:
        call = await calls.next((root / "a.md").unlink, lambda _: True)

        assert call is None


async def test_a_rename_is_told_with_both_names(folder: Folder) -> None:
    async with watching(folder) as calls:
        call = await calls.next(lambda: (folder.root / "a.md").rename(folder.root / "b.md"), naming("a.md", "b.md"))

        assert call == {folder.root / "a.md", folder.root / "b.md"}


async def test_an_atomic_replacement_is_told(folder: Folder) -> None:
    def replace() -> None:
        (folder.root / "a.tmp").write_text("new")
        (folder.root / "a.tmp").replace(folder.root / "a.md")

    async with watching(folder) as calls:
        call = await calls.next(replace, naming("a.md"))

        assert call == {folder.root / "a.md"}


async def test_files_written_into_a_just_made_nested_folder_are_all_seen_by_a_scan(folder: Folder) -> None:
    place = folder.root / "one/two/three"
    expected = {"a.md", *(f"one/two/three/{number}.md" for number in range(12))}
    seen: list[set[str]] = []

    def fill() -> None:
        place.mkdir(parents=True)
        for number in range(12):
            (place / f"{number}.md").write_text("x")

    async with watching(folder) as calls:
        await calls.next(fill, full)
        seen.append(served(folder))
        await calls.next(lambda: None, full)
        call = await calls.next(lambda: (place / "0.md").write_text("new"), naming("0.md"))

    assert seen == [expected]
    assert call == {place / "0.md"}


async def test_a_renamed_folder_asks_for_a_scan(folder: Folder) -> None:
    (folder.root / "old").mkdir()
    (folder.root / "old/x.md").write_text("x")

    async with watching(folder) as calls:
        await calls.next(lambda: (folder.root / "old").rename(folder.root / "new"), full)
        call = await calls.next(lambda: (folder.root / "new/x.md").write_text("new"), naming("x.md"))

        assert call == {folder.root / "new/x.md"}


async def test_a_folder_moved_away_asks_for_a_scan(folder: Folder, tmp_path: Path) -> None:
    (folder.root / "old").mkdir()

    async with watching(folder) as calls:
        call = await calls.next(lambda: (folder.root / "old").rename(tmp_path / "gone"), lambda _: True)

        assert call is None


@pytest.mark.parametrize("name", [".gitignore", ".bookwheelignore"])
async def test_a_changed_ignore_file_asks_for_a_scan(folder: Folder, name: str) -> None:
    async with watching(folder) as calls:
        call = await calls.next(lambda: (folder.root / name).write_text("a.md"), lambda _: True)

        assert call is None


async def test_what_is_never_served_wakes_nobody(folder: Folder) -> None:
    quiet = [folder.root / name for name in (".git/objects/x.md", "node_modules/p/x.md", ".obsidian/x.md", "sub/x.log")]
    for path in quiet:
        path.parent.mkdir(parents=True)
        path.write_text("before")

    async with watching(folder) as calls:
        for path in quiet:
            path.write_text("after")
            (path.parent / "new.log").write_text("new")
        call = await calls.next(lambda: (folder.root / "a.md").write_text("new"), lambda _: True)

        assert call == {folder.root / "a.md"}
        assert len(calls.all) == 2


async def test_a_folder_below_a_hidden_one_is_watched_like_any_other(tmp_path: Path) -> None:
    root = (tmp_path / ".notes/node_modules").resolve()
    root.mkdir(parents=True)

    async with watching(Folder(root, "lib")) as calls:
        call = await calls.next(lambda: (root / "a.md").write_text("x"), naming("a.md"))

        assert call == {root / "a.md"}


async def test_a_continuous_writer_is_told_about_while_it_writes(folder: Folder) -> None:
    async def write_on(path: Path) -> None:
        while True:
            path.write_text(str(time.monotonic()))
            await anyio.sleep(0.01)

    async with watching(folder) as calls, anyio.create_task_group() as tasks:
        tasks.start_soon(write_on, folder.root / "a.md")
        await calls.until(lambda: len(calls.all) >= 4)
        tasks.cancel_scope.cancel()

        gaps = [later - earlier for earlier, later in zip(calls.times[1:], calls.times[2:], strict=False)]
        assert max(gaps) < 2


async def test_several_folders_are_watched_together(root: Path, tmp_path: Path) -> None:
    other = (tmp_path / "other").resolve()
    other.mkdir()
    (other / "single.md").write_text("x")

    async with watching(Folder(root, "lib"), folder_for(other / "single.md", "one")) as calls:
        await calls.next(lambda: (root / "a.md").write_text("new"), naming("a.md"))
        await calls.next(lambda: (other / "single.md").write_text("new"), naming("single.md"))


@pytest.mark.parametrize("poll", [False, True])
async def test_a_root_that_vanishes_is_picked_up_when_it_returns(folder: Folder, poll: bool) -> None:
    def vanish() -> None:
        shutil.rmtree(folder.root)

    def come_back() -> None:
        folder.root.mkdir()
        (folder.root / "back.md").write_text("x")

    async with watching(folder, poll=poll) as calls:
        await calls.next(vanish, lambda call: call is None or names(call) == {"a.md"})
        await calls.next(come_back, lambda call: call is None or names(call) == {"back.md"})
        await calls.next(lambda: (folder.root / "a.md").write_text("once more"), lambda call: "a.md" in names(call))


async def test_a_root_replaced_at_once_is_watched_on(folder: Folder) -> None:
    def replace() -> None:
        shutil.rmtree(folder.root)
        folder.root.mkdir()

    async with watching(folder) as calls:
        await calls.next(replace, full)
        await calls.next(lambda: None, full)
        call = await calls.next(lambda: (folder.root / "b.md").write_text("x"), naming("b.md"))

        assert call == {folder.root / "b.md"}


async def test_a_root_that_is_not_there_yet_is_picked_up(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "later"

    async with watching(Folder(root, "lib")) as calls:
        await calls.next(root.mkdir, full)
        await calls.next(lambda: (root / "a.md").write_text("x"), naming("a.md"))


async def test_polling_tells_writes_deletions_and_new_folders(folder: Folder) -> None:
    def fill() -> None:
        (folder.root / "new/nested").mkdir(parents=True)
        (folder.root / "new/nested/x.md").write_text("x")

    async with watching(folder, poll=True) as calls:
        await calls.next(fill, naming("x.md"))
        await calls.next(lambda: (folder.root / "a.md").write_text("longer"), naming("a.md"))
        await calls.next((folder.root / "a.md").unlink, naming("a.md"))

    assert calls.all[0] is None


async def test_a_full_scan_comes_every_interval(folder: Folder) -> None:
    async with watching(folder, interval=0.05) as calls:
        await calls.until(lambda: len(calls.all) > 3)

        assert set(map(full, calls.all)) == {True}


async def test_an_exception_does_not_end_the_watch(folder: Folder, caplog: pytest.LogCaptureFixture) -> None:
    calls = Calls()

    async def fail(paths: Call) -> None:
        await calls(paths)
        raise ValueError("no")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch, [folder], fail)
        await calls.until(lambda: bool(calls.all))
        await calls.next(lambda: (folder.root / "a.md").write_text("1"), naming("a.md"))
        tasks.cancel_scope.cancel()

    assert "following a change failed; the watch goes on" in caplog.messages


async def test_a_failing_watcher_is_replaced_by_polling_with_one_warning(
    folder: Folder, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(*_: object, **__: object) -> None:
        raise OSError(28, "no space left on device")  # what inotify says when all its watches are in use

    monkeypatch.setattr("watchfiles.watch", exhausted)

    async with watching(folder) as calls:
        await calls.next(lambda: (folder.root / "a.md").write_text("longer"), naming("a.md"))

    warnings = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert warnings[0].startswith("the system's file events failed, changes are polled for instead")


@pytest.mark.parametrize("poll", [False, True])
async def test_it_ends_promptly_when_cancelled(folder: Folder, poll: bool) -> None:
    async with watching(folder, poll=poll):
        start = time.monotonic()

    assert time.monotonic() - start < 0.5


async def test_it_ends_when_stopped(folder: Folder) -> None:
    stop, calls = anyio.Event(), Calls()

    async def run() -> None:
        await watch([folder], calls, stop=stop)

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await calls.until(lambda: bool(calls.all))
            stop.set()

    assert calls.all == [None]


def test_starting_does_not_load_the_watcher() -> None:
    code = "import sys, bookwheel.watch; print('watchfiles' in sys.modules)"

    answer = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=os.environ)

    assert answer.stdout == "False\n"
