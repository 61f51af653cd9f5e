"""The catalog: folders in, records, texts and hits out, always those of the files as they are."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bookwheel import sync
from bookwheel.catalog import Catalog
from bookwheel.errors import BookwheelError, Invalid, NotFound, OutsideRoots, TooLarge
from bookwheel.folders import Folder
from bookwheel.formats import READERS
from bookwheel.model import Progress, Query
from bookwheel.sync import Changes

Make = Callable[..., Catalog]
SUFFIXES = frozenset(READERS)


class Opened:
    """Which files this process opens; a hook can only be added once, so it is always there."""

    def __init__(self) -> None:
        self.below = ""
        self.seen: list[str] = []
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.below and event == "open" and str(arguments[0]).startswith(self.below):
            self.seen.append(str(arguments[0])[len(self.below) + 1 :])

    def watch(self, folder: Path) -> list[str]:
        """Return a list that from now on receives every file opened below *folder*."""
        self.below, self.seen = str(folder), []
        return self.seen


OPENED = Opened()


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A folder with two documents."""
    root = (tmp_path / "docs").resolve()
    (root / "sub").mkdir(parents=True)
    (root / "a.md").write_text("# Anchor\n\nAn anchor holds.\n")
    (root / "sub" / "b.txt").write_text("Bellows\n\nThey blow.\n")
    yield root
    OPENED.below = ""


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Give a maker of catalogs over folders, all with one store."""
    made: list[Catalog] = []

    def make(*roots: Path, limit: int = 10_485_760) -> Catalog:
        folders = [Folder(root, root.name, suffixes=SUFFIXES, max_file_size=limit) for root in roots]
        made.append(Catalog(tmp_path / "store", folders))
        return made[-1]

    yield make
    for one in made:
        one.close()


def names(catalog: Catalog, after: str = "", limit: int = -1) -> list[str]:
    return [catalog.name(record.source) for record in catalog.records(after, limit)]


def found(catalog: Catalog, text: str) -> list[str]:
    return [catalog.name(hit.record.source) for hit in catalog.search(Query(text)).hits]


def later(path: Path, seconds: int = 10) -> None:
    """Give a file a later time."""
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + seconds * 10**9))


# sync


def test_first_sync_takes_in_every_file(make: Make, root: Path) -> None:
    catalog = make(root)

    assert catalog.sync() == Changes(indexed=2)
    assert names(catalog) == ["a.md", "sub/b.txt"]
    assert found(catalog, "anchor") == ["a.md"]
    assert catalog.progress() == Progress(2, 0)


def test_first_sync_opens_every_file_once(make: Make, root: Path) -> None:
    opened = OPENED.watch(root)

    make(root).sync()

    assert sorted(opened) == ["a.md", "sub/b.txt"]


@pytest.mark.parametrize("anew", [False, True])
def test_second_sync_opens_no_document(make: Make, root: Path, anew: bool) -> None:
    (root / "broken.md").write_bytes(b"\0\1\2\xff")
    first = make(root)
    first.sync()
    opened = OPENED.watch(root)

    changes = (make(root) if anew else first).sync()

    assert opened == []
    assert changes == Changes(unchanged=2, skipped=1)


def test_search_and_list_open_no_document(make: Make, root: Path) -> None:
    catalog = make(root)
    catalog.sync()
    opened = OPENED.watch(root)

    assert found(catalog, "anchor") == ["a.md"]
    assert names(catalog) == ["a.md", "sub/b.txt"]
    assert opened == []


def test_only_a_changed_file_is_opened_again(make: Make, root: Path) -> None:
    catalog = make(root)
    catalog.sync()
    (root / "a.md").write_text("# Cabinet\n")
    opened = OPENED.watch(root)

    changes = catalog.sync()

    assert opened == ["a.md"]
    assert changes == Changes(indexed=1, unchanged=1)
    assert (found(catalog, "anchor"), found(catalog, "cabinet")) == ([], ["a.md"])


def test_added_files_are_taken_in(make: Make, root: Path) -> None:
    catalog = make(root)
    catalog.sync()
    (root / "c.md").write_text("cabinet")

    assert catalog.sync() == Changes(indexed=1, unchanged=2)
    assert found(catalog, "cabinet") == ["c.md"]


def test_deleted_files_are_dropped(make: Make, root: Path) -> None:
    catalog = make(root)
    catalog.sync()
    (root / "a.md").unlink()

    assert catalog.sync() == Changes(unchanged=1, dropped=1)
    assert (names(catalog), found(catalog, "anchor")) == (["sub/b.txt"], [])


def test_a_renamed_file_goes_by_its_new_name(make: Make, root: Path) -> None:
    catalog = make(root)
    catalog.sync()
    (root / "a.md").rename(root / "z.md")

    assert catalog.sync() == Changes(indexed=1, unchanged=1, dropped=1)
    assert found(catalog, "anchor") == ["z.md"]


def test_a_renamed_folder_takes_its_files_along(make: Make, root: Path) -> None:
    catalog = make(root)
    catalog.sync()
    (root / "sub").rename(root / "other")

    catalog.sync()

    assert names(catalog) == ["a.md", "other/b.txt"]


def test_the_same_content_with_a_new_time_is_not_indexed_again(make: Make, root: Path) -> None:
    catalog = make(root)
    catalog.sync()
    before = next(catalog.records())
    later(root / "a.md")

    first = catalog.sync()
    opened = OPENED.watch(root)
    second = catalog.sync()

    assert first == second == Changes(unchanged=2)
    assert opened == []
    assert next(catalog.records()).doc_id == before.doc_id


def test_progress_is_reported_file_by_file(make: Make, root: Path) -> None:
    told: list[tuple[int, int]] = []

    make(root).sync(lambda done, total: told.append((done, total)))

    assert told == [(1, 2), (2, 2)]


def test_an_empty_folder_has_no_documents(make: Make, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    catalog = make((tmp_path / "empty").resolve())

    assert catalog.sync() == Changes()
    assert (names(catalog), found(catalog, "*")) == ([], [])


def test_many_small_batches_give_the_same_as_one(make: Make, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(60):
        (root / f"{number}.md").write_text(f"cabinet {number}")
    monkeypatch.setattr(sync, "BATCH", 1)
    catalog = make(root)

    assert catalog.sync() == Changes(indexed=62)
    assert len(catalog.search(Query("cabinet", limit=100)).hits) == 60


def test_two_catalogs_that_sync_at_once_do_not_do_the_work_twice(make: Make, root: Path) -> None:
    for number in range(40):
        (root / f"{number}.md").write_text(f"cabinet {number}")
    results: list[Changes] = []
    catalogs = [make(root), make(root)]
    assert [len(one.folders) for one in catalogs] == [1, 1]  # registered before they race
    threads = [threading.Thread(target=lambda one=one: results.append(one.sync())) for one in catalogs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(one.indexed for one in results) == [0, 42]


# files that cannot be taken in


BAD = {
    "binary.md": b"\x00\x01\x02\x03" * 50,
    "image.txt": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(64),
    "large.md": b"x" * 100_001,
}


def test_bad_files_are_told_and_do_not_stop_the_rest(make: Make, root: Path) -> None:
    for name, data in BAD.items():
        (root / name).write_bytes(data)
    catalog = make(root, limit=100_000)

    assert catalog.sync() == Changes(indexed=2, skipped=3)
    assert catalog.progress() == Progress(
        2,
        0,
        (
            ("binary.md", "this is not text: it holds NUL bytes"),
            ("image.txt", "this is not text: it holds NUL bytes"),
            ("large.md", "it has 100001 bytes, more than the limit of 100000"),
        ),
    )
    assert names(catalog) == ["a.md", "sub/b.txt"]


def test_bad_files_are_logged_once_by_each_process(make: Make, root: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name, data in BAD.items():
        (root / name).write_bytes(data)
    with caplog.at_level(logging.WARNING):
        catalog = make(root, limit=100_000)
        catalog.sync()
        first = len(caplog.records)
        catalog.sync()
        second = len(caplog.records)
        make(root, limit=100_000).sync()

    assert (first, second, len(caplog.records)) == (3, 3, 6)


def test_bad_files_are_counted_each_time(make: Make, root: Path) -> None:
    for name, data in BAD.items():
        (root / name).write_bytes(data)
    catalog = make(root, limit=100_000)
    catalog.sync()

    assert catalog.sync() == Changes(unchanged=2, skipped=3)


def test_a_mended_file_comes_back(make: Make, root: Path) -> None:
    for name, data in BAD.items():
        (root / name).write_bytes(data)
    catalog = make(root, limit=100_000)
    catalog.sync()
    for name in BAD:
        (root / name).write_text("cabinet")

    assert catalog.sync() == Changes(indexed=3, unchanged=2)
    assert sorted(found(catalog, "cabinet")) == sorted(BAD)
    assert catalog.progress().skipped == ()


@pytest.mark.parametrize("data", BAD.values(), ids=BAD.keys())
def test_a_document_that_turns_bad_leaves_the_list(make: Make, root: Path, data: bytes) -> None:
    catalog = make(root, limit=100_000)
    catalog.sync()
    (root / "a.md").write_bytes(data)

    changes = catalog.sync()

    assert (names(catalog), found(catalog, "anchor")) == (["sub/b.txt"], [])
    assert changes.skipped == 1
    assert changes, "the list of documents looks different now"


def test_a_bad_file_that_is_removed_changes_no_list(make: Make, root: Path) -> None:
    (root / "binary.md").write_bytes(BAD["binary.md"])
    catalog = make(root)
    catalog.sync()
    (root / "binary.md").unlink()

    assert catalog.sync() == Changes(unchanged=2)
    assert catalog.progress().skipped == ()


def test_files_in_other_encodings_are_documents(make: Make, root: Path) -> None:
    (root / "latin.txt").write_bytes("Bücher über Räder: eine schöne Übersicht für Leser".encode("cp1252"))
    (root / "wide.txt").write_bytes("Zahnräder greifen ineinander".encode("utf-16"))
    catalog = make(root)

    assert catalog.sync() == Changes(indexed=4)
    assert (found(catalog, "Bücher"), found(catalog, "Zahnräder")) == (["latin.txt"], ["wide.txt"])


def test_empty_files_are_documents_without_words(make: Make, root: Path) -> None:
    (root / "empty.md").touch()
    (root / "blank.txt").write_text(" \n\n")
    catalog = make(root)

    assert catalog.sync() == Changes(indexed=4)
    assert names(catalog) == ["a.md", "blank.txt", "empty.md", "sub/b.txt"]
    assert found(catalog, "empty") == ["empty.md"]


def test_files_that_vanish_during_a_sync_are_not_missed(make: Make, root: Path) -> None:
    (root / "c.md").write_text("cabinet")

    def remove(done: int, total: int) -> None:
        (root / "c.md").unlink(missing_ok=True)

    catalog = make(root)

    assert catalog.sync(remove) == Changes(indexed=2)
    assert names(catalog) == ["a.md", "sub/b.txt"]


def test_a_file_that_becomes_a_folder_during_a_sync_is_told(make: Make, root: Path) -> None:
    (root / "c.md").write_text("cabinet")

    def turn(done: int, total: int) -> None:
        if (root / "c.md").is_file():
            (root / "c.md").unlink()
            (root / "c.md").mkdir()

    catalog = make(root)
    changes = catalog.sync(turn)

    assert changes == Changes(indexed=2, skipped=1)
    assert [path for path, _ in catalog.progress().skipped] == ["c.md"]


def test_links_are_served_inside_and_refused_outside(make: Make, root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret cabinet")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "in.md").symlink_to(root / "sub" / "b.txt")
    (root / "dangling.md").symlink_to(root / "nowhere.md")
    catalog = make(root)

    changes = catalog.sync()

    assert changes == Changes(indexed=3, skipped=2)
    assert found(catalog, "cabinet") == []
    assert sorted(found(catalog, "bellows")) == ["in.md", "sub/b.txt"]
    assert catalog.progress().skipped == (
        ("dangling.md", "it is a link that leads nowhere"),
        ("out.md", "it is a link that leads out of the served folder"),
    )


def test_a_pipe_is_told_and_never_opened(make: Make, root: Path) -> None:
    os.mkfifo(root / "pipe.md")  # to open it would wait for ever
    catalog = make(root)

    assert catalog.sync() == Changes(indexed=2, skipped=1)
    assert catalog.progress().skipped == (("pipe.md", "it is a device, socket or pipe, not a file"),)


def test_a_folder_that_is_gone_is_told_and_stays_in_the_index(
    make: Make, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    catalog = make(root)
    catalog.sync()
    root.rename(root.with_name("moved"))

    assert not catalog.sync()

    assert names(catalog) == ["a.md", "sub/b.txt"]
    assert "docs is not brought up to date" in caplog.text


# search never shows what is not so any more


def test_an_edited_file_is_shown_as_it_is_now(make: Make, root: Path) -> None:
    catalog = make(root)
    catalog.sync()
    (root / "a.md").write_text("# Anchor\n\nAn anchor that was edited holds.\n")

    (hit,) = catalog.search(Query("anchor")).hits

    assert "edited" in hit.excerpt


def test_a_file_that_lost_the_word_is_no_hit(make: Make, root: Path) -> None:
    catalog = make(root)
    catalog.sync()
    (root / "a.md").write_text("# Cabinet\n")

    assert found(catalog, "anchor") == []


def test_a_deleted_file_is_no_hit(make: Make, root: Path) -> None:
    catalog = make(root)
    catalog.sync()
    (root / "a.md").unlink()

    assert found(catalog, "anchor") == []


def test_a_file_that_turned_bad_is_no_hit(make: Make, root: Path) -> None:
    catalog = make(root)
    catalog.sync()
    (root / "a.md").write_bytes(BAD["binary.md"])

    assert found(catalog, "anchor") == []


def test_a_deleted_folder_gives_no_hits(make: Make, root: Path) -> None:
    catalog = make(root)
    catalog.sync()
    root.rename(root.with_name("moved"))

    try:
        shown = found(catalog, "anchor")
    except BookwheelError as error:
        shown = [error.message]

    assert shown in ([], [f"the folder {root} is not there; check the path"])


def test_a_library_that_is_not_served_is_not_found(make: Make, root: Path, tmp_path: Path) -> None:
    other = (tmp_path / "other").resolve()
    other.mkdir()
    (other / "c.md").write_text("cabinet")
    make(other).sync()
    catalog = make(root)
    catalog.sync()

    with pytest.raises(NotFound, match="there is no library other; there are: docs"):
        catalog.search(Query("cabinet", libraries=("other",)))


def test_a_catalog_without_folders_shows_no_deleted_file(make: Make, root: Path) -> None:
    make(root).sync()
    (root / "a.md").unlink()

    assert make().search(Query("anchor")).hits == ()


def test_the_served_folders_alone_are_searched(make: Make, root: Path, tmp_path: Path) -> None:
    other = (tmp_path / "other").resolve()
    other.mkdir()
    (other / "c.md").write_text("anchor")
    make(other).sync()
    catalog = make(root)
    catalog.sync()

    assert found(catalog, "anchor") == ["a.md"]
    assert [hit.record.source.path for hit in make().search(Query("anchor")).hits] == ["a.md", "c.md"]


def test_an_unknown_library_is_an_error_that_names_the_known(make: Make, root: Path) -> None:
    catalog = make(root)
    catalog.sync()

    with pytest.raises(NotFound, match="there is no library nowhere; there are: docs"):
        catalog.search(Query("anchor", libraries=("nowhere",)))


def test_a_search_waits_for_the_first_sync(make: Make, root: Path) -> None:
    catalog = make(root)
    found_by_then: list[list[str]] = []
    waiting = threading.Event()

    def look() -> None:
        waiting.set()
        found_by_then.append(found(catalog, "anchor"))

    thread = threading.Thread(target=look)
    thread.start()
    waiting.wait()
    catalog.sync()
    thread.join()

    assert found_by_then == [["a.md"]]


# several folders


@pytest.fixture
def two(make: Make, root: Path, tmp_path: Path) -> Catalog:
    """A catalog over two folders of one name."""
    twin = (tmp_path / "more" / "docs").resolve()
    twin.mkdir(parents=True)
    for name in ("a.md", "c.md", "e.md"):
        (twin / name).write_text(f"anchor of {name}")
    catalog = make(root, twin)
    catalog.sync()
    return catalog


def test_names_of_several_folders_begin_with_their_libraries(two: Catalog) -> None:
    assert names(two) == ["docs/a.md", "docs/sub/b.txt", "docs-2/a.md", "docs-2/c.md", "docs-2/e.md"]
    assert set(found(two, "anchor")) == {"docs/a.md", "docs-2/a.md", "docs-2/c.md", "docs-2/e.md"}


@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_pages_of_a_list_join_up(two: Catalog, make: Make, root: Path, size: int) -> None:
    for catalog in (two, make(root)):
        catalog.sync()
        pages: list[str] = []
        while page := names(catalog, pages[-1] if pages else "", size):
            assert len(page) <= size
            pages += page

        assert pages == names(catalog)


def test_a_list_goes_on_after_a_name_that_is_not_there(two: Catalog) -> None:
    assert names(two, after="docs/b.md") == ["docs/sub/b.txt", "docs-2/a.md", "docs-2/c.md", "docs-2/e.md"]
    assert names(two, after="docs-2/d.md", limit=5) == ["docs-2/e.md"]
    assert names(two, after="zoo/a.md") == []
    assert names(two, limit=0) == []


def test_a_document_is_read_by_its_name_of_several(two: Catalog) -> None:
    assert two.read("docs/a.md").text == "# Anchor\n\nAn anchor holds.\n"
    assert two.read("docs-2/a.md").text == "anchor of a.md"


@pytest.mark.parametrize("name", ["a.md", "other/a.md", "docs", "docs-3/a.md"])
def test_a_name_of_no_library_is_not_found(two: Catalog, name: str) -> None:
    with pytest.raises((NotFound, Invalid)):
        two.read(name)


def test_a_folder_named_twice_is_served_once(make: Make, root: Path) -> None:
    catalog = make(root, root)

    assert catalog.sync() == Changes(indexed=2)
    assert len(names(catalog)) == 2


# read and locate


def test_reading_gives_the_file_as_it_is_now(make: Make, root: Path) -> None:
    catalog = make(root)
    before = catalog.read("a.md").text
    (root / "a.md").write_text("# Cabinet\n")

    assert (before, catalog.read("a.md").text) == ("# Anchor\n\nAn anchor holds.\n", "# Cabinet\n")


def test_a_document_is_located_by_its_name(make: Make, root: Path) -> None:
    folder, path = make(root).locate("sub/b.txt")

    assert (folder.root, path) == (root, "sub/b.txt")


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("../store/catalog.db", OutsideRoots),
        ("/etc/passwd", OutsideRoots),
        ("sub/../../x.md", OutsideRoots),
        ("out.md", OutsideRoots),
        ("%2e%2e/x.md", OutsideRoots),
        ("C:\\x.md", OutsideRoots),
        ("a.md\0", OutsideRoots),
        ("absent.md", NotFound),
        ("sub", NotFound),
        (".hidden.md", NotFound),
        ("ignored.md", NotFound),
        ("program.py", NotFound),
        ("", Invalid),
        ("x" * 5_000, NotFound),
    ],
)
def test_what_is_not_served_is_not_located(
    make: Make, root: Path, tmp_path: Path, name: str, error: type[BookwheelError]
) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / ".hidden.md").write_text("hidden")
    (root / ".gitignore").write_text("ignored.md\n")
    (root / "ignored.md").write_text("ignored")
    (root / "program.py").write_text("pass")

    with pytest.raises(error):
        make(root).read(name)


def test_a_file_over_the_limit_is_not_read(make: Make, root: Path) -> None:
    with pytest.raises(TooLarge, match=r"a\.md has 27 bytes, more than the limit of 20"):
        make(root, limit=20).read("a.md")


# stop


def test_stopping_ends_a_sync_at_the_next_file_and_keeps_what_was_done(make: Make, root: Path) -> None:
    for number in range(50):
        (root / f"{number:02}.md").write_text(f"cabinet {number}")
    catalog = make(root)

    changes = catalog.sync(lambda done, _: catalog.stop() if done == 10 else None)

    assert changes.indexed in (10, 11)
    assert len(catalog.search(Query("cabinet", limit=100)).hits) == changes.indexed
    assert make(root).sync() == Changes(indexed=52 - changes.indexed, unchanged=changes.indexed)


def test_stopping_lets_the_other_folders_be(make: Make, root: Path, tmp_path: Path) -> None:
    other = (tmp_path / "other").resolve()
    other.mkdir()
    for number in range(9):
        (other / f"{number}.md").write_text("cabinet")
    catalog = make(root, other)

    catalog.sync(lambda *_: catalog.stop())

    assert len(names(catalog)) <= 2


def test_after_stopping_progress_tells_what_is_left(make: Make, root: Path) -> None:
    for number in range(50):
        (root / f"{number:02}.md").write_text(f"cabinet {number}")
    catalog = make(root)
    catalog.sync(lambda done, _: catalog.stop() if done == 10 else None)

    progress = catalog.progress()

    assert progress.indexed + progress.waiting == 52


def test_closing_twice_is_allowed(make: Make, root: Path) -> None:
    catalog = make(root)
    catalog.sync()
    catalog.close()
    catalog.close()


def test_near_duplicates_are_named_by_the_libraries_that_are_served(make: Make, tmp_path: Path) -> None:
    roots = [(tmp_path / place / "notes").resolve() for place in ("elsewhere", "first", "second")]
    for root in roots:
        root.mkdir(parents=True)
        (root / "a.md").write_text("# Anchor\n\nAn anchor holds a ship where the sea would not.\n")
    make(roots[0]).sync()
    catalog = make(*roots[1:])
    catalog.sync()

    (hit,) = catalog.search(Query("anchor", distinct=True)).hits

    assert {hit.record.source.label, *(one.source.label for one in hit.also)} == {"notes/a.md", "notes-2/a.md"}
