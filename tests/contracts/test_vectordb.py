"""The vectordb contract: what is taken in, listed, read and deleted."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from datetime import datetime
from pathlib import Path
from uuid import UUID

import pytest

from contracts.conftest import StartStore
from contracts.harness import Files, Json, Reader, plain, requirement, spoil, write
from contracts.vectors import CASES, ROW, ask, chapters, data, documents, fault, put, results, sources

LIBRARY: Json = {"type": "string", "default": "default"}
METADATA: Json = {"type": ["object", "null"], "default": None}
SOME: Json = {"type": ["string", "null"], "default": None}
DOC_ID: Json = {"type": "string"}
TOOLS: dict[str, tuple[list[str], Json]] = {  # required arguments, and all of them
    "ingest_file": (["path"], {"path": {"type": "string"}, "library": LIBRARY, "metadata": METADATA}),
    "ingest_content": (
        ["content", "source"],
        {"content": {"type": "string"}, "source": {"type": "string"}, "library": LIBRARY, "metadata": METADATA},
    ),
    "ingest_url": (["url"], {"url": {"type": "string"}, "library": LIBRARY, "metadata": METADATA}),
    "ingest_folder": (
        ["folder"],
        {
            "folder": {"type": "string"},
            "library": LIBRARY,
            "metadata": METADATA,
            "recursive": {"type": "boolean", "default": True},
            "max_concurrency": {"type": "integer", "default": 4, "minimum": 1},
        },
    ),
    "search": (
        ["query"],
        {
            "query": {"type": "string"},
            "top_k": {"type": "integer", "default": 5, "minimum": 1, "maximum": 100},
            "library": SOME,
            "filter": {"type": ["object", "null"], "default": None},
        },
    ),
    "list_documents": (
        [],
        {
            "library": SOME,
            "limit": {"type": "integer", "default": 20, "minimum": 1, "maximum": 1000},
            "offset": {"type": "integer", "default": 0, "minimum": 0},
        },
    ),
    "list_libraries": ([], {}),
    "delete_document": (["doc_id"], {"doc_id": DOC_ID}),
    "get_document": (["doc_id"], {"doc_id": DOC_ID}),
    "server_info": ([], {"check_path": SOME}),
}
WRITERS = {"ingest_file", "ingest_content", "ingest_url", "ingest_folder", "delete_document"}
FORMATS = {  # a sample of each format, and a word that is in it
    "manual.pdf": ("pdf/manual.pdf", "motor"),
    "letter.docx": ("docx/letter.docx", ""),
    "talk.pptx": ("pptx/talk.pptx", "slowly"),
    "stock.xlsx": ("xlsx/stock.xlsx", ""),
    "stock.xls": ("xls/stock.xls", ""),
    "stock.csv": ("csv/stock.csv", ""),
    "stock.json": ("json/stock.json", ""),
    "wheel.xml": ("xml/wheel.xml", ""),
    "book.epub": ("epub/book.epub", ""),
    "turning.ipynb": ("ipynb/turning.ipynb", ""),
    "guide.rst": ("rst/guide.rst", ""),
}
WRITTEN: Files = {
    "page.html": "<title>T</title><h1>A page</h1><p>Of the quokka.</p>",
    "old.htm": "<h1>An old page</h1><p>Of the quokka.</p>",
    "memo.txt": "Of the quokka.\n",
    "note.md": "# A note\n\nOf the quokka.\n",
    "plan.org": "* A plan\nOf the quokka.\n",
}


def facts(schema: Json) -> Json:
    """Return a schema without its words."""
    return {key: value for key, value in schema.items() if key not in {"description", "title"}}


def sha256(content: bytes | str) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


# the server and its tools


@requirement(
    "faces.alone",
    "faces.identity.vectordb",
    "vectordb.server.name",
    "vectordb.server.version",
    "vectordb.server.transport",
)
def test_server_has_the_contracts_name_version_and_nothing_but_tools(either: Reader) -> None:
    assert either.client.server_info
    assert (either.client.server_info.name, either.client.server_info.version) == ("mcpvectordb", "0.3.0")
    assert either.client.server_capabilities
    assert plain(either.client.server_capabilities).keys() == {"tools"}


@requirement(
    "faces.alone",
    "vectordb.folder-tool",
    "vectordb.list-libraries.arguments",
    "vectordb.ingest-file.path",
    "vectordb.ingest-file.library",
    "vectordb.ingest-file.metadata",
    "vectordb.ingest-content.content",
    "vectordb.ingest-content.source",
    "vectordb.ingest-content.library",
    "vectordb.ingest-content.metadata",
    "vectordb.ingest-url.url",
    "vectordb.ingest-url.library",
    "vectordb.ingest-url.metadata",
    "vectordb.ingest-folder.folder",
    "vectordb.ingest-folder.library",
    "vectordb.ingest-folder.metadata",
    "vectordb.ingest-folder.recursive",
    "vectordb.ingest-folder.max-concurrency",
    "vectordb.search.query",
    "vectordb.search.top-k",
    "vectordb.search.library",
    "vectordb.search.filter",
    "vectordb.list-documents.library",
    "vectordb.list-documents.limit",
    "vectordb.list-documents.offset",
    "vectordb.delete-document.doc-id",
    "vectordb.get-document.doc-id",
    "vectordb.server-info.check-path",
)
def test_tools_have_exactly_the_contracts_names_arguments_and_defaults(either: Reader) -> None:
    found = {one["name"]: one["inputSchema"] for one in either.tools()}

    assert {
        name: (schema.get("required", []), {key: facts(one) for key, one in schema["properties"].items()})
        for name, schema in found.items()
    } == TOOLS


@requirement("vectordb.answers.json")
def test_every_tool_says_what_it_does_to_the_store_and_that_it_answers_with_an_object(either: Reader) -> None:
    tools = [plain(one) for one in either.portal.call(either.client.list_tools).tools]

    assert {one["name"] for one in tools if not one["annotations"]["readOnlyHint"]} == WRITERS
    assert {one["outputSchema"]["type"] for one in tools} == {"object"}
    assert all(one["description"] for one in tools)


# files


@requirement(
    "vectordb.ingest-file",
    "vectordb.ingest-file.answer",
    "vectordb.ingest-file.library",
    "vectordb.answers.json",
    "vectordb.list-documents.answer",
    "vectordb.hash",
    "vectordb.source.file",
    "vectordb.title",
    "vectordb.count",
)
def test_file_is_taken_in_and_listed(vectordb: StartStore, tmp_path: Path, era: str) -> None:
    reader = vectordb(era=era)
    text = "Before.\n\n```\n# no heading\n```\n\n### The first heading\n\nOf the quokka.\n"
    file = write(tmp_path / "files", {"a note.MD": text}) / "a note.MD"

    done = ask(reader, "ingest_file", path=str(file))
    listed = ask(reader, "list_documents")

    assert done.keys() == ROW
    assert done["doc_id"] == str(UUID(done["doc_id"]))
    assert done == {**done, "status": "indexed", "source": str(file), "library": "default"}
    assert done["chunk_count"] >= 1
    (document,) = listed["documents"]
    assert datetime.fromisoformat(document["created_at"]).tzinfo
    assert listed == {
        "documents": [
            {
                "doc_id": done["doc_id"],
                "source": str(file),
                "title": "The first heading",
                "library": "default",
                "content_hash": sha256(text),
                "created_at": document["created_at"],
                "metadata": {},
                "chunk_count": done["chunk_count"],
            }
        ],
        "count": 1,
    }


@requirement("vectordb.ingest-file.path", "vectordb.source.file")
def test_paths_may_be_relative_begin_with_a_tilde_and_go_through_links(vectordb: StartStore, tmp_path: Path) -> None:
    home = write(tmp_path / "home", {"note.md": "Of the quokka.\n"})
    reader = vectordb(env={"HOME": str(home)})
    write(reader.folder, {"inner/here.md": "Of the okapi.\n"})
    (reader.folder / "link.md").symlink_to(home / "note.md")

    assert ask(reader, "ingest_file", path="inner/../inner/here.md")["source"] == str(reader.folder / "inner/here.md")
    assert ask(reader, "ingest_file", path="~/note.md")["source"] == str(home / "note.md")
    assert ask(reader, "ingest_file", path="link.md")["status"] == "skipped"


@requirement("vectordb.dedup.key", "vectordb.dedup.same", "vectordb.skipped")
def test_unchanged_file_is_skipped_and_nothing_is_written(vectors: Reader, shelf: str, tmp_path: Path) -> None:
    file = write(tmp_path, {"note.md": "# Note\n\nOf the quokka.\n"}) / "note.md"
    first = ask(vectors, "ingest_file", path=str(file), library=shelf, metadata={"by": "Ann"})
    before = documents(vectors, library=shelf)
    os.utime(file)

    again = ask(vectors, "ingest_file", path=str(file), library=shelf, metadata={"by": "Bob"})

    assert again == {**first, "status": "skipped", "chunk_count": 0}
    assert documents(vectors, library=shelf) == before


@requirement("vectordb.dedup.key")
def test_same_file_in_another_library_is_another_document(vectors: Reader, shelf: str, tmp_path: Path) -> None:
    file = write(tmp_path, {"note.md": "Of the quokka.\n"}) / "note.md"
    first = ask(vectors, "ingest_file", path=str(file), library=shelf)

    second = ask(vectors, "ingest_file", path=str(file), library=shelf + " 2")

    assert (first["status"], second["status"]) == ("indexed", "indexed")
    assert first["doc_id"] != second["doc_id"]


@requirement("vectordb.dedup.other", "vectordb.replaced", "vectordb.delete-document.unknown")
def test_changed_file_is_replaced_by_a_new_document(vectors: Reader, shelf: str, tmp_path: Path) -> None:
    file = write(tmp_path, {"note.md": "Of the quokka.\n"}) / "note.md"
    old = ask(vectors, "ingest_file", path=str(file), library=shelf)
    file.write_text(chapters("okapi", "tapir"))

    new = ask(vectors, "ingest_file", path=str(file), library=shelf, metadata={"version": 2})

    assert new == {**old, "status": "replaced", "doc_id": new["doc_id"], "chunk_count": new["chunk_count"]}
    assert new["doc_id"] != old["doc_id"]
    assert new["chunk_count"] >= 2
    assert [(one["doc_id"], one["metadata"]) for one in documents(vectors, library=shelf)] == [
        (new["doc_id"], {"version": 2})
    ]
    assert results(vectors, "quokka", library=shelf) == []
    assert {one["doc_id"] for one in results(vectors, "okapi", library=shelf)} == {new["doc_id"]}
    assert fault(vectors.call("get_document", doc_id=old["doc_id"]))


@requirement("vectordb.swap", "vectordb.ingest-file.error", "vectordb.formats.empty")
@pytest.mark.parametrize("broken", [b"", b"%PDF-1.7\nnot really", (CASES / "pdf/scanned.pdf").read_bytes()])
def test_failed_conversion_leaves_the_old_document_searchable(
    vectors: Reader, shelf: str, tmp_path: Path, broken: bytes
) -> None:
    file = tmp_path / "manual.pdf"
    shutil.copy(CASES / "pdf/manual.pdf", file)
    old = ask(vectors, "ingest_file", path=str(file), library=shelf)
    before = documents(vectors, library=shelf)
    file.write_bytes(broken)

    fault(vectors.call("ingest_file", path=str(file), library=shelf))

    assert documents(vectors, library=shelf) == before
    assert {one["doc_id"] for one in results(vectors, "motor", library=shelf)} == {old["doc_id"]}


@requirement("vectordb.formats", "vectordb.file-type", "vectordb.page", "vectordb.last-modified")
@pytest.mark.parametrize("name", [*FORMATS, *WRITTEN])
def test_every_supported_format_is_taken_in(vectors: Reader, shelf: str, tmp_path: Path, name: str) -> None:
    file = tmp_path / name.upper()
    file.write_bytes((CASES / FORMATS[name][0]).read_bytes() if name in FORMATS else str(WRITTEN[name]).encode())
    word = FORMATS[name][1] if name in FORMATS else "quokka"

    done = ask(vectors, "ingest_file", path=str(file), library=shelf)
    found = results(vectors, word or "*", library=shelf)

    assert done["status"] == "indexed"
    assert found
    assert {one["file_type"] for one in found} == {name.rpartition(".")[2]}
    assert all(datetime.fromisoformat(one["last_modified"]).utcoffset() is not None for one in found)
    assert all((one["page"] > 0) == (name in {"manual.pdf", "talk.pptx"}) for one in found)


@requirement("vectordb.last-modified")
def test_last_modified_of_a_file_is_the_files_own_time(vectors: Reader, shelf: str, tmp_path: Path) -> None:
    file = write(tmp_path, {"note.md": "Of the quokka.\n"}) / "note.md"
    os.utime(file, (1_717_232_400, 1_717_232_400))
    ask(vectors, "ingest_file", path=str(file), library=shelf)

    (found,) = results(vectors, "quokka", library=shelf)

    assert datetime.fromisoformat(found["last_modified"]).timestamp() == 1_717_232_400


@requirement("vectordb.formats.other", "vectordb.ingest-file.error")
@pytest.mark.parametrize("name", ["program.exe", "no-suffix", ".md", "film.mp4", "archive.tar.gz"])
def test_other_formats_are_refused_by_that_name(vectors: Reader, shelf: str, tmp_path: Path, name: str) -> None:
    file = write(tmp_path, {name: "Of the quokka.\n"}) / name

    assert fault(vectors.call("ingest_file", path=str(file), library=shelf)).startswith("Unsupported format: ")


@requirement("vectordb.formats.empty")
@pytest.mark.parametrize("case", ["docx/empty.docx", "xlsx/empty.xlsx", "pdf/scanned.pdf", "pptx/silent.pptx", ""])
def test_file_without_text_is_an_error_that_suggests_ingest_content(
    vectors: Reader, shelf: str, tmp_path: Path, case: str
) -> None:
    file = CASES / case if case else write(tmp_path, {"blank.md": " \n\n"}) / "blank.md"

    said = fault(vectors.call("ingest_file", path=str(file), library=shelf))

    assert "ingest_content" in said
    assert documents(vectors, library=shelf) == []


@requirement("vectordb.ingest-file.error", "vectordb.errors.never")
@pytest.mark.parametrize(
    "path", ["", " ", "absent.md", "a\0b.md", ".", "~nobody-of-that-name/x.md", "x" * 5000 + ".md"]
)
def test_path_that_is_no_file_is_an_error(vectors: Reader, shelf: str, path: str) -> None:
    fault(vectors.call("ingest_file", path=path, library=shelf))

    assert documents(vectors, library=shelf) == []


@requirement("model.containment.links", "model.containment.refused", "model.containment.no-hint")
def test_files_outside_the_folders_that_may_be_named_are_refused_without_a_hint(
    vectordb: StartStore, tmp_path: Path
) -> None:
    inside = write(tmp_path / "inside", {"note.md": "Of the quokka.\n"})
    outside = write(tmp_path / "outside", {"secret.md": "Of the okapi.\n"})
    (inside / "link.md").symlink_to(outside / "secret.md")
    (inside / "away").symlink_to(outside)
    reader = vectordb("--ingest-roots", inside)
    ways = [outside / "secret.md", inside / "link.md", inside / "../outside/secret.md", inside / "away/secret.md"]
    absent = fault(reader.call("ingest_file", path=str(outside / "absent.md")))

    said = [fault(reader.call("ingest_file", path=str(way))) for way in ways]
    folder = ask(reader, "ingest_folder", folder=str(inside))
    checks = [
        ask(reader, "server_info", check_path=str(outside / name))["path_check"] for name in ("secret.md", "no/no.md")
    ]

    assert said[0] == absent.replace("absent.md", "secret.md")
    assert all("okapi" not in one for one in said)
    assert (folder["indexed"], folder["failed"]) == (1, 1)
    assert fault(reader.call("ingest_folder", folder=str(outside)))
    assert fault(reader.call("ingest_folder", folder=str(inside / "away")))
    assert sources(reader, "okapi") == []
    assert checks[0] | {"path": "", "resolved": "", "error": ""} == checks[1] | {
        "path": "",
        "resolved": "",
        "error": "",
    }
    assert [one["readable"] for one in checks] == [False, False]


@requirement("vectordb.ingest-file.error")
def test_file_or_text_over_the_limit_is_refused(vectordb: StartStore, tmp_path: Path) -> None:
    folder = write(tmp_path / "files", {"small.md": "Of the quokka.\n", "large.md": "x" * 1001})
    reader = vectordb("--max-upload", "1000")

    assert "1000" in fault(reader.call("ingest_file", path=str(folder / "large.md")))
    assert "1000" in fault(reader.call("ingest_content", content="ü" * 501, source="large"))
    assert ask(reader, "ingest_file", path=str(folder / "small.md"))["status"] == "indexed"


# texts


@requirement(
    "vectordb.ingest-content",
    "vectordb.ingest-content.answer",
    "vectordb.ingest-content.source",
    "vectordb.hash",
    "vectordb.source.content",
    "vectordb.ingest-content.metadata",
    "vectordb.ingest-content.library",
)
def test_text_is_taken_in_under_its_label(either: Reader, shelf: str) -> None:
    metadata = {"author": "Ann", "tags": ["a", 1, None, {"deep": True}], "ünïcode \"'": "日本"}
    text = "# A title\n\nOf the quokka.\n"

    done = put(either, text, "notes from Ann", library=shelf, metadata=metadata)

    assert done == {**done, "source": "notes from Ann", "library": shelf}
    assert done.keys() == ROW
    (document,) = documents(either, library=shelf)
    assert document == {
        **document,
        "title": "A title",
        "source": "notes from Ann",
        "content_hash": sha256(text),
        "metadata": metadata,
    }
    (found,) = results(either, "quokka", library=shelf)
    assert found["metadata"] == metadata


@requirement("vectordb.ingest-content.dedup", "vectordb.skipped", "vectordb.replaced")
def test_label_and_library_tell_texts_apart(vectors: Reader, shelf: str) -> None:
    first = put(vectors, "Of the quokka.", "label", library=shelf)

    other = put(vectors, "Of the quokka.", "label 2", library=shelf)
    same = ask(vectors, "ingest_content", content="Of the quokka.", source="label", library=shelf)
    changed = ask(vectors, "ingest_content", content="Of the okapi.", source="label", library=shelf)
    back = ask(vectors, "ingest_content", content="Of the quokka.", source="label", library=shelf)

    assert same == {**first, "status": "skipped", "chunk_count": 0}
    assert [changed["status"], back["status"]] == ["replaced", "replaced"]
    assert len({one["doc_id"] for one in (first, other, changed, back)}) == 4
    assert {one["doc_id"] for one in documents(vectors, library=shelf)} == {other["doc_id"], back["doc_id"]}


@requirement("vectordb.title", "vectordb.file-type", "vectordb.file-type.text", "vectordb.last-modified")
@pytest.mark.parametrize(
    ("label", "text", "expected"),
    [
        ("report", "No heading.", ("report", "text")),
        ("Release 1.2", "No heading.", ("Release 1.2", "text")),
        ("A letter to Dr. Smith", "No heading.", ("A letter to Dr. Smith", "text")),
        ("/home/ann/Report.PDF", "No heading.", ("Report.PDF", "pdf")),
        ("C:\\docs\\plan.docx", "No heading.", ("plan.docx", "docx")),
        ("https://example.org/a/page.html?x=1", "#### Deep `code` heading\n\nText.", ("Deep code heading", "html")),
        ("x.md", "~~~\n# code\n~~~\n\n    # code\n\nText.\n\n## Real\n", ("Real", "md")),
        ("y.md", "---\ntitle: Not this\n---\n\n# This\n\nText.", ("This", "md")),
        ("z.md", "\ufeff# With a mark\r\n\r\nText.\r\n", ("With a mark", "md")),
    ],
)
def test_title_is_the_first_heading_or_the_last_part_of_the_label(
    vectors: Reader, shelf: str, label: str, text: str, expected: tuple[str, str]
) -> None:
    put(vectors, text, label, library=shelf)

    (found,) = results(vectors, "*", library=shelf)

    assert (found["title"], found["file_type"], found["source"]) == (*expected, label)
    assert datetime.fromisoformat(found["last_modified"]).utcoffset() is not None


@requirement("vectordb.ingest-content", "vectordb.errors")
@pytest.mark.parametrize(("content", "source"), [("", "label"), (" \n\t", "label"), ("Text.", ""), ("Text.", "  ")])
def test_text_or_label_of_nothing_is_an_error(vectors: Reader, shelf: str, content: str, source: str) -> None:
    fault(vectors.call("ingest_content", content=content, source=source, library=shelf))

    assert documents(vectors, library=shelf) == []


# whole folders

FOLDER: Files = {
    "a.md": "# A\n\nOf the quokka.\n",
    "b.txt": "Of the quokka.\n",
    "sub/c.html": "<h1>C</h1><p>Of the quokka.</p>",
    "sub/deeper/d.csv": "animal,count\nquokka,3\n",
    "left.exe": b"\0\1",
    "sub/left.bin": b"\0\1",
}
READ = ["a.md", "b.txt", "sub/c.html", "sub/deeper/d.csv"]


@requirement(
    "vectordb.folder-tool",
    "vectordb.ingest-folder",
    "vectordb.ingest-folder.scan",
    "vectordb.ingest-folder.answer",
    "vectordb.ingest-folder.library",
    "vectordb.ingest-folder.metadata",
)
def test_folder_is_taken_in_with_everything_supported_below_it(either: Reader, shelf: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "folder", FOLDER)

    done = ask(either, "ingest_folder", folder=str(folder), library=shelf, metadata={"batch": 7})

    assert done == {
        "folder": str(folder),
        "library": shelf,
        "total_files": 4,
        "indexed": 4,
        "replaced": 0,
        "skipped": 0,
        "failed": 0,
        "results": done["results"],
        "errors": [],
    }
    assert all(one.keys() == ROW for one in done["results"])
    assert sorted(one["source"] for one in done["results"]) == [str(folder / name) for name in READ]
    assert {one["doc_id"]: one["metadata"] for one in documents(either, library=shelf)} == {
        one["doc_id"]: {"batch": 7} for one in done["results"]
    }


@requirement("vectordb.ingest-folder.answer", "vectordb.dedup.same", "vectordb.dedup.other")
def test_folder_again_is_skipped_but_for_what_has_changed(vectors: Reader, shelf: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "folder", FOLDER)
    ask(vectors, "ingest_folder", folder=str(folder), library=shelf)
    write(folder, {"a.md": "# A\n\nOf the okapi.\n", "e.md": "# E\n\nOf the okapi.\n"})

    done = ask(vectors, "ingest_folder", folder=str(folder), library=shelf)

    counts = ("total_files", "indexed", "replaced", "skipped", "failed")
    assert [done[name] for name in counts] == [5, 1, 1, 3, 0]
    assert len(documents(vectors, library=shelf)) == 5
    assert set(sources(vectors, "okapi", library=shelf)) == {str(folder / "a.md"), str(folder / "e.md")}


@requirement("vectordb.ingest-folder.recursive")
def test_folder_alone_is_scanned_if_wanted(vectors: Reader, shelf: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "folder", FOLDER)

    done = ask(vectors, "ingest_folder", folder=str(folder), library=shelf, recursive=False)

    assert sorted(one["source"] for one in done["results"]) == [str(folder / name) for name in READ[:2]]


@requirement("vectordb.ingest-folder.max-concurrency")
@pytest.mark.parametrize("number", [1, 2, 64, 10_000])
def test_any_number_of_files_at_a_time_gives_the_same(vectors: Reader, shelf: str, tmp_path: Path, number: int) -> None:
    folder = write(tmp_path / "folder", FOLDER)

    done = ask(vectors, "ingest_folder", folder=str(folder), library=shelf, max_concurrency=number)

    assert (done["indexed"], done["failed"]) == (4, 0)


@requirement("vectordb.ingest-folder.failures", "vectordb.ingest-folder.errors", "model.bad-file.others")
def test_files_that_fail_are_told_and_the_others_are_taken_in(vectors: Reader, shelf: str, tmp_path: Path) -> None:
    folder = spoil(write(tmp_path / "folder", FOLDER))
    write(folder, {"locked.pdf": (CASES / "pdf/locked.pdf").read_bytes(), "scan.pdf": b"%PDF-1.4\nbroken"})

    done = ask(vectors, "ingest_folder", folder=str(folder), library=shelf)

    taken = {one["source"] for one in done["results"]}
    failed = {one["file"] for one in done["errors"]}
    assert taken >= {str(folder / name) for name in READ}
    assert failed >= {str(folder / "locked.pdf"), str(folder / "scan.pdf")}
    assert all(one.keys() == {"file", "error"} and one["error"] for one in done["errors"])
    assert done["failed"] == len(done["errors"])
    assert done["total_files"] == len(done["results"]) + len(done["errors"])
    assert len(documents(vectors, library=shelf, limit=1000)) == done["indexed"]
    assert set(sources(vectors, "quokka", library=shelf)) == {str(folder / name) for name in READ}


@requirement("vectordb.ingest-folder.answer")
def test_folder_without_documents_is_no_error(vectors: Reader, shelf: str, tmp_path: Path) -> None:
    done = ask(vectors, "ingest_folder", folder=str(tmp_path), library=shelf)

    assert (done["total_files"], done["results"], done["errors"]) == (0, [], [])


@requirement(
    "vectordb.ingest-folder.guard.empty",
    "vectordb.ingest-folder.guard.concurrency",
    "vectordb.ingest-folder.guard.absent",
    "vectordb.errors.ordinary",
)
@pytest.mark.parametrize(
    "arguments",
    [
        {"folder": ""},
        {"folder": "  "},
        {"folder": "absent"},
        {"folder": "a.md"},
        {"folder": "a\0b"},
        {"folder": ".", "max_concurrency": 0},
        {"folder": ".", "max_concurrency": -1},
    ],
)
def test_folder_that_cannot_be_taken_in_is_an_error(
    vectors: Reader, shelf: str, tmp_path: Path, arguments: Json
) -> None:
    write(tmp_path, {"a.md": "Of the quokka.\n"})
    folder = str(arguments["folder"])
    there = str(tmp_path / folder) if folder.strip() else folder

    fault(vectors.call("ingest_folder", **{**arguments, "folder": there}, library=shelf))

    assert documents(vectors, library=shelf) == []


# what there is


@requirement("vectordb.list-documents", "vectordb.list-documents.library", "vectordb.newest-first", "vectordb.count")
def test_documents_are_listed_newest_first_a_page_at_a_time(vectordb: StartStore) -> None:
    reader = vectordb()
    ids = [
        put(reader, f"Text {number}.", f"label {number}", library="ab"[number % 2])["doc_id"] for number in range(25)
    ]
    newest = ids[::-1]

    def page(**arguments: object) -> list[str]:
        said = ask(reader, "list_documents", **arguments)
        assert said["count"] == len(said["documents"])
        return [one["doc_id"] for one in said["documents"]]

    assert page() == newest[:20]
    assert page(limit=3, offset=20) == newest[20:23]
    assert page(limit=1000, offset=24) == newest[24:]
    assert page(offset=25) == []
    assert page(library="a") == newest[::2]
    assert page(library=None, limit=1) == newest[:1]
    assert page(library="absent") == []


@requirement("vectordb.list-libraries", "vectordb.list-libraries.answer", "model.library")
def test_libraries_are_listed_with_their_counts(vectordb: StartStore, era: str) -> None:
    reader = vectordb(era=era)
    none = ask(reader, "list_libraries")
    first = put(reader, chapters("quokka", "okapi", "tapir"), "a", library="zoo")
    second = put(reader, "Of the quokka.", "b", library="zoo")
    third = put(reader, "Of the quokka.", "a")

    found = ask(reader, "list_libraries")["libraries"]

    assert none == {"libraries": []}
    assert first["chunk_count"] >= 3
    assert sorted(found, key=lambda one: str(one["library"])) == [
        {"library": "default", "document_count": 1, "chunk_count": third["chunk_count"]},
        {"library": "zoo", "document_count": 2, "chunk_count": first["chunk_count"] + second["chunk_count"]},
    ]


@requirement("vectordb.delete-document", "vectordb.delete-document.answer", "vectordb.delete-document.unknown")
def test_deleted_document_is_gone_with_all_its_chunks(either: Reader, shelf: str) -> None:
    done = put(either, chapters("quokka", "okapi", "tapir"), "label", library=shelf)
    left = put(either, "Of the quokka.", "other", library=shelf)

    gone = ask(either, "delete_document", doc_id=done["doc_id"])
    again = ask(either, "delete_document", doc_id=done["doc_id"])

    assert gone == {"status": "deleted", "doc_id": done["doc_id"], "deleted_chunks": done["chunk_count"]}
    assert again == {"status": "deleted", "doc_id": done["doc_id"], "deleted_chunks": 0}
    assert [one["doc_id"] for one in documents(either, library=shelf)] == [left["doc_id"]]
    assert {one["doc_id"] for one in results(either, "quokka okapi tapir", library=shelf)} == {left["doc_id"]}
    assert fault(either.call("get_document", doc_id=done["doc_id"]))
    assert put(either, chapters("quokka"), "label", library=shelf)["doc_id"] != done["doc_id"]


@requirement("vectordb.get-document", "vectordb.get-document.answer", "vectordb.get-document.whole")
@pytest.mark.parametrize(
    "text",
    [
        "One line without an end",
        chapters(*(f"beast{number}" for number in range(40))) + "\n\nThe very last words.",
        "word " * 30_000 + "tail",
        "# One\n\n" + "\n".join(f"- item {number}" for number in range(3000)) + "\n",
        "```\n" + "code line\n" * 4000 + "```\n",
        "Trailing space   \n\n\n",
    ],
    ids=["line", "sections", "words", "list", "code", "space"],
)
def test_document_is_read_back_whole_and_once(either: Reader, shelf: str, text: str) -> None:
    done = put(either, text, "label.md", library=shelf, metadata={"by": "Ann"})

    found = ask(either, "get_document", doc_id=done["doc_id"])

    assert found == {
        "doc_id": done["doc_id"],
        "source": "label.md",
        "title": found["title"],
        "library": shelf,
        "content": text,
        "chunk_count": done["chunk_count"],
        "metadata": {"by": "Ann"},
    }


@requirement("vectordb.get-document", "vectordb.get-document.whole", "vectordb.formats")
@pytest.mark.parametrize("case", ["pdf/manual.pdf", "pptx/talk.pptx", "csv/stock.csv", "rst/guide.rst"])
def test_converted_document_is_read_back_as_its_whole_markdown(vectors: Reader, shelf: str, case: str) -> None:
    done = ask(vectors, "ingest_file", path=str(CASES / case), library=shelf)

    found = ask(vectors, "get_document", doc_id=done["doc_id"])

    assert found["content"].strip() == (CASES / f"{case}.md").read_text("utf-8").strip()


@requirement("vectordb.get-document", "vectordb.errors")
@pytest.mark.parametrize(
    "doc_id", ["", "no-such-id", "00000000-0000-4000-8000-000000000000", "' OR 1=1 --", "x" * 9999]
)
def test_unknown_document_is_an_error_to_read_and_nothing_to_delete(vectors: Reader, shelf: str, doc_id: str) -> None:
    put(vectors, "Of the quokka.", "label", library=shelf)

    assert fault(vectors.call("get_document", doc_id=doc_id))
    assert ask(vectors, "delete_document", doc_id=doc_id)["deleted_chunks"] == 0
    assert len(documents(vectors, library=shelf)) == 1


# the server itself


@requirement(
    "vectordb.server-info",
    "vectordb.server-info.answer",
    "vectordb.server-info.path-check",
    "vectordb.server-info.keys",
    "vectordb.server.transport",
)
def test_server_tells_of_itself(vectordb: StartStore, tmp_path: Path, era: str) -> None:
    reader = vectordb(era=era)

    said = ask(reader, "server_info")

    spec = {"platform", "python_version", "cwd", "lancedb_uri", "fastembed_cache_path", "transport", "note"}
    assert spec <= said.keys() <= spec | {"embedding_model", "index_version", "document_count", "chunk_count"}
    assert said["platform"] == sys.platform
    assert said["python_version"] == ".".join(map(str, sys.version_info[:3]))
    assert (said["cwd"], said["lancedb_uri"]) == (str(reader.folder), str(tmp_path / "store"))
    assert said["transport"] == "stdio"
    assert said["note"]
    assert "path_check" not in ask(reader, "server_info", check_path=None)


@requirement("vectordb.server-info.path-check", "vectordb.server-info.keys", "vectordb.server-info.unreadable")
def test_server_tells_whether_it_can_read_a_path(vectors: Reader, tmp_path: Path) -> None:
    write(tmp_path, {"note.md": "Of the quokka.\n"})
    (tmp_path / "link.md").symlink_to(tmp_path / "note.md")
    os.mkfifo(tmp_path / "pipe.md")

    def check(path: str) -> Json:
        found: Json = ask(vectors, "server_info", check_path=path)["path_check"]
        return found

    good, real = str(tmp_path / "link.md"), str(tmp_path / "note.md")
    assert check(good) == {"path": good, "resolved": real, "parent_exists": True, "readable": True, "size_bytes": 15}
    bad = {
        str(tmp_path / "absent.md"): True,
        str(tmp_path / "no/absent.md"): False,
        str(tmp_path): True,
        str(tmp_path / "pipe.md"): True,
        "x\0y": False,
        "~nobody-of-that-name/x.md": False,
        "": False,
    }
    for path, parent in bad.items():
        said = check(path)
        assert said == {
            "path": path,
            "resolved": said["resolved"],
            "parent_exists": parent,
            "readable": False,
            "error": said["error"],
        }
        assert said["error"]


# errors

WRONG: list[tuple[str, Json]] = [
    ("ingest_file", {}),
    ("ingest_file", {"path": None}),
    ("ingest_file", {"path": 7}),
    ("ingest_file", {"path": ["a.md"]}),
    ("ingest_file", {"path": "a.md", "library": None}),
    ("ingest_file", {"path": "a.md", "library": ""}),
    ("ingest_file", {"path": "a.md", "metadata": "text"}),
    ("ingest_file", {"path": "a.md", "metadata": [1]}),
    ("ingest_content", {"content": "Text."}),
    ("ingest_content", {"source": "label"}),
    ("ingest_content", {"content": 1, "source": "label"}),
    ("ingest_content", {"content": "Text.", "source": "label", "library": " "}),
    ("ingest_content", {"content": "Text.", "source": "label", "library": 5}),
    ("ingest_url", {}),
    ("ingest_url", {"url": False}),
    ("ingest_url", {"url": ""}),
    ("ingest_folder", {}),
    ("ingest_folder", {"folder": ".", "recursive": "yes"}),
    ("ingest_folder", {"folder": ".", "max_concurrency": "4"}),
    ("ingest_folder", {"folder": ".", "max_concurrency": 1.5}),
    ("ingest_folder", {"folder": ".", "max_concurrency": True}),
    ("search", {}),
    ("search", {"query": None}),
    ("search", {"query": ""}),
    ("search", {"query": "  "}),
    ("search", {"query": "x", "top_k": 0}),
    ("search", {"query": "x", "top_k": 101}),
    ("search", {"query": "x", "top_k": 10**40}),
    ("search", {"query": "x", "top_k": "5"}),
    ("search", {"query": "x", "top_k": None}),
    ("search", {"query": "x", "top_k": True}),
    ("search", {"query": "x", "library": 5}),
    ("search", {"query": "x", "filter": "file_type"}),
    ("search", {"query": "x", "filter": ["pdf"]}),
    ("list_documents", {"limit": 0}),
    ("list_documents", {"limit": 1001}),
    ("list_documents", {"limit": None}),
    ("list_documents", {"offset": -1}),
    ("list_documents", {"offset": "0"}),
    ("list_documents", {"library": {}}),
    ("delete_document", {}),
    ("delete_document", {"doc_id": None}),
    ("delete_document", {"doc_id": 1}),
    ("get_document", {}),
    ("get_document", {"doc_id": []}),
    ("server_info", {"check_path": 1}),
]


@requirement("vectordb.errors", "vectordb.errors.structured", "vectordb.errors.ordinary", "vectordb.errors.never")
@pytest.mark.parametrize(
    ("tool", "arguments"), WRONG, ids=[f"{tool}-{number}" for number, (tool, _) in enumerate(WRONG)]
)
def test_wrong_arguments_are_ordinary_errors(either: Reader, tool: str, arguments: Json) -> None:
    fault(either.call(tool, **arguments))


@requirement("vectordb.errors.never", "vectordb.errors.structured")
@pytest.mark.parametrize(
    ("tool", "arguments", "data_key"),
    [
        ("list_documents", {"offset": 10**18}, "documents"),
        ("list_documents", {"offset": 10**40}, "documents"),
        ("list_documents", {"limit": 7.0, "offset": 0.0}, "documents"),
        ("search", {"query": "quokka " * 20_000}, "results"),
        ("search", {"query": "quokka", "top_k": 3.0}, "results"),
        ("search", {"query": 'unclosed " quote AND (NOT *'}, "results"),
        ("search", {"query": "quokka", "filter": {"page": 10**40}}, "results"),
        ("search", {"query": "quokka", "filter": {}}, "results"),
        ("search", {"query": "quokka", "library": "absent"}, "results"),
        ("search", {"query": "\0\u202e🦘"}, "results"),
    ],
)
def test_strange_values_that_are_allowed_are_answered(
    vectors: Reader, tool: str, arguments: Json, data_key: str
) -> None:
    assert isinstance(data(vectors.call(tool, **arguments))[data_key], list)


@requirement("vectordb.errors.never", "vectordb.ingest-content.library", "vectordb.ingest-content.source")
def test_strange_names_come_back_as_they_were(vectors: Reader, shelf: str) -> None:
    library = f"{shelf} '; DROP TABLE x; -- \" % _ \\ ünï 🦘"
    label = "a 'label' \"with\" % everything \\ ünï 🦘\n.md"

    done = put(vectors, "Of the quokka.", label, library=library)

    assert (done["library"], done["source"]) == (library, label)
    assert [one["source"] for one in results(vectors, "quokka", library=library)] == [label]
    assert library in {one["library"] for one in ask(vectors, "list_libraries")["libraries"]}
