"""A process that reads files for another one, within limits: it may crash, hang or fill its memory, and harm nobody."""

from __future__ import annotations

import os
import select
import signal
import sys
from typing import IO

from bookwheel import formats
from bookwheel.children import wire
from bookwheel.errors import BookwheelError, ParseFailed, TooLarge
from bookwheel.model import Source

LARGEST = 1 << 32  # bytes of a request: the parent decides what is too large


def main() -> None:
    """Read what comes on standard input until nothing comes any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    requests = os.fdopen(0, "rb", buffering=0)  # what is in a buffer would hide from select()
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no reply
    memory, idle = sys.argv[1].split()
    confine(int(memory))
    while select.select([requests], [], [], float(idle))[0]:
        request = wire.receive(requests, LARGEST)
        if request is None:
            break
        answer(replies, *request)


def confine(memory: int) -> None:
    """Bound memory, and forbid files to be written and left behind; where a system knows no such limit, go on."""
    try:
        import resource  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return
    wanted = {"RLIMIT_AS": memory, "RLIMIT_DATA": memory, "RLIMIT_FSIZE": 0, "RLIMIT_CORE": 0, "RLIMIT_NOFILE": 64}
    for name, value in wanted.items():
        try:
            resource.setrlimit(getattr(resource, name), (value, value))
        except (ValueError, OSError, AttributeError):  # macOS refuses a limit on addresses
            continue


def allow(seconds: int) -> None:
    """Bound the time this process may compute from now on."""
    try:
        import resource  # noqa: PLC0415

        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        resource.setrlimit(resource.RLIMIT_CPU, (int(used) + seconds + 1, resource.RLIM_INFINITY))
    except (ImportError, ValueError, OSError):
        return


def answer(replies: IO[bytes], request: wire.Head, data: bytes) -> None:
    """Send back the document in *data*, or why there is none."""
    allow(int(request["cpu"]))
    source = Source(request["library"], request["location"], request["path"])
    try:
        document = formats.read(source, data, request["form"])
        wire.send(replies, *wire.pack(document))
    except BookwheelError as error:
        wire.send(replies, {"error": type(error).__name__, "message": error.message}, b"")
    except MemoryError:
        wire.send(
            replies, {"error": TooLarge.__name__, "message": "it needs more memory than is allowed: split it"}, b""
        )
    except BaseException as error:  # noqa: BLE001 - whatever a reader raises, also a panic of one written in Rust
        message = (
            f"it cannot be read, damaged perhaps ({type(error).__name__}): open it in its own program and save it anew"
        )
        wire.send(replies, {"error": ParseFailed.__name__, "message": message}, b"")


if __name__ == "__main__":
    main()
