"""What one client cannot do to the others: send too much, too slowly, not read, or stay forever."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import anyio
import pytest
from hosting import HELLO, PATIENCE, Site, Stream, request, running
from mcp import Client

from bookwheel.catalog import Catalog
from bookwheel.faces.docs import Docs
from bookwheel.server.mcp import FaceServer

pytestmark = pytest.mark.anyio

WAIT = request(9, "tools/call", name="wait", arguments={"seconds": 60})


def large(size: int) -> dict[str, object]:
    return request(9, "tools/call", name="large", arguments={"size": size})


@contextmanager
def connected(site: Site) -> Iterator[Stream]:
    """Give a stream of the older transport after the handshake."""
    stream = Stream(site)
    site.post(stream.endpoint, request(1, "initialize", **HELLO))
    stream.next()
    yield stream
    stream.close()


@pytest.mark.parametrize("path", ["/mcp", "/messages", "/docs/mcp", "/nothing"])
def test_a_body_over_the_limit_is_refused_by_its_length(site: Site, path: str) -> None:
    with site.wire() as wire:
        wire.sendall(f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4194305\r\n\r\n".encode())

        assert wire.recv(12) == b"HTTP/1.1 413"


def test_a_body_over_the_limit_is_refused_without_a_length(tmp_path: Path) -> None:
    chunks = (b"x" * 1000 for _ in range(100))
    with running(tmp_path, limits={"max_body": 10_000}) as site:
        reply = site.ask("POST", "/mcp", chunks, {"content-type": "application/json", "accept": "*/*"})

        assert (reply.status, reply.refusal) == (413, "the body is larger than the limit of 10000 bytes")
        assert "413 POST /mcp 127.0.0.1" in site.await_line("413")


def test_a_body_within_the_limit_comes_in_chunk_by_chunk(site: Site) -> None:
    body = json.dumps(request(1, "initialize", **HELLO)).encode()
    chunks = (body[n : n + 10] for n in range(0, len(body), 10))

    reply = site.ask("POST", "/mcp", chunks, {"content-type": "application/json", "accept": "*/*"})

    assert reply.status == 200


def test_a_body_that_does_not_arrive_is_given_up(tmp_path: Path) -> None:
    with running(tmp_path, limits={"max_body": 1000, "body": 0.2}) as site, site.wire() as wire:
        wire.sendall(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{")

        assert wire.recv(12) == b"HTTP/1.1 408"


@pytest.mark.parametrize("sent", [b"", b"GET /health HTTP/1.1\r\nhost: local"])
def test_who_sends_no_whole_request_is_cut_off(tmp_path: Path, sent: bytes) -> None:
    with running(tmp_path, limits={"head": 0.2}) as site, site.wire() as wire:
        wire.sendall(sent)
        site.await_line("cut off 127.0.0.1, which sent no whole request")

        assert wire.recv(1) == b""


def test_a_second_request_that_does_not_arrive_is_not_waited_for_either(tmp_path: Path) -> None:
    with running(tmp_path, limits={"head": 0.2}) as site, site.wire() as wire:
        wire.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\nGET /hea")

        site.await_line("sent no whole request")


@pytest.mark.parametrize("sent", [b"\x16\x03\x01\x02\x00\x01\r\n\r\n", b"GET / HTTP/1.1\r\nx: " + b"x" * 100_000])
def test_what_is_no_request_is_refused(site: Site, sent: bytes) -> None:
    with site.wire() as wire:
        wire.sendall(sent)

        assert wire.recv(12) == b"HTTP/1.1 400"


def test_who_does_not_read_the_older_stream_is_cut_off_and_others_are_served(tmp_path: Path) -> None:
    with running(tmp_path, limits={"stall": 0.5}) as site, connected(site) as deaf, connected(site) as other:
        for _ in range(8):
            site.post(deaf.endpoint, large(4_000_000))
        site.post(other.endpoint, large(10))

        assert "xxxxxxxxxx" in other.next()
        site.await_line("cut off 127.0.0.1, which does not read its answers")
        _until(lambda: site.post(deaf.endpoint, large(1)).status, 404)
        assert "Traceback" not in site.log


def test_who_does_not_read_an_answer_is_cut_off(tmp_path: Path) -> None:
    with running(tmp_path, limits={"stall": 0.5}) as site:
        session = site.open_session()
        body = json.dumps(large(40_000_000)).encode()
        head = f"host: localhost\r\ncontent-type: application/json\r\naccept: */*\r\nmcp-session-id: {session}\r\n"
        with site.wire() as wire:
            wire.sendall(f"POST /mcp HTTP/1.1\r\n{head}content-length: {len(body)}\r\n\r\n".encode() + body)

            site.await_line("cut off 127.0.0.1, which does not read its answers")
        assert site.post("/mcp", large(1), {"mcp-session-id": session}).status == 200
        assert "Traceback" not in site.log


def test_a_client_of_the_older_transport_may_not_ask_for_more_before_it_is_answered(tmp_path: Path) -> None:
    with running(tmp_path, limits={"asked": 2}) as site, connected(site) as busy, connected(site) as other:
        replies = [site.post(busy.endpoint, {**WAIT, "id": number}).status for number in (2, 3, 4)]
        elsewhere = site.post(other.endpoint, WAIT).status
        gone = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
        site.post(busy.endpoint, gone)

        assert (replies, elsewhere) == ([202, 202, 429], 202)
        _until(lambda: site.post(busy.endpoint, {**WAIT, "id": 5}).status, 202)


async def test_a_session_may_not_ask_for_more_before_it_is_answered(tmp_path: Path) -> None:
    with running(tmp_path, limits={"asked": 1}) as site:
        session = {"mcp-session-id": site.open_session()}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.to_thread.run_sync, site.post, "/mcp", WAIT, session)
            await anyio.to_thread.run_sync(site.await_line, "waiting")

            reply = await anyio.to_thread.run_sync(site.post, "/mcp", large(1), session)
            site.process.terminate()

    assert reply.status == 429


def test_there_are_only_so_many_sessions(tmp_path: Path) -> None:
    with running(tmp_path, limits={"sessions": 1}) as site, connected(site):
        site.open_session()

        refused = site.post("/mcp", request(1, "initialize", **HELLO)).status
        assert (refused, site.status("GET", "/sse")) == (503, 503)


def test_there_are_only_so_many_connections(tmp_path: Path) -> None:
    with running(tmp_path, limits={"connections": 2}) as site, closing(Stream(site)):
        assert site.status("GET", "/health") == 503


def test_an_idle_session_ends(tmp_path: Path) -> None:
    with running(tmp_path, limits={"idle": 0.1}) as site:
        session = site.open_session()
        site.post("/mcp", request(2, "ping"), {"mcp-session-id": session})

        _until(lambda: site.ask("DELETE", "/mcp", headers={"mcp-session-id": session}).status, 404)


async def test_a_client_that_has_left_is_forgotten(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "store")
    server = FaceServer(Docs(catalog))
    async with Client(server, mode="legacy") as client:
        await client.list_tools()
        assert len(server._sessions) == 1

    assert len(server._sessions) == 0
    catalog.close()


def _until(look: Callable[[], int], wanted: int) -> None:
    """Ask again until the answer is the wanted one."""
    end = time.monotonic() + PATIENCE
    while (found := look()) != wanted and time.monotonic() < end:
        pass
    assert found == wanted
