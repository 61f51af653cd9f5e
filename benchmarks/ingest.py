"""Measure taking documents in: where the time goes, how memory grows, what is unchanged, what is sent over HTTP.

    python benchmarks/ingest.py [--documents 300] [--json]

Every part runs in a process of its own, which calls the catalog directly; uploads go to the real server. Memory is of
that process with its children, looked at from outside. Ends with 1 if a limit is missed. Linux only.
"""

import argparse
import json
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ground import Row, table
from measure import BOOKWHEEL, PATIENCE
from mixture import make_mixture
from serving import Server

FEW, MANY = 200, 2_000  # documents between which memory must not grow
LOOK = 0.02  # seconds between two looks at the memory
UPLOADED = 50_000_000  # bytes
PIECE = 1 << 18
EDGE = "next-part"
TAIL = f"\r\n--{EDGE}--\r\n".encode()
PHASES = ("embedding", "conversion", "chunking", "store")


def measure(work: Path, count: int) -> Iterator[Row]:
    """Yield all rows."""
    yield from taking_in(work, count)
    yield from growing(work)
    yield from sending(work / "served")


def taking_in(work: Path, count: int) -> Iterator[Row]:
    """Take documents in with the bundled model, and then all of them again."""
    make_mixture(work / "mixture", count)
    found, most = watched(work / "mixture", work / "store", "minilm")
    whole = found["cpu"]
    yield Row(f"{count} documents, passages", found["passages"], "")
    yield Row("a document, CPU", whole / count * 1000, "ms")
    yield Row("a document, wall", found["wall"] / count * 1000, "ms")
    for phase in PHASES:
        yield Row(f"{phase}, of all CPU", found[phase] / whole * 100, "%")
    outside = whole - found["embedding"] - found["conversion"]
    yield Row("all but embedding and conversion, of all CPU", outside / whole * 100, "%", 15)
    for phase in PHASES:
        yield Row(f"{phase}, of the threads' time", found[f"{phase}, wall"] / found["threads"] * 100, "%")
    yield Row("memory at most", most, "MB", 600)
    yield Row("all of them again, unchanged, of the first CPU", found["again, cpu"] / whole * 100, "%", 2)
    yield Row("the same, of the first wall", found["again, wall"] / found["wall"] * 100, "%", 2)


def growing(work: Path) -> Iterator[Row]:
    """Take few documents in and then many, without vectors: two thousand of them would take many minutes."""
    costs, peaks = list[float](), list[float]()
    for count in (FEW, MANY):
        make_mixture(work / f"mixture-{count}", count)
        found, most = watched(work / f"mixture-{count}", work / f"store-{count}", "none")
        costs.append((found["cpu"] - found["conversion"]) / count * 1000)
        peaks.append(most)
    yield Row(f"memory at most, {FEW} documents, no vectors", peaks[0], "MB")
    yield Row(f"memory at most, {MANY} documents, no vectors", peaks[1], "MB", 600)
    yield Row(f"memory grows from {FEW} to {MANY} documents by", peaks[1] - peaks[0], "MB", 60)
    yield Row(f"all but conversion, one of {MANY}, against one of {FEW}, CPU", costs[1], "ms", 1.5, costs[0])


def watched(folder: Path, store: Path, embedder: str) -> tuple[dict[str, float], float]:
    """Return what the job finds in a fresh process, and the most memory it and its children had at once."""
    command = [sys.executable, __file__, "--job", str(folder), str(store), embedder]
    most = 0.0
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        while process.poll() is None:
            most = max(most, sum(map(memory, family(process.pid))))
            time.sleep(LOOK)
        assert process.stdout
        assert process.returncode == 0
        found: dict[str, float] = json.loads(process.stdout.read())
    return found, most


def family(parent: int) -> Iterator[int]:
    """Yield a process and its children, but for those that still are its likeness: they share its memory."""
    yield parent
    for thread in Path(f"/proc/{parent}/task").glob("*/children"):
        yield from (int(child) for child in text(thread).split() if words(int(child)) != words(parent))


def memory(process: int) -> float:
    """Return how many million bytes a process has now; none if it has ended."""
    sizes = text(Path(f"/proc/{process}/status")).partition("VmRSS:")[2].split()
    return int(sizes[0]) * 1024 / 1e6 if sizes else 0.0


def words(process: int) -> str:
    """Return the command line of a process."""
    return text(Path(f"/proc/{process}/cmdline"))


