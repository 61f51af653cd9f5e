"""The last things said in one session, for a client whose connection broke and who comes back for them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCMessage

MOST = 64  # events of one session
ROOM = 128 * 1024  # characters of them; a larger answer is not kept


@dataclass(frozen=True, slots=True)
class Event:
    """A message of a stream; one without a message only marks where the stream begins."""

    stream: str
    message: JSONRPCMessage | None
    size: int


class Events(EventStore):
    """The events of one session. Every session has its own: the names of streams are unique only within it."""

    def __init__(self) -> None:
        self._events: OrderedDict[int, Event] = OrderedDict()
        self._last = 0
        self._size = 0

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep an event, let go of the oldest where there is no more room, and return its id."""
        size = _size(message.__dict__) if message else 0
        self._last += 1
        if size <= ROOM:
            self._events[self._last] = Event(stream_id, message, size)
            self._size += size
        while len(self._events) > MOST or self._size > ROOM:
            self._size -= self._events.popitem(last=False)[1].size
        return str(self._last)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send again what came later in the same stream, and return that stream; None if it is not known any more."""
        known = self._events.get(int(last_event_id)) if last_event_id.isdecimal() else None
        if known is None:
            return None
        for number, event in list(self._events.items()):
            if number > int(last_event_id) and event.stream == known.stream and event.message is not None:
                await send_callback(EventMessage(event.message, str(number)))
        return known.stream


def _size(value: object) -> int:
    """Return about how much room a value takes."""
    match value:
        case str():
            return len(value)
        case dict():
            return sum(len(name) + _size(part) for name, part in value.items())
        case list():
            return sum(map(_size, value))
    return 8
