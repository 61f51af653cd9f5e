"""Measure search at size: indexing, queries by words and by meaning, and what changes cost, beside tantivy.

    python benchmarks/search.py [--sections 10000,100000] [--sample 1500] [--json]

Every part runs in a process of its own, so that its memory is its own too. Real vectors are made for a sample of the
passages of a small tree; those that are searched are noise around these, which costs the same.
tantivy is measured in the same run where it is installed. Ends with 1 if a limit is missed. Linux only.
"""

import argparse
import hashlib
import importlib.util
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import Any

from corpus import make_tree
from ground import Row, make_queries, table
from measure import documents, import_search
from measure import run as run_shared

FILES, MEGABYTES = 0.082, 0.00082  # for each section wanted, a little more than enough
SMALL = 10_000  # sections of the tree that is searched while vectors are made; what has limits of its own
CHANGES = 1_000  # single files, one sync each, in a small tree
FEWER = 200  # in a larger one
REPLACED = 200  # documents written without a sync
ROUNDS = 3  # of all queries; the best one counts
VECTORS = "vectors-minilm.db"
NOISE = 0.75  # length of what is added to a real vector to make another: about the angle between neighbours


def measure(work: Path, sizes: Sequence[int], sample: int) -> Iterator[Row]:
    """Yield all rows: first those for which the size does not matter, then size by size."""
    tree, store = grow(work / "embedding", SMALL)
    known = store / VECTORS
    yield from while_embedding(tree, store, sample)
    for size in sorted(sizes):
        tree, store = grow(work / str(size), size)
        yield from indexing(tree, store)
        yield from by_words(tree, store)
        yield from by_meaning(tree, store, known, limited=size <= SMALL)
        yield from changing(tree, store, CHANGES if size <= SMALL else FEWER)


def grow(folder: Path, sections: int) -> tuple[Path, Path]:
    """Write a tree of so many sections; return it, and where its store will be."""
    make_tree(folder / "tree", round(sections * FILES), sections * MEGABYTES)
    return folder / "tree", folder / "store"


def indexing(tree: Path, store: Path) -> Iterator[Row]:
    """Index a tree for the first time."""
    ours = run_shared("sync", tree, store)
    peer = run("peer_build", tree, store.with_name("peer")) if has_peer() else {}
    size = sum(path.stat().st_size for path in documents(tree))
    yield Row("sections", ours["chunks"], "")
    yield Row("indexing, text per CPU s", size / 1e6 / ours["work"], "MB", None, over(size / 1e6, peer.get("work")))
    taken = weight(store) / size
    yield Row("index on disk, per byte of text", taken, "B", None, over(weight(store.with_name("peer")), size))


def over(value: float, divisor: float | None) -> float | None:
    return value / divisor if value and divisor else None


