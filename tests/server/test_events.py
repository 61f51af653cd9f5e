"""What a client that comes back can still have."""

from __future__ import annotations

import pytest
from mcp.server.streamable_http import EventMessage
from mcp_types import JSONRPCNotification

from bookwheel.server.events import MOST, ROOM, Events

pytestmark = pytest.mark.anyio


def note(text: str) -> JSONRPCNotification:
    return JSONRPCNotification(jsonrpc="2.0", method="note", params={"text": text})


async def replay(events: Events, after: str) -> tuple[str | None, list[str]]:
    """Return the stream, and the ids of what is sent again."""
    sent: list[str] = []

    async def send(event: EventMessage) -> None:
        sent.append(event.event_id or "")

    return await events.replay_events_after(after, send), sent


async def test_only_what_came_later_in_the_same_stream_is_sent_again() -> None:
    events = Events()
    ids = [await events.store_event(stream, note("x") if n else None) for n, stream in enumerate("aabab")]

    assert await replay(events, ids[1]) == ("a", [ids[3]])


async def test_the_oldest_events_are_let_go_when_there_are_many() -> None:
    events = Events()
    ids = [await events.store_event("a", note("x")) for _ in range(MOST + 1)]

    assert await replay(events, ids[0]) == (None, [])
    assert await replay(events, ids[1]) == ("a", ids[2:])


async def test_the_oldest_events_are_let_go_when_they_are_large() -> None:
    events = Events()
    ids = [await events.store_event("a", note("x" * (ROOM // 3))) for _ in range(4)]

    assert await replay(events, ids[1]) == (None, [])
    assert await replay(events, ids[2]) == ("a", ids[3:])


async def test_what_is_too_large_is_not_kept() -> None:
    events = Events()
    first = await events.store_event("a", None)
    await events.store_event("a", note("x" * ROOM))

    assert await replay(events, first) == ("a", [])


@pytest.mark.parametrize("unknown", ["", "99", "-1", "x", "²"])
async def test_an_unknown_place_is_no_error(unknown: str) -> None:
    assert await replay(Events(), unknown) == (None, [])
