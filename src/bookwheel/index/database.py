"""One SQLite file: its layout, its transactions, and what happens when it cannot be used.

Every change is one transaction, so after a crash the old or the new state is whole. Several processes
may use one file: readers never wait, writers take turns.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bookwheel.errors import Unavailable

PATIENCE = 60.0  # seconds a writer waits for its turn

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Layout:
    """The tables of a file; one of another version is set aside and made anew."""

    version: int
    statements: str
    tables: tuple[str, ...]  # those that must be there


class Database:
    """A connection to read and one to write, each for one thread at a time."""

    def __init__(self, path: Path, layout: Layout) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = _open(path, layout)
            self._reader = _connect(path)
        except (OSError, sqlite3.Error) as error:
            raise Unavailable(
                f"the store {path.parent} cannot be used ({error}); name another folder with --store",
                store=str(path.parent),
            ) from error
        self._read_turn = threading.RLock()
        self._write_turn = threading.RLock()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give one consistent view of everything."""
        with self._read_turn, self._explained():
            self._reader.execute("BEGIN")
            try:
                yield self._reader
            finally:
                with contextlib.suppress(sqlite3.Error):
                    self._reader.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Make all that is written inside visible at once, or none of it."""
        with self._write_turn, self._explained():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("UPDATE state SET value = value + 1 WHERE name = 'generation'")
                self._writer.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say what to do where the file fails."""
        try:
            yield
        except sqlite3.OperationalError as error:
            message = f"the store {self.path.parent} is busy or cannot be written ({error}); try again in a moment"
            raise Unavailable(message) from error
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:
                raise  # a bug of ours, not of the file
            message = f"the index {self.path} is damaged ({error}); stop all servers, remove it, and start again"
            raise Unavailable(message) from error

    def close(self) -> None:
        """Let go of the file."""
        with self._read_turn, self._write_turn:
            self._reader.close()
            self._writer.close()


def _open(path: Path, layout: Layout) -> sqlite3.Connection:
    """Return a connection to a file of the right layout; a broken or foreign one is set aside, not deleted."""
    with open(path.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two processes must not set the same file aside
        if reason := _fault(path, layout):
            _set_aside(path, reason)
        return _lay_out(_connect(path), layout)


def _fault(path: Path, layout: Layout) -> str:
    """Return why a file cannot be used; empty if it can, or is not there."""
    if not path.exists():
        return ""
    connection = sqlite3.connect(path, timeout=PATIENCE)
    try:
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        for table in layout.tables if found == layout.version else ():
            connection.execute(f"SELECT MAX(rowid) FROM {table}").fetchone()  # noqa: S608 - our own names
        if _truncated(connection, path):
            return "a part of it is missing"
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        return str(error)
    finally:
        connection.close()
    return "" if found in {0, layout.version} else f"it has layout {found}, not {layout.version}"


def _truncated(connection: sqlite3.Connection, path: Path) -> bool:
    """Tell whether the file is shorter than it says; what still waits in the log counts too."""
    pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    log_file = path.with_name(path.name + "-wal")
    waiting = log_file.stat().st_size if log_file.exists() else 0
    return bool(path.stat().st_size + waiting < pages * size)


def _set_aside(path: Path, reason: str) -> None:
    aside = path.with_name(f"{path.stem}-{time.strftime('%Y%m%d-%H%M%S')}{path.suffix}")
    path.rename(aside)
    for tail in ("-wal", "-shm"):
        path.with_name(path.name + tail).unlink(missing_ok=True)
    log.warning("the index could not be read (%s): kept as %s, and a new one is built", reason, aside.name)


def _lay_out(connection: sqlite3.Connection, layout: Layout) -> sqlite3.Connection:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone()[0] == 0:  # another process may have been first
        for statement in filter(str.strip, layout.statements.split(";")):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {layout.version}")
    connection.execute("COMMIT")
    return connection


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -8000")
    return connection
