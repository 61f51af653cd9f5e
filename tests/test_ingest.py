"""Taking documents in: what many do at once, what a reader sees meanwhile, and what a document is called."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bookwheel.catalog import Catalog
from bookwheel.errors import Forbidden, Invalid, NotFound, ParseFailed, Unavailable, Unsupported
from bookwheel.ingest import Ingest, Wanted, _extension, _last, _moment
from bookwheel.model import Query, Record, Terms

APART = """
import sys
from pathlib import Path
from bookwheel.catalog import Catalog

catalog = Catalog(Path(sys.argv[1]))
for turn in range(20):
    done = catalog.intake.content(f"Text {(turn + int(sys.argv[2])) % 3}.", "label")
    assert done.doc_id
catalog.close()
"""


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    """An empty catalog without a model."""
    catalog = Catalog(tmp_path / "store")
    yield catalog
    catalog.close()


@pytest.fixture
def intake(catalog: Catalog) -> Ingest:
    """What takes documents into it."""
    return catalog.intake


def only(catalog: Catalog) -> Record:
    """Return the one document there is."""
    (record,) = catalog.latest()
    return record


# many at once


def test_the_same_text_from_many_threads_is_taken_in_once(catalog: Catalog, intake: Ingest) -> None:
    together = threading.Barrier(8)

    def take(_: int) -> tuple[str, str]:
        together.wait(30)
        done = intake.content("Of the quokka.", "label")
        return done.status, done.doc_id

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(take, range(8)))

    assert sorted(status for status, _ in said) == ["indexed", *["skipped"] * 7]
    assert {doc_id for _, doc_id in said} == {only(catalog).doc_id}


def test_versions_from_many_threads_leave_one_document(catalog: Catalog, intake: Ingest) -> None:
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda turn: intake.content(f"Text {turn % 3}.", "label"), range(60)))

    assert sum(one.status == "indexed" for one in said) == 1
    assert only(catalog).doc_id in {one.doc_id for one in said}
    assert catalog.text(only(catalog)) in {"Text 0.", "Text 1.", "Text 2."}


def test_versions_from_many_processes_leave_one_document(catalog: Catalog, tmp_path: Path) -> None:
    command = [sys.executable, "-c", APART, str(tmp_path / "store")]
    others = [subprocess.Popen([*command, str(turn)], stderr=subprocess.PIPE, text=True) for turn in range(3)]
    ends = [(other.communicate(timeout=60)[1], other.returncode) for other in others]

    assert ends == [("", 0)] * 3
    assert len(catalog.search(Query("text", chunks=True)).hits) == 1
    assert catalog.text(only(catalog)) in {"Text 0.", "Text 1.", "Text 2."}


def test_a_reader_sees_the_old_version_or_the_new_one_and_never_both(catalog: Catalog, intake: Ingest) -> None:
    intake.content("Quokka 0.", "label")
    over = threading.Event()
    seen: list[int] = []

    def watch() -> None:
        while not over.is_set():
            seen.append(len(catalog.latest()))
            seen.append(len(catalog.search(Query("quokka", chunks=True)).hits))

    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watch)
        for turn in range(1, 40):
            intake.content(f"Quokka {turn}.", "label")
        over.set()
        watching.result(60)

    assert set(seen) == {1}


# folders


def test_a_halt_before_the_start_takes_nothing_in_and_names_every_file(
    catalog: Catalog, intake: Ingest, tmp_path: Path
) -> None:
    for number in range(5):
        (tmp_path / f"{number}.md").write_text("Text.")
    halt = threading.Event()
    halt.set()

    done = intake.folder(Wanted(str(tmp_path)), halt=halt)

    assert done.stopped
    assert (len(done.results), len(done.errors)) == (0, 5)
    assert catalog.latest() == []


def test_a_halt_in_the_middle_keeps_what_is_done(catalog: Catalog, intake: Ingest, tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}.md").write_text(f"Text {number}.")
    halt = threading.Event()

    done = intake.folder(Wanted(str(tmp_path), concurrency=1), lambda done, _: halt.set() if done == 3 else None, halt)

    assert 3 <= len(done.results) < 9
    assert len(catalog.latest()) == len(done.results)
    assert intake.folder(Wanted(str(tmp_path))).count("skipped") == len(done.results)


def test_hidden_files_and_those_of_tools_are_left_alone(intake: Ingest, tmp_path: Path) -> None:
    for name in ("a.md", ".hidden.md", ".git/b.md", "node_modules/c.md", "sub/d.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Text.")

    done = intake.folder(Wanted(str(tmp_path)))

    assert [one.source for one in done.results] == [str(tmp_path / "a.md"), str(tmp_path / "sub/d.md")]


def test_two_names_of_one_file_are_one_document(catalog: Catalog, intake: Ingest, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Text.")
    (tmp_path / "b.md").symlink_to("a.md")

    done = intake.folder(Wanted(str(tmp_path)))

    assert sorted(one.status for one in done.results) == ["indexed", "skipped"]
    assert only(catalog).source.location == str(tmp_path / "a.md")


# errors


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("a.exe", b"x", Unsupported),
        ("a.md", b" ", ParseFailed),
        ("a.pdf", b"%PDF-1.7 broken", ParseFailed),
        ("absent/a.md", None, NotFound),
    ],
)
def test_what_cannot_be_taken_in_leaves_no_trace(
    catalog: Catalog, tmp_path: Path, name: str, content: bytes | None, error: type[Exception]
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)

    with pytest.raises(error):
        catalog.intake.file(str(tmp_path / name))

    assert catalog.latest() == []


@pytest.mark.parametrize("metadata", [{"a": float("nan")}, {"a": float("inf")}, {"a": "\ud800"}, {"a": object()}])
def test_metadata_that_is_no_json_is_refused(intake: Ingest, metadata: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        intake.content("Text.", "label", metadata=metadata)


def test_a_link_out_of_the_allowed_folders_is_refused(catalog: Catalog, tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside.md"
    inside.mkdir()
    outside.write_text("Text.")
    (inside / "link.md").symlink_to(outside)
    catalog.terms = Terms(roots=(inside,))

    with pytest.raises(Forbidden):
        catalog.intake.file(str(inside / "link.md"))


def test_an_unreachable_url_is_told_as_that(catalog: Catalog) -> None:
    with pytest.raises(Unavailable):
        catalog.intake.url("http://no-such-host.invalid/")


# what a document is called


@pytest.mark.parametrize(
    ("location", "last"),
    [
        ("/a/b.md", "b.md"),
        ("C:\\a\\b.md", "b.md"),
        ("https://example.org/a/b%20c.html?x=1#y", "b c.html"),
        ("https://example.org/a/", "a"),
        ("https://example.org", "https://example.org"),
        ("label", "label"),
        ("/", "/"),
    ],
)
def test_the_last_part_of_a_location(location: str, last: str) -> None:
    assert _last(location) == last


@pytest.mark.parametrize(
    ("label", "extension"),
    [
        ("a.PDF", "pdf"),
        ("a.tar.gz", "gz"),
        ("Release 1.2", ""),
        ("Dr. Smith", ""),
        ("a", ""),
        (".md", ""),
        ("a.mp3", "mp3"),
    ],
)
def test_the_extension_of_a_label(label: str, extension: str) -> None:
    assert _extension(label) == extension


@pytest.mark.parametrize(
    ("said", "moment"),
    [
        ("Sun, 01 Jun 2025 09:00:00 GMT", "2025-06-01T09:00:00+00:00"),
        ("Sun, 01 Jun 2025 09:00:00 +0200", "2025-06-01T09:00:00+02:00"),
        ("Sun, 01 Jun 2025 09:00:00 -0000", "2025-06-01T09:00:00+00:00"),
    ],
)
def test_a_date_of_a_server_has_its_offset(said: str, moment: str) -> None:
    assert _moment(said) == moment


@pytest.mark.parametrize("said", ["", "yesterday", "Sun, 99 Jun 2025"])
def test_a_server_without_a_date_means_now(said: str) -> None:
    before = datetime.now(UTC).replace(microsecond=0)

    assert before <= datetime.fromisoformat(_moment(said)) <= datetime.now(UTC)


def test_a_files_own_time_is_kept_and_its_type_is_its_extension(
    catalog: Catalog, intake: Ingest, tmp_path: Path
) -> None:
    file = tmp_path / "A.MD"
    file.write_text("Before.\n\n```\n# code\n```\n\n### Heading\n")
    os.utime(file, (1_735_689_600, 1_735_689_600))

    intake.file(str(file))

    record = only(catalog)
    assert (record.title, record.file_type, record.last_modified) == ("Heading", "md", "2025-01-01T00:00:00+00:00")
