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
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import datetime
from itertools import count
from random import Random

from ground import Row, table

from bookwheel.org.outline import Outline, parse
from bookwheel.org.states import set_todo

TURNS = 5
GROWN = 10  # times the size that the second index has
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
