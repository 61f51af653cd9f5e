"""Converted files in the catalog: found with their pages, read without being converted again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bookwheel import conversion
from bookwheel.catalog import Catalog
from bookwheel.errors import ParseFailed
from bookwheel.folders import Folder
from bookwheel.formats import PAGE, PLAIN, READERS, SERVED
from bookwheel.model import Query, Source
from bookwheel.sync import Changes

CASES = Path(__file__).parent / "formats" / "cases"
NAMES = ("manual.pdf", "room.docx", "talk.pptx", "locked.pdf")


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder with a PDF, a Word document, a presentation, one that is locked, and Markdown."""
    shelf = (tmp_path / "shelf").resolve()
    shelf.mkdir()
    for name in NAMES:
        shutil.copy(CASES / name.partition(".")[2] / name, shelf / name)
    (shelf / "notes.md").write_text("# Notes\n\nOn the gears.\n")
    return shelf


@pytest.fixture
def catalog(tmp_path: Path, shelf: Path) -> Iterator[Catalog]:
    made = Catalog(tmp_path / "store", [Folder(shelf, "shelf", suffixes=SERVED)])
    made.sync()
    yield made
    made.close()
    conversion.POOL.rest()


def count_starts(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list that grows with every process that is started."""
    started: list[object] = []
    original = subprocess.Popen.__init__

    def counted(self: subprocess.Popen[bytes], *arguments: object, **options: object) -> None:
        started.append(arguments)
        original(self, *arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess.Popen, "__init__", counted)
    return started


def test_every_kind_of_file_is_found_with_its_page(catalog: Catalog) -> None:
    found = {
        words: [(hit.record.source.path, hit.chunk.page) for hit in catalog.search(Query(words, limit=1)).hits]
        for words in ("programmed motor", "haste slowly", "eight books presentation slowly clearly", "gears notes")
    }

    assert found == {
        "programmed motor": [("manual.pdf", 2)],
        "haste slowly": [("room.docx", 0)],
        "eight books presentation slowly clearly": [("talk.pptx", 2)],
        "gears notes": [("notes.md", 0)],
    }


def test_a_file_that_cannot_be_read_is_reported_with_its_sentence(catalog: Catalog) -> None:
    assert catalog.progress().skipped == (
        ("locked.pdf", "this PDF is encrypted: save a copy without a password, and try again"),
    )
    assert catalog.sync() == Changes(unchanged=4, skipped=1)


def test_reading_what_is_indexed_converts_nothing(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    conversion.POOL.rest()
    started = count_starts(monkeypatch)

    document = catalog.read("manual.pdf")

    assert started == []
    assert document.text == (CASES / "pdf" / "manual.pdf.md").read_text()
    assert document.pages == (0, document.text.index("## 2 Prog"), document.text.index("## 3 Caring"))
    assert [section.title for section in document.sections][:2] == ["A manual of R&D", "1 Turning"]
    assert document.title == "A manual of R&D"


def test_what_is_read_is_the_same_before_and_after_it_is_indexed(tmp_path: Path, shelf: Path) -> None:
    fresh = Catalog(tmp_path / "other", [Folder(shelf, "shelf", suffixes=SERVED)])
    before = fresh.read("talk.pptx")
    fresh.sync()

    assert fresh.read("talk.pptx") == before
    fresh.close()


def test_a_changed_file_is_converted_anew(catalog: Catalog, shelf: Path) -> None:
    shutil.copy(CASES / "pdf" / "gap.pdf", shelf / "manual.pdf")

    assert catalog.read("manual.pdf").text == "First page.\n\nThird page.\n"


def test_a_file_that_is_misnamed_does_not_stop_the_others(catalog: Catalog, shelf: Path) -> None:
    shutil.copy(CASES / "pdf" / "gap.pdf", shelf / "wrong.docx")
    shutil.copy(CASES / "xlsx" / "stock.xlsx", shelf / "stock.xlsx")

    assert catalog.sync() == Changes(indexed=1, unchanged=4, skipped=2)
    assert dict(catalog.progress().skipped)["wrong.docx"] == "this is a PDF, not a Word document: rename it to .pdf"


def test_data_is_read_when_it_is_named(shelf: Path, tmp_path: Path) -> None:
    (shelf / "a.json").write_text('{"gear": "sprocket"}')
    (shelf / "sub").mkdir()
    (shelf / "sub" / "b.json").write_text('{"chain": ["runs over", "another sprocket", 42]}')

    def found(*arguments: str) -> list[str]:
        options = ["--store", str(tmp_path / "store"), "--embedder", "none", "--json"]
        command = [sys.executable, "-m", "bookwheel", "search", "sprocket", *arguments, *options]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return sorted(hit["path"] for hit in json.loads(done.stdout))

    assert found(str(shelf)) == []
    assert found(str(shelf / "sub"), str(shelf / "a.json")) == ["a.json"]
    assert found(str(shelf), "--include", "**/*.json") == ["a.json", "sub/b.json"]


def test_data_files_are_no_documents_of_a_folder() -> None:
    assert READERS.keys() - SERVED == {".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".xml", ".org_archive"}


@pytest.mark.parametrize(
    ("form", "size", "heavy"),
    [(".md", 10**9, False), (".txt", 10**9, False), (".org", 10**9, False), (".html", 10**5, False),
     (".csv", 10**5, False), (".html", 2 * 10**6, True), (".json", 2 * 10**6, True), (".pdf", 1, True),
     (".docx", 1, True), (".eml", 1, True), (PAGE, 1, True)],
)  # fmt: skip
def test_what_is_not_trusted_is_read_in_a_child(form: str, size: int, heavy: bool) -> None:
    assert conversion.heavy(form, size) is heavy


def test_a_large_page_is_the_same_from_a_child() -> None:
    page = b"<title>T</title><h1>Wheel &amp; gear</h1>" + b"<p>It turns, a &lt; b.</p>" * 50_000
    source = Source("l", "/a.html", "a.html")

    assert conversion.read(source, page) == PLAIN[".html"](source, page)


def test_a_reader_of_ours_that_fails_is_the_files_fault() -> None:
    with pytest.raises(ParseFailed, match="save it anew"):
        conversion.read(Source("l", "a", "a.ipynb"), b'{"cells": [{"cell_type": "heading", "level": "x"}]}')


@pytest.mark.parametrize("how", ["-m", "console"])
def test_the_command_line_reads_and_finds_documents(shelf: Path, tmp_path: Path, how: str) -> None:
    program = [sys.executable, "-m", "bookwheel"] if how == "-m" else [str(Path(sys.executable).with_name("bookwheel"))]
    options = ["--store", str(tmp_path / "store"), "--embedder", "none", "--log-level", "error"]

    def run(*arguments: str) -> str:
        return subprocess.run([*program, *arguments, *options], check=True, stdout=subprocess.PIPE, text=True).stdout

    assert run("read", str(shelf / "manual.pdf")) == (CASES / "pdf" / "manual.pdf.md").read_text()
    assert "manual.pdf" in run("search", "programmed", str(shelf))


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
def test_an_interrupt_while_a_child_reads_ends_soon_and_keeps_what_is_done(shelf: Path, tmp_path: Path) -> None:
    (shelf / "slow.rst").write_bytes(b"Title\n=====\n\n.. note:: *x* ``y``\n\n" * 250_000)
    options = ["--store", str(tmp_path / "store"), "--embedder", "none", "--log-level", "error"]
    command = [sys.executable, "-m", "bookwheel", "ingest", str(shelf), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        while not _is_reading(running.pid) and running.poll() is None:
            os.sched_yield()
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)

    left = Catalog(tmp_path / "store")
    assert [reason for one in left.store.libraries() for reason in left.store.faults(one) if "slow" in reason] == []
    left.close()


def _is_reading(pid: int) -> bool:
    """Say whether a child of that process, started by any of its threads, has computed for half a second."""
    try:
        children = [
            one for task in Path(f"/proc/{pid}/task").iterdir() for one in (task / "children").read_text().split()
        ]
        spent = [int(Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[11]) for one in children]
    except OSError:
        return False
    return any(ticks > 50 for ticks in spent)


def test_org_becomes_markdown_for_those_who_ask_and_others_stay() -> None:
    org = conversion.read(Source("l", "/a.org", "a.org"), b"#+TITLE: Plans\n* TODO Oil the *gears*\n")
    note = conversion.read(Source("l", "/a.md", "a.md"), b"# Plans\n")

    turned = conversion.as_markdown(org)

    assert turned.text == "# Plans\n\n## TODO Oil the **gears**\n"
    assert (turned.title, turned.kind, [one.title for one in turned.sections][1]) == (
        "Plans",
        "converted",
        "TODO Oil the gears",
    )
    assert conversion.as_markdown(note) is note
