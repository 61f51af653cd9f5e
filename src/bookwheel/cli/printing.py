"""How the command line shows things: for people, and as data for programs."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bookwheel.faces.base import encode

if TYPE_CHECKING:
    from bookwheel.model import Hit, Library, Record, Section
    from bookwheel.sync import Report

BAR = 30  # characters


def progress_bar(unit: str) -> Report:
    """Return what shows the progress of long work: a bar on a terminal, a line now and then elsewhere."""
    terminal = sys.stderr.isatty()
    begun = last = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - begun < 0.5 or (now - last < (0.1 if terminal else 2.0) and done < total):
            return
        last = now
        filled = BAR * done // total
        bar = f"\r[{'#' * filled}{'.' * (BAR - filled)}] " if terminal else ""
        end = "" if terminal and done < total else "\n"
        sys.stderr.write(f"{bar}{done}/{total} {unit}{end}")
        sys.stderr.flush()

    return show


def line(text: str = "") -> None:
    """Print a line."""
    sys.stdout.write(text + "\n")


def data(value: object) -> None:
    """Print a value as JSON."""
    line(json.dumps(value, ensure_ascii=False, indent=2))


def warn(text: str) -> None:
    """Print a line beside the answer."""
    sys.stderr.write(text + "\n")


def colour(text: str, code: str) -> str:
    """Return text in a colour, where the terminal shows colours and the user wants them."""
    shown = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return f"\x1b[{code}m{text}\x1b[0m" if shown else text


def worded(hit: Hit) -> str:
    """Return a hit for a person to read."""
    trail = " › ".join(hit.chunk.headings) or hit.record.title
    page = hit.chunk.page
    place = f"{hit.record.source.location}{f', page {page}' if page else f':{hit.chunk.line}'}"
    lines = [
        f"{hit.score:.2f}  {colour(trail, '1')}",
        f"      {colour(place, '36')}",
        f"      {hit.excerpt}",
    ]
    lines += [f"      the same in: {', '.join(one.source.label for one in hit.also)}"] if hit.also else []
    return "\n".join([*lines, *_reasons(hit.why)]) + "\n"


def _reasons(why: Mapping[str, object]) -> list[str]:
    return [f"      {name}: {_plain(value)}" for name, value in why.items()]


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {one}" for name, one in value.items())
    return str(value)


def hit_data(hit: Hit) -> dict[str, object]:
    """Return a hit as data."""
    found: dict[str, object] = {
        **record_data(hit.record),
        "score": round(hit.score, 4),
        "headings": list(hit.chunk.headings),
        "section": hit.chunk.section,
        "lines": [hit.chunk.line, hit.chunk.end_line],
        "page": hit.chunk.page,
        "excerpt": hit.excerpt,
        "match": hit.location,
    }
    return {
        **found,
        **({"also": [one.source.label for one in hit.also]} if hit.also else {}),
        **({"why": dict(hit.why)} if hit.why else {}),
    }


def record_data(record: Record) -> dict[str, object]:
    """Return a document as data."""
    return {
        "uri": uri(record),
        "library": record.source.library,
        "path": record.source.path,
        "file": record.source.location,
        "title": record.title,
        "bytes": record.stamp.size,
    }


def uri(record: Record) -> str:
    """Return the address of a document in the whole store."""
    return f"docs://{encode(record.source.library)}/{encode(record.source.path)}"


def section_data(section: Section) -> dict[str, object]:
    """Return a section as data."""
    return {
        "id": section.id,
        "title": section.title,
        "level": section.level,
        "line": section.line,
        "character_count": len(section),
    }


def library_data(one: Library) -> dict[str, object]:
    """Return a library as data."""
    return {"library": one.name, "root": one.root, "documents": one.document_count, "chunks": one.chunk_count}


def table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        line("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
