"""The routes, in every transport and era, with real clients."""

from __future__ import annotations

import json
import queue
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import httpx2
import pytest
from hosting import HELLO, PATIENCE, Site, Stream, request, running, text

pytestmark = pytest.mark.anyio


async def test_tools_and_resources_answer(site: Site, transport: str) -> None:
    async with site.client(transport) as client:
        found = await client.call_tool("search_documents", {"query": "anchor"})
        listed = await client.list_resources()

    assert text(found).startswith("Search results: 1 matches\n\n1. docs://anchor.md")
    assert [one.uri for one in listed.resources] == ["docs://anchor.md", "docs://rope.md"]


@pytest.mark.parametrize("transport", ["handshake", "modern"])
async def test_each_face_is_alone_at_its_own_path(site: Site, transport: str) -> None:
    async with site.client(transport, "/docs/mcp") as client:
        tools = (await client.list_tools()).tools

    assert [tool.name for tool in tools] == ["search_documents"]


async def test_clients_hear_of_changes(tmp_path: Path, transport: str) -> None:
    with running(tmp_path) as site:
        heard: queue.Queue[object] = queue.Queue()

        async def note(message: object) -> None:
            heard.put(message)

        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(site.client(transport, message_handler=note))
            await client.call_tool("search_documents", {"query": "anything"})  # the first sync is over
            if transport == "modern":
                events = await stack.enter_async_context(client.listen(resources_list_changed=True))
            (tmp_path / "library" / "new.md").write_text("# New\n")
            if transport == "modern":
                assert await anext(aiter(events))
            else:
                assert await anyio.to_thread.run_sync(lambda: heard.get(timeout=PATIENCE))

            listed = await client.list_resources()

    assert [one.uri for one in listed.resources] == ["docs://new.md"]


def test_health_says_ok(site: Site) -> None:
    reply = site.ask("GET", "/health")

    assert (reply.status, reply.body) == (200, b"ok")


@pytest.mark.parametrize(
    "path", ["/", "/nothing", "/health/", "//health", "/HEALTH", "/sse/", "/docs", "/sections/mcp"]
)
def test_unknown_routes_are_not_found(site: Site, path: str) -> None:
    assert site.status("GET", path) == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/health"),
        ("POST", "/sse"),
        ("HEAD", "/sse"),
        ("GET", "/messages"),
        ("PUT", "/mcp"),
        ("OPTIONS", "/mcp"),
        ("DELETE", "/messages/"),
    ],
)
def test_wrong_methods_are_not_allowed(site: Site, method: str, path: str) -> None:
    assert site.status(method, path) == 405


@pytest.mark.parametrize("slash", ["", "/"])
def test_the_older_transport_takes_messages_with_and_without_a_slash(site: Site, slash: str) -> None:
    stream = Stream(site)
    path, _, query = stream.endpoint.partition("?")

    reply = site.post(f"{path}{slash}?{query}", request(7, "initialize", **HELLO))
    answer = json.loads(stream.next())
    stream.close()

    assert (path, reply.status, answer["id"]) == ("/messages", 202, 7)


@pytest.mark.parametrize("query", ["", "?session_id=", "?session_id=00000000000000000000000000000000"])
def test_messages_without_a_session_are_not_found(site: Site, query: str) -> None:
    assert site.post("/messages" + query, request(1, "ping")).status == 404


def test_a_message_that_is_none_is_refused(site: Site) -> None:
    stream = Stream(site)

    reply = site.ask("POST", stream.endpoint, b"{", {"content-type": "application/json"})
    stream.close()

    assert reply.status == 400


async def test_a_broken_stream_is_taken_up_where_it_ended(site: Site) -> None:
    """The answer to a call whose connection broke is sent to the client that comes back for it."""
    session = site.open_session()
    head = {
        "mcp-session-id": session,
        "mcp-protocol-version": "2025-11-25",
        "accept": "application/json, text/event-stream",
    }
    call = request(5, "tools/call", name="wait", arguments={"seconds": 0.3})
    async with httpx2.AsyncClient(base_url=site.url, headers=head, timeout=PATIENCE) as web:
        async with web.stream("POST", "/mcp", json=call) as broken:
            first = await anext(line async for line in broken.aiter_lines() if line.startswith("id:"))
        async with web.stream("GET", "/mcp", headers={"last-event-id": first.removeprefix("id:").strip()}) as again:
            data = await anext(line async for line in again.aiter_lines() if line.startswith("data: {"))

    assert json.loads(data.removeprefix("data:"))["result"]["content"][0]["text"] == "waited"


def test_events_of_one_session_are_not_told_in_another(site: Site) -> None:
    one, other = site.open_session(), site.open_session()
    call = request(5, "tools/call", name="large", arguments={"size": 10})
    version = {"mcp-protocol-version": "2025-11-25"}
    site.post("/mcp", call, {"mcp-session-id": one, **version})
    head = {"mcp-session-id": other, "last-event-id": "3", "accept": "text/event-stream", **version}

    reply = site.ask("GET", "/mcp", headers=head)

    assert b"xxxxxxxxxx" not in reply.body
