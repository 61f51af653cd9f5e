"""Measure how quickly files become Markdown, next to markitdown on the same files in the same run.

    python benchmarks/conversion.py [--json]

Documents are made of the tests' samples. Each is read several times by either side, in turns, each time in a fresh
process that has warmed up; the best CPU time counts. markitdown runs in `.venv-markitdown` (`make bench` makes it);
where that is missing its column stays empty.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from documents import make_documents

HERE = Path(__file__).parent
PEER = HERE.parent / ".venv-markitdown" / "bin" / "python"
TURNS = 2
OFTEN = 5  # conversions in a process; the first ones warm it up
STARTS = 8
LIMITS = {".pdf": 10, ".docx": 10, ".xlsx": 10}  # how many times markitdown's speed we claim


@dataclass(frozen=True, slots=True)
class Row:
    """A file: how long it takes us and the peer, in CPU seconds."""

    name: str
    bytes: int
    seconds: float
    characters: int
    peer: float | None
    limit: int | None

    @property
    def ratio(self) -> float | None:
        """How many times the peer's speed ours is."""
        return self.peer / self.seconds if self.peer else None

    @property
    def verdict(self) -> str:
        """Whether the claim holds; empty where there is none."""
        return "" if self.limit is None or self.ratio is None else "ok" if self.ratio >= self.limit else "missed"


def measure(files: list[Path]) -> Iterator[Row]:
    """Yield a row for each file."""
    for path in files:
        ours, peer = [], []
        for _ in range(TURNS):
            ours.append(run([sys.executable, __file__, "--job", str(path)]))
            if PEER.exists():
                peer.append(run([str(PEER), str(HERE / "peer_markitdown.py"), str(path), "2"]))
        best = min(one["seconds"] for one in ours)
        other = min((one["seconds"] for one in peer if one), default=None)
        yield Row(path.name, path.stat().st_size, best, int(ours[0]["characters"]), other, LIMITS.get(path.suffix))


def run(command: list[str]) -> dict[str, float]:
    """Return what a process prints; nothing where it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    found: dict[str, float] = json.loads(done.stdout) if done.returncode == 0 else {}
    return found


def job(path: Path) -> dict[str, float]:
    """Read a file again and again in this very process; return the best CPU seconds."""
    from bookwheel import formats  # noqa: PLC0415
    from bookwheel.model import Source  # noqa: PLC0415

    data, best, text = path.read_bytes(), float("inf"), ""
    for _ in range(OFTEN):
        start = time.process_time()
        text = formats.read(Source("bench", str(path), path.name), data).text
        best = min(best, time.process_time() - start)
    return {"seconds": best, "characters": len(text)}


def children(small: Path) -> Iterator[tuple[str, float]]:
    """Yield what a child process costs: its start, and a small file that is sent to one that runs."""
    from bookwheel.children.pool import Pool  # noqa: PLC0415
    from bookwheel.model import Source  # noqa: PLC0415

    data, starts, walls, trips = small.read_bytes(), list[float](), list[float](), list[float]()
    for _ in range(STARTS):
        pool, before, begun = Pool(size=1), spent(), time.perf_counter()
        ask = Source("bench", str(small), small.name)
        pool.read(ask, data, ".csv")
        walls.append(time.perf_counter() - begun)
        for _ in range(20):
            begun = time.perf_counter()
            pool.read(ask, data, ".csv")
            trips.append(time.perf_counter() - begun)
        pool.rest()
        starts.append(spent() - before)
    yield "start of a child, with 21 small files, CPU ms", min(starts) * 1000
    yield "start of a child to its first answer, wall ms", min(walls) * 1000
    yield "a small file to a running child and back, wall ms", min(trips) * 1000


def spent() -> float:
    """Return the CPU seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def show(row: Row) -> str:
    """Return a row of the table."""
    speed = row.bytes / 1e6 / row.seconds
    peer, ratio = (f"{row.peer * 1000:9.1f}", f"{row.ratio:6.1f} ×") if row.peer and row.ratio else ("", "")
    limit = f"≥ {row.limit} ×" if row.limit else ""
    return (
        f"{row.name:<12} {row.bytes / 1000:8.0f} {row.characters / 1000:8.0f} {row.seconds * 1000:9.1f} {speed:8.1f}"
        f" {peer:>11} {ratio:>9} {limit:>7}  {row.verdict}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--job", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        print(json.dumps(job(options.job)))
        return
    with tempfile.TemporaryDirectory() as work:
        files = make_documents(Path(work))
        rows = list(measure(files))
        costs = dict(children(HERE.parent / "tests" / "formats" / "cases" / "csv" / "stock.csv"))
    if options.json:
        print(json.dumps({"files": [asdict(row) for row in rows], "children": costs}))
    else:
        names = ("kB", "k chars", "CPU ms", "MB/s", "markitdown", "ratio", "claim")
        print("{:<12} {:>8} {:>8} {:>9} {:>8} {:>11} {:>9} {:>7}".format("", *names))
        print("\n".join(map(show, rows)))
        print("\n".join(f"{name:<52} {cost:7.1f}" for name, cost in costs.items()))
    sys.exit(any(row.verdict == "missed" for row in rows))


if __name__ == "__main__":
    main()
