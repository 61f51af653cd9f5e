"""Take whole folders into a library: `mcpvectordb-ingest`, and `bookwheel ingest --library`."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict
from typing import NoReturn

from bookwheel import VERSION
from bookwheel.catalog import Catalog
from bookwheel.cli.core import catalog_of, interruptible
from bookwheel.cli.printing import line, progress_bar, warn
from bookwheel.errors import BookwheelError
from bookwheel.faces.sections import CONFIG_KEYS
from bookwheel.ingest import DEFAULT, FolderIngested, Wanted
from bookwheel.logs import configure
from bookwheel.model import Ingested
from bookwheel.settings import load


def main(words: Sequence[str] | None = None) -> NoReturn:
    """Take in a folder and exit: 0 if all went well, 1 if anything did not, 2 if it was called wrongly."""
    options = _parser().parse_args(sys.argv[1:] if words is None else words)
    try:
        settings = load({}, os.environ, CONFIG_KEYS)
        configure("warning" if settings.log_level == "info" else settings.log_level, settings.log_format)
        catalog = catalog_of(settings, [])
        wanted = Wanted(options.folder, options.library, {}, not options.no_recursive, options.max_concurrency)
        done = take_folder(catalog, wanted)
    except BookwheelError as error:
        sys.exit(_complain(error.message))
    except KeyboardInterrupt:
        sys.exit(_complain("interrupted; what was done is kept, and the same command goes on from there"))
    line(summary(done))
    for file, message in done.errors:
        warn(f"{file}: {message}")
    sys.exit(1 if done.errors else 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "mcpvectordb-ingest", description="Take a folder of documents into a library, without starting a server."
    )
    parser.add_argument("folder", help="folder to take in")
    parser.add_argument("--library", default=DEFAULT, metavar="NAME", help="library to index into (default: default)")
    parser.add_argument("--no-recursive", action="store_true", help="do not scan subfolders")
    parser.add_argument("--max-concurrency", type=_count, default=4, metavar="N", help="files at a time (default: 4)")
    parser.add_argument("--version", action="version", version=f"bookwheel {VERSION}")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is too few; give 1 or more")
    return int(text)


def _complain(message: str) -> int:
    warn(f"mcpvectordb-ingest: {message}")
    return 1


def take_folder(catalog: Catalog, wanted: Wanted) -> FolderIngested:
    """Take in a folder, showing how far it is; the first Ctrl-C ends it soon, and what is done by then is kept."""
    halt = threading.Event()
    catalog.when_stopped(halt.set)
    intake = catalog.ingest(wanted.library)
    report = progress_bar("files") if sys.stderr.isatty() else None  # elsewhere it would stand among the errors
    return interruptible(catalog, lambda: intake.folder(wanted, report, halt))


def take(catalog: Catalog, what: str, library: str) -> list[Ingested | FolderIngested]:
    """Take in a file, a folder or a URL."""
    intake = catalog.ingest(library)
    if what.startswith(("http://", "https://")):
        return [intake.url(what, library)]
    if os.path.isdir(what):  # noqa: PTH112 - what is no path at all is for the engine to tell
        return [take_folder(catalog, Wanted(what, library))]
    return [intake.file(what, library)]


def summary(done: FolderIngested) -> str:
    """Return what became of a folder in a line."""
    counts = {name: done.count(name) for name in ("indexed", "replaced", "skipped")}
    total = len(done.results) + len(done.errors)
    said = ", ".join(f"{number} {name}" for name, number in {**counts, "failed": len(done.errors)}.items())
    return f"{total} files of {done.folder} for library {done.library}: {said}"


def data_of(done: Ingested | FolderIngested) -> dict[str, object]:
    """Return what became of something, as data."""
    from bookwheel.faces.vectordb import folder_data  # noqa: PLC0415

    return asdict(done) if isinstance(done, Ingested) else folder_data(done)
