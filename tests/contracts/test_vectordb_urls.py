"""The vectordb contract: URLs, from a real web server on loopback."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal

from contracts.conftest import StartStore
from contracts.harness import ERAS, PATIENCE, Json, Reader, command, requirement, serving
from contracts.vectors import CASES, ROW, Page, Site, ask, documents, environment, fault, results, visited

PAGE = b"""<!doctype html><html><head><title>R&amp;D</title></head><body><nav><a href=/>Home</a></nav>
<main><h1>The wheel &amp; the gear</h1><p>Here the quokka turns it, for as long as anybody reads.</p></main>
<footer>All rights reserved</footer></body></html>"""
PDF = (CASES / "pdf/manual.pdf").read_bytes()
DATE = "Sun, 01 Jun 2025 09:00:00 GMT"


@pytest.fixture
def site() -> Iterator[Site]:
    """A web server with nothing on it yet."""
    with visited({}) as site:
        yield site


@pytest.fixture(scope="module", params=ERAS)
def fetching(
    request: pytest.FixtureRequest, portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reader]:
    """A server that may fetch from this machine, in each era."""
    base = tmp_path_factory.mktemp("urls")
    arguments = ("--face", "vectordb", "--store", base / "store", "--allow-private-urls", "--max-upload", "100000")
    with serving(portal, base, base / "log", *arguments, mode=ERAS[request.param], cwd=base) as reader:
        yield reader


def fetch(reader: Reader, site: Site, path: str, **arguments: object) -> Json:
    """Take in what the web server has at a path."""
    return ask(reader, "ingest_url", url=site.url + path, **arguments)


# what is taken in


@requirement(
    "vectordb.ingest-url",
    "vectordb.ingest-url.answer",
    "vectordb.source.url",
    "vectordb.hash",
    "vectordb.title",
    "vectordb.file-type.url",
    "vectordb.last-modified",
    "vectordb.ingest-url.library",
    "vectordb.ingest-url.metadata",
)
def test_page_is_fetched_converted_and_found(fetching: Reader, site: Site, shelf: str) -> None:
    site.pages["/wheel.html?a=1"] = Page(PAGE, headers={"Last-Modified": DATE})

    done = fetch(fetching, site, "/wheel.html?a=1", library=shelf, metadata={"by": "Ann"})

    assert done.keys() == ROW
    assert done == {**done, "status": "indexed", "source": site.url + "/wheel.html?a=1", "library": shelf}
    (document,) = documents(fetching, library=shelf)
    (found, *_) = results(fetching, "quokka", library=shelf)
    assert document["content_hash"] == hashlib.sha256(PAGE).hexdigest()
    assert found == {
        **found,
        "title": "The wheel & the gear",
        "file_type": "url",
        "page": 0,
        "last_modified": "2025-06-01T09:00:00+00:00",
        "metadata": {"by": "Ann"},
    }
    assert "rights reserved" not in ask(fetching, "get_document", doc_id=done["doc_id"])["content"]


@requirement("vectordb.file-type.url", "vectordb.page", "vectordb.title")
@pytest.mark.parametrize(
    ("path", "page", "expected"),
    [
        ("/files/manual.pdf", Page(PDF, "application/pdf"), ("pdf", "A manual of R&D")),
        ("/download?id=7", Page(PDF, "application/pdf"), ("pdf", "A manual of R&D")),
        ("/page", Page(PAGE, "text/html"), ("url", "The wheel & the gear")),
        ("/notes", Page(b"No heading here.\n", "text/markdown"), ("url", "notes")),
        ("/a%20note.txt", Page(b"No heading here.\n", "text/plain"), ("url", "a note.txt")),
    ],
)
def test_file_type_is_that_of_a_document_that_the_server_names(
    fetching: Reader, site: Site, path: str, page: Page, expected: tuple[str, str]
) -> None:
    site.pages[path] = page

    fetch(fetching, site, path, library=site.url)
    found = results(fetching, "*", library=site.url)

    assert {(one["file_type"], one["title"]) for one in found} == {expected}
    assert all((one["page"] > 0) == (expected[0] == "pdf") for one in found)
    assert all(datetime.fromisoformat(one["last_modified"]).utcoffset() is not None for one in found)


@requirement("vectordb.ingest-url", "vectordb.source.url")
def test_redirects_are_followed_and_the_url_stays_the_one_asked_for(fetching: Reader, site: Site, shelf: str) -> None:
    site.pages["/old"] = Page(status=301, headers={"Location": "/newer"})
    site.pages["/newer"] = Page(status=302, headers={"Location": site.url + "/new"})
    site.pages["/new"] = Page(PAGE)

    assert fetch(fetching, site, "/old", library=site.url)["source"] == site.url + "/old"
    assert [path for path, _ in site.requests] == ["/old", "/newer", "/new"]


# again


@requirement("vectordb.ingest-url.dedup", "vectordb.skipped", "vectordb.dedup.same")
@pytest.mark.parametrize(("headers", "status"), [({"ETag": '"v1"'}, 304), ({}, 200)])
def test_unchanged_url_is_skipped(
    fetching: Reader, site: Site, shelf: str, headers: dict[str, str], status: int
) -> None:
    site.pages["/wheel"] = Page(PAGE, headers=headers)
    first = fetch(fetching, site, "/wheel", library=shelf)

    again = fetch(fetching, site, "/wheel", library=shelf)

    assert again == {**first, "status": "skipped", "chunk_count": 0}
    assert site.statuses == [200, status]
    assert len(documents(fetching, library=shelf)) == 1


@requirement("vectordb.ingest-url.dedup", "vectordb.replaced", "vectordb.dedup.other")
def test_changed_url_is_replaced_and_known_by_its_new_version(fetching: Reader, site: Site, shelf: str) -> None:
    site.pages["/wheel"] = Page(PAGE, headers={"ETag": '"v1"'})
    first = fetch(fetching, site, "/wheel", library=shelf)
    site.pages["/wheel"] = Page(PAGE.replace(b"quokka", b"okapi"), headers={"ETag": '"v2"'})

    second = fetch(fetching, site, "/wheel", library=shelf)
    third = fetch(fetching, site, "/wheel", library=shelf)

    assert second["status"] == "replaced"
    assert second["doc_id"] != first["doc_id"]
    assert third == {**second, "status": "skipped", "chunk_count": 0}
    assert site.statuses == [200, 200, 304]
    assert results(fetching, "quokka", library=shelf) == []
    assert len(results(fetching, "okapi", library=shelf)) == 1


@requirement("vectordb.ingest-url.dedup")
def test_url_in_another_library_or_deleted_is_fetched_anew(fetching: Reader, site: Site, shelf: str) -> None:
    site.pages["/wheel"] = Page(PAGE, headers={"ETag": '"v1"'})
    first = fetch(fetching, site, "/wheel", library=shelf)

    assert fetch(fetching, site, "/wheel", library=shelf + " 2")["status"] == "indexed"
    ask(fetching, "delete_document", doc_id=first["doc_id"])
    assert fetch(fetching, site, "/wheel", library=shelf)["status"] == "indexed"
    assert site.statuses == [200, 200, 200]


@requirement("vectordb.swap")
@pytest.mark.parametrize(
    "broken",
    [Page(b"%PDF-1.7 broken", "application/pdf"), Page(b"", "application/pdf"), Page(status=500), Page(status=404)],
)
def test_failure_leaves_the_old_version(fetching: Reader, site: Site, shelf: str, broken: Page) -> None:
    site.pages["/manual"] = Page(PDF, "application/pdf", headers={"ETag": '"v1"'})
    done = fetch(fetching, site, "/manual", library=shelf)
    before = documents(fetching, library=shelf)
    site.pages["/manual"] = broken

    fault(fetching.call("ingest_url", url=site.url + "/manual", library=shelf))

    assert documents(fetching, library=shelf) == before
    assert {one["doc_id"] for one in results(fetching, "motor", library=shelf)} == {done["doc_id"]}


# what is not fetched


@requirement("vectordb.errors", "vectordb.errors.never", "vectordb.ingest-url")
@pytest.mark.parametrize(
    "page",
    [
        Page(status=404),
        Page(status=403),
        Page(status=500),
        Page(status=204),
        Page(b"<p></p>"),
        Page(b""),
        Page(b"x" * 100_001, "text/plain"),
        Page(status=302, headers={"Location": "/page"}),
        Page(status=302),
        Page(status=302, headers={"Location": "file:///etc/passwd"}),
        Page(status=302, headers={"Location": "ftp://127.0.0.1/x"}),
        Page(b"not gzip", headers={"Content-Encoding": "gzip"}),
        Page(PAGE, headers={"Content-Encoding": "br"}),
        Page(b"\x89PNG\r\n\x1a\n" + bytes(100), "image/png"),
        Page(bytes(range(256)) * 9, "application/octet-stream"),
    ],
    ids=range(15),
)
def test_what_gives_no_text_is_an_error(fetching: Reader, site: Site, shelf: str, page: Page) -> None:
    site.pages["/page"] = page

    fault(fetching.call("ingest_url", url=site.url + "/page", library=shelf))

    assert documents(fetching, library=shelf) == []


@requirement("vectordb.ingest-url.url", "vectordb.errors", "vectordb.errors.never")
@pytest.mark.parametrize(
    "url",
    [
        "",
        "no url",
        "/etc/passwd",
        "file:///etc/passwd",
        "ftp://example.org/x",
        "gopher://example.org/",
        "data:text/html,hello",
        "javascript:alert(1)",
        "http://",
        "http:///path",
        "http://user:word@127.0.0.1/",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:0/",
        "http://[::1",
        "http://exa mple.org/",
        "http://127.0.0.1\\@example.org/",
        "http://no-such-host.invalid/",
        "http://" + "x" * 3000 + ".invalid/",
        "http://127.0.0.1/\0",
    ],
)
def test_what_is_no_url_to_fetch_is_an_error(fetching: Reader, shelf: str, url: str) -> None:
    fault(fetching.call("ingest_url", url=url, library=shelf))

    assert documents(fetching, library=shelf) == []


@requirement("vectordb.ingest-url", "vectordb.errors.ordinary", "model.containment.no-hint")
@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "0", "127.1", "2130706433", "[::ffff:127.0.0.1]", "169.254.169.254"],
)
def test_private_addresses_are_not_visited_unless_allowed(vectors: Reader, site: Site, shelf: str, host: str) -> None:
    site.pages["/secret"] = Page(PAGE)
    url = site.url.replace("127.0.0.1", host) + "/secret"

    said = fault(vectors.call("ingest_url", url=url, library=shelf))

    assert "private" in said
    assert "wheel" not in said
    assert site.requests == []


# from the command line


@requirement("vectordb.ingest-url")
def test_bookwheel_ingest_takes_a_url_into_a_library(vectordb: StartStore, site: Site, tmp_path: Path) -> None:
    site.pages["/wheel"] = Page(PAGE)
    store = tmp_path / "store"

    def ingest(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command("ingest", site.url + "/wheel", "--library", "web", "--store", store, *options),
            capture_output=True,
            text=True,
            env=environment(store),
            timeout=PATIENCE,
            check=False,
        )

    refused, done = ingest(), ingest("--allow-private-urls")

    assert (refused.returncode, refused.stdout) == (1, "")
    assert "private" in refused.stderr
    assert done.returncode == 0
    assert [one["source"] for one in documents(vectordb(), library="web")] == [site.url + "/wheel"]
