"""The `vectordb` contract: libraries of ingested files, texts and URLs, and a search over their passages."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bookwheel.catalog import Shelf
from bookwheel.errors import BookwheelError, Invalid
from bookwheel.faces.base import CALL, Answer, Arguments, Face, Identity, as_json
from bookwheel.faces.vectordb_tools import TOOLS
from bookwheel.model import Hit, Query, Record

if TYPE_CHECKING:
    from bookwheel.ingest import FolderIngested

NOTE = {
    "stdio": "In stdio mode the server runs on the same machine as its client: ingest_file reads that machine's files.",
    "http": "Over HTTP the server reads its own machine's files: send others to /upload, or pass their text to "
    "ingest_content.",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the server runs and keeps things."""

    store: str
    models: str
    transport: str


class Vectordb(Face):
    """Ten tools: take in, search, list, read, delete."""

    name = "vectordb"

    def __init__(self, catalog: Shelf, place: Place) -> None:
        self._catalog = catalog
        self._place = place
        self.identity = Identity("mcpvectordb", "0.3.0")
        self.tools = [tool.of(self) for tool in TOOLS]

    def failure(self, error: BookwheelError, arguments: Arguments) -> Answer:
        """Word an error as the contract does: an ordinary answer."""
        return _answer({"status": "error", "error": error.message})

    # taking in

    def _ingest_file(self, arguments: Arguments) -> Answer:
        intake = self._catalog.ingest(arguments["library"])
        return _answer(asdict(intake.file(arguments["path"], arguments["library"], arguments["metadata"])))

    def _ingest_content(self, arguments: Arguments) -> Answer:
        intake = self._catalog.ingest(arguments["library"])
        given = (arguments["content"], arguments["source"], arguments["library"], arguments["metadata"])
        return _answer(asdict(intake.content(*given)))

    def _ingest_url(self, arguments: Arguments) -> Answer:
        intake = self._catalog.ingest(arguments["library"])
        return _answer(asdict(intake.url(arguments["url"], arguments["library"], arguments["metadata"])))

    def _ingest_folder(self, arguments: Arguments) -> Answer:
        from bookwheel.ingest import Wanted  # noqa: PLC0415 - brings converters and the network

        wanted = Wanted(
            arguments["folder"],
            arguments["library"],
            arguments["metadata"] or {},
            arguments["recursive"],
            arguments["max_concurrency"],
        )
        call = CALL.get()
        done = self._catalog.ingest(wanted.library).folder(wanted, call.report, call.halt)
        return _answer(folder_data(done))

    # what there is

    def _search(self, arguments: Arguments) -> Answer:
        if not arguments["query"].strip():
            raise Invalid("query is empty; give at least one word, or * for everything", argument="query")
        where = arguments["filter"] or {}
        asked = {str(one) for one in (arguments["library"] or None, where.get("library")) if one is not None}
        nowhere = len(asked) > 1 or bool(asked - {one.name for one in self._catalog.libraries()})
        query = Query(
            arguments["query"],
            libraries=() if nowhere else tuple(asked),
            limit=0 if nowhere else arguments["top_k"],  # asked all the same: the filter may be wrong too
            where=where,
            chunks=True,
        )
        return _answer({"results": [self._row(hit) for hit in self._catalog.search(query).hits]})

    def _row(self, hit: Hit) -> dict[str, object]:
        return passage_data(hit, self._catalog.passage(hit))

    def _list_documents(self, arguments: Arguments) -> Answer:
        found = self._catalog.latest(arguments["library"] or "", arguments["limit"], arguments["offset"])
        return _answer({"documents": [_document(record) for record in found], "count": len(found)})

    def _list_libraries(self, arguments: Arguments) -> Answer:
        rows = [
            {"library": one.name, "document_count": one.document_count, "chunk_count": one.chunk_count}
            for one in self._catalog.libraries()
        ]
        return _answer({"libraries": rows})

    def _get_document(self, arguments: Arguments) -> Answer:
        record = self._catalog.document(arguments["doc_id"])
        shown = _document(record)
        return _answer(
            {
                **{key: shown[key] for key in ("doc_id", "source", "title", "library")},
                "content": self._catalog.text(record),
                **{key: shown[key] for key in ("chunk_count", "metadata")},
            }
        )

    def _delete_document(self, arguments: Arguments) -> Answer:
        gone = self._catalog.delete(arguments["doc_id"])
        return _answer({"status": "deleted", "doc_id": arguments["doc_id"], "deleted_chunks": gone})

    def _server_info(self, arguments: Arguments) -> Answer:
        over = "stdio" if self._place.transport == "stdio" else "http"
        facts: dict[str, object] = {
            "platform": sys.platform,
            "python_version": platform.python_version(),
            "cwd": str(Path.cwd()),
            "lancedb_uri": self._place.store,
            "fastembed_cache_path": self._place.models,
            "transport": self._place.transport,
            "note": NOTE[over],
        }
        if arguments["check_path"] is not None:
            facts["path_check"] = self._catalog.check_path(arguments["check_path"])
        return _answer(facts)


def _answer(data: Mapping[str, object]) -> Answer:
    return Answer(as_json(data), data)


def _document(record: Record) -> dict[str, object]:
    return {
        "doc_id": record.doc_id,
        "source": record.source.location,
        "title": record.title,
        "library": record.source.library,
        "content_hash": record.digest,
        "created_at": record.created,
        "metadata": dict(record.metadata),
        "chunk_count": record.chunk_count,
    }


def passage_data(hit: Hit, text: str) -> dict[str, object]:
    """Return a hit as the contract's result."""
    record, chunk = hit.record, hit.chunk
    return {
        "doc_id": record.doc_id,
        "source": record.source.location,
        "title": record.title,
        "library": record.source.library,
        "file_type": record.file_type,
        "last_modified": record.last_modified,
        "page": chunk.page,
        "content": text,
        "chunk_index": chunk.place,
        "metadata": dict(record.metadata),
    }


def folder_data(done: FolderIngested) -> dict[str, object]:
    """Return what became of a folder as the contract's object."""
    return {
        "folder": done.folder,
        "library": done.library,
        "total_files": len(done.results) + len(done.errors),
        "indexed": done.count("indexed"),
        "replaced": done.count("replaced"),
        "skipped": done.count("skipped"),
        "failed": len(done.errors),
        "results": [asdict(one) for one in done.results],
        "errors": [{"file": file, "error": message} for file, message in done.errors],
    }