def weight(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def by_words(tree: Path, store: Path) -> Iterator[Row]:
    """Search by words alone."""
    ours = run("lexical", tree, store)
    peer = run("peer_search", tree, store.with_name("peer")) if has_peer() else {}
    for name, label in (("p50", "wall, median"), ("p99", "wall, 99 of 100"), ("cpu", "CPU")):
        yield Row(f"by words, {label}", ours[name], "ms", None, peer.get(name))
    yield Row("memory, words alone", ours["memory"], "MB", None, peer.get("memory"))


def while_embedding(tree: Path, store: Path, sample: int) -> Iterator[Row]:
    """Search a small tree by words while vectors are made; leaves the sample of real vectors behind."""
    found = run("embedding", tree, store, sample)
    yield Row("by words while embedding, 99 of 100", found["busy_p99"], "ms", 3, found["idle_p99"])
    yield Row("by words while embedding, slowest", found["busy_most"], "ms", None, found["idle_most"])
    yield Row("vectors made in a CPU s", found["speed"], "")


def by_meaning(tree: Path, store: Path, known: Path, limited: bool) -> Iterator[Row]:
    """Search by meaning and by both, each query embedded on the way."""
    run("fill", store, known)
    found = run("meaning", tree, store)
    yield Row("embedding a query, CPU", found["embed_cpu"], "ms")
    yield Row("by meaning, CPU", found["vector_cpu"], "ms")
    yield Row("by both, CPU", found["hybrid_cpu"], "ms", 25 if limited else None)
    yield Row("by both, wall, median", found["hybrid_p50"], "ms")
    yield Row("by both, wall, 99 of 100", found["hybrid_p99"], "ms")
    yield Row("memory with model and vectors", found["memory"], "MB", 450 if limited else None)
    yield Row("the same at its most", found["peak"], "MB")


def changing(tree: Path, store: Path, count: int) -> Iterator[Row]:
    """Change single files, many times."""
    found = run("changes", tree, store, count)
    yield Row("change to searchable, median", found["sync_p50"], "ms", 100)
    yield Row("change to searchable, 99 of 100", found["sync_p99"], "ms", 100)
    yield Row("change to searchable, slowest", found["sync_most"], "ms")
    yield Row("change to searchable, CPU", found["sync_cpu"], "ms")
    yield Row("of this Store.replace, median", found["replace_p50"], "ms")
    yield Row("of this Store.replace, 99 of 100", found["replace_p99"], "ms", 100)
    yield Row(f"by words after {count} changes, CPU", found["after"], "ms", 2, found["before"])


def told(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the rows, and say which one is done: a run takes minutes."""
    for row in rows:
        print(f"{row.name}: {row.measured:.4g} {row.unit}", file=sys.stderr, flush=True)
        yield row


# running jobs


def has_peer() -> bool:
    return importlib.util.find_spec("tantivy") is not None


def run(name: str, *arguments: object) -> dict[str, float]:
    """Return what a job finds in a fresh process."""
    command = [sys.executable, __file__, name, *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    found: dict[str, float] = json.loads(done.stdout)
    return found


@contextmanager
def opened(tree: str, store: str, embedder: str = "none") -> Iterator[Any]:
    """Give the synced catalog of a tree."""
    import_search()
    from bookwheel.catalog import Catalog  # noqa: PLC0415 - after what is timed apart

    catalog = Catalog(Path(store), [folder_of(tree)], embedder)
    try:
        catalog.sync()
        yield catalog
    finally:
        catalog.close()


def folder_of(tree: str) -> Any:
    from bookwheel.folders import Folder  # noqa: PLC0415 - as above
    from bookwheel.formats import READERS  # noqa: PLC0415 - the same

    root = Path(tree).resolve()
    return Folder(root, root.name, suffixes=frozenset(READERS))  # as the job "sync" has it, or it is another library


def ask(catalog: Any, mode: str, text: str) -> Any:
    """Return what a search finds."""
    from bookwheel.model import Query  # noqa: PLC0415 - as above

    return catalog.search(Query(text, mode=mode))


def time_all(ask: Callable[[str], object], queries: Sequence[str], rounds: int = ROUNDS) -> dict[str, float]:
    """Return the milliseconds a query takes: on the clock (median, 99 of 100, most) and of CPU, best of the rounds."""
    for query in queries[:20]:
        ask(query)
    every = [time_once(ask, queries) for _ in range(rounds)]
    return {name: min(one[name] for one in every) for name in every[0]}


def time_once(ask: Callable[[str], object], queries: Sequence[str]) -> dict[str, float]:
    begun, times = time.process_time(), [clock(partial(ask, query)) for query in queries]
    spent = (time.process_time() - begun) * 1000 / len(queries)
    return {**spread(times), "cpu": spent}


def clock(act: Callable[[], object]) -> float:
    """Return the milliseconds an act takes."""
    begun = time.perf_counter()
    act()
    return (time.perf_counter() - begun) * 1000


def spread(times: Sequence[float]) -> dict[str, float]:
    return {"p50": median(times), "p99": quantiles(times, n=100)[98], "most": max(times)}


def named(prefix: str, found: dict[str, float]) -> dict[str, float]:
    return {f"{prefix}_{name}": value for name, value in found.items()}


def memory() -> dict[str, float]:
    """Return this process's memory now and at its most, in million bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("Vm")}
    return {"memory": sizes["VmRSS"], "peak": sizes["VmHWM"]}


# jobs, each in a process of its own


def lexical(tree: str, store: str) -> dict[str, float]:
    """Search by words."""
    queries = make_queries(Path(tree))
    with opened(tree, store) as catalog:
        found = time_all(partial(ask, catalog, "lexical"), queries)
        return {**found, **memory()}


def embedding(tree: str, store: str, sample: str) -> dict[str, float]:
    """Search by words, first alone and then while vectors are made, until the sample is complete."""
    queries = make_queries(Path(tree))
    with opened(tree, store, "minilm") as catalog:
        look = partial(ask, catalog, "lexical")
        time_all(look, queries, 1)
        idle = [time_once(look, queries) for _ in range(ROUNDS)]
        made: list[float] = []
        begun = threading.Event()

        def report(done: int, _: int) -> None:
            begun.set()
            made.append(done / time.thread_time())  # of the thread that embeds
            if done >= int(sample):
                catalog.stop()

        thread = threading.Thread(target=catalog.embed, args=(report,))
        thread.start()
        begun.wait(60)
        busy = [time_once(look, queries) for _ in range(ROUNDS)]
        assert thread.is_alive(), "the vectors were made before the queries were asked; take a larger sample"
        thread.join()
    return {**named("idle", usual(idle)), **named("busy", usual(busy)), "speed": made[-1]}


def usual(rounds: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return what is usual for a round, but the slowest query of all."""
    return {"p99": median(one["p99"] for one in rounds), "most": max(one["most"] for one in rounds)}


def fill(store: str, known: str) -> dict[str, float]:
    """Give every passage a vector: noise around one of the known ones."""
    import numpy as np  # noqa: PLC0415 - after what is timed apart

    from bookwheel.index.segments import snapshot  # noqa: PLC0415 - the same
    from bookwheel.index.store import Store  # noqa: PLC0415 - the same
    from bookwheel.index.vectors import VectorStore  # noqa: PLC0415 - the same

    with sqlite3.connect(known) as db:
        rows = [row[0] for row in db.execute("SELECT vector FROM vectors ORDER BY number LIMIT 1500")]
    real = np.frombuffer(b"".join(rows), "<f2").reshape(len(rows), -1).astype(np.float32)
    random = np.random.default_rng(1588)
    own = Store(Path(store))
    with own.database.reading() as db:
        prints = snapshot(db, None).prints
    vectors = VectorStore(Path(store) / VECTORS)
    for some in np.array_split(prints, 1 + len(prints) // 10_000):
        noise = random.standard_normal((len(some), real.shape[1]), np.float32) * NOISE / np.sqrt(real.shape[1])
        near = real[random.integers(len(real), size=len(some))] + noise
        vectors.add(some.tolist(), near / np.linalg.norm(near, axis=1, keepdims=True))
    vectors.close()
    own.close()
    return {"filled": len(prints)}


def meaning(tree: str, store: str) -> dict[str, float]:
    """Search by meaning, and by meaning and words."""
    queries = make_queries(Path(tree))
    with opened(tree, store, "minilm") as catalog:
        assert catalog.progress().embedded == 1.0, "some passages have no vector"
        found = named("embed", time_all(catalog.semantics.embedder.embed_query, queries))
        for mode in ("vector", "hybrid"):
            found |= named(mode, time_all(partial(ask, catalog, mode), queries))
        return {**found, **memory()}


def changes(tree: str, store: str, count: str) -> dict[str, float]:
    """Change single files and sync each; then write some documents without a sync."""
    random = Random(1588)
    paths = documents(Path(tree))
    queries = make_queries(Path(tree))
    with opened(tree, store) as catalog:
        look = partial(ask, catalog, "lexical")
        before = time_all(look, queries)
        begun, written, times = time.process_time(), 0.0, []
        for turn in range(int(count)):
            path = random.choice(paths)
            written += change(path, turn)
            times.append(clock(partial(catalog.sync, paths=[path.resolve()])))  # as the watcher names it
        spent = (time.process_time() - begun - written) * 1000 / int(count)
        assert look(f"changeword{int(count) - 1}").hits, "a change was not found"
        after = time_all(look, queries)
        entries = (entry(catalog, path) for path in random.choices(paths, k=REPLACED))
        alone = [clock(partial(replace, catalog, one)) for one in entries]
    found = named("sync", {**spread(times), "cpu": spent}) | named("replace", spread(alone))
    return {**found, "before": before["cpu"], "after": after["cpu"]}


def change(path: Path, turn: int) -> float:
    """Add a sentence with a word of its own to a file; return the CPU seconds that took."""
    begun = time.process_time()
    with path.open("a") as file:
        file.write(f"\nThis sentence has the word changeword{turn}.\n")
    return time.process_time() - begun


def replace(catalog: Any, one: Any) -> None:
    """Write one document."""
    _, library = catalog.folders[0]
    for _ in catalog.store.replace(library, [[one]]):
        pass


def entry(catalog: Any, path: Path) -> Any:
    """Return a file on its way into the store, as a sync would have it."""
    from bookwheel import formats  # noqa: PLC0415 - as above
    from bookwheel.containment import stamp  # noqa: PLC0415 - the same
    from bookwheel.index.chunking import split  # noqa: PLC0415 - the same
    from bookwheel.index.store import Entry  # noqa: PLC0415 - the same
    from bookwheel.model import Source  # noqa: PLC0415 - the same

    folder, _ = catalog.folders[0]
    data = path.read_bytes()
    source = Source(folder.library, str(path.resolve()), path.resolve().relative_to(folder.root).as_posix())
    document = formats.read(source, data)
    return Entry(document, stamp(path), hashlib.sha256(data).hexdigest(), split(document))


def peer_build(tree: str, folder: str) -> dict[str, float]:
    """Index the same tree with tantivy on one thread: a document for each section, its text kept."""
    import tantivy  # noqa: PLC0415 - optional

    Path(folder).mkdir()
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("path", stored=True, tokenizer_name="raw")
    for field in ("title", "body"):
        builder.add_text_field(field, stored=True, tokenizer_name="en_stem")
    begun = time.process_time()
    index = tantivy.Index(builder.build(), path=folder)
    writer = index.writer(num_threads=1)
    for path in documents(Path(tree)):
        for section in re.split(r"^(?=#{1,6} )", path.read_text("utf-8", "replace"), flags=re.MULTILINE):
            title, _, body = section.partition("\n")
            writer.add_document(tantivy.Document(path=str(path), title=title, body=body))
    writer.commit()
    writer.wait_merging_threads()
    return {"work": time.process_time() - begun}


def peer_search(tree: str, folder: str) -> dict[str, float]:
    """Search with tantivy: the ten best sections with their texts."""
    import tantivy  # noqa: PLC0415 - optional

    index = tantivy.Index.open(folder)
    searcher = index.searcher()

    def look(text: str) -> object:
        query = index.parse_query(" ".join(re.findall(r"\w+", text)), ["title", "body"])
        return [searcher.doc(address).to_dict() for _, address in searcher.search(query, 10).hits]

    return {**time_all(look, make_queries(Path(tree))), **memory()}


JOBS: dict[str, Callable[..., dict[str, float]]] = {
    job.__name__: job for job in (lexical, embedding, fill, meaning, changes, peer_build, peer_search)
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure search at size, beside tantivy.")
    parser.add_argument("--sections", default="10000,100000", metavar="N,…", help="sizes to measure (10000,100000)")
    parser.add_argument("--sample", type=int, default=1_500, metavar="N", help="how many real vectors to make (1500)")
    parser.add_argument("--json", action="store_true", help="print data for programs")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sections.split(",")]
    with tempfile.TemporaryDirectory(prefix="bookwheel-search-") as work:
        rows = list(told(measure(Path(work), sizes, options.sample)))
    if options.json:
        print(json.dumps([{**asdict(row), "ratio": row.ratio, "verdict": row.verdict} for row in rows], indent=2))
    else:
        print(table(rows))
        if not has_peer():
            print("tantivy is left out: it is not installed")
    sys.exit(any(row.verdict == "over" for row in rows))


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in JOBS:
        print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
    else:
        main()
