"""What each command takes."""

from __future__ import annotations

import argparse
from argparse import ArgumentParser
from collections.abc import Callable

from bookwheel.settings import OPTIONS, Option

Add = Callable[[ArgumentParser], None]
STORE_OPTIONS = frozenset(
    {
        "config",
        "org_todo_keywords",
        "org_log_done",
        "org_set",
        "ingest_roots",
        "allow_private_urls",
        "max_upload",
        "store",
        "embedder",
        "model_folder",
        "language",
        "max_file_size",
        "include",
        "exclude",
        "log_level",
    }
)


def serve(parser: ArgumentParser) -> None:
    """Folders, and every option there is."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="folder or file to serve (default: this folder)")
    _options(parser, frozenset(option.name for option in OPTIONS))


def ingest(parser: ArgumentParser) -> None:
    """What to index."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="folder or file to index; with --library also a URL")
    parser.add_argument("--library", metavar="NAME", help="take documents into this library, apart from their files")
    printing(parser)


def search(parser: ArgumentParser) -> None:
    """What to look for, where and how."""
    parser.add_argument("query", metavar="QUERY", help="words to look for; * finds everything")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="search only here (default: all libraries)")
    parser.add_argument("--library", action="append", default=[], metavar="NAME", help="search only this library")
    parser.add_argument("--limit", type=_count, default=10, metavar="N", help="most results to show (default: 10)")
    modes = ("lexical", "vector", "hybrid")
    parser.add_argument("--mode", choices=modes, default="hybrid", help="by words, by meaning, or both (default)")
    parser.add_argument("--explain", action="store_true", help="say why each result has its rank")
    parser.add_argument("--max-tokens", type=_count, metavar="N", help="passages in full, best first, up to N tokens")
    printing(parser)


def paths(parser: ArgumentParser) -> None:
    """Where to look."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="only these (default: all libraries)")
    printing(parser)


def file(parser: ArgumentParser) -> None:
    """One file."""
    parser.add_argument("file", metavar="FILE", help="file on disk")
    printing(parser)


def read(parser: ArgumentParser) -> None:
    """One document, and how much of it."""
    parser.add_argument("file", metavar="FILE|URI", help="file on disk, or a docs:// URI from a search")
    parser.add_argument("--section", metavar="ID", help="only this section; `bookwheel toc FILE` lists the ids")
    parser.add_argument("--max-tokens", type=_count, metavar="N", help="whole sentences, up to N tokens")
    printing(parser)


def org(parser: ArgumentParser) -> None:
    """What to do with Org files."""
    from bookwheel.cli import org as commands  # noqa: PLC0415 - it needs this module

    commands.add(parser, printing)


def bench(parser: ArgumentParser) -> None:
    """The questions to ask."""
    parser.add_argument("queries", metavar="QUERIES.jsonl", help='lines of {"query": …, "expected": [URI, …]}')
    paths(parser)


def printing(parser: ArgumentParser) -> None:
    """How to print, and where the store is."""
    parser.add_argument("--json", action="store_true", help="print data for programs")
    _options(parser, STORE_OPTIONS)


def _options(parser: ArgumentParser, names: frozenset[str]) -> None:
    for option in OPTIONS:
        if option.name in names:
            _option(parser, option)


def _option(parser: ArgumentParser, option: Option) -> None:
    text = f"{option.help} [{option.variables[0]}]".replace("%", "%%")
    if option.switch:
        parser.add_argument(option.flag, action=argparse.BooleanOptionalAction, default=None, help=text)
    else:
        names = (option.flag, option.short) if option.short else (option.flag,)
        action = "append" if option.many else "store"
        parser.add_argument(*names, metavar=option.metavar or None, default=None, action=action, help=text)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is too few; give 1 or more")
    return int(text)
