"""A few child processes that read untrusted files: started when needed, replaced when they die or have done enough."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from bookwheel.children import wire
from bookwheel.errors import BookwheelError, ParseFailed, TooLarge, Unavailable, Unreadable
from bookwheel.model import Document, Source

IDLE = 30.0  # seconds without work after which a child ends itself
_BOOT = "import sys; sys.path[:] = sys.argv[2:]; from bookwheel.children.child import main; main()"
_KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR")
_ERRORS = {one.__name__: one for one in (Unreadable, ParseFailed, TooLarge)}


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may cost."""

    memory: int = 1 << 30  # bytes of addresses
    cpu: int = 60  # seconds
    wall: float = 120.0  # seconds
    text: int = 200_000_000  # bytes of the answer
    files: int = 100  # after which a child is replaced, whatever its readers have let leak


class Pool:
    """Reads files in children, as many at once as it has places; to be used from any thread."""

    def __init__(self, limits: Limits | None = None, size: int | None = None) -> None:
        self.limits = limits or Limits()
        self.size = size or min(4, os.cpu_count() or 1)
        self._places = threading.BoundedSemaphore(self.size)
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()

    def read(self, source: Source, data: bytes, form: str) -> Document:
        """Return the document in *data*, read as its *form* says.

        Raises what the reader raises, and ParseFailed or TooLarge for a file that breaks its reader.
        """
        with self._places:
            worker = self._take()
            self._busy.add(worker)
            try:
                reply = worker.ask(source, data, form)
            finally:
                self._busy.discard(worker)
                self._give(worker)
        if reply is None:
            raise worker.failure()
        return _document(source, *reply)

    def rest(self) -> None:
        """End the children that have nothing to do; later work starts new ones."""
        while self._idle:
            with contextlib.suppress(IndexError):
                self._idle.pop().end()

    def cancel(self) -> None:
        """Give up all that is being read: whoever waits for it gets Unavailable."""
        for worker in list(self._busy):
            worker.cancel()

    def _take(self) -> Worker:
        while self._idle:
            with contextlib.suppress(IndexError):  # each step is one, so there is no lock
                worker = self._idle.pop()
                if worker.usable:
                    return worker
                worker.end()
        return Worker(self.limits)

    def _give(self, worker: Worker) -> None:
        if worker.usable:
            self._idle.append(worker)
        else:
            worker.end()


class Worker:
    """One child, and the pipes to it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._done = 0
        self._rested = time.monotonic()
        self._late = False
        self._cancelled = False
        paths = [str(Path(__file__).parents[2]), *filter(None, sys.path)]
        self._process = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-I", "-S", "-B", "-c", _BOOT, f"{limits.memory} {IDLE}", *paths],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={key: os.environ[key] for key in _KEPT if key in os.environ},
            process_group=0,  # Ctrl-C is for us
        )

    @property
    def usable(self) -> bool:
        """Whether it can take another file, and is not about to end itself for want of work."""
        fresh = time.monotonic() - self._rested < IDLE / 2
        return fresh and self._process.poll() is None and self._done < self._limits.files

    def ask(self, source: Source, data: bytes, form: str) -> tuple[wire.Head, bytes] | None:
        """Return what the child says of a file; None if it died or was too slow, and is gone by now."""
        assert self._process.stdin  # noqa: S101 - it was asked for
        assert self._process.stdout  # noqa: S101
        request = {"library": source.library, "location": source.location, "path": source.path}
        watch = threading.Timer(self._limits.wall, self._kill)
        watch.daemon = True
        watch.start()
        try:
            wire.send(self._process.stdin, {**request, "form": form, "cpu": self._limits.cpu}, data)
            reply = wire.receive(self._process.stdout, self._limits.text)
        except (OSError, ValueError):
            self._process.kill()
            reply = None
        finally:
            watch.cancel()
        self._done += 1
        self._rested = time.monotonic()
        if reply is None:
            self._process.wait()
        return reply

    def _kill(self) -> None:
        self._late = True
        self._process.kill()

    def cancel(self) -> None:
        """Give up the file under way."""
        self._cancelled = True
        self._process.kill()

    def failure(self) -> BookwheelError:
        """Return why there was no answer, in a sentence."""
        if self._cancelled:
            return Unavailable("reading was stopped before it was done: try again")
        code = -self._process.wait()
        if self._late or code == signal.SIGXCPU:
            spent = f"{self._limits.wall:g} s" if self._late else f"{self._limits.cpu} s of computing"
            return ParseFailed(f"it was given up after {spent}: split it, or save it in a simpler form")
        return ParseFailed(
            f"its reader broke down ({f'signal {code}' if code > 0 else 'it ended'}), for want of memory perhaps: "
            "open it in its own program and save it anew, or in smaller parts"
        )

    def end(self) -> None:
        """End the child, if it is still there, and let go of it."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                try:
                    stream.close()
                except BrokenPipeError:  # what was not sent has nobody to go to
                    continue


def _document(source: Source, head: wire.Head, body: bytes) -> Document:
    """Return the document in a reply, or raise the error in it."""
    try:
        if "error" in head:
            raise _ERRORS.get(head["error"], ParseFailed)(str(head["message"]))
        return wire.unpack(source, head, body)
    except BookwheelError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise ParseFailed("its reader gave no sensible answer: open it in its own program and save it anew") from error
