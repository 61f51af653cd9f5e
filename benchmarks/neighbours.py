"""Measure search by meaning among many vectors: by their signs first, against comparing every one in full.

    python benchmarks/neighbours.py [--passages 10000] [--sizes 100000,200000,1000000] [--cache DIR] [--json]

How many of the nearest are missed is told of real vectors, of passages from the documentation strings of the installed
Python. Making them takes minutes; with --cache they are kept for the next time. What a query costs at size is told of
noise around them, in a process of its own. Ends with 1 if too many are missed. Linux only.
"""

import argparse
import ast
import json
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from random import Random

import numpy as np
from ground import Row, table
from search import memory

from bookwheel.index.embedding import MiniLM, Vectors
from bookwheel.index.postings import Integers
from bookwheel.index.vectors import EXACT, MANY, VectorStore

WORDS = 40  # in a passage: short ones are embedded soon
ASKED = 12  # words of a passage that is left out make a query
QUERIES = 500
NEAREST = 10
COMPARED = (100, 200, 400, EXACT)  # how many are compared in full
MISSED = 5  # per cent of the nearest, at most
NOISE = 0.75  # as in search.py
ROUNDS = 30
BATCH = 8


def measure(work: Path, vectors: Vectors, sizes: Sequence[int]) -> Iterator[Row]:
    """Yield all rows."""
    queries, real = vectors[:QUERIES], vectors[QUERIES:]
    yield from missing(work / "real.db", queries, real)
    for size in sizes:
        yield from costing(work / f"{size}.db", real, size)


def missing(path: Path, queries: Vectors, real: Vectors) -> Iterator[Row]:
    """Count which of the ten nearest are not found."""
    add(path, real)
    best = nearest(VectorStore(path, many=len(real)), queries, len(real))
    for count in COMPARED:
        found = nearest(VectorStore(path, many=0, exact=count), queries, len(real))
        lost = sum(len(one - other) for one, other in zip(best, found, strict=True)) / (NEAREST * len(queries))
        limit = MISSED if count == EXACT else None
        yield Row(f"missed of the {NEAREST} nearest, {count} of {len(real)} compared", 100 * lost, "%", limit)


def nearest(store: VectorStore, queries: Vectors, size: int) -> list[set[int]]:
    """Return the nearest vectors of each query."""
    places = store.places(np.arange(size))
    found = [set(np.argsort(-store.similarities(query, places, [places]))[:NEAREST].tolist()) for query in queries]
    store.close()
    return found


def costing(path: Path, real: Vectors, size: int) -> Iterator[Row]:
    """Compare queries with so many vectors both ways."""
    random = np.random.default_rng(1588)
    for start in range(0, size, 10_000):
        near = real[random.integers(len(real), size=min(10_000, size - start))]
        noise = random.standard_normal(near.shape, np.float32) * NOISE / np.sqrt(near.shape[1])
        add(path, (near + noise) / np.linalg.norm(near + noise, axis=1, keepdims=True), start)
    signs, full = run("cost", path, 0), run("cost", path, size)
    path.unlink()
    yield Row(f"a query among {size}, CPU", signs["query"], "ms", None, full["query"])
    yield Row(f"memory for {size}", signs["memory"], "MB", None, full["memory"])
    yield Row(f"loading {size}, CPU", signs["loading"], "s", None, full["loading"])


def add(path: Path, vectors: Vectors, first: int = 0) -> None:
    store = VectorStore(path)
    store.add(range(first, first + len(vectors)), vectors)
    store.close()


def run(name: str, *arguments: object) -> dict[str, float]:
    """Return what a job finds in a fresh process."""
    command = [sys.executable, __file__, name, *map(str, arguments)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def cost(path: str, many: str) -> dict[str, float]:
    """Load all vectors of a file and ask for those near some of them."""
    store = VectorStore(Path(path), int(many))
    before, begun = memory()["memory"], time.process_time()
    size = len(store)
    loading = time.process_time() - begun
    places = np.arange(size)
    queries = np.random.default_rng(1588).standard_normal((ROUNDS, 384), np.float32)
    times = [spent(store, query / np.linalg.norm(query), places) for query in queries]
    after = memory()["memory"] - places.nbytes / 1e6
    store.close()
    return {"query": min(times) * 1000, "memory": after - before, "loading": loading}


def spent(store: VectorStore, query: Vectors, places: Integers) -> float:
    """Return the CPU seconds a query takes."""
    begun = time.process_time()
    store.similarities(query, places, [places])
    return time.process_time() - begun


# real vectors


def embed(count: int, cache: Path | None) -> Vectors:
    """Return the vectors of all queries and then of so many passages, from the cache if it has them."""
    kept = cache / f"{count}.npy" if cache else None
    if kept and kept.exists():
        return np.asarray(np.load(kept), np.float32)
    model = MiniLM()
    texts = passages(count + QUERIES)
    texts[:QUERIES] = [" ".join(text.split()[:ASKED]) for text in texts[:QUERIES]]
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    made = np.empty((len(texts), 384), np.float32)
    for start in range(0, len(order), BATCH):
        some = order[start : start + BATCH]
        made[some] = model.embed([texts[place] for place in some])
        if start % 1_024 == 0:
            print(f"{start + len(some)} of {len(texts)} vectors made", file=sys.stderr, flush=True)
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.save(kept, made.astype(np.float16))
    return made


def passages(count: int) -> list[str]:
    """Return so many different passages, the same each time from the same installation."""
    folders = dict.fromkeys(Path(sysconfig.get_paths()[name]) for name in ("stdlib", "purelib"))
    files = sorted(file for folder in folders for file in folder.rglob("*.py"))
    Random(1588).shuffle(files)
    each = (passage for file in files for text in docstrings(file) for passage in cut(text))
    found = list(islice(distinct(each), count))
    assert len(found) == count, f"there are only {len(found)} passages; take fewer"
    return Random(1588).sample(found, count)


def distinct(texts: Iterable[str]) -> Iterator[str]:
    """Yield each text once."""
    seen: set[str] = set()
    for text in texts:
        if text not in seen:
            seen.add(text)
            yield text


def docstrings(file: Path) -> Iterator[str]:
    """Yield the documentation strings of a Python file; none if it cannot be read."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, OSError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def cut(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text, in pieces if they are long; what is mostly signs and figures is left out."""
    for paragraph in re.split(r"\n\s*\n", text):
        words = paragraph.split()
        for start in range(0, len(words), WORDS):
            piece = " ".join(words[start : start + WORDS])
            if len(piece) > 50 and sum(map(str.isalpha, piece)) > 0.7 * len(piece):
                yield piece


JOBS: dict[str, Callable[..., dict[str, float]]] = {"cost": cost}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure search by meaning among many vectors.")
    parser.add_argument("--passages", type=int, default=10_000, metavar="N", help="real vectors (10000)")
    parser.add_argument("--sizes", default=f"100000,{MANY},1000000", metavar="N,…", help="for costs")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the real vectors here for the next run")
    parser.add_argument("--json", action="store_true", help="print data for programs")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of other people's files
    with tempfile.TemporaryDirectory(prefix="bookwheel-neighbours-") as work:
        vectors = embed(options.passages, options.cache)
        rows = list(measure(Path(work), vectors, [int(size) for size in options.sizes.split(",")]))
    if options.json:
        print(json.dumps([{**asdict(row), "ratio": row.ratio, "verdict": row.verdict} for row in rows], indent=2))
    else:
        print(table(rows))
    sys.exit(any(row.verdict == "over" for row in rows))


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in JOBS:
        print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
    else:
        main()
