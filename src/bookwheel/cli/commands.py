"""The commands, each a call of the core and a way to print what it says. They return the exit code."""

from __future__ import annotations

import argparse
import platform
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bookwheel import VERSION, budget
from bookwheel.cli.core import catalog_of, document_of, embed, folders_of, settings_of, sync, synced
from bookwheel.cli.printing import data, hit_data, library_data, line, record_data, section_data, table, warn, worded
from bookwheel.errors import NotFound, Unavailable
from bookwheel.model import Query

if TYPE_CHECKING:
    from bookwheel.catalog import Catalog
    from bookwheel.model import Document, Hit


def serve(options: argparse.Namespace) -> int:
    """Serve until the client leaves, or a signal comes."""
    from bookwheel.cli.serving import serve, serving_of  # noqa: PLC0415 - brings all faces and the protocol's library

    serving = serving_of(settings_of(options))
    try:
        serve(serving)
    finally:
        serving.catalog.close()
    return 0


def ingest(options: argparse.Namespace) -> int:
    """Index folders and say what was done; with a library, take files, folders and URLs into it."""
    settings = settings_of(options)
    if options.library:
        return _take_in(catalog_of(settings, []), options)
    catalog = catalog_of(settings, folders_of(settings, [Path(path) for path in options.paths]))
    done = {**asdict(sync(catalog)), "embedded": embed(catalog)}
    if options.json:
        data(done)
        return 0
    line(", ".join(f"{number} {name}" for name, number in done.items()))
    for path, reason in catalog.progress().skipped:
        warn(f"left out: {path}: {reason}")
    return 0


def _take_in(catalog: Catalog, options: argparse.Namespace) -> int:
    from bookwheel.cli.bulk import data_of, summary, take  # noqa: PLC0415 - brings converters and the network
    from bookwheel.model import Ingested  # noqa: PLC0415

    done = [one for path in options.paths for one in take(catalog, path, options.library)]
    if options.json:
        data([data_of(one) for one in done])
    for one in done if not options.json else ():
        line(f"{one.status}: {one.source}" if isinstance(one, Ingested) else summary(one))
    errors = [error for one in done if not isinstance(one, Ingested) for error in one.errors]
    for file, message in errors:
        warn(f"{file}: {message}")
    return 1 if errors else 0


def search(options: argparse.Namespace) -> int:
    """Search and print the hits."""
    catalog = synced(options)
    results = catalog.search(
        Query(
            options.query,
            libraries=tuple(options.library),
            limit=options.limit,
            mode=options.mode,
            distinct=True,
            explain=options.explain,
        )
    )
    if options.max_tokens:
        return _passages(catalog, results.hits, options)
    if options.json:
        data([hit_data(hit) for hit in results.hits])
        return 0
    for hit in results.hits:
        line(worded(hit))
    if not results.hits:
        line(f"Nothing found for {options.query!r} in {results.progress.indexed} documents.")
    _warn(catalog, options.mode, results.progress.embedded)
    return 0


def _warn(catalog: Catalog, mode: str, embedded: float) -> None:
    """Say what a search by meaning could not do."""
    if mode == "vector" and (not catalog.semantics or catalog.semantics.problem):
        warn(f"there is no model to compare by meaning ({catalog.model}): this went by words")
    elif mode != "lexical" and embedded < 1:
        warn(f"semantic ranking ready for {int(100 * embedded)} %; `bookwheel reindex` finishes it")


def _passages(catalog: Catalog, hits: tuple[Hit, ...], options: argparse.Namespace) -> int:
    """Print the passages of the hits in full, as far as the budget goes, and name the rest with their sizes."""
    left = options.max_tokens
    shown: list[dict[str, object]] = []
    for hit in hits:
        text = catalog.passage(hit)
        part = budget.cut(text, left) if left > 0 else ""
        left -= budget.count(part)
        shown.append({**hit_data(hit), "text": part, "tokens": budget.count(text)})
    if options.json:
        data(shown)
        return 0
    for one in shown:
        lines = one["lines"]
        line(f"{one['uri']} {lines} ({one['tokens']} tokens)" + (f"\n{one['text']}\n" if one["text"] else ""))
    return 0


