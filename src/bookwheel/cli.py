"""The command line: one more caller of the catalog.

Nothing heavy is imported before a command needs it, so that `--help` and most answers come at once.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import unquote

from bookwheel import VERSION
from bookwheel.errors import BookwheelError, Invalid, NotFound
from bookwheel.settings import OPTIONS, Option, Settings, load

if TYPE_CHECKING:
    from bookwheel.catalog import Catalog
    from bookwheel.faces.base import Face
    from bookwheel.folders import Folder
    from bookwheel.model import Document, Hit, Library, Record, Section
    from bookwheel.server.run import Refresh, Watch
    from bookwheel.sync import Changes, Report

SERVE_OPTIONS = frozenset(option.name for option in OPTIONS)
STORE_OPTIONS = frozenset({"store", "embedder", "model_folder", "max_file_size", "include", "exclude", "log_level"})

DESCRIPTION = """\
Find the right passage in your files, read just that, cite it: for you here, for AI agents over MCP.

  bookwheel PATH…               serve folders to an agent (short for: bookwheel serve PATH…)
  bookwheel search "QUERY"      search everything indexed so far
  bookwheel COMMAND --help      more on one command
"""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit: 0 if it went well, 1 if it did not, 2 if it was called wrongly."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = build_parser()
    if not words or (words[0] not in COMMANDS and words[0] not in {"-h", "--help", "--version"}):
        words.insert(0, "serve")
    options = parser.parse_args(words)
    try:
        code = options.run(options)
        sys.stdout.flush()  # here, where a reader that has gone is no error
        sys.exit(code)
    except Invalid as error:
        parser.exit(2, f"bookwheel: {error.message}\n")
    except BookwheelError as error:
        parser.exit(1, f"bookwheel: {error.message}\n")
    except KeyboardInterrupt:
        parser.exit(130, "bookwheel: interrupted; what was done is kept\n")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whoever read our output has seen enough
        sys.exit(0)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        "bookwheel", description=DESCRIPTION, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"bookwheel {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, (run, summary, add) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        command.set_defaults(run=run)
        add(command)
    return parser


# the arguments of each command


def _add_options(parser: argparse.ArgumentParser, names: frozenset[str]) -> None:
    parser.add_argument("--config", metavar="FILE", help="options as a JSON file")
    for option in OPTIONS:
        if option.name in names:
            _add_option(parser, option)


def _add_option(parser: argparse.ArgumentParser, option: Option) -> None:
    text = f"{option.help} [{option.variables[0]}]".replace("%", "%%")
    if option.switch:
        parser.add_argument(option.flag, action=argparse.BooleanOptionalAction, default=None, help=text)
    else:
        parser.add_argument(option.flag, metavar=option.metavar or None, default=None, help=text)


def _serve_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="folder or file to serve (default: this folder)")
    _add_options(parser, SERVE_OPTIONS)


def _ingest_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="folder or file to index")
    _add_printing(parser)


def _search_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="words to look for; * finds everything")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="search only here (default: all libraries)")
    parser.add_argument("--library", action="append", default=[], metavar="NAME", help="search only this library")
    parser.add_argument("--limit", type=_count, default=10, metavar="N", help="most results to show (default: 10)")
    _add_printing(parser)


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="list only these (default: all libraries)")
    _add_printing(parser)


def _file_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="file on disk")
    _add_printing(parser)


def _read_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE|URI", help="file on disk, or a docs:// URI from a search")
    parser.add_argument("--section", metavar="ID", help="only this section; `bookwheel toc FILE` lists the ids")
    _add_printing(parser)


def _add_printing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print data for programs")
    _add_options(parser, STORE_OPTIONS)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of results; give 1 or more")
    return int(text)


# commands


def serve(options: argparse.Namespace) -> int:
    """Serve folders until the client leaves."""
    from bookwheel.server import run  # noqa: PLC0415 - brings the protocol's library

    settings = _settings(options)
    folders = _folders(settings, settings.paths)
    catalog = _catalog(settings, folders)
    try:
        run.serve(_face(settings, catalog, folders), catalog, _watch(settings, folders))
    finally:
        catalog.close()
    return 0


def ingest(options: argparse.Namespace) -> int:
    """Index folders and say what was done."""
    settings = _settings(options)
    catalog = _catalog(settings, _folders(settings, [Path(path) for path in options.paths]))
    changes = _sync(catalog)
    if options.json:
        _print_json(asdict(changes))
    else:
        _print(", ".join(f"{number} {name}" for name, number in asdict(changes).items()))
        _print_skipped(catalog)
    return 0


def search(options: argparse.Namespace) -> int:
    """Search and print the hits."""
    from bookwheel.model import Query  # noqa: PLC0415

    catalog = _synced(options)
    results = catalog.search(Query(options.query, libraries=tuple(options.library), limit=options.limit))
    if options.json:
        _print_json([_hit(hit) for hit in results.hits])
    elif not results.hits:
        _print(f"Nothing found for {options.query!r} in {results.progress.indexed} documents.")
    for hit in results.hits if not options.json else ():
        _print(_worded(hit))
    return 0


def list_documents(options: argparse.Namespace) -> int:
    """List the documents of the index."""
    catalog = _synced(options)
    records = list(catalog.records())
    if options.json:
        _print_json([_record(record) for record in records])
    for record in records if not options.json else ():
        _print(f"{record.source.library}/{record.source.path}  {record.title}")
    return 0


def libraries(options: argparse.Namespace) -> int:
    """List the libraries of the index."""
    found = _catalog(_settings(options), []).store.libraries()
    if options.json:
        _print_json([_library(one) for one in found])
    for one in found if not options.json else ():
        _print(f"{one.name}  {one.document_count} documents, {one.chunk_count} chunks  {one.root}")
    return 0


def toc(options: argparse.Namespace) -> int:
    """Print a file's table of contents."""
    document = _document(options)
    if options.json:
        _print_json([_section(one) for one in document.sections])
    for one in document.sections if not options.json else ():
        _print(f"{'  ' * (one.level - 1)}{one.title}  [{one.id}]  {len(one)} characters, line {one.line}")
    return 0


