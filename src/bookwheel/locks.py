"""Take turns with other processes, by a file that one of them holds."""

from __future__ import annotations

import fcntl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

LOOK = 0.1  # seconds between two tries


@contextmanager
def turn(path: Path, until: threading.Event | None = None) -> Iterator[bool]:
    """Hold the lock file at *path*; give whether it is held.

    Waits for it until told to stop, or not at all without *until*. The system lets go of it if the process dies.
    """
    with open(path, "w") as lock:
        held = _take(lock)
        while not held and until and not until.wait(LOOK):
            held = _take(lock)
        yield held


def _take(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
