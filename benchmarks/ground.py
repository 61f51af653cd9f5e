"""Measure what we claim, each time against a floor or a peer on the same machine in the same minutes.

    python benchmarks/ground.py [--tree FOLDER] [--json]

CPU seconds are what counts wherever possible: a busy machine stretches the clock far more than them. What is
compared takes turns, several times, and the best of each side counts. Ends with 1 if a limit is missed.
"""

import argparse
import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import median, quantiles

from corpus import make_tree
from measure import BARE, Client, documents, job, run, serving

STARTS = 8  # of each server
SYNCS = 4  # of each index
ENOUGH = 5.0  # million bytes: what a smaller tree costs is mostly the first use of everything
SECOND_STARTS = 5
QUERIES = 200
SECTIONS = 10_000
LISTINGS = 10
CHANGES = 5

QUESTIONS = ("How does {} work with {}?", "What is the {} of {}?", "Where is {} described?", "Why did {} need {}?")
_WORD = re.compile(r"[A-Za-z][\w-]{3,}")


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement. The limit is on the ratio where there is a peer, else on what was measured."""

    name: str
    measured: float
    unit: str
    limit: float | None = None
    peer: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times the peer's cost ours is."""
        return self.measured / self.peer if self.peer else None

    @property
    def verdict(self) -> str:
        """Whether the limit holds; empty where there is none."""
        if self.limit is None:
            return ""
        return "ok" if (self.ratio or self.measured) <= self.limit else "over"


@dataclass(frozen=True, slots=True)
class Trees:
    """The folders to measure with: the same three times if the caller named one."""

    large: Path  # 1,500 files, 15 MB
    sections: Path  # at least 10,000 sections
    many: Path  # 2,000 files
    made: bool  # by us, so that their sizes are as they should be


def make_trees(work: Path, given: Path | None) -> Trees:
    """Write the trees, or copy the given one: a benchmark changes files."""
    if given:
        shutil.copytree(given, work / "given", symlinks=True)
        return Trees(work / "given", work / "given", work / "given", made=False)
    make_tree(work / "large")
    make_tree(work / "sections", files=900, megabytes=9.0)
    make_tree(work / "many", files=2_000, megabytes=6.0)
    return Trees(work / "large", work / "sections", work / "many", made=True)


def measure(work: Path, trees: Trees) -> Iterator[Row]:
    """Yield all rows; what one leaves in its store, the next may use."""
    yield from first_sync(work, trees.large)
    yield from start(trees.large, work / "store")
    yield from second_start(work, trees.large, work / "store")
    yield from listing(trees.many, work / "many-store")
    yield from searching(trees, work / "sections-store")
    yield from changing(trees.sections, work / "sections-store")


def start(tree: Path, store: Path) -> Iterator[Row]:
    """From the start of the process to the answer to `initialize`."""
    ours, bare = [], []
    for _ in range(STARTS):
        ours.append(greeted(serving(tree, store)))
        bare.append(greeted(BARE))
    for place, name in enumerate(("wall", "CPU")):
        best, floor = (min(one[place] for one in side) for side in (ours, bare))
        yield Row(f"start to greeting, {name}", best * 1000, "ms", 1.3, floor * 1000)


def greeted(command: list[str]) -> tuple[float, float]:
    with Client(command) as client:
        return client.greet()


def first_sync(work: Path, tree: Path) -> Iterator[Row]:
    """Index a tree for the first time; the last index stays in `store`."""
    ours, plain = [], []
    for turn in range(SYNCS):
        shutil.rmtree(work / "store", ignore_errors=True)
        ours.append(run("sync", tree, work / "store"))
        plain.append(run("plain", tree, work / f"plain-{turn}.db"))
    best, floor = (min(one["work"] for one in side) for side in (ours, plain))
    whole, whole_floor = (min(one["work"] + one["imports"] for one in side) for side in (ours, plain))
    size = sum(path.stat().st_size for path in documents(tree)) / 1e6
    yield Row("first sync, CPU", best, "s", 2.5 if size >= ENOUGH else None, floor)
    yield Row("first sync with imports, CPU", whole, "s", None, whole_floor)
    yield Row("first sync", size / best, "MB/s", None, size / floor)


def second_start(work: Path, tree: Path, store: Path) -> Iterator[Row]:
    """Start again with nothing changed: from the greeting to the first answer, less the time to load libraries."""
    waits, loads = [], []
    for _ in range(SECOND_STARTS):
        waits.append(first_answer(serving(tree, store)))
        loads.append(run("imports")["seconds"])
    first_answer(job("audit", work / "opened", tree, store))
    yield Row("second start, documents opened", float((work / "opened").read_text()), "", 0)
    yield Row("second start to first answer", max(0.0, min(waits) - min(loads)), "s", 1)
    yield Row("libraries loaded meanwhile", min(loads), "s")