def read(options: argparse.Namespace) -> int:
    """Print a document or one section of it."""
    document = _document(options)
    start, end = document.body if options.section else 0, len(document.text)
    if options.section:
        section = next((one for one in document.sections if one.id == options.section), None)
        if section is None:
            raise NotFound(f"{options.file} has no section {options.section}; see: bookwheel toc {options.file}")
        start, end = section.start, section.end
    text = document.text[start:end]
    if options.json:
        _print_json({"file": document.source.location, "section": options.section, "text": text})
    else:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
    return 0


def info(options: argparse.Namespace) -> int:
    """Print versions, the store, what it holds and what could not be read."""
    catalog = _catalog(_settings(options), [])
    facts = _facts(catalog)
    if options.json:
        _print_json(facts)
        return 0
    for name in ("version", "python", "store", "store_bytes", "documents", "chunks"):
        _print(f"{name}: {facts[name]}")
    for one in facts["libraries"]:
        _print(f"library {one['library']}: {one['documents']} documents in {one['root']}")
    for one in facts["problems"]:
        _print(f"left out: {one['library']}/{one['path']}: {one['reason']}")
    return 0


COMMANDS = {
    "serve": (serve, "serve folders to AI agents over MCP", _serve_arguments),
    "ingest": (ingest, "index folders or files", _ingest_arguments),
    "search": (search, "search what is indexed", _search_arguments),
    "list": (list_documents, "list documents", _list_arguments),
    "libraries": (libraries, "list libraries", _add_printing),
    "toc": (toc, "show the table of contents of a file", _file_arguments),
    "read": (read, "print a document or one section of it", _read_arguments),
    "info": (info, "show versions, the store, counts, and files that could not be read", _add_printing),
}


# from options to the core


def _settings(options: argparse.Namespace) -> Settings:
    from bookwheel.faces.sections import CONFIG_KEYS  # noqa: PLC0415

    config = Path(options.config) if options.config else None
    settings = load(vars(options), os.environ, CONFIG_KEYS, config)
    logging.basicConfig(
        stream=sys.stderr, level=settings.log_level.upper(), format="%(levelname)s %(message)s", force=True
    )
    logging.getLogger("mcp").setLevel(max(logging.WARNING, logging.getLogger().level))
    return settings


def _folders(settings: Settings, paths: Sequence[Path]) -> list[Folder]:
    from bookwheel import formats  # noqa: PLC0415
    from bookwheel.folders import Folder, folder_for  # noqa: PLC0415

    wanted = Folder(
        Path("/"),
        "",
        settings.include,
        settings.exclude,
        frozenset(formats.READERS),
        settings.max_file_size,
    )
    return [folder_for(path, path.resolve().name or "root", wanted) for path in paths]


def _catalog(settings: Settings, folders: Sequence[Folder]) -> Catalog:
    from bookwheel.catalog import Catalog  # noqa: PLC0415

    return Catalog(settings.store, folders, settings.embedder, settings.model_folder)


def _synced(options: argparse.Namespace) -> Catalog:
    """Return a catalog of the named paths, or of every folder the store knows, brought up to date."""
    settings = _settings(options)
    folders = _folders(settings, [Path(path) for path in options.paths]) if options.paths else _known(settings)
    catalog = _catalog(settings, folders)
    _sync(catalog)
    return catalog


def _sync(catalog: Catalog) -> Changes:
    """Bring the index up to date; the first Ctrl-C ends that at the next file, and what is done is kept."""
    before = signal.signal(signal.SIGINT, lambda *_: catalog.stop())
    try:
        changes = catalog.sync(progress_bar())
    finally:
        signal.signal(signal.SIGINT, before)
    if catalog.stopped:
        raise KeyboardInterrupt
    return changes