def text(path: Path) -> str:
    """Return what the system says of a process; nothing if it has ended meanwhile."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


# the job, in a process of its own


class Meter:
    """Adds up the seconds that calls take, by what they are for."""

    def __init__(self) -> None:
        self.cpu: dict[str, float] = defaultdict(float)
        self.wall: dict[str, float] = defaultdict(float)
        self._turn = threading.Lock()

    def watch(self, phase: str, owner: object, *names: str) -> None:
        """Time these functions of an owner from now on."""
        for name in names:
            setattr(owner, name, self._timed(phase, getattr(owner, name)))

    def phases(self) -> dict[str, float]:
        """Return the seconds of each phase: CPU, children in conversion, and what threads waited for it."""
        self.cpu["conversion"] += children()
        cpu = {phase: self.cpu[phase] for phase in PHASES} | {"store": self.cpu["store"] + self.cpu["vectors"]}
        wall = {phase: self.wall[phase] for phase in PHASES} | {"store": self.wall["store"] + self.wall["vectors"]}
        wall["embedding"] = self.wall["prepare"] - self.wall["vectors"]
        return {**cpu, **{f"{phase}, wall": wall[phase] for phase in wall}, "threads": self.wall["threads"]}

    def _timed(self, phase: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            cpu, wall = time.thread_time(), time.perf_counter()
            try:
                found = call(*arguments, **named)
                return iter(list(found)) if isinstance(found, Iterator) else found  # what is lazy is done now
            finally:
                with self._turn:
                    self.cpu[phase] += time.thread_time() - cpu
                    self.wall[phase] += time.perf_counter() - wall

        return timed


def job(folder: str, store: str, embedder: str) -> dict[str, float]:
    """Take a folder in, twice; libraries and the model are loaded before."""
    from bookwheel.catalog import Catalog  # noqa: PLC0415 - the job's own process needs it, the others do not
    from bookwheel.ingest import Wanted  # noqa: PLC0415 - the same

    catalog, meter = Catalog(Path(store), embedder=embedder), Meter()
    intake = catalog.ingest("bench")
    watch(catalog, meter)
    cpu, wall, first = spent(lambda: intake.folder(Wanted(folder, "bench")))
    phases = meter.phases()
    again_cpu, again_wall, second = spent(lambda: intake.folder(Wanted(folder, "bench")))
    catalog.close()
    assert not first.errors, first.errors
    assert first.count("indexed") == second.count("skipped") == len(first.results)
    passages = sum(one.chunk_count for one in first.results)
    return {
        **phases,
        "cpu": cpu,
        "wall": wall,
        "again, cpu": again_cpu,
        "again, wall": again_wall,
        "passages": passages,
    }


def watch(catalog: Any, meter: Meter) -> None:
    """Time the parts of taking in."""
    from bookwheel import conversion, ingest  # noqa: PLC0415 - as above
    from bookwheel.index import segments  # noqa: F401, PLC0415 - loaded before it is timed

    if catalog.semantics:
        catalog.semantics.embedder.embed(["warm up"])
        meter.watch("embedding", catalog.semantics.embedder, "embed")
        meter.watch("vectors", catalog.semantics.vectors, "known", "add")
        meter.watch("prepare", catalog.semantics, "prepare")
    meter.watch("store", catalog.store, "register", "record", "replace")
    meter.watch("conversion", conversion, "read", "as_markdown")
    meter.watch("chunking", ingest, "split")
    meter.watch("threads", catalog.intake, "file")


def spent(act: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return the CPU seconds of an act, those of children too, the seconds on the clock, and what it gave."""
    from bookwheel.conversion import POOL  # noqa: PLC0415 - as above

    cpu, wall = time.process_time() + children(), time.perf_counter()
    found = act()
    wall = time.perf_counter() - wall
    POOL.rest()  # what children cost is known when they have ended
    return time.process_time() + children() - cpu, wall, found


def children() -> float:
    """Return the CPU seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# what is sent over HTTP


def sending(store: Path) -> Iterator[Row]:
    """Send a large file to the real server: a text but for its end, and what cannot be taken in as a whole."""
    options = ("serve", "--face", "vectordb", "--transport", "http", "--port", "0", "--store", str(store))
    name = f"upload of {UPLOADED // 1_000_000} MB"
    with Server(*options, program=(str(BOOKWHEEL),)) as server:
        send(server, "small.bin", PIECE, TAIL)  # what the first upload loads is not counted
        yield Row(f"{name}, memory while it is sent", send(server, "large.txt", UPLOADED, b""), "MB", 20)
        yield Row(f"{name} of no known kind, memory", send(server, "large.bin", UPLOADED, TAIL), "MB", 20)


def send(server: Server, name: str, size: int, tail: bytes) -> float:
    """Send a file piece by piece; return by how many million bytes the server's memory grew at its most."""
    server.settle()
    before = server.memory()[0]
    Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")  # the system forgets what was the most so far
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as wire:
        wire.sendall(head(name, size))
        for start in range(0, size, PIECE):
            wire.sendall(bytes(min(PIECE, size - start)).replace(b"\0", b"."))
        wire.sendall(tail)
        assert not tail or b" 422 " in wire.makefile("rb").readline(), "what has no reader must be refused"
        server.settle()
        return max(0.0, server.memory()[1] - before)


def head(name: str, size: int) -> bytes:
    """Return how a form with a file of that size begins."""
    part = f'--{EDGE}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    length = len(part) + size + len(TAIL)
    about = f"Content-Type: multipart/form-data; boundary={EDGE}\r\nContent-Length: {length}\r\nConnection: close"
    return f"POST /upload HTTP/1.1\r\nHost: localhost\r\n{about}\r\n\r\n{part}".encode()


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure taking documents in.")
    parser.add_argument("--documents", type=int, default=300, metavar="N", help="how many to embed (300)")
    parser.add_argument("--json", action="store_true", help="print data for programs")
    parser.add_argument("--job", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        print(json.dumps(job(*options.job)))
        return
    with tempfile.TemporaryDirectory(prefix="bookwheel-ingest-") as work:
        rows = list(measure(Path(work), options.documents))
    shown = [asdict(row) | {"ratio": row.ratio, "verdict": row.verdict} for row in rows]
    print(json.dumps(shown, indent=2) if options.json else table(rows))
    sys.exit(any(row.verdict == "over" for row in rows))


if __name__ == "__main__":
    main()