def first_answer(command: list[str]) -> float:
    with Client(command) as client:
        client.greet()
        begun = time.perf_counter()
        client.search("wheel")
        return time.perf_counter() - begun


def searching(trees: Trees, store: Path) -> Iterator[Row]:
    """Search a tree of many sections with a server that has just indexed it."""
    sections = run("sync", trees.sections, store.with_name("count-store"))["chunks"]
    assert sections >= SECTIONS or not trees.made, f"the tree has {sections} sections; make it larger"
    queries = make_queries(trees.sections)
    with Client(serving(trees.sections, store)) as client:
        client.greet()
        client.search("wheel")
        client.settle()
        before, times = client.cpu(), [timed(client, query) for query in queries]
        spent = client.cpu() - before
        now, most = client.memory()
    yield Row(f"search at {sections:.0f} sections, CPU", spent / len(queries) * 1000, "ms", 15)
    yield Row("search, wall, median", median(times) * 1000, "ms")
    yield Row("search, wall, 99 of 100", quantiles(times, n=100)[98] * 1000, "ms")
    yield Row("memory after searching", now, "MB", 300)
    yield Row("memory at most, indexing too", most, "MB", 300)


def make_queries(tree: Path) -> list[str]:
    """Return different queries of one to five words of the tree, one in four a question."""
    random = Random(1588)
    paths = documents(tree)
    queries: dict[str, None] = {}
    while len(queries) < QUERIES:
        words = _WORD.findall(random.choice(paths).read_text("utf-8", "replace"))
        if len(words) < 5:
            continue
        picked = random.sample(words, random.randrange(1, 6))
        question = random.choice(QUESTIONS).format(*random.sample(words, 2))
        queries[question if random.random() < 0.25 else " ".join(picked)] = None
    return list(queries)


def timed(client: Client, query: str) -> float:
    begun = time.perf_counter()
    client.search(query)
    return time.perf_counter() - begun


def listing(tree: Path, store: Path) -> Iterator[Row]:
    """List all resources, again and again."""
    with Client(serving(tree, store)) as client:
        client.greet()
        client.search("wheel")
        client.settle()
        before, pages = client.cpu(), [page for _ in range(LISTINGS) for page in client.pages()]
        spent = client.cpu() - before
    count = sum(map(len, pages)) // LISTINGS
    yield Row(f"a page of the list of {count}, CPU", spent / len(pages) * 1000, "ms", 5)


def changing(tree: Path, store: Path) -> Iterator[Row]:
    """Change a file while it is served: until a search finds the change, and until the client is told of it."""
    random = Random(1588)
    path = documents(tree)[0]
    found, told = [], []
    with Client(serving(tree, store)) as client:
        client.greet()
        client.search("wheel")
        client.settle()
        for _ in range(CHANGES):
            word = "".join(random.choices("bcdfgklmnprstvz", k=14))
            client.changes.clear()
            begun = time.perf_counter()
            with path.open("a") as file:
                file.write(f"\n\nThe new word is {word}.\n")
            found.append(until_found(client, word) - begun)
            told.append(until_told(client) - begun)
            client.settle()
    yield Row("change to searchable", median(found), "s", 2)
    yield Row("change to list_changed", median(told), "s", 2)


def until_found(client: Client, word: str) -> float:
    """Search until the answer shows the word; return when it did."""
    while word not in json.dumps(client.search(word, 1)):
        time.sleep(0.02)
    return time.perf_counter()


def until_told(client: Client) -> float:
    """Return when the server first said that its list has changed."""
    while not client.changes:
        client.receive()
    return client.changes[0]


def table(rows: list[Row]) -> str:
    """Return the rows as a table of text."""
    head = ("", "measured", "floor or peer", "ratio", "limit", "")
    lines = [head, *(cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )


def cells(row: Row) -> tuple[str, ...]:
    ratio = f"{row.ratio:.2f} ×" if row.ratio else ""
    limit = "" if row.limit is None else f"{row.limit:g} {'×' if row.peer else row.unit}".rstrip()
    return row.name, amount(row.measured, row.unit), amount(row.peer, row.unit), ratio, limit, row.verdict


def amount(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    return f"{value:.{0 if value >= 100 or not unit else 1 if value >= 10 else 2}f} {unit}".rstrip()


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what we claim, against a floor or a peer.")
    parser.add_argument("--tree", type=Path, metavar="FOLDER", help="measure with a copy of this folder")
    parser.add_argument("--json", action="store_true", help="print data for programs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bookwheel-bench-") as work:
        rows = list(measure(Path(work), make_trees(Path(work), options.tree)))
    if options.json:
        print(json.dumps([{**asdict(row), "ratio": row.ratio, "verdict": row.verdict} for row in rows], indent=2))
    else:
        print(table(rows))
    sys.exit(any(row.verdict == "over" for row in rows))


if __name__ == "__main__":
    main()
