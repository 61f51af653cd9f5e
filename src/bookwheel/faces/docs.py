"""The `docs` contract: point it at a folder, get resources and a search."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from bookwheel import VERSION, budget
from bookwheel.catalog import Shelf
from bookwheel.errors import Forbidden, Invalid, NotFound
from bookwheel.faces.base import (
    Answer,
    Arguments,
    Content,
    Face,
    Gap,
    Identity,
    Page,
    Resource,
    Template,
    Tool,
    encode,
    freshness,
    notes,
    object_schema,
    rows_schema,
    with_budget,
)
from bookwheel.model import Hit, Query, Record

SCHEME = "docs://"
TEMPLATE = SCHEME + "{+path}"
MIME_TYPES = {".md": "text/markdown", ".html": "text/markdown", ".txt": "text/plain"}  # HTML is given as Markdown
PAGE = 200  # resources in one answer
LONGEST = 150  # characters of a description
MOST = 100  # hits in one answer
NONE = "."  # an extension that no file has

SEARCH_SCHEMA = object_schema(
    ["query"],
    query={"type": "string", "description": "Search query"},
    searchIn={
        "type": "string",
        "enum": ["title", "content", "both"],
        "description": "Search target: title, content, or both",
        "default": "both",
    },
    limit={"type": "number", "description": "Maximum number of results", "default": 10},
    fileTypes={"type": "array", "items": {"type": "string"}, "description": "File extensions to search"},
)

ALONE = "Search documents by title or content"
BESIDE = (
    "Searches the documents of the served folders by title or content. Use it when you know "
    "the words or the kind of file; then read a hit by its URI, or its sections with read_sections."
)
OUTPUT_SCHEMA = rows_schema("results", matches={"type": "integer"}, index={"type": "object"})


class Docs(Face):
    """Every Markdown, HTML and text file as a resource, and one tool to search them."""

    name = "docs"
    has_resources = True

    def __init__(self, catalog: Shelf, alone: bool = True) -> None:
        self._catalog = catalog
        self._alone = alone
        self.identity = Identity("mcp-serve", VERSION)
        self._page = lru_cache(maxsize=64)(self._make_page)  # as of a generation: many clients ask for the same
        schema, said = (SEARCH_SCHEMA, ALONE) if alone else (with_budget(SEARCH_SCHEMA), BESIDE)
        self.tools = [Tool("search_documents", said, schema, self._search, OUTPUT_SCHEMA)]

    # resources

    def resources(self, cursor: str) -> Page:
        """Return the documents by path, a page at a time; the cursor is the last name of the page before."""
        self._catalog.wait()
        return self._page(cursor, self._catalog.generation())

    def _make_page(self, cursor: str, _generation: int) -> Page:
        found = list(self._catalog.records(cursor, PAGE + 1, frozenset(MIME_TYPES)))
        following = self._catalog.name(found[PAGE - 1].source) if len(found) > PAGE else ""
        return Page(tuple(self._resource(record) for record in found[:PAGE]), following)

    def _resource(self, record: Record) -> Resource:
        return Resource(
            self._uri(record),
            record.source.name,
            record.title,
            describe(record),
            MIME_TYPES[record.source.suffix],
            {"tags": record.words("tags")},
        )

    def _uri(self, record: Record) -> str:
        return SCHEME + encode(self._catalog.name(record.source))

    def address(self, record: Record) -> str:
        """Return the URI of a document of its folders."""
        shown = record.source.suffix in MIME_TYPES and self._catalog.shows(record.source.library)
        return self._uri(record) if shown else ""

    def templates(self) -> Sequence[Template]:
        """Return the one family of resources, where there is more than this face."""
        if self._alone:
            return ()
        return [Template(TEMPLATE, "document", "A document of the served folders", "text/markdown")]

    def complete(self, gap: Gap) -> Sequence[str]:
        """Return the paths that begin as the one in a URI does."""
        if gap.owner != TEMPLATE:
            return ()
        names = (self._catalog.name(record.source) for record in self._catalog.records(suffixes=frozenset(MIME_TYPES)))
        return [name for name in names if name.startswith(gap.begun)]

    def read(self, uri: str) -> Sequence[Content]:
        """Return a document's text: as it is in the file, or as Markdown if that is HTML."""
        if not uri.startswith(SCHEME):
            raise NotFound(f"Resource not found: {uri}", uri=uri)
        try:
            document = self._catalog.read(uri.removeprefix(SCHEME), encoded=True)
        except (NotFound, Forbidden, Invalid) as error:
            raise NotFound(f"Resource not found: {uri}", uri=uri) from error
        mime_type = MIME_TYPES.get(document.source.suffix)
        if mime_type is None:
            raise NotFound(f"Resource not found: {uri}", uri=uri)
        return [Content(uri, mime_type, document.text)]

    # search

    def _search(self, arguments: Arguments) -> Answer:
        query = Query(
            _words(arguments["query"]),
            suffixes=_suffixes(arguments.get("fileTypes") or []),
            fields=arguments["searchIn"],
            limit=_limit(arguments["limit"]),
            evidence=True,
        )
        results = self._catalog.search(query)
        lines = [f"Search results: {len(results.hits)} matches", ""]
        lines += self._within(results.hits, arguments.get("max_tokens"))
        data = {
            "matches": len(results.hits),
            "results": [self._entry(hit) for hit in results.hits],
            "index": freshness(results.progress),
        }
        return Answer("\n".join(lines).rstrip(), data, notes=notes(results.progress))

    def _within(self, hits: Sequence[Hit], most: int | None) -> list[str]:
        """Return the hits in words, best first; those beyond the budget by address and size alone."""
        said: list[str] = []
        for place, hit in enumerate(hits, 1):
            full = self._lines(place, hit)
            over = most is not None and budget.count("\n".join([*said, full])) > most
            said.append(f"{place}. {self._uri(hit.record)} ({hit.record.stamp.size} bytes)" if over else full)
        return said

    def _lines(self, place: int, hit: Hit) -> str:
        title = hit.record.title
        return (
            f'{place}. {self._uri(hit.record)} - "{title}" (relevance: {hit.score:.2f})\n'
            f"   Excerpt: {hit.excerpt}\n"
            f"   Match location: {hit.location}"
        )

    def _entry(self, hit: Hit) -> dict[str, object]:
        return {
            "uri": self._uri(hit.record),
            "title": hit.record.title,
            "relevance": round(hit.score, 2),
            "excerpt": hit.excerpt,
            "matchLocation": hit.location,
            "headings": list(hit.chunk.headings),
            "lines": [hit.chunk.line, hit.chunk.end_line],
        }


def describe(record: Record) -> str:
    """Return a record's description, or its first paragraph, cut at a word to LONGEST characters."""
    text = record.word("description") or record.paragraph
    if len(text) <= LONGEST:
        return text
    head = text[:LONGEST]  # one character is for the ellipsis
    cut = head.rfind(" ")
    return head[: cut if cut > 0 else LONGEST - 1].rstrip(" ,;:.-–—") + "…"


def _words(query: str) -> str:
    if not query.strip():
        raise Invalid("query is empty; give at least one word, or * for every document", argument="query")
    return query


def _suffixes(types: Sequence[str]) -> frozenset[str]:
    """Return the extensions to search: the given ones of ours, or all of ours."""
    wanted = {"." + one.strip().lower().removeprefix(".") for one in types}
    return frozenset(wanted & MIME_TYPES.keys() or {NONE}) if types else frozenset(MIME_TYPES)


def _limit(limit: Any) -> int:
    if limit != limit or limit < 1:  # noqa: PLR0124 - not a number is not equal to itself
        raise Invalid(f"limit is {limit}; it must be at least 1", argument="limit")
    return int(min(limit, MOST))
