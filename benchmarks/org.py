"""Measure Org: the index of all headlines beside a bare pattern and orgparse, how it grows, and one write.

    python benchmarks/org.py [--megabytes 10] [--json]

The files are made here, the same ones every time. CPU time; the best of some turns counts. orgparse is measured in the
same run where it is installed, on a smaller file: it takes long. Ends with 1 if a limit is missed.
"""

import argparse
import importlib.util
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import datetime
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from ground import Row, table

from bookwheel.catalog import Catalog
from bookwheel.faces.org import Org
from bookwheel.folders import Folder
from bookwheel.org import Settings
from bookwheel.org.outline import Outline, parse
from bookwheel.org.states import set_todo
from bookwheel.outlines import Outlines

TURNS = 5
GROWN = 10  # times the size that the second index has
LARGE = 4.0  # million bytes: some 17,000 headlines
SMALL = 1.0  # million bytes: for orgparse, and for the write
BARE = re.compile(r"^\*+ .*$", re.MULTILINE)
WORDS = ("wheel", "axle", "shelf", "lectern", "gear", "book", "reader", "page", "spoke", "rim", "carve", "turn")
NOW = datetime(2026, 11, 15, 10, 0)


def make(megabytes: float) -> str:
    """Return a file of about that size: an entry of some 300 bytes is a headline, perhaps dates, properties, text."""
    random, pieces, size = Random(1588), ["#+TODO: TODO NEXT | DONE\n#+FILETAGS: :made:\n"], 0
    for number in count():
        if size >= megabytes * 1e6:
            return "".join(pieces)
        pieces.append(entry(random, number))
        size += len(pieces[-1])
    raise AssertionError


def entry(random: Random, number: int) -> str:
    """Return one entry."""
    head = f"{'*' * random.randint(1, 4)} {random.choice(['TODO ', 'NEXT ', 'DONE ', '', ''])}"
    head += (
        f"{random.choice(['[#A] ', '', ''])}{' '.join(random.sample(WORDS, 5))} {random.choice(['', ':one:two:'])}\n"
    )
    dates = random.choice(["", "", f"SCHEDULED: <2026-11-{random.randint(10, 28)} Mon +1w>\n"])
    drawer = random.choice(["", f":PROPERTIES:\n:ID: {number}\n:END:\n"])
    return head + dates + drawer + "".join(f"{' '.join(random.choices(WORDS, k=14))}.\n" for _ in range(number % 5))


def index(text: str) -> Outline:
    """Read all that a list of headlines shows."""
    outline = parse(text)
    for headline in outline.headlines:
        _ = headline.level, headline.keyword, headline.priority, headline.title, headline.own_tags, headline.line_number
    return outline


def scan(text: str) -> None:
    """Find the headlines and no more."""
    for _ in BARE.finditer(text):
        pass


def peer(text: str) -> None:
    """Do what `index` does with orgparse."""
    from orgparse import loads  # noqa: PLC0415 - optional

    for node in loads(text)[1:]:
        _ = node.level, node.todo, node.priority, node.heading, node.shallow_tags, node.linenumber


def spent(work: Callable[[str], object], text: str, turns: int = TURNS) -> float:
    """Return the fewest CPU seconds *work* takes."""
    found = []
    for _ in range(turns):
        start = time.process_time()
        work(text)
        found.append(time.process_time() - start)
    return min(found)


def measure(megabytes: float) -> Iterator[Row]:
    """Yield all rows."""
    text, small = make(megabytes), make(SMALL)
    ours = spent(index, text)
    yield Row("headlines", len(parse(text).starts), "")
    yield Row(f"index of {megabytes:g} MB, CPU", ours, "s", megabytes / 10)
    yield Row("beside a bare pattern, CPU", ours, "s", 10, spent(scan, text))
    grown = make(megabytes * GROWN)
    yield Row(
        f"{megabytes * GROWN:g} MB, beside {GROWN} × {megabytes:g} MB, CPU",
        spent(index, grown, 2),
        "s",
        1.5,
        ours * GROWN,
    )
    del grown
    if importlib.util.find_spec("orgparse"):
        yield Row(f"{SMALL:g} MB, beside orgparse, CPU", spent(index, small), "s", 1, spent(peer, small, 1))
    yield Row(f"one state in {SMALL:g} MB, reading it first, CPU", spent(write, small) * 1000, "ms")
    with tempfile.TemporaryDirectory(prefix="bookwheel-org-") as work:
        yield from served(Path(work))


def served(work: Path) -> Iterator[Row]:
    """Yield what tools of the face cost: a search that has been made before, and a change on disk."""
    folder = work.resolve() / "notes"
    folder.mkdir()
    for name, size in (("large", LARGE), ("small", SMALL)):
        (folder / f"{name}.org").write_text(make(size))
    catalog = Catalog(work / "store", [Folder(folder, "notes", max_file_size=1 << 30)])
    catalog.sync()
    face = Org(Outlines(catalog, Settings()), work / "locks")
    outlines = Outlines(catalog, Settings())
    headlines = len(outlines.open(outlines.file("large.org")).starts)

    def search(query: str) -> None:
        face.call("org-search-headlines", {"query": query, "files": ["large.org"]})

    search("wheel axle")
    yield Row(f"a search of {headlines} headlines, CPU", spent(search, "wheel axle shelf") * 1000, "ms", 50)
    yield Row("the same by a tag too, CPU", spent(lambda _: tagged(face), "") * 1000, "ms", 50)
    yield Row(f"a state on disk in {SMALL:g} MB, CPU", min(changes(face)) * 1000, "ms", 20)
    catalog.close()


def tagged(face: Org) -> None:
    face.call("org-search-headlines", {"query": "gear book", "files": ["large.org"], "tags": ["one", "made"]})


def changes(face: Org) -> Iterator[float]:
    """Yield the CPU seconds of changes of state, one way and back."""
    answer = face.call("org-get-todos", {"files": ["small.org"], "states": ["NEXT"]})
    rows: Any = (answer.data or {})["result"]
    uri = rows[len(rows) // 2]["resourceUri"]
    for before, after in (("NEXT", "TODO"), ("TODO", "NEXT")) * TURNS:
        start = time.thread_time()  # the index follows in a thread of its own
        done = face.call("org-update-todo-state", {"resourceUri": uri, "currentState": before, "newState": after})
        yield time.thread_time() - start
        assert not done.error, done.text


def write(text: str) -> None:
    """Change the state of a task in the middle."""
    headlines = parse(text).headlines
    set_todo(headlines[len(headlines) // 2], "DONE", NOW)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure reading and writing Org.")
    parser.add_argument("--megabytes", type=float, default=10, metavar="N", help="size of the file (10)")
    parser.add_argument("--json", action="store_true", help="print data")
    options = parser.parse_args()
    rows = list(measure(options.megabytes))
    shown = [asdict(row) | {"ratio": row.ratio, "verdict": row.verdict} for row in rows]
    print(json.dumps(shown, indent=2) if options.json else table(rows))
    sys.exit(any(row.verdict == "over" for row in rows))


if __name__ == "__main__":
    main()
