"""The vectordb contract's command, `mcpvectordb-ingest`, alone and beside a server on the same store."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contracts.conftest import StartStore
from contracts.harness import PATIENCE, Files, Json, Reader, command, eventually, requirement, write
from contracts.vectors import CASES, ask, bulk, bulk_command, documents, environment, results, sources

FOLDER: Files = {
    "a.md": "# A\n\nOf the quokka.\n",
    "sub/b.txt": "Of the quokka.\n",
    "sub/deeper/c.html": "<h1>C</h1><p>Of the quokka.</p>",
    "left.bin": b"\0",
}
MANY = 400  # files: taking them all in takes seconds


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of documents."""
    return write(tmp_path / "folder", FOLDER)


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    """A folder of many documents, each with a word of its own."""
    return write(tmp_path / "crowd", {f"{number:03}.md": f"# N{number}\n\nBeast{number}x.\n" for number in range(MANY)})


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Where the server of these tests keeps its index."""
    return tmp_path / "store"


@contextmanager
def begun(store: Path, *arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """StartStore `mcpvectordb-ingest`, and see that it ends."""
    process = subprocess.Popen(
        bulk_command(*arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(store),
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


def counted(reader: Reader) -> int:
    """Return how many documents there are."""
    return sum(one["document_count"] for one in ask(reader, "list_libraries")["libraries"])


def await_some(reader: Reader) -> None:
    """Wait until the first documents are there, while others are still to come."""
    eventually(lambda: counted(reader) > 0, True, PATIENCE)


def whole(reader: Reader, crowd: Path) -> None:
    """Check that every document of the crowd is there once, whole and to be found."""
    listed = documents(reader, limit=1000)
    assert sorted(one["source"] for one in listed) == sorted(map(str, crowd.iterdir()))
    for number in (0, 1, MANY // 2, MANY - 1):
        (found,) = results(reader, f"beast{number}x")
        assert found["content"].strip() == f"# N{number}\n\nBeast{number}x."


# what it does


@requirement(
    "vectordb.cli",
    "vectordb.cli.usage",
    "vectordb.cli.store",
    "vectordb.cli.exit.0",
    "vectordb.cli.streams",
    "vectordb.cli.said",
    "vectordb.cli.library",
    "vectordb.cli.progress",
)
def test_folder_is_taken_in_for_the_server_that_starts_later(vectordb: StartStore, store: Path, folder: Path) -> None:
    done = bulk(store, folder)
    reader = vectordb()

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    assert all(part in done.stdout for part in ("3 indexed", "0 replaced", "0 skipped", "0 failed", str(folder)))
    assert {one["library"] for one in documents(reader)} == {"default"}
    assert set(sources(reader, "quokka")) == {str(folder / name) for name in FOLDER if name != "left.bin"}


@requirement("vectordb.cli.store", "vectordb.dedup.same", "vectordb.dedup.other")
def test_command_and_server_tell_documents_apart_alike(vectordb: StartStore, store: Path, folder: Path) -> None:
    reader = vectordb()
    ask(reader, "ingest_folder", folder=str(folder))
    write(folder, {"a.md": "# A\n\nOf the okapi.\n"})

    done = bulk(store, folder)

    assert all(part in done.stdout for part in ("0 indexed", "1 replaced", "2 skipped", "0 failed"))
    assert sources(reader, "okapi") == [str(folder / "a.md")]
    assert len(documents(reader)) == 3


@requirement("vectordb.cli.library", "vectordb.cli.no-recursive", "vectordb.cli.max-concurrency")
def test_options_are_followed(vectordb: StartStore, store: Path, folder: Path) -> None:
    done = bulk(store, folder.name, "--library", "zoo", "--no-recursive", "--max-concurrency", "1", cwd=folder.parent)

    assert done.returncode == 0
    assert [(one["source"], one["library"]) for one in documents(vectordb())] == [(str(folder / "a.md"), "zoo")]


@requirement("vectordb.cli.exit.0")
def test_folder_without_documents_is_well(store: Path, tmp_path: Path) -> None:
    done = bulk(store, write(tmp_path / "empty", {"left.bin": b"\0"}))

    assert (done.returncode, done.stderr) == (0, "")
    assert "0 files" in done.stdout


@requirement("vectordb.cli.exit.1", "vectordb.cli.streams", "vectordb.cli.said", "model.bad-file.reported")
def test_files_that_fail_are_named_as_errors_and_the_others_are_taken_in(
    vectordb: StartStore, store: Path, folder: Path
) -> None:
    write(folder, {"bad.pdf": b"%PDF-1.7 broken", "locked.docx": (CASES / "docx/locked.docx").read_bytes()})

    done = bulk(store, folder)

    assert done.returncode == 1
    assert "3 indexed" in done.stdout
    assert "2 failed" in done.stdout
    assert "bad.pdf" not in done.stdout
    assert [line.partition(": ")[0] for line in done.stderr.splitlines()] == [
        str(folder / "bad.pdf"),
        str(folder / "locked.docx"),
    ]
    assert len(documents(vectordb())) == 3


@requirement("vectordb.cli.exit.1", "vectordb.cli.streams")
@pytest.mark.parametrize("path", ["absent", "folder/a.md", ""])
def test_what_is_no_folder_is_a_fatal_error(store: Path, folder: Path, path: str) -> None:
    done = bulk(store, path, cwd=folder.parent)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("mcpvectordb-ingest: ")
    assert "Traceback" not in done.stderr


@requirement("vectordb.cli.exit.1")
def test_store_that_cannot_be_had_is_a_fatal_error(folder: Path) -> None:
    done = bulk(folder / "a.md", folder)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr
    assert "Traceback" not in done.stderr


@requirement("vectordb.cli.exit.2", "vectordb.cli.usage")
@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a", "b"],
        ["--bogus", "."],
        [".", "--library"],
        *([".", "--max-concurrency", number] for number in ("0", "-1", "four", "1.5", "")),
    ],
)
def test_wrong_arguments_are_told_with_the_usage(store: Path, tmp_path: Path, arguments: list[str]) -> None:
    done = bulk(store, *arguments, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: mcpvectordb-ingest" in done.stderr


@requirement("vectordb.cli.usage")
def test_help_names_every_option(store: Path) -> None:
    done = bulk(store, "--help")

    assert done.returncode == 0
    assert all(flag in done.stdout for flag in ("folder", "--library", "--no-recursive", "--max-concurrency"))


@requirement("vectordb.cli.progress")
def test_progress_is_shown_on_a_terminal(store: Path, crowd: Path) -> None:
    mine, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            bulk_command(crowd), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs, env=environment(store)
        )
        os.close(theirs)
        shown = b""
        while piece := _read(mine):
            shown += piece
        summary, _ = process.communicate(timeout=PATIENCE)
    finally:
        os.close(mine)

    assert f"{MANY}/{MANY} files".encode() in shown
    assert b"\r" in shown
    assert f"{MANY} indexed".encode() in summary


def _read(terminal: int) -> bytes:
    """Return what was written to a terminal; nothing when its other side is closed."""
    try:
        return os.read(terminal, 65_536)
    except OSError:
        return b""


# beside others


@requirement("vectordb.cli.store", "vectordb.swap")
def test_server_answers_while_the_command_takes_in(vectordb: StartStore, store: Path, crowd: Path) -> None:
    reader = vectordb()
    with begun(store, crowd) as process:
        await_some(reader)
        ask(reader, "ingest_content", content="Of the quokka.", source="label", library="mine")
        assert sources(reader, "quokka") == ["label"]
        said, errors = process.communicate(timeout=2 * PATIENCE)

    assert (process.returncode, errors) == (0, "")
    assert f"{MANY} indexed" in said
    assert len(documents(reader, library="default", limit=1000)) == MANY


@requirement("vectordb.dedup.key", "vectordb.cli.store")
def test_two_commands_at_once_take_in_every_file_once(vectordb: StartStore, store: Path, crowd: Path) -> None:
    with begun(store, crowd) as one, begun(store, crowd) as other:
        ends = [process.communicate(timeout=2 * PATIENCE)[1] for process in (one, other)]

    assert (one.returncode, other.returncode, ends) == (0, 0, ["", ""])
    whole(vectordb(), crowd)


# cut short


@requirement("vectordb.swap", "vectordb.cli", "vectordb.dedup.same")
def test_killed_command_leaves_whole_documents_and_goes_on_when_run_again(
    vectordb: StartStore, store: Path, crowd: Path
) -> None:
    reader = vectordb()
    with begun(store, crowd) as process:
        await_some(reader)
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
    left = documents(reader, limit=1000)

    again = bulk(store, crowd)

    assert 0 < len(left) < MANY
    assert again.returncode == 0
    assert f"{MANY - len(left)} indexed, 0 replaced, {len(left)} skipped, 0 failed" in again.stdout
    assert {one["doc_id"] for one in left} <= {one["doc_id"] for one in documents(reader, limit=1000)}
    whole(reader, crowd)


@requirement("vectordb.cli.exit.1", "vectordb.cli", "vectordb.cli.streams")
def test_interrupted_command_ends_with_1_and_goes_on_when_run_again(
    vectordb: StartStore, store: Path, crowd: Path
) -> None:
    reader = vectordb()
    with begun(store, crowd) as process:
        await_some(reader)
        os.killpg(process.pid, signal.SIGINT)
        said, errors = process.communicate(timeout=PATIENCE)
    left = documents(reader, limit=1000)

    again = bulk(store, crowd)

    assert (process.returncode, said) == (1, "")
    assert "interrupted" in errors
    assert "Traceback" not in errors
    assert 0 < len(left) < MANY
    assert f"{MANY - len(left)} indexed, 0 replaced, {len(left)} skipped, 0 failed" in again.stdout
    whole(reader, crowd)


# the same from the other command


@requirement("vectordb.cli", "vectordb.ingest-file")
def test_bookwheel_ingest_takes_files_and_folders_into_a_library(
    vectordb: StartStore, store: Path, folder: Path
) -> None:
    options = ("--library", "zoo", "--store", store, "--json")
    done = subprocess.run(
        command("ingest", folder / "a.md", folder / "sub", *options),
        capture_output=True,
        text=True,
        env=environment(store),
        timeout=PATIENCE,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    listed: list[Json] = documents(vectordb())
    assert {one["library"] for one in listed} == {"zoo"}
    assert len(listed) == 3