def list_documents(options: argparse.Namespace) -> int:
    """List the documents of the index."""
    records = list(synced(options).records())
    if options.json:
        data([record_data(record) for record in records])
        return 0
    for record in records:
        line(f"{record.source.label}  {record.title}")
    return 0


def libraries(options: argparse.Namespace) -> int:
    """List the libraries of the index."""
    found = catalog_of(settings_of(options), []).store.libraries()
    if options.json:
        data([library_data(one) for one in found])
        return 0
    for one in found:
        line(f"{one.name}  {one.document_count} documents, {one.chunk_count} chunks  {one.root}")
    return 0


def toc(options: argparse.Namespace) -> int:
    """Print a file's table of contents."""
    document = document_of(options)
    if options.json:
        data([section_data(one) for one in document.sections])
        return 0
    for one in document.sections:
        line(f"{'  ' * (one.level - 1)}{one.title}  [{one.id}]  {len(one)} characters, line {one.line}")
    return 0


def read(options: argparse.Namespace) -> int:
    """Print a document or one section of it."""
    document = document_of(options)
    whole = _section(document, options)
    text = budget.cut(whole, options.max_tokens) if options.max_tokens else whole
    left_out = budget.count(whole) - budget.count(text)
    if options.json:
        shown = {
            "file": document.source.location,
            "section": options.section,
            "text": text,
            "tokens_left_out": left_out,
        }
        data(shown)
        return 0
    line(text.removesuffix("\n"))
    if left_out:
        warn(f"about {left_out} tokens more; `bookwheel toc` lists the sections")
    return 0


def _section(document: Document, options: argparse.Namespace) -> str:
    if not options.section:
        return document.text
    section = next((one for one in document.sections if one.id == options.section), None)
    if section is None:
        raise NotFound(f"{options.file} has no section {options.section}; see: bookwheel toc {options.file}")
    return document.text[section.start : section.end]


def info(options: argparse.Namespace) -> int:
    """Print versions, the store, what it holds and what could not be read."""
    catalog = catalog_of(settings_of(options), [])
    facts = _facts(catalog)
    if options.json:
        data(facts)
        return 0
    for name in ("version", "python", "store", "store_bytes", "documents", "chunks", "model", "embedded"):
        line(f"{name}: {facts[name]}")
    for one in facts["libraries"]:
        line(f"library {one['library']}: {one['documents']} documents in {one['root']}")
    for one in facts["problems"]:
        line(f"left out: {one['library']}/{one['path']}: {one['reason']}")
    return 0


def _facts(catalog: Catalog) -> dict[str, Any]:
    store = catalog.store
    known = store.libraries()
    return {
        "version": VERSION,
        "python": platform.python_version(),
        "store": str(store.folder),
        "store_bytes": sum(file.stat().st_size for file in store.folder.rglob("*") if file.is_file()),
        "documents": sum(one.document_count for one in known),
        "chunks": sum(one.chunk_count for one in known),
        "model": catalog.model,
        "embedded": f"{100 * catalog.progress().embedded:.0f} %",
        "libraries": [library_data(one) for one in known],
        "problems": [
            {"library": one.name, "path": path, "reason": reason}
            for one in known
            for path, (_, reason) in store.faults(one).items()
        ],
    }


def reindex(options: argparse.Namespace) -> int:
    """Make every vector of the chosen model that is missing, and forget those of texts that are gone."""
    catalog = synced(options)
    made = embed(catalog)
    if catalog.semantics and catalog.semantics.problem:
        raise Unavailable(catalog.semantics.problem)
    catalog.prune()
    done = {"model": catalog.model, "embedded": made}
    if options.json:
        data(done)
    else:
        line(f"{made} passages embedded with {catalog.model}")
    return 0


def bench(options: argparse.Namespace) -> int:
    """Ask every question in every mode and print how often the expected document came first, or near the top."""
    from bookwheel.cli.bench import measure, read_questions  # noqa: PLC0415

    questions = read_questions(Path(options.queries))
    catalog = synced(options)
    embed(catalog)
    figures = measure(catalog, questions)
    if options.json:
        data(figures)
        return 0
    names = list(next(iter(figures.values())))
    table([["mode", *names], *([mode, *(f"{row[one]:.3f}" for one in names)] for mode, row in figures.items())])
    return 0
