"""What the tests of the vectordb contract stand on: its answers, its command, and a web server on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from contracts.harness import PATIENCE, WORDS_ALONE, Answer, Json, Reader

CASES = Path(__file__).parents[1] / "formats" / "cases"
ROW = {"status", "doc_id", "source", "library", "chunk_count"}  # of something that was taken in
KEYS = {
    *("doc_id", "source", "title", "library", "file_type", "last_modified", "page", "content", "chunk_index"),
    "metadata",
}  # of a result of a search


def data(answer: Answer) -> Json:
    """Return an answer's data, having checked that the text is the same and that it is no error of the protocol."""
    assert not answer.error, answer.texts
    assert answer.data is not None
    assert json.loads(answer.text) == answer.data
    return answer.data


def ask(reader: Reader, tool: str, /, **arguments: object) -> Json:
    """Call a tool and return its data."""
    return data(reader.call(tool, **arguments))


def fault(answer: Answer) -> str:
    """Return what an error says, having checked that it is nothing but an error."""
    said = data(answer)
    assert said.keys() == {"status", "error"}, said
    assert said["status"] == "error"
    assert isinstance(said["error"], str)
    assert said["error"].strip()
    assert "log says" not in said["error"], "whatever a caller can do is foreseen"
    return said["error"]


def put(reader: Reader, content: str, source: str, /, **arguments: object) -> Json:
    """Take in a text that is new, and return what is said of it."""
    done = ask(reader, "ingest_content", content=content, source=source, **arguments)
    assert done["status"] == "indexed", done
    return done


def results(reader: Reader, query: str, /, **arguments: object) -> list[Json]:
    """Search, and return the results."""
    found: list[Json] = ask(reader, "search", query=query, **arguments)["results"]
    return found


def sources(reader: Reader, query: str, /, **arguments: object) -> list[str]:
    """Search, and return where the results are from."""
    return [one["source"] for one in results(reader, query, **arguments)]


def documents(reader: Reader, **arguments: object) -> list[Json]:
    """Return the listed documents."""
    found: list[Json] = ask(reader, "list_documents", **arguments)["documents"]
    return found


def chapters(*words: str) -> str:
    """Return a text with a section for each word, each a passage of its own."""
    filler = "This sentence is only here to make the passage long enough to stand alone. " * 20
    return "\n\n".join(f"## About the {word}\n\nThe {word} is told of here. {filler}" for word in words)


# the command


def bulk_command(*arguments: str | Path) -> list[str]:
    """Return `mcpvectordb-ingest` with its arguments, as it is installed."""
    return [str(Path(sys.executable).with_name("mcpvectordb-ingest")), *map(str, arguments)]


def environment(store: Path, env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a command that works on a store."""
    return {**os.environ, **WORDS_ALONE, "LANCEDB_URI": str(store), **(env or {})}


def bulk(
    store: Path, *arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `mcpvectordb-ingest` on a store."""
    return subprocess.run(
        bulk_command(*arguments),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment(store, env),
        timeout=2 * PATIENCE,
        check=False,
    )


# a web server


@dataclass(frozen=True)
class Page:
    """What a web server has at a path."""

    body: bytes = b""
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Site:
    """A running web server: its pages, which may be changed, and the requests it got."""

    url: str
    pages: dict[str, Page]
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)


@contextmanager
def visited(pages: Mapping[str, Page]) -> Iterator[Site]:
    """Run a web server on loopback; it honours If-None-Match where a page has an ETag."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requests.append((self.path, dict(self.headers)))
            page = site.pages.get(self.path, Page(b"nothing", status=404))
            known = "ETag" in page.headers and self.headers["If-None-Match"] == page.headers["ETag"]
            body = b"" if known else page.body
            self.send_response(304 if known else page.status)
            site.statuses.append(304 if known else page.status)
            self.send_header("Content-Length", str(len(body)))
            if page.kind:
                self.send_header("Content-Type", page.kind)
            for name, value in page.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site = Site(f"http://127.0.0.1:{server.server_address[1]}", dict(pages))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
