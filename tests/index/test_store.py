"""The store: what is written stays, whoever else writes, whatever is killed, however broken the file is."""

from __future__ import annotations

import multiprocessing
import random
import sqlite3
import subprocess
import sys
import threading
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from shelf import merge_all, opened, paths, replace, search, shelve

from bookwheel.catalog import Catalog
from bookwheel.errors import BookwheelError, Unavailable
from bookwheel.folders import Folder
from bookwheel.index.store import FILE, LAYOUT, Store
from bookwheel.model import Library, Query, Stamp
from bookwheel.sync import Changes

SYNC = """
import sys
from pathlib import Path
from bookwheel import sync
from bookwheel.catalog import Catalog
from bookwheel.folders import Folder
sync.BATCH = 5_000
one = Catalog(Path(sys.argv[1]), [Folder(Path(sys.argv[2]), "docs")])
one.sync(lambda done, total: print(done, flush=True))
"""


def file_in(folder: Path) -> Path:
    return folder / FILE


def aside(folder: Path) -> list[Path]:
    """Return the files that were set aside."""
    return sorted(path for path in folder.glob("*.db") if path.name != FILE)


def sound(folder: Path) -> bool:
    connection = sqlite3.connect(file_in(folder))
    answer = connection.execute("PRAGMA integrity_check").fetchone()[0]
    connection.close()
    return bool(answer == "ok")


# libraries


