"""A file is changed in one step or not at all, whatever happens in between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bookwheel.errors import Conflict, Forbidden, NotFound
from bookwheel.swap import TRIES, rewrite

CHILD = """
import os, resource, signal, sys
from pathlib import Path
from bookwheel.swap import rewrite

place, locks = Path(sys.argv[1]), Path(sys.argv[2])
{before}
rewrite(place, lambda data: {change}, locks)
"""
DIE = "os.kill(os.getpid(), signal.SIGKILL)"
AT_THE_SWAP = f"sys.addaudithook(lambda event, _: {DIE} if event == 'os.rename' else None)"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A file alone in a folder."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.org").write_bytes(b"old\n")
    return folder / "a.org"


@pytest.fixture
def locks(tmp_path: Path) -> Path:
    """Where processes take turns; it need not be there."""
    return tmp_path / "locks" / "edits"


def child(place: Path, locks: Path, change: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """Rewrite the file in a process of its own."""
    code = CHILD.format(change=change, before=before)
    words = [sys.executable, "-c", code, str(place), str(locks)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def beside(place: Path) -> list[str]:
    """Return what is in the folder."""
    return sorted(one.name for one in place.parent.iterdir())


def test_content_is_replaced_and_nothing_is_left_beside(place: Path, locks: Path) -> None:
    assert rewrite(place, bytes.upper, locks) is True

    assert place.read_bytes() == b"OLD\n"
    assert beside(place) == ["a.org"]


@pytest.mark.parametrize("after", [None, b"old\n"])
def test_file_without_a_change_is_not_touched(place: Path, locks: Path, after: bytes | None) -> None:
    before = place.stat()

    changed = rewrite(place, lambda _: after, locks)

    assert (changed, place.stat().st_ino, place.stat().st_mtime_ns) == (False, before.st_ino, before.st_mtime_ns)


def test_error_in_the_change_leaves_the_file(place: Path, locks: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        rewrite(place, lambda _: bytes(1 // 0), locks)

    assert (place.read_bytes(), beside(place)) == (b"old\n", ["a.org"])


def test_file_that_is_not_there_is_not_made(place: Path, locks: Path) -> None:
    with pytest.raises(NotFound):
        rewrite(place.with_name("b.org"), lambda _: b"new", locks)

    assert beside(place) == ["a.org"]


# other writers


def test_change_is_asked_again_if_the_file_changed_meanwhile(place: Path, locks: Path) -> None:
    seen: list[bytes] = []

    def change(data: bytes) -> bytes:
        seen.append(data)
        if len(seen) == 1:
            place.write_bytes(b"theirs\n")
        return data + b"ours\n"

    rewrite(place, change, locks)

    assert seen == [b"old\n", b"theirs\n"]
    assert place.read_bytes() == b"theirs\nours\n"
    assert beside(place) == ["a.org"]


def test_file_that_changes_all_the_time_is_a_conflict_and_stays_theirs(place: Path, locks: Path) -> None:
    times = 0

    def change(data: bytes) -> bytes:
        nonlocal times
        times += 1
        place.write_bytes(b"theirs %d\n" % times)
        return data + b"ours\n"

    with pytest.raises(Conflict, match=r"a\.org"):
        rewrite(place, change, locks)

    assert place.read_bytes() == b"theirs %d\n" % TRIES
    assert beside(place) == ["a.org"]


def test_file_that_is_removed_meanwhile_stays_away(place: Path, locks: Path) -> None:
    def change(data: bytes) -> bytes:
        place.unlink()
        return data + b"ours\n"

    with pytest.raises((NotFound, Forbidden)):
        rewrite(place, change, locks)

    assert beside(place) == []


def test_lock_that_emacs_takes_meanwhile_counts(place: Path, locks: Path) -> None:
    def change(data: bytes) -> bytes:
        place.with_name(".#a.org").symlink_to(f"me@far.example.{os.getpid()}")
        return data + b"ours\n"

    with pytest.raises(Conflict, match=r"me@far\.example"):
        rewrite(place, change, locks)

    assert (place.read_bytes(), beside(place)) == (b"old\n", [".#a.org", "a.org"])


def test_threads_and_processes_take_turns(place: Path, locks: Path) -> None:
    place.write_bytes(b"0")
    plus = "str(int(data) + 1).encode()"

    def count() -> None:
        for _ in range(20):
            rewrite(place, lambda data: str(int(data) + 1).encode(), locks)

    threads = [threading.Thread(target=count) for _ in range(3)]
    for thread in threads:
        thread.start()
    children = [child(place, locks, plus) for _ in range(5)]
    for thread in threads:
        thread.join()

    assert [one.returncode for one in children] == [0] * 5
    assert place.read_bytes() == b"65"


# what can go wrong


@pytest.mark.parametrize(
    ("change", "before"),
    [(DIE, ""), ("b'new'", AT_THE_SWAP)],
    ids=["before the new file", "before the swap"],
)
def test_kill_leaves_the_old_file_and_the_next_edit_works(place: Path, locks: Path, change: str, before: str) -> None:
    killed = child(place, locks, change, before)
    after = place.read_bytes()

    rewrite(place, bytes.upper, locks)

    assert (killed.returncode, after, place.read_bytes()) == (-signal.SIGKILL, b"old\n", b"OLD\n")
    assert all(name.startswith(".") for name in beside(place) if name != "a.org")  # no scan picks that up


def test_disk_that_takes_no_more_leaves_the_old_file_and_nothing_else(place: Path, locks: Path) -> None:
    full = "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"

    failed = child(place, locks, "b'x' * 100_000", full)

    assert "Forbidden: a.org cannot be written: File too large" in failed.stderr
    assert (place.read_bytes(), beside(place)) == (b"old\n", ["a.org"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
@pytest.mark.parametrize(("folder", "file"), [(0o555, 0o644), (0o755, 0o444)], ids=["folder", "file"])
def test_what_may_not_be_written_stays(place: Path, locks: Path, folder: int, file: int) -> None:
    place.chmod(file)
    place.parent.chmod(folder)

    try:
        with pytest.raises(Forbidden, match=r"a\.org"):
            rewrite(place, bytes.upper, locks)
    finally:
        place.parent.chmod(0o755)

    assert (place.read_bytes(), beside(place)) == (b"old\n", ["a.org"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_what_may_not_be_read_is_forbidden(place: Path, locks: Path) -> None:
    place.chmod(0o200)

    with pytest.raises(Forbidden, match=r"a\.org"):
        rewrite(place, bytes.upper, locks)
