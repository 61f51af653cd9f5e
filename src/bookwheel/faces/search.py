"""The one search of a server with several faces: over all libraries, with the schemas of both contracts that have one.

Asked as an organisation's knowledge base is (`query`, `source`), it answers in that contract's words; asked as the
vector contract says (`top_k`, `library`, `filter`), in its JSON. The data beside the words is the same for both.
"""

from __future__ import annotations

from collections.abc import Callable

from bookwheel import VERSION
from bookwheel.catalog import Shelf
from bookwheel.errors import BookwheelError, Invalid
from bookwheel.faces.acdc import asked, worded
from bookwheel.faces.base import (
    Answer,
    Arguments,
    Face,
    Identity,
    Tool,
    as_json,
    freshness,
    notes,
    object_schema,
    rows_schema,
    with_budget,
    within_budget,
)
from bookwheel.faces.vectordb import passage_data
from bookwheel.faces.vectordb_tools import FEW
from bookwheel.model import Hit, Query, Record, Results

PRECISE = ("top_k", "library", "filter")  # arguments of that contract alone

DESCRIPTION = (
    "Searches everything served here, by words and by meaning, and gives passages with their URI, section and lines. "
    "Use it first; then read what you need with read_sections, read or resources/read."
)
SCHEMA = with_budget(
    object_schema(
        ["query"],
        query={"type": "string", "description": "Question or key words; * finds everything"},
        source={"type": "string", "description": "Only this content source; the same as library"},
        library={"type": ["string", "null"], "description": "Only this library", "default": None},
        top_k={"type": "integer", "minimum": 1, "maximum": 100, "description": "Most results to return"},
        filter={"type": ["object", "null"], "description": 'Fields that must be equal, such as {"file_type": "pdf"}'},
    )
)
OUTPUT_SCHEMA = {**rows_schema("results", index={"type": "object"}), "required": []}


class Search(Face):
    """One tool over every library on a shelf."""

    name = "search"

    def __init__(self, catalog: Shelf, address: Callable[[Record, int], str], most: int, description: str = "") -> None:
        self._catalog = catalog
        self._address = address
        self._most = most
        self.identity = Identity("bookwheel", VERSION)
        self.tools = [Tool("search", description or DESCRIPTION, SCHEMA, self._search, OUTPUT_SCHEMA)]

    def _search(self, arguments: Arguments) -> Answer:
        library, precise = _library(arguments), _is_precise(arguments)
        where = dict(arguments.get("filter") or {})
        narrower = where.pop("library", library)
        if not isinstance(narrower, str):
            raise Invalid("the filter's library must be a text", argument="filter")
        query = Query(
            asked(arguments["query"]),
            libraries=(library or narrower,) if library or narrower else (),
            limit=arguments.get("top_k") or (FEW if precise else self._most),
            where=where,
            distinct=True,
        )
        results, told = self._find(query, nowhere=bool(library) and narrower != library)
        data = self._data(results, arguments.get("max_tokens"))
        text = as_json(data) if precise else worded(query.text, library, results.hits, self._cite)
        return Answer(text, data, notes=(*told, *notes(results.progress)))

    def _find(self, query: Query, nowhere: bool) -> tuple[Results, list[str]]:
        """Return the results, and what is to be said of a library that is not there."""
        known = [one.name for one in self._catalog.libraries()]
        told = [
            f"There is no library {name!r}; there are: {', '.join(known) or 'none'}."
            for name in query.libraries
            if name not in known
        ]
        return (Results((), self._catalog.progress()) if nowhere or told else self._catalog.search(query)), told

    def _cite(self, hit: Hit) -> str:
        return self._address(hit.record, hit.chunk.line) or hit.record.source.location

    def _data(self, results: Results, most: int | None) -> dict[str, object]:
        rows = [self._row(hit) for hit in results.hits]
        return {"results": within_budget(rows, most), "index": freshness(results.progress)}

    def _row(self, hit: Hit) -> dict[str, object]:
        row = {
            **passage_data(hit, self._catalog.passage(hit)),
            "uri": self._address(hit.record, hit.chunk.line),
            "score": round(hit.score, 2),
            "section": hit.chunk.section,
            "lines": [hit.chunk.line, hit.chunk.end_line],
        }
        return {**row, "also": [one.source.label for one in hit.also]} if hit.also else row

    def failure(self, error: BookwheelError, arguments: Arguments) -> Answer:
        """Word an error as the contract that was spoken does."""
        if not _is_precise(arguments):
            return super().failure(error, arguments)
        fault = {"status": "error", "error": error.message}
        return Answer(as_json(fault), fault)


def _is_precise(arguments: Arguments) -> bool:
    return any(arguments.get(name) is not None for name in PRECISE)


def _library(arguments: Arguments) -> str:
    """Return the one library that was asked for, by either name; empty for all."""
    source, library = arguments.get("source") or "", arguments.get("library") or ""
    if source and library and source != library:
        raise Invalid(f"a source is a library, but {source!r} is not {library!r}; give one of them", argument="library")
    return source or library