def test_a_library_is_known_by_its_scope(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        first = store.register("docs", "scope", "/docs")
        again = store.register("another", "scope", "/docs")

        assert first == again == Library(1, "docs", "scope", "/docs")


def test_libraries_that_would_share_a_name_are_numbered(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        names = [store.register("docs", f"scope {number}", f"/{number}/docs").name for number in range(3)]

        assert names == ["docs", "docs-2", "docs-3"]


def test_a_number_that_is_taken_as_a_name_is_passed_over(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        names = [store.register(name, name + str(place), "/") for place, name in enumerate(["docs", "docs-2", "docs"])]

        assert [one.name for one in names] == ["docs", "docs-2", "docs-3"]


def test_libraries_are_listed_by_name_with_their_counts(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        shelve(store, {"a.md": "# A\n\na\n\n# B\n\nb", "b.md": "b"}, "zoo")
        shelve(store, {"a.md": "a"}, "art")

        assert store.libraries() == [
            Library(2, "art", "art", "/art", 1, 1),
            Library(1, "zoo", "zoo", "/zoo", 2, 3),
        ]


# documents


def test_records_are_listed_by_path_from_a_place_on(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        library = shelve(store, {f"{name}.md": name for name in "cadb"})

        listed = [
            [one.source.path for one in page]
            for page in (
                store.records(library),
                store.records(library, "b.md"),
                store.records(library, limit=2),
                store.records(library, "zz"),
            )
        ]

        assert listed == [["a.md", "b.md", "c.md", "d.md"], ["c.md", "d.md"], ["a.md", "b.md"], []]


def test_a_replaced_document_is_there_once(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        library = shelve(store, {"a.md": "anchor"})
        replace(store, library, {"a.md": "bellows"})

        assert [one.source.path for one in store.records(library)] == ["a.md"]
        assert (paths(search(store, "anchor")), paths(search(store, "bellows"))) == ([], ["a.md"])


def test_a_dropped_document_leaves_nothing_behind(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        library = shelve(store, {"a.md": "anchor"})
        store.drop(library, ["a.md", "never.md"])
        merge_all(store)

        with store.database.reading() as db:
            left = {
                table: db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]  # noqa: S608 - our own words
                for table in ("documents", "texts", "segments", "postings")
            }
        assert left == dict.fromkeys(left, 0)


def test_a_file_that_cannot_be_read_is_remembered_until_it_is_replaced(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        library = shelve(store, {"a.md": "anchor"})
        for reason in ("broken", "broken", "worse"):
            store.skip(library, "a.md", Stamp(3, 4), reason)
        broken = (store.faults(library), store.stamps(library), search(store, "anchor"))
        replace(store, library, {"a.md": "anchor"})

        assert broken == ({"a.md": (Stamp(3, 4), "worse")}, {}, [])
        assert (store.faults(library), store.stamps(library)) == ({}, {"a.md": Stamp(6, 1)})


def test_a_touched_document_has_its_new_stamp(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        library = shelve(store, {"a.md": "anchor"})
        before = store.record(library, "a.md")
        store.touch(library, "a.md", Stamp(6, 99))
        after = store.record(library, "a.md")

        assert before is not None
        assert after is not None
        assert (before.stamp, after.stamp) == (Stamp(6, 1), Stamp(6, 99))
        assert before.doc_id == after.doc_id


def test_what_was_written_is_there_after_opening_again(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        library = shelve(store, {"a.md": "---\ntitle: Ä\ntags: [x]\n---\nanchor"})
        before = store.records(library)

    with opened(tmp_path) as store:
        assert store.records(library) == before
        assert paths(search(store, "anchor")) == ["a.md"]


def break_off(store: Store) -> None:
    with store.database.writing() as db:
        db.execute("DELETE FROM documents")
        raise KeyboardInterrupt


def test_a_failed_write_leaves_everything_as_it_was(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        library = shelve(store, {"a.md": "anchor"})

        with pytest.raises(KeyboardInterrupt):
            break_off(store)

        assert len(store.records(library)) == 1
        replace(store, library, {"b.md": "bellows"})
        assert len(store.records(library)) == 2


# several at once


def write_many(folder: str, who: int, ready: Barrier) -> None:
    """Write fifty documents, one by one, into the store that others write too."""
    ready.wait()
    with opened(Path(folder)) as store:
        mine = store.register("docs", f"scope {who}", "/docs")
        shared = store.register("shared", "shared", "/shared")
        for number in range(25):
            replace(store, mine, {f"{number}.md": f"anchor writer{who}"})
            replace(store, shared, {f"{who}-{number}.md": f"bellows writer{who}"})


def test_processes_that_write_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(3)
    writers = [context.Process(target=write_many, args=(str(tmp_path), who, ready)) for who in range(3)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()

    assert [one.exitcode for one in writers] == [0, 0, 0]
    with opened(tmp_path) as store:
        assert {(one.name, one.document_count) for one in store.libraries()} == {
            ("docs", 25), ("docs-2", 25), ("docs-3", 25), ("shared", 75),
        }  # fmt: skip
        assert len(search(store, "anchor")) == len(search(store, "bellows")) == 75
        assert [len(search(store, f"writer{who}")) for who in range(3)] == [50, 50, 50]
    assert sound(tmp_path)


def test_a_reader_during_a_write_sees_the_old_or_the_new_whole(tmp_path: Path) -> None:
    texts = [{f"{number:02}.md": f"common version{version}" for number in range(20)} for version in range(25)]
    done = threading.Event()
    with opened(tmp_path) as writer, opened(tmp_path) as reader:
        library = shelve(writer, texts[0])

        def write() -> None:
            for version in texts[1:]:
                replace(writer, library, version)
            done.set()

        thread = threading.Thread(target=write)
        thread.start()
        seen: list[list[str]] = []
        try:
            while not done.is_set() or not seen:
                seen.append([hit.excerpt for hit in search(reader, "common")])
        finally:
            thread.join()

        assert {(len(excerpts), len(set(excerpts))) for excerpts in seen} == {(20, 1)}


# killed


def test_a_sync_that_is_killed_can_be_finished_by_the_next(tmp_path: Path) -> None:
    folder, store = (tmp_path / "docs").resolve(), tmp_path / "store"
    folder.mkdir()
    for number in range(300):
        (folder / f"{number:03}.md").write_text(f"# Page {number}\n\n" + f"anchor word{number} " * 40)
    chance = random.Random(1588)  # noqa: S311 - a moment, not a secret

    for _ in range(5):
        command = [sys.executable, "-c", SYNC, str(store), str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for _ in range(chance.randrange(1, 60)):
                process.stdout.readline()
            process.kill()

    catalog = Catalog(store, [Folder(folder, "docs")])
    changes = catalog.sync()
    hits = catalog.search(Query("anchor", limit=1_000)).hits
    catalog.close()
    assert changes.indexed + changes.unchanged == 300
    assert changes.unchanged > 0
    assert len(hits) == 300
    assert sound(store)


# broken


def test_a_file_that_is_no_database_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file_in(tmp_path).write_bytes(b"this is no database, but it has some length\n" * 100)

    with opened(tmp_path) as store:
        shelve(store, {"a.md": "anchor"})
        assert paths(search(store, "anchor")) == ["a.md"]

    (kept,) = aside(tmp_path)
    assert kept.read_bytes().startswith(b"this is no database")
    assert kept.name in caplog.text


@pytest.mark.parametrize("version", [LAYOUT.version + 1, 99, -1])
def test_a_file_of_another_layout_is_set_aside(tmp_path: Path, version: int) -> None:
    foreign = sqlite3.connect(file_in(tmp_path))
    foreign.execute("CREATE TABLE books (title)")
    foreign.execute("INSERT INTO books VALUES ('Diverse et artificiose machine')")
    foreign.execute(f"PRAGMA user_version = {version}")
    foreign.commit()
    foreign.close()

    with opened(tmp_path) as store:
        assert store.libraries() == []

    (kept,) = aside(tmp_path)
    foreign = sqlite3.connect(kept)
    assert foreign.execute("SELECT title FROM books").fetchall() == [("Diverse et artificiose machine",)]
    foreign.close()


def test_what_a_crash_left_beside_a_foreign_file_is_kept_with_it(tmp_path: Path) -> None:
    script = (
        "import os, sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "db.execute('PRAGMA journal_mode = WAL'); db.execute('PRAGMA user_version = 99');"
        "db.execute('CREATE TABLE books (title)'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", script, str(file_in(tmp_path))], check=True)

    with opened(tmp_path):
        pass

    (kept,) = aside(tmp_path)
    foreign = sqlite3.connect(kept)
    assert foreign.execute("SELECT name FROM sqlite_master").fetchall() == [("books",)]
    foreign.close()


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    file_in(tmp_path).touch()

    with opened(tmp_path) as store:
        shelve(store, {"a.md": "anchor"})
        assert paths(search(store, "anchor")) == ["a.md"]
    assert aside(tmp_path) == []


def test_a_store_that_is_damaged_inside_is_built_anew(tmp_path: Path) -> None:
    folder, store = (tmp_path / "docs").resolve(), tmp_path / "store"
    folder.mkdir()
    for number in range(50):
        (folder / f"{number}.md").write_text(f"anchor {number} " * 200)
    first = Catalog(store, [Folder(folder, "docs")])
    first.sync()
    first.close()
    data = file_in(store).read_bytes()
    file_in(store).write_bytes(data[:4_096] + bytes(range(256)) * ((len(data) - 4_096) // 256))

    again = Catalog(store, [Folder(folder, "docs")])
    changes = again.sync()
    hits = again.search(Query("anchor", limit=100)).hits
    again.close()

    assert changes == Changes(indexed=50)
    assert len(hits) == 50
    assert len(aside(store)) == 1


def test_a_truncated_store_is_built_anew(tmp_path: Path) -> None:
    folder, store = (tmp_path / "docs").resolve(), tmp_path / "store"
    folder.mkdir()
    (folder / "a.md").write_text("anchor " * 5_000)
    first = Catalog(store, [Folder(folder, "docs")])
    first.sync()
    first.close()
    data = file_in(store).read_bytes()
    file_in(store).write_bytes(data[: len(data) // 2])

    again = Catalog(store, [Folder(folder, "docs")])
    changes = again.sync()
    hits = again.search(Query("anchor")).hits
    again.close()

    assert (changes, len(hits)) == (Changes(indexed=1), 1)


@pytest.mark.parametrize("place", ["file", "file/below", "folder-as-database"])
def test_a_store_that_cannot_be_is_refused_in_a_sentence(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("a file, not a folder")
    (tmp_path / "folder-as-database" / FILE).mkdir(parents=True)

    with pytest.raises(Unavailable) as caught:
        Store(tmp_path / place)

    assert str(tmp_path / place) in caught.value.message
    assert "--store" in caught.value.message
    assert caught.value.details == {"store": str(tmp_path / place)}


def test_a_store_folder_that_cannot_be_written_is_refused_in_a_sentence() -> None:
    with pytest.raises(
        Unavailable, match=r"the store /proc/bookwheel cannot be used .*; name another folder with --store"
    ):
        Store(Path("/proc/bookwheel"))


def open_at_once(folders: list[str], ready: Barrier) -> None:
    """Open one store after the other, each at the moment when all the others do."""
    for folder in folders:
        ready.wait(timeout=60)
        with opened(Path(folder)) as store:
            store.register("docs", "docs", "/docs")


@pytest.mark.parametrize("broken", [False, True])
def test_processes_that_open_a_store_at_the_same_time_share_it(tmp_path: Path, broken: bool) -> None:
    context = multiprocessing.get_context("spawn")
    folders = [tmp_path / str(number) for number in range(8)]
    for folder in folders:
        folder.mkdir()
        if broken:
            file_in(folder).write_bytes(b"no database" * 500)
    ready = context.Barrier(3)
    names = [str(folder) for folder in folders]
    openers = [context.Process(target=open_at_once, args=(names, ready)) for _ in range(3)]
    for one in openers:
        one.start()
    for one in openers:
        one.join()

    assert [one.exitcode for one in openers] == [0, 0, 0]
    for folder in folders:
        with opened(folder) as store:
            assert store.libraries() == [Library(1, "docs", "docs", "/docs")]
        assert len(aside(folder)) == broken


def test_damage_that_is_met_later_on_is_one_of_our_errors(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        shelve(store, {f"{number}.md": f"anchor {number} " * 300 for number in range(50)})
    with opened(tmp_path) as store:
        with file_in(tmp_path).open("r+b") as file:
            size = file.seek(0, 2)
            file.seek(4_096)
            file.write(b"\xff" * (size - 4_096))

        with pytest.raises(BookwheelError):
            search(store, "anchor")
