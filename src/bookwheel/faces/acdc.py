"""The `acdc` contract: an organisation's named content sources, searched, read and prompted from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import unquote

from bookwheel import budget
from bookwheel.catalog import Shelf
from bookwheel.errors import BookwheelError, Invalid, NotFound
from bookwheel.faces.acdc_config import Organisation
from bookwheel.faces.base import (
    Answer,
    Arguments,
    Content,
    Face,
    Gap,
    Page,
    Resource,
    Template,
    Tool,
    encode,
    notes,
    object_schema,
    with_budget,
)
from bookwheel.model import Document, Hit, Query, Record
from bookwheel.prompts import Prompt, Prompts

SCHEME = "acdc://"
TEMPLATE = SCHEME + "{source}/{+path}"
SUFFIX = ".md"
MIME_TYPE = "text/markdown"
PAGE = 200  # resources in one answer
NAMES_OF_SOURCES = frozenset({"source", "library"})  # arguments of prompts that are completed with sources

SEARCH = (
    "Searches the organisation's knowledge base: names, keywords and content of all resources. "
    "Use it first for any question on how things are done here; then call read with a URI from the results."
)
READ = "Reads a resource in full by its acdc:// URI, as search and the list of resources give it."
SEARCH_SCHEMA = object_schema(
    ["query"],
    query={"type": "string", "description": "Natural language or keyword query"},
    source={"type": "string", "description": "Filter results to a specific content source"},
)
READ_SCHEMA = object_schema(
    ["uri"],
    uri={"type": "string", "description": "The acdc:// URI of the resource (e.g., acdc://docs/guide)"},
)


@dataclass(frozen=True, slots=True)
class Boosts:
    """How search ranks, and how much it shows."""

    keywords: float = 3.0
    name: float = 2.0
    content: float = 1.0
    most: int = 10

    @property
    def weights(self) -> dict[str, float]:
        """The same by the names the index has for these fields."""
        return {"keywords": self.keywords, "title": self.name, "content": self.content}


class Acdc(Face):
    """Resources, prompts, and two tools over them."""

    name = "acdc"
    has_resources = True
    has_prompts = True

    def __init__(
        self,
        catalog: Shelf,
        organisation: Organisation,
        prompts: Prompts,
        boosts: Boosts | None = None,
        alone: bool = True,
    ) -> None:
        self._catalog = catalog
        self._alone = alone
        self._prompts = prompts
        self._boosts = boosts or Boosts()
        self._page = lru_cache(maxsize=64)(self._make_page)  # as of a generation: many clients ask for the same
        self.identity = organisation.identity
        said = {"search": SEARCH, "read": READ, **organisation.descriptions}
        self.tools = [
            Tool("search", said["search"], SEARCH_SCHEMA, self._search),
            Tool("read", said["read"], READ_SCHEMA if alone else with_budget(READ_SCHEMA), self._read_tool),
        ]

    # resources

    def resources(self, cursor: str) -> Page:
        """Return the resources by source and path, a page at a time; the cursor is the last name before it."""
        self._catalog.wait()
        return self._page(cursor, self._catalog.generation())

    def _make_page(self, cursor: str, _generation: int) -> Page:
        found = list(self._catalog.records(cursor, PAGE + 1))
        following = self._catalog.name(found[PAGE - 1].source) if len(found) > PAGE else ""
        return Page(tuple(_resource(record) for record in found[:PAGE]), following)

    def read(self, uri: str) -> Sequence[Content]:
        """Return the body of a resource."""
        return [Content(uri, MIME_TYPE, self._body(uri))]

    def _body(self, uri: str) -> str:
        document = self._document(uri)
        return document.text[document.body :]

    def _document(self, uri: str) -> Document:
        """Return the document a URI names; whatever is wrong with it or the URI, there is no such resource."""
        source, sign, path = uri.removeprefix(SCHEME).partition("/")
        missing = NotFound(f"Resource not found: {uri}", uri=uri)
        if not uri.startswith(SCHEME) or not sign or not path:
            raise missing
        for spelling in dict.fromkeys((source, unquote(source))):
            try:
                return self._catalog.read_in(spelling, path + SUFFIX, encoded=True)
            except BookwheelError:
                continue
        raise missing

    def address(self, record: Record, line: int = 0) -> str:
        """Return the URI of a resource."""
        return address(record) if self._catalog.shows(record.source.library) else ""

    def templates(self) -> Sequence[Template]:
        """Return the one family of resources, where there is more than this face."""
        if self._alone:
            return ()
        return [Template(TEMPLATE, "resource", "A resource of the organisation's knowledge base", MIME_TYPE)]

    # tools

    def _search(self, arguments: Arguments) -> Answer:
        text, source = asked(arguments["query"]), arguments.get("source") or ""
        known = [library.name for library in self._catalog.libraries()]
        if source and source not in known:
            told = f"There is no source {source!r}; the sources are: {', '.join(known)}."
            return Answer(worded(text, source, (), _cite), notes=(told,))
        query = Query(
            text,
            libraries=(source,) if source else (),
            limit=self._boosts.most,
            mode="lexical",  # the boosts decide, as the contract says; the one search of all faces goes by meaning too
            weights=self._boosts.weights,
            evidence=True,
        )
        results = self._catalog.search(query)
        return Answer(worded(text, source, results.hits, _cite), notes=notes(replace(results.progress, embedded=1.0)))

    def _read_tool(self, arguments: Arguments) -> Answer:
        body = self._body(arguments["uri"])
        most = arguments.get("max_tokens")
        if most is None or budget.count(body) <= most:
            return Answer(body)
        text = budget.cut(body, most)
        return Answer(text, notes=(f"About {budget.count(body) - budget.count(text)} tokens more follow.",))

    # prompts

    def prompts(self) -> Sequence[Prompt]:
        """Return the prompts of the sources that may be seen, each behind the name of its source."""
        shown = (one for one in self._prompts.all() if self._catalog.shows(one.library))
        return [replace(one, name=f"{one.library}:{one.name}") for one in shown]

    def prompt(self, name: str, values: Mapping[str, str]) -> tuple[Prompt, str]:
        """Return a prompt and its text."""
        found = next((one for one in self.prompts() if one.name == name), None)
        if found is None:
            raise NotFound(f"there is no prompt {name}; prompts/list names those there are", name=name)
        return found, found.render(values)

    # completion

    def complete(self, gap: Gap) -> Sequence[str]:
        """Return sources and paths that begin as a gap does."""
        if gap.owner == TEMPLATE and gap.name == "path":
            return [path for path in self._paths(gap.others.get("source", "")) if path.startswith(gap.begun)]
        if gap.owner == TEMPLATE or (gap.name in NAMES_OF_SOURCES and self._owns(gap.owner)):
            return [one.name for one in self._catalog.libraries() if one.name.startswith(gap.begun)]
        return ()

    def _owns(self, prompt: str) -> bool:
        return any(one.name == prompt for one in self.prompts())

    def _paths(self, source: str) -> list[str]:
        found = (record.source for record in self._catalog.records())
        return [one.path.removesuffix(SUFFIX) for one in found if source in {"", one.library}]


def address(record: Record) -> str:
    """Return the URI of a resource: its source, and its path without the extension."""
    return SCHEME + encode(record.source.library) + "/" + encode(record.source.path.removesuffix(SUFFIX))


def _cite(hit: Hit) -> str:
    return address(hit.record)


def _resource(record: Record) -> Resource:
    name = record.word("name")
    return Resource(address(record), name, name, record.word("description"), MIME_TYPE)


def asked(query: str) -> str:
    """Return what a caller looks for; raises Invalid if that is nothing."""
    if not query.strip():
        raise Invalid("query is empty; give at least one word, or * for every document", argument="query")
    return query.strip()


def worded(query: str, source: str, hits: Sequence[Hit], uri: Callable[[Hit], str]) -> str:
    """Return the hits in the contract's words."""
    where = f" in source '{source}'" if source else ""
    if not hits:
        return f"No results found for '{query}'{where}"
    said = [f"Search results for '{query}'{where}:\n\n"]
    for hit in hits:
        record = hit.record
        link = f"[{record.title}]({uri(hit)})"
        said.append(f"- [{record.source.library}] {link}: {hit.excerpt} (relevance: {hit.score:.2f})\n\n")
    return "".join(said)
