"""Children read what we do not trust: they may die, hang or fill their memory, and the rest lives on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bookwheel import formats
from bookwheel.children.pool import Limits, Pool
from bookwheel.errors import ParseFailed, TooLarge, Unavailable, Unreadable
from bookwheel.model import Document, Source

CASES = Path(__file__).parents[1] / "formats" / "cases"
SLOW = b"Title\n=====\n\n.. note:: *x* ``y``\n\n" * 200_000  # takes our own reader many seconds


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool(size=2)
    yield made
    made.rest()


def limited(**limits: float) -> Pool:
    return Pool(Limits(**limits), size=1)  # type: ignore[arg-type] # each is of its own type


def ask(pool: Pool, name: str, data: bytes | None = None) -> Document:
    path = CASES / name.partition(".")[2] / name
    source = Source("cases", str(path), path.name)
    return pool.read(source, path.read_bytes() if data is None else data, source.suffix)


def children(pool: Pool) -> list[int]:
    return [worker._process.pid for worker in pool._idle]


def test_a_child_gives_the_same_document_as_the_reader_itself(pool: Pool) -> None:
    for name in ("manual.pdf", "room.docx", "talk.pptx", "stock.xlsx", "book.epub", "minutes.eml", "guide.rst"):
        path = CASES / name.partition(".")[2] / name

        assert ask(pool, name) == formats.read(Source("cases", str(path), name), path.read_bytes())


def test_errors_of_the_reader_arrive_as_they_are(pool: Pool) -> None:
    with pytest.raises(ParseFailed, match=r"^this PDF is encrypted: save a copy without a password, and try again$"):
        ask(pool, "locked.pdf")
    with pytest.raises(Unreadable, match=r"^Unsupported format: x\.exe cannot be read"):
        pool.read(Source("l", "x.exe", "x.exe"), b"x", ".exe")


def test_a_child_is_kept_for_the_next_file_and_replaced_after_enough(pool: Pool) -> None:
    few = limited(files=2)
    seen = []
    for _ in range(3):
        ask(few, "gap.pdf")
        seen.append(children(few))
    few.rest()

    assert seen[0] != []
    assert seen[1] == []  # it has read its two
    assert seen[2] != seen[0]


def test_a_child_that_is_killed_fails_one_file_only(pool: Pool) -> None:
    ask(pool, "gap.pdf")
    (victim,) = children(pool)
    os.kill(victim, signal.SIGSTOP)  # so that it cannot answer
    failed = ThreadPoolExecutor(1).submit(ask, pool, "manual.pdf")
    while pool._idle:
        pass  # until the file is on its way to the child
    os.kill(victim, signal.SIGKILL)

    with pytest.raises(ParseFailed, match=r"its reader broke down \(signal 9\).*save it anew, or in smaller parts"):
        failed.result()
    assert ask(pool, "manual.pdf").pages


def test_a_child_that_died_between_two_files_is_replaced(pool: Pool) -> None:
    ask(pool, "gap.pdf")
    (victim,) = children(pool)
    os.kill(victim, signal.SIGKILL)
    os.waitid(os.P_PID, victim, os.WEXITED | os.WNOWAIT)

    assert ask(pool, "gap.pdf").text == "First page.\n\nThird page.\n"


def test_a_file_that_takes_too_long_is_given_up() -> None:
    pool = limited(wall=0.2)

    with pytest.raises(ParseFailed, match=r"it was given up after 0\.2 s: split it, or save it in a simpler form"):
        ask(pool, "guide.rst", SLOW)

    assert children(pool) == []


def test_a_file_that_computes_too_long_is_given_up() -> None:
    pool = limited(cpu=1)

    with pytest.raises(ParseFailed, match="it was given up after 1 s of computing"):
        ask(pool, "guide.rst", SLOW)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound addresses")
def test_a_file_that_fills_the_memory_is_given_up() -> None:
    pool = limited(memory=120_000_000)

    with pytest.raises((TooLarge, ParseFailed), match="memory"):
        ask(pool, "stock.json", b"[" + b"[1],\n" * 2_000_000 + b"1]")
    assert ask(pool, "gap.pdf").pages
    pool.rest()


def test_a_sheet_that_reaches_to_the_last_cell_harms_nobody(pool: Pool) -> None:
    with pytest.raises((ParseFailed, TooLarge), match="memory"):
        ask(pool, "wide.xlsx")
    assert ask(pool, "stock.xlsx").text


def test_an_answer_without_end_is_refused() -> None:
    with pytest.raises(ParseFailed, match="its reader broke down"):
        ask(limited(text=100), "manual.pdf")


def test_many_threads_share_the_children(pool: Pool) -> None:
    names = ["manual.pdf", "room.docx", "locked.pdf", "stock.xlsx"] * 6

    def outcome(name: str) -> str:
        try:
            return ask(pool, name).text
        except ParseFailed as error:
            return error.message

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(outcome, names))

    assert found == [outcome(name) for name in names[:4]] * 6
    assert len(children(pool)) <= 2


def test_cancelling_ends_what_is_under_way(pool: Pool) -> None:
    waiting = ThreadPoolExecutor(1).submit(ask, pool, "guide.rst", SLOW)
    while not pool._busy:
        pass  # until the child is at it
    pool.cancel()

    with pytest.raises(Unavailable, match="stopped before it was done"):
        waiting.result()


def test_a_child_knows_no_secrets_writes_no_files_and_ends_with_us(tmp_path: Path) -> None:
    program = (
        "import os, sys\nfrom bookwheel.children.pool import Pool\nfrom bookwheel.model import Source\n"
        "pool = Pool(size=1)\n"
        "try:\n    pool.read(Source('l', 'a', 'a'), b'', '.zip')\nexcept Exception:\n    pass\n"
        "print(pool._idle[0]._process.pid, flush=True)\nsys.stdin.read()\nos._exit(0)"
    )
    environment = {**os.environ, "API_KEY": "secret"}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as parent:
        assert parent.stdout
        assert parent.stdin
        pid = int(parent.stdout.readline())
        known = Path(f"/proc/{pid}/environ").read_bytes() if sys.platform == "linux" else b""
        limits = Path(f"/proc/{pid}/limits").read_text() if sys.platform == "linux" else ""
        parent.stdin.close()
        parent.wait()

    gone = threading.Event()
    threading.Thread(target=_wait_for, args=(pid, gone), daemon=True).start()
    assert b"secret" not in known
    assert not limits or "Max file size             0" in limits
    assert gone.wait(60)


def _wait_for(pid: int, gone: threading.Event) -> None:
    while Path(f"/proc/{pid}").exists() and sys.platform == "linux":
        os.sched_yield()
    gone.set()


def test_a_child_needs_neither_the_protocol_nor_the_index(pool: Pool) -> None:
    program = (
        "import sys, bookwheel.children.child\n"
        "print({'mcp', 'numpy', 'sqlite3', 'ssl', 'asyncio', 'yaml', 'html_to_markdown'} & set(sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "set()\n"
