"""The vectordb contract over HTTP: files that clients send, and the tools beside them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anyio.from_thread import BlockingPortal

from contracts.harness import ERAS, Files, Json, requirement, write
from contracts.vectors import CASES, ROW, ask, documents, fault, put, results
from contracts.web import Host, hosting, visiting

LIMIT = 100_000  # bytes
NOTE = b"# A note\n\nOf the quokka.\n"
NOTES: Files = {"README.md": "# Notes\n\nThese notes tell of an anchor.\n"}
FORM = "multipart/form-data; boundary=x"


@pytest.fixture(scope="module", params=["http", "sse"])
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """A server of the face alone with a limit on files, by either name of the transport."""
    base = tmp_path_factory.mktemp("vectordb-http")
    arguments = ("--face", "vectordb", "--store", base / "store", "--max-upload", str(LIMIT))
    with hosting(*arguments, "--transport", request.param, "--port", "0", cwd=base) as host:
        yield host


def send(host: Host, name: str, content: bytes, **fields: str) -> httpx2.Response:
    """Send a file with the fields of a form."""
    return host.ask("POST", "/upload", files={"file": (name, content)}, data=fields)


def taken(response: httpx2.Response) -> Json:
    """Return what was said of a file that was taken in."""
    assert response.status_code == 200, response.text
    said: Json = response.json()
    assert said.keys() == ROW
    return said


def refused(response: httpx2.Response, status: int) -> str:
    """Return what an error says, having checked its form."""
    assert response.status_code == status, response.text
    said = response.json()
    assert said.keys() == {"status", "error"}
    assert said["status"] == "error"
    assert said["error"]
    return str(said["error"])


# what is taken in


@requirement(
    "vectordb.upload",
    "vectordb.upload.form",
    "vectordb.upload.file",
    "vectordb.upload.answer",
    "vectordb.source.upload",
    "vectordb.hash",
    "vectordb.server.transport",
    "composed.transports",
)
def test_sent_file_is_taken_in_under_its_name(portal: BlockingPortal, host: Host, era: str) -> None:
    note = NOTE + era.encode()

    done = taken(send(host, f"{era}.md", note))

    assert done == {**done, "status": "indexed", "source": f"{era}.md", "library": "default"}
    with visiting(portal, host.url + "/mcp", mode=ERAS[era]) as reader:
        (document,) = [one for one in documents(reader) if one["doc_id"] == done["doc_id"]]
        assert ask(reader, "get_document", doc_id=done["doc_id"])["content"] == note.decode()
        assert done["doc_id"] in {one["doc_id"] for one in results(reader, "quokka", library="default")}
        assert ask(reader, "server_info")["transport"] == "sse"
    assert document["content_hash"] == hashlib.sha256(note).hexdigest()
    assert document["title"] == "A note"


@requirement("vectordb.upload.library", "vectordb.upload.metadata")
def test_library_and_metadata_are_kept(portal: BlockingPortal, host: Host) -> None:
    metadata = {"author": "Ann 日本", "pages": [1, {"deep": None}]}

    done = taken(send(host, "kept.md", NOTE, library="ünï 'lib'", metadata=json.dumps(metadata)))

    assert done["library"] == "ünï 'lib'"
    with visiting(portal, host.url + "/mcp") as reader:
        (document,) = documents(reader, library="ünï 'lib'")
    assert document["metadata"] == metadata


@requirement("vectordb.upload.library", "vectordb.upload.metadata")
def test_empty_fields_are_as_if_they_were_not_there(host: Host) -> None:
    done = taken(send(host, "empty-fields.md", NOTE, library="", metadata=""))

    assert done["library"] == "default"


@requirement("vectordb.upload.answer", "vectordb.dedup.key", "vectordb.skipped", "vectordb.replaced")
def test_sent_again_is_skipped_and_another_version_replaces(host: Host) -> None:
    first = taken(send(host, "again.md", NOTE))

    same = taken(send(host, "again.md", NOTE))
    other = taken(send(host, "again.md", NOTE + b"\nMore.\n"))

    assert same == {**first, "status": "skipped", "chunk_count": 0}
    assert other["status"] == "replaced"
    assert other["doc_id"] != first["doc_id"]


@requirement("vectordb.source.upload")
@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("../../etc/passwd.md", "passwd.md"),
        ("/etc/cron.d/job.md", "job.md"),
        ("C:\\docs\\report.md", "report.md"),
        ("..\\..\\up.md", "up.md"),
        ("ünï 日本 #1.md", "ünï 日本 #1.md"),
        ("two  spaces & 'quote'.md", "two  spaces & 'quote'.md"),
    ],
)
def test_only_the_base_name_of_a_path_counts(host: Host, name: str, source: str) -> None:
    assert taken(send(host, name, NOTE, library="names"))["source"] == source


@requirement("vectordb.upload", "vectordb.formats", "vectordb.page")
@pytest.mark.parametrize(("case", "page"), [("pdf/manual.pdf", 2), ("docx/letter.docx", 0), ("pptx/talk.pptx", 2)])
def test_sent_documents_are_converted(portal: BlockingPortal, host: Host, case: str, page: int) -> None:
    done = taken(send(host, Path(case).name, (CASES / case).read_bytes(), library="documents"))

    with visiting(portal, host.url + "/mcp") as reader:
        content = ask(reader, "get_document", doc_id=done["doc_id"])["content"]
        found = results(reader, "*", library="documents", filter={"doc_id": done["doc_id"], "page": page})
    assert content.strip() == (CASES / f"{case}.md").read_text("utf-8").strip()
    assert [one["file_type"] for one in found] == [Path(case).suffix[1:]]


# what is not


@requirement("vectordb.upload.400")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"data": {"library": "x"}},
        {"files": {"other": ("a.md", NOTE)}},
        {"data": {"file": "just a text"}},
        {"files": {"file": ("", NOTE)}},
        {"content": b"no form at all", "headers": {"Content-Type": "text/plain"}},
        {"content": b"broken", "headers": {"Content-Type": "multipart/form-data"}},
        {"content": b"--y\r\nbroken", "headers": {"Content-Type": FORM}},
        {
            "content": b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.md"',
            "headers": {"Content-Type": FORM},
        },
        {"files": [("file", ("a.md", NOTE)), ("file", ("b.md", NOTE))]},
        {"content": b'{"file": "a.md"}', "headers": {"Content-Type": "application/json"}},
    ],
)
def test_form_without_a_file_is_refused(host: Host, options: Json) -> None:
    given: dict[str, Any] = options

    refused(host.ask("POST", "/upload", **given), 400)


@requirement("vectordb.upload.400", "vectordb.upload.object")
@pytest.mark.parametrize(
    "metadata",
    [
        "{",
        "author=Ann",
        "[1, 2]",
        '"text"',
        "7",
        "null",
        "true",
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": "\\ud800"}',
        "[" * 50_000,
    ],
    ids=lambda text: str(text)[:12],
)
def test_metadata_that_is_no_json_object_is_refused(portal: BlockingPortal, host: Host, metadata: str) -> None:
    refused(send(host, "metadata.md", NOTE, library="metadata", metadata=metadata), 400)

    with visiting(portal, host.url + "/mcp") as reader:
        assert documents(reader, library="metadata") == []


@requirement("vectordb.upload.422", "vectordb.formats.other")
@pytest.mark.parametrize("name", ["program.exe", "no-extension", "film.mp4", ".md"])
def test_unsupported_extension_is_refused(host: Host, name: str) -> None:
    assert refused(send(host, name, NOTE), 422).startswith("Unsupported format: ")


@requirement("vectordb.upload.500", "vectordb.formats.empty")
@pytest.mark.parametrize(
    ("name", "content"), [("a.pdf", b"%PDF-1.7 broken"), ("a.docx", b"PK broken"), ("a.md", b""), ("a.md", b" \n")]
)
def test_file_that_cannot_be_converted_is_an_error_that_says_what_to_do(host: Host, name: str, content: bytes) -> None:
    assert "ingest_content" in refused(send(host, name, content), 500)


@requirement("vectordb.swap", "vectordb.upload.500")
def test_failed_conversion_leaves_what_was_sent_before(portal: BlockingPortal, host: Host) -> None:
    done = taken(send(host, "manual.pdf", (CASES / "pdf/manual.pdf").read_bytes(), library="swap"))

    refused(send(host, "manual.pdf", b"%PDF-1.7 broken", library="swap"), 500)

    with visiting(portal, host.url + "/mcp") as reader:
        assert {one["doc_id"] for one in results(reader, "motor", library="swap")} == {done["doc_id"]}


@requirement("vectordb.upload.limit")
@pytest.mark.parametrize("size", [LIMIT + 1, LIMIT + 70_000, 10 * LIMIT])
def test_larger_file_is_refused(host: Host, size: int) -> None:
    assert send(host, "large.md", b"x" * size).status_code == 413
    assert host.ask("GET", "/health").text == "ok"


@requirement("vectordb.upload.limit")
def test_file_of_just_the_limit_is_taken_in(host: Host) -> None:
    assert taken(send(host, "largest.md", b"word " * (LIMIT // 5)))["chunk_count"] > 10


@requirement("vectordb.upload.limit")
def test_without_a_setting_larger_files_than_messages_are_taken_in(tmp_path: Path) -> None:
    arguments = ("--face", "vectordb", "--store", tmp_path / "store", "--transport", "http", "--port", "0")
    with hosting(*arguments, cwd=tmp_path) as host:
        assert taken(send(host, "large.md", b"word " * 1_200_000))["status"] == "indexed"
        assert send(host, "too-large.md", b"x" * 52_428_801).status_code == 413


@requirement("vectordb.upload")
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_only_post_is_answered(host: Host, method: str) -> None:
    assert host.ask(method, "/upload").status_code == 405


@requirement("vectordb.upload", "vectordb.answers.json")
def test_uploads_and_texts_are_one_store_for_all_clients(portal: BlockingPortal, host: Host) -> None:
    with visiting(portal, host.url + "/mcp") as one, visiting(portal, host.url + "/sse") as other:
        done = put(one, "Of the okapi.", "shared", library="shared")
        sent = taken(send(host, "sent.md", b"Of the okapi too.", library="shared"))

        assert {row["doc_id"] for row in results(other, "okapi", library="shared")} == {done["doc_id"], sent["doc_id"]}


# who may, and where


@requirement("vectordb.upload", "composed.routes.upload")
def test_upload_needs_the_credentials_that_all_else_needs(portal: BlockingPortal, tmp_path: Path) -> None:
    write(tmp_path / "notes", NOTES)
    keys = ("--auth-type", "apikey", "--auth-api-keys", "whole;part=notes")
    arguments = (tmp_path / "notes", "--store", tmp_path / "store", "--transport", "http", "--port", "0", *keys)
    with hosting(*arguments, cwd=tmp_path) as host:

        def status(**headers: str) -> int:
            return host.ask("POST", "/upload", files={"file": ("a.md", NOTE)}, headers=headers).status_code

        assert status() == 401
        assert status(**{"X-API-Key": "wrong"}) == 401
        assert status(**{"X-API-Key": "part"}) == 403
        assert status(**{"X-API-Key": "whole"}) == 200
        with visiting(portal, host.url + "/vectordb/mcp", headers={"X-API-Key": "part"}) as reader:
            assert not [tool for tool in reader.tools() if tool["name"].startswith(("ingest", "delete"))]
            assert [one["library"] for one in ask(reader, "list_libraries")["libraries"]] == ["notes"]
            assert results(reader, "quokka") == []
            assert fault(reader.call("server_info", check_path=str(tmp_path)))


@requirement("composed.routes.upload", "composed.faces.vectordb", "composed.one-index")
def test_composed_server_has_upload_at_its_root(portal: BlockingPortal, tmp_path: Path, era: str) -> None:
    folder = write(tmp_path / "notes", NOTES)
    arguments = (folder, "--store", tmp_path / "store", "--transport", "http", "--port", "0")
    with hosting(*arguments, cwd=tmp_path) as host:
        done = taken(send(host, "sent.md", b"# Sent\n\nAn anchor of lead.\n", library="inbox"))

        assert host.ask("POST", "/vectordb/upload", files={"file": ("a.md", NOTE)}).status_code == 404
        assert refused(send(host, "a.md", NOTE, library="notes"), 403)
        for path in ("/mcp", "/vectordb/mcp"):
            with visiting(portal, host.url + path, mode=ERAS[era]) as reader:
                found = ask(reader, "search", query="anchor", top_k=10)["results"]
                assert {one["library"] for one in found} == {"notes", "inbox"}
                assert done["doc_id"] in {one["doc_id"] for one in found}


@requirement("composed.read-only.store", "composed.read-only")
def test_read_only_has_neither_upload_nor_tools_that_write(portal: BlockingPortal, tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", NOTES)
    arguments = (folder, "--read-only", "--store", tmp_path / "store", "--transport", "http", "--port", "0")
    with hosting(*arguments, cwd=tmp_path) as host:
        assert host.ask("POST", "/upload", files={"file": ("a.md", NOTE)}).status_code == 404
        for path in ("/mcp", "/vectordb/mcp"):
            with visiting(portal, host.url + path) as reader:
                names = {tool["name"] for tool in reader.tools()}
                assert names >= {"search", "list_documents", "list_libraries", "get_document", "server_info"}
                assert not [name for name in names if name.startswith(("ingest", "delete"))]
                assert [one["library"] for one in ask(reader, "list_libraries")["libraries"]] == ["notes"]


@requirement("composed.read-only.store")
def test_read_only_face_alone_shows_what_was_taken_in_before(portal: BlockingPortal, tmp_path: Path) -> None:
    alone = ("--face", "vectordb", "--store", tmp_path / "store", "--transport", "http", "--port", "0")
    with hosting(*alone, cwd=tmp_path) as host:
        done = taken(send(host, "sent.md", NOTE))
    with hosting(*alone, "--read-only", cwd=tmp_path) as host, visiting(portal, host.url + "/mcp") as reader:
        assert host.ask("POST", "/upload", files={"file": ("a.md", NOTE)}).status_code == 404
        assert [one["doc_id"] for one in results(reader, "quokka")] == [done["doc_id"]]


# served folders


@requirement("composed.folder.listed", "composed.folder.read", "composed.folder.kept", "composed.faces.vectordb")
@pytest.mark.parametrize("path", ["/mcp", "/vectordb/mcp"])
def test_served_folders_are_listed_and_read_but_never_changed(
    portal: BlockingPortal, tmp_path: Path, path: str
) -> None:
    folder = write(tmp_path / "notes", NOTES)
    arguments = (folder, "--store", tmp_path / "store", "--transport", "http", "--port", "0")
    with hosting(*arguments, cwd=tmp_path) as host, visiting(portal, host.url + path) as reader:
        (document,) = documents(reader)
        read = ask(reader, "get_document", doc_id=document["doc_id"])
        writes = [
            reader.call("delete_document", doc_id=document["doc_id"]),
            reader.call("ingest_file", path=str(folder / "README.md"), library="notes"),
            reader.call("ingest_content", content="Text.", source="README.md", library="notes"),
            reader.call("ingest_folder", folder=str(folder), library="notes"),
            reader.call("ingest_url", url="http://127.0.0.1:9/x", library="notes"),
        ]

        assert all("folder" in fault(one) for one in writes)
        assert documents(reader) == [document]
        assert ask(reader, "list_libraries")["libraries"] == [
            {"library": "notes", "document_count": 1, "chunk_count": document["chunk_count"]}
        ]
        assert document == {**document, "source": str(folder / "README.md"), "library": "notes", "title": "Notes"}
        assert read["content"] == NOTES["README.md"]
        assert put(reader, "Of the quokka.", "label", library="other")["library"] == "other"
        assert (folder / "README.md").read_text() == NOTES["README.md"]
