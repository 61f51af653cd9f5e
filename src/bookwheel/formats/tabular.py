"""Read data files: CSV as a table, JSON and XML as code, a list of equal JSON objects as a table."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from xml.parsers import expat

from bookwheel.errors import ParseFailed
from bookwheel.formats.encoding import decode
from bookwheel.formats.lines import skip_mark, uniform
from bookwheel.formats.made import Made, document
from bookwheel.formats.package import decode_xml
from bookwheel.formats.writing import fence, table
from bookwheel.model import Document, Source

SAMPLE = 20  # lines that tell what separates the cells
LONG = 1_000  # characters of a line that nobody wrote by hand
WIDEST = 30  # columns of a table made of objects
LONGEST = 1 << 20  # characters of a cell


def read_csv(source: Source, data: bytes) -> Document:
    """Return the table in *data*; its text is Markdown."""
    text = decode(data)
    rows = list(cells(text[skip_mark(text) :]))
    return document(source, Made(table(rows)), "this table is empty")


def cells(text: str) -> Iterator[list[str]]:
    """Yield the rows of a table that have any text, whatever separates their cells."""
    csv.field_size_limit(LONGEST)
    sample = text.split("\n", SAMPLE)[:SAMPLE]
    mark = max(",;\t|", key=lambda one: min((line.count(one) for line in sample if line.strip()), default=0))
    try:
        yield from (row for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if any(row))
    except csv.Error as error:
        raise ParseFailed(f"this table cannot be read: {error}; save it anew from a spreadsheet") from error


def read_json(source: Source, data: bytes) -> Document:
    """Return the values in *data*; the text is a table, or the JSON itself as code."""
    text = decode(data)
    text = text[skip_mark(text) :]
    return document(source, Made(shown(loads(text), text)), "this file is empty")


def read_json_lines(source: Source, data: bytes) -> Document:
    """Return the values in *data*, one a line; the text is a table, or the JSON itself as code."""
    text = decode(data)
    text = text[skip_mark(text) :]
    values = [loads(line) for line in uniform(text).split("\n") if line.strip()]
    return document(source, Made(shown(values, text)), "this file is empty")


def shown(value: object, text: str) -> str:
    """Return a value as Markdown: as it was written, unless that is one long line."""
    if rows := columns(value):
        return table(rows)
    written = max(map(len, text.split("\n"))) <= LONG
    return fence(uniform(text) if written else json.dumps(value, ensure_ascii=False, indent=2), "json")


def columns(value: object) -> Sequence[Sequence[str]]:
    """Return a list of flat objects as rows below their keys; none for anything else."""
    if not isinstance(value, list) or len(value) < 2 or not all(isinstance(one, dict) for one in value):
        return []
    keys = list(dict.fromkeys(key for one in value for key in one))
    flat = all(not isinstance(cell, (dict, list)) for one in value for cell in one.values())
    if not flat or not 1 <= len(keys) <= WIDEST:
        return []
    return [keys, *([text_of(one.get(key, "")) for key in keys] for one in value)]


def text_of(value: object) -> str:
    """Return a single value as it stands in a table."""
    return value if isinstance(value, str) else json.dumps(value)


def loads(text: str) -> object:
    """Return the value of a JSON *text*. Raises ParseFailed where it is none, or nested too deep."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ParseFailed(f"this is not valid JSON: {error}; mend it there, or rename it to .txt") from error
    except (RecursionError, ValueError) as error:
        raise ParseFailed(
            "this JSON is nested too deep, or has a number too long, to be read: rename it to .txt"
        ) from error


def read_xml(source: Source, data: bytes) -> Document:
    """Return the XML in *data* as code, once it is known to be well formed."""
    text = decode_xml(data).strip()
    if "\0" in text:
        raise ParseFailed("this is not XML: it holds NUL bytes")
    if "<!ENTITY" in text:
        raise ParseFailed("this file declares XML entities, which are not expanded here: save it without them")
    try:
        expat.ParserCreate("utf-8").Parse(text.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise ParseFailed(f"this is not well-formed XML: {error}; mend it there, or rename it to .txt") from error
    return document(source, Made(fence(uniform(text), "xml")), "this file is empty")
