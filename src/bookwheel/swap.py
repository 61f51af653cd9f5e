"""Change a file in one step, or not at all, and never over what somebody else has written meanwhile."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from bookwheel.errors import Conflict, Forbidden, NotFound
from bookwheel.locks import turn

TRIES = 5  # of an edit, while somebody else keeps writing
_OWNER = re.compile(r"(?P<who>.*)@(?P<host>[^@]*)\.(?P<process>\d+)(?::\d+)?")


def rewrite(path: Path, change: Callable[[bytes], bytes | None], locks: Path) -> bool:
    """Replace what is in a file by what *change* makes of it; tell whether there was anything to change.

    Links are followed and the mode is kept. Processes of ours take turns by a file in *locks*; if another program has
    written meanwhile, *change* is asked again. Raises Conflict if an editor has the file open with changes, or keeps
    writing; whatever is raised, the file is as it was.
    """
    real = path.resolve()
    locks.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(os.fsencode(real)).hexdigest()[:16]
    with turn(locks / f"edit-{name}.lock", threading.Event()):
        for _ in range(TRIES):
            refuse_locked(real)
            before = _read(real)
            after = change(before)
            if after is None or after == before:
                return False
            if _swap(real, before, after):
                return True
    raise Conflict(f"{path.name} is being written by another program all the time; try again")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except PermissionError as error:
        raise Forbidden(f"{path.name} may not be read by this server") from error
    except OSError as error:
        raise NotFound(f"{path.name} is not there any more") from error


def _swap(path: Path, before: bytes, after: bytes) -> bool:
    """Put the new content in place of the old; False if the file is not the old one any more."""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".bookwheel-", suffix="~")
    except OSError as error:
        raise Forbidden(f"nothing may be written beside {path.name}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        _take_after(path, temporary)
        refuse_locked(path)
        if not os.access(path, os.W_OK):
            raise Forbidden(f"{path.name} may not be written by this server")
        if _read(path) != before:
            return False
        os.replace(temporary, path)  # noqa: PTH105 - both are names already
    except OSError as error:
        raise Forbidden(f"{path.name} cannot be written: {error.strerror}") from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)  # noqa: PTH108 - the same
    _settle(path.parent)
    return True


def _take_after(path: Path, temporary: str) -> None:
    """Give a new file the mode and, where that is allowed, the owner of the old one."""
    shutil.copymode(path, temporary)
    status = path.stat()
    with contextlib.suppress(OSError):
        os.chown(temporary, status.st_uid, status.st_gid)
        shutil.copymode(path, temporary)


def _settle(folder: Path) -> None:
    """Make sure that a renaming outlives a crash."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def refuse_locked(path: Path) -> None:
    """Raise Conflict if Emacs has unsaved changes of a file; the lock of a process that is gone is none."""
    lock = path.with_name(f".#{path.name}")
    try:
        owner = str(lock.readlink()) if lock.is_symlink() else lock.read_text("utf-8", "replace")
    except OSError:
        return
    found = _OWNER.fullmatch(owner.strip())
    if found and found["host"] == socket.gethostname() and not _runs(int(found["process"])):
        return
    who = found["who"] + "@" + found["host"] if found else "somebody"
    raise Conflict(f"{path.name} has unsaved changes in Emacs, of {who}: save it there, and try again", owner=who)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