def _known(settings: Settings) -> list[Folder]:
    from bookwheel.folders import Folder  # noqa: PLC0415

    known = [Folder.from_scope(one.scope, one.name) for one in _catalog(settings, []).store.libraries()]
    return [folder for folder in known if folder.root.is_dir()]


def _face(settings: Settings, catalog: Catalog, folders: Sequence[Folder]) -> Face:
    from bookwheel.faces.composed import Composed  # noqa: PLC0415
    from bookwheel.faces.docs import Docs  # noqa: PLC0415
    from bookwheel.faces.sections import DEFAULTS, Sections  # noqa: PLC0415
    from bookwheel.ignore import Patterns  # noqa: PLC0415

    patterns = Patterns(settings.include or DEFAULTS.include, settings.exclude or DEFAULTS.exclude)
    where = str(folders[0].root) if len(folders) == 1 else ""
    made: dict[str, Face] = {"docs": Docs(catalog), "sections": Sections(catalog, patterns, where)}
    faces = [face for name, face in made.items() if name in (settings.face or made)]
    return faces[0] if len(faces) == 1 else Composed(faces)


def _watch(settings: Settings, folders: Sequence[Folder]) -> Watch | None:
    if not settings.watch:
        return None
    from bookwheel.watch import watch  # noqa: PLC0415

    async def follow(refresh: Refresh) -> None:
        await watch(folders, lambda _: refresh(), poll=settings.poll, interval=settings.refresh_interval)

    return follow


def _document(options: argparse.Namespace) -> Document:
    """Return the document a command names: a file on disk, or a URI."""
    settings = _settings(options)
    if "://" not in options.file:
        path = Path(options.file)
        return _catalog(settings, _folders(settings, [path])).read(path.resolve().name)
    head, _, tail = options.file.removeprefix("docs://").partition("/")
    for folder in _known(settings):
        if folder.library == unquote(head):
            return _catalog(settings, [folder]).read(tail, encoded=True)
    raise NotFound(f"there is no document {options.file}; `bookwheel list` names those there are")


# printing


def progress_bar() -> Report:
    """Return what shows the progress of long work: a bar on a terminal, a line now and then elsewhere."""
    import time  # noqa: PLC0415

    begun = last = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - begun < 0.5 or (now - last < (0.1 if sys.stderr.isatty() else 2.0) and done < total):
            return
        last = now
        if sys.stderr.isatty():
            filled = 30 * done // total
            end = "\n" if done == total else ""
            sys.stderr.write(f"\r[{'#' * filled}{'.' * (30 - filled)}] {done}/{total} files{end}")
        else:
            sys.stderr.write(f"{done}/{total} files\n")
        sys.stderr.flush()

    return show


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")


def _print_json(value: object) -> None:
    _print(json.dumps(value, ensure_ascii=False, indent=2))


def _print_skipped(catalog: Catalog) -> None:
    for path, reason in catalog.progress().skipped:
        sys.stderr.write(f"left out: {path}: {reason}\n")


def _worded(hit: Hit) -> str:
    place = f"{hit.record.source.location}:{hit.chunk.line}"
    trail = " › ".join(hit.chunk.headings) or hit.record.title
    return f"{hit.score:.2f}  {trail}\n      {place}\n      {hit.excerpt}\n"


def _hit(hit: Hit) -> dict[str, object]:
    return {
        **_record(hit.record),
        "score": round(hit.score, 4),
        "headings": list(hit.chunk.headings),
        "section": hit.chunk.section,
        "lines": [hit.chunk.line, hit.chunk.end_line],
        "excerpt": hit.excerpt,
        "match": hit.location,
    }


def _record(record: Record) -> dict[str, object]:
    from bookwheel.faces.base import encode  # noqa: PLC0415

    source = record.source
    return {
        "uri": f"docs://{encode(source.library)}/{encode(source.path)}",
        "library": source.library,
        "path": source.path,
        "file": source.location,
        "title": record.title,
        "bytes": record.stamp.size,
    }


def _section(section: Section) -> dict[str, object]:
    return {
        "id": section.id,
        "title": section.title,
        "level": section.level,
        "line": section.line,
        "character_count": len(section),
    }


def _library(one: Library) -> dict[str, object]:
    return {"library": one.name, "root": one.root, "documents": one.document_count, "chunks": one.chunk_count}


def _facts(catalog: Catalog) -> dict[str, Any]:
    import platform  # noqa: PLC0415

    store = catalog.store
    known = store.libraries()
    return {
        "version": VERSION,
        "python": platform.python_version(),
        "store": str(store.folder),
        "store_bytes": sum(file.stat().st_size for file in store.folder.rglob("*") if file.is_file()),
        "documents": sum(one.document_count for one in known),
        "chunks": sum(one.chunk_count for one in known),
        "libraries": [_library(one) for one in known],
        "problems": [
            {"library": one.name, "path": path, "reason": reason}
            for one in known
            for path, (_, reason) in store.faults(one).items()
        ],
    }
