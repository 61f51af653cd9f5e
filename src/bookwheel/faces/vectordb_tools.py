"""What the tools of the `vectordb` contract are called, take and say of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bookwheel.faces.base import Declared, object_schema

FEW = 5  # results of a search

_LIBRARY = {"type": "string", "default": "default", "description": "Library (collection) to index into"}
_WHERE = {"type": ["string", "null"], "default": None, "description": "Restrict to library; null = all libraries"}
_METADATA = {"type": ["object", "null"], "default": None, "description": "Arbitrary key-value metadata"}
_DOC_ID = {"type": "string", "description": "The document UUID, as list_documents and search give it"}
_OBJECT = {"type": "object"}


def _number(default: int, least: int, most: int | None, description: str) -> dict[str, Any]:
    limits = {"minimum": least} if most is None else {"minimum": least, "maximum": most}
    return {"type": "integer", "default": default, **limits, "description": description}


def _writer(name: str, description: str, required: list[str], method: str, **properties: Mapping[str, Any]) -> Declared:
    schema = object_schema(required, **properties, library=_LIBRARY, metadata=_METADATA)
    return Declared(name, description, schema, method, _OBJECT, writes=True, destroys=True)


TOOLS = (
    _writer(
        "ingest_file",
        "Converts a file of the server's machine and indexes it. Use server_info with check_path if unsure "
        "whether the server can read it; then search.",
        ["path"],
        "_ingest_file",
        path={"type": "string", "description": "Absolute or relative path to the file"},
    ),
    _writer(
        "ingest_content",
        "Indexes text that you have, such as an uploaded file the server cannot read; then search.",
        ["content", "source"],
        "_ingest_content",
        content={"type": "string", "description": "Full text or Markdown to index"},
        source={"type": "string", "description": "Label for the origin (filename, URL, etc.)"},
    ),
    _writer(
        "ingest_url",
        "Fetches a web page or a document by its URL and indexes it; then search.",
        ["url"],
        "_ingest_url",
        url={"type": "string", "description": "HTTP or HTTPS URL to fetch"},
    ),
    _writer(
        "ingest_folder",
        "Indexes every supported document in a folder of the server's machine; failures are listed in errors.",
        ["folder"],
        "_ingest_folder",
        folder={"type": "string", "description": "Absolute or relative path to the folder to ingest"},
        recursive={"type": "boolean", "default": True, "description": "Scan subdirectories recursively"},
        max_concurrency=_number(4, 1, None, "Max files processed simultaneously"),
    ),
    Declared(
        "search",
        "Searches the passages of all indexed documents by words and meaning. Then get_document for the whole.",
        object_schema(
            ["query"],
            query={"type": "string", "description": "Natural language search query"},
            top_k=_number(FEW, 1, 100, "Max results to return"),
            library=_WHERE,
            filter={
                "type": ["object", "null"],
                "default": None,
                "description": 'Field equality filters, such as {"file_type": "pdf", "page": 3}',
            },
        ),
        "_search",
        _OBJECT,
    ),
    Declared(
        "list_documents",
        "Lists indexed documents, the newest first, with their doc_id for get_document and delete_document.",
        object_schema(
            library={**_WHERE, "description": "Filter by library; null = all"},
            limit=_number(20, 1, 1000, "Max documents to return"),
            offset=_number(0, 0, None, "Pagination offset"),
        ),
        "_list_documents",
        _OBJECT,
    ),
    Declared(
        "list_libraries",
        "Lists all libraries with their numbers of documents and chunks.",
        object_schema(),
        "_list_libraries",
        _OBJECT,
    ),
    Declared(
        "get_document",
        "Returns the full Markdown text of an indexed document.",
        object_schema(["doc_id"], doc_id=_DOC_ID),
        "_get_document",
        _OBJECT,
    ),
    Declared(
        "delete_document",
        "Removes a document and all its chunks from the index; the file it is from stays.",
        object_schema(["doc_id"], doc_id=_DOC_ID),
        "_delete_document",
        _OBJECT,
        writes=True,
        destroys=True,
    ),
    Declared(
        "server_info",
        "Tells where the server runs and keeps its index, and whether it can read a path.",
        object_schema(
            check_path={
                "type": ["string", "null"],
                "default": None,
                "description": "File path to test for readability",
            }
        ),
        "_server_info",
        _OBJECT,
    ),
)
