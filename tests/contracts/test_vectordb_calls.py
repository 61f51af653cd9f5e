"""The vectordb contract: long calls, told of while they run, given up, and beside others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contracts.conftest import StartStore
from contracts.harness import PATIENCE, VERSIONS, Json, Reader, Wire, handshake, request, requirement, wired, write
from contracts.vectors import ask, data, documents, results

MANY = 400


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    """A folder of many documents, each with a word of its own."""
    return write(tmp_path / "crowd", {f"{number:03}.md": f"# N{number}\n\nBeast{number}x.\n" for number in range(MANY)})


def call(number: int, tool: str, /, **arguments: object) -> bytes:
    """Return a call of a tool that wants to be told how far it is."""
    return request(number, "tools/call", name=tool, arguments=arguments, _meta={"progressToken": f"token-{number}"})


def await_progress(wire: Wire) -> None:
    """Wait until the server says how far a call is."""
    while json.loads(wire._arrived.get(timeout=PATIENCE)).get("method") != "notifications/progress":
        pass


@requirement("vectordb.ingest-folder", "vectordb.ingest-folder.scan")
def test_folder_under_way_says_how_far_it_is(either: Reader, shelf: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "folder", {f"{number}.md": f"Text {number}.\n" for number in range(9)})
    told: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))

    given = {"folder": str(folder), "library": shelf}
    either.portal.call(lambda: either.client.call_tool("ingest_folder", given, progress_callback=note))

    assert told == [(number, 9) for number in range(1, 10)]


@requirement("vectordb.ingest-folder", "vectordb.swap", "vectordb.dedup.same")
def test_cancelled_folder_ends_soon_and_leaves_whole_documents(tmp_path: Path, crowd: Path) -> None:
    arguments = ("--face", "vectordb", "--store", tmp_path / "store")
    with wired(tmp_path / "log", *arguments, cwd=tmp_path) as wire:
        wire.send(*handshake(VERSIONS[-1]))
        wire.answer(0)
        wire.send(call(1, "ingest_folder", folder=str(crowd), max_concurrency=1))
        await_progress(wire)
        wire.send(
            json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}).encode()
        )
        wire.send(call(2, "ingest_folder", folder=str(crowd)))
        again: Json = wire.answer(2)["result"]["structuredContent"]
        wire.send(call(3, "list_documents", limit=1000))
        listed: list[Json] = wire.answer(3)["result"]["structuredContent"]["documents"]

    assert again["indexed"] > 0, "the first call was over before it was given up"
    assert (again["indexed"] + again["skipped"], again["failed"], again["replaced"]) == (MANY, 0, 0)
    assert sorted(one["source"] for one in listed) == sorted(map(str, crowd.iterdir()))


@requirement("vectordb.errors.never", "vectordb.dedup.key")
def test_same_source_from_many_calls_at_once_is_one_document(tmp_path: Path) -> None:
    arguments = ("--face", "vectordb", "--store", tmp_path / "store")
    with wired(tmp_path / "log", *arguments, cwd=tmp_path) as wire:
        wire.send(*handshake(VERSIONS[-1]))
        wire.answer(0)
        calls = range(1, 25)
        texts = {number: f"Text {number % 3}." for number in calls}
        wire.send(*(call(number, "ingest_content", content=texts[number], source="label") for number in calls))
        said: dict[int, Json] = {}
        while len(said) < len(calls):
            message = json.loads(wire._arrived.get(timeout=PATIENCE))
            if "id" in message:
                said[message["id"]] = message["result"]["structuredContent"]
        wire.send(call(99, "list_documents"))
        listed = wire.answer(99)["result"]["structuredContent"]["documents"]

    assert {one["status"] for one in said.values()} <= {"indexed", "replaced", "skipped"}
    assert [one["status"] for one in said.values()].count("indexed") == 1
    assert [one["source"] for one in listed] == ["label"]
    assert listed[0]["doc_id"] in {one["doc_id"] for one in said.values()}


@requirement("vectordb.search", "vectordb.ingest-folder")
def test_searches_are_answered_while_a_folder_is_taken_in(tmp_path: Path, crowd: Path) -> None:
    arguments = ("--face", "vectordb", "--store", tmp_path / "store")
    with wired(tmp_path / "log", *arguments, cwd=tmp_path) as wire:
        wire.send(*handshake(VERSIONS[-1]))
        wire.answer(0)
        wire.send(call(1, "ingest_folder", folder=str(crowd)))
        await_progress(wire)
        wire.send(call(2, "search", query="*"))
        found = wire.answer(2)["result"]["structuredContent"]["results"]
        done = wire.answer(1)["result"]["structuredContent"]

    assert found
    assert done["indexed"] == MANY


@requirement("vectordb.cli.store", "vectordb.answers.json")
def test_two_servers_on_one_store_see_each_others_documents_at_once(vectordb: StartStore) -> None:
    one, other = vectordb(), vectordb(era="modern")
    done = data(one.call("ingest_content", content="Of the quokka.", source="label"))

    found = results(other, "quokka")
    same = ask(other, "ingest_content", content="Of the quokka.", source="label")
    ask(other, "delete_document", doc_id=done["doc_id"])

    assert [row["doc_id"] for row in found] == [done["doc_id"]]
    assert same["status"] == "skipped"
    assert documents(one) == []
    assert results(one, "quokka") == []


@requirement("vectordb.list-documents", "vectordb.search")
def test_documents_outlive_the_server(vectordb: StartStore) -> None:
    first = vectordb()
    ask(first, "ingest_content", content="Of the quokka.", source="label", metadata={"by": "Ann"})
    before = documents(first)

    later = vectordb()

    assert documents(later) == before
    assert len(results(later, "quokka")) == 1
