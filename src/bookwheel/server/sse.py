"""Speak MCP the older way over HTTP: one stream of events to the client, one POST for each message from it.

A session is an open stream. It takes messages only from the caller that opened it, and only while so many requests are
without an answer; what a client does not read stays in the server's tasks, of which there are no more than that.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream, create_context_streams
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

QUIET = 15.0  # seconds after which a comment shows everyone on the way that the stream is alive
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


@dataclass(slots=True, eq=False)
class Session:
    """One client with its open stream."""

    id: str
    owner: str
    inbox: ContextSendStream[SessionMessage | Exception]
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)  # of the server's side
    asked: int = 0  # requests without an answer so far

    async def settle(self) -> None:
        """Count a request that needs no answer any more."""
        self.asked -= 1


class Sse:
    """The streams of all clients of one server, and the place where their messages arrive."""

    def __init__(self, server: Server[Any], most: int, most_asked: int) -> None:
        self._server = server
        self._most = most
        self._most_asked = most_asked
        self._sessions: dict[str, Session] = {}

    @property
    def busy(self) -> bool:
        """Whether a request has no answer so far."""
        return any(session.asked for session in self._sessions.values())

    def close(self) -> None:
        """End every session; calls under way are answered with an error."""
        for session in list(self._sessions.values()):
            session.scope.cancel()

    # the stream

    async def stream(self, request: Request) -> Response:
        """Open a stream for a client."""
        if request.method != "GET":
            return _say(405, "open the stream with GET", {"allow": "GET"})
        if len(self._sessions) >= self._most:
            return _say(503, "too many clients are connected; try again later")
        return Stream(self)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one client until it leaves."""
        async with self._session(scope) as (session, incoming), anyio.create_task_group() as tasks:
            outgoing, from_server = create_context_streams[SessionMessage](0)
            tasks.start_soon(_watch, receive, session.scope)
            tasks.start_soon(_write, session, from_server, send)
            with session.scope:
                await self._server.run(incoming, outgoing, self._server.create_initialization_options())
            outgoing.close()  # the last event is sent, and then the end

    @asynccontextmanager
    async def _session(
        self, scope: Scope
    ) -> AsyncIterator[tuple[Session, ContextReceiveStream[SessionMessage | Exception]]]:
        inbox, incoming = create_context_streams[SessionMessage | Exception](0)
        session = Session(uuid.uuid4().hex, _owner(scope), inbox)
        self._sessions[session.id] = session
        try:
            yield session, incoming
        finally:
            del self._sessions[session.id]
            inbox.close()
            incoming.close()

    # the messages

    async def take(self, request: Request) -> Response:
        """Take one message of a client; the answer goes to its stream."""
        session = self._sessions.get(request.query_params.get("session_id", ""))
        if session is None or session.owner != _owner(request.scope):
            return _say(404, "there is no such session; open one with GET /sse")
        try:
            message = types.jsonrpc_message_adapter.validate_json(await request.body(), by_name=False)
        except ValueError:
            return _say(400, "the body is no message of JSON-RPC")
        if isinstance(message, types.JSONRPCRequest) and session.asked >= self._most_asked:
            return _say(429, "too many requests without an answer; wait for some")
        return await _deliver(session, message, request)


class Stream(Response):
    """The answer that lasts as long as the client stays."""

    def __init__(self, sse: Sse) -> None:
        super().__init__()
        self._sse = sse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the client."""
        await self._sse.serve(scope, receive, send)


async def _deliver(session: Session, message: types.JSONRPCMessage, request: Request) -> Response:
    session.asked += isinstance(message, types.JSONRPCRequest)
    metadata = ServerMessageMetadata(request_context=request, on_request_unanswered=session.settle)
    try:
        await session.inbox.send(SessionMessage(message, metadata))
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return _say(404, "the session has ended; open one with GET /sse")
    return _say(202, "Accepted")


async def _write(session: Session, from_server: ContextReceiveStream[SessionMessage], send: Send) -> None:
    """Send events to the client as they come, the first of which says where its messages go."""
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await _event(send, "endpoint", f"/messages?session_id={session.id}")
    while True:
        said: SessionMessage | None = None
        try:
            with anyio.move_on_after(QUIET):
                said = await from_server.receive()
        except anyio.EndOfStream:
            return await _part(send, b"", more=False)
        if said is None:
            await _part(send, b": alive\r\n\r\n")
        else:
            await _event(send, "message", said.message.model_dump_json(by_alias=True, exclude_unset=True))
            session.asked -= _answers(said.message)


def _answers(message: types.JSONRPCMessage) -> bool:
    """Tell whether a message is the answer to a request."""
    return isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and message.id is not None


async def _event(send: Send, name: str, data: str) -> None:
    await _part(send, f"event: {name}\r\ndata: {data}\r\n\r\n".encode())


async def _part(send: Send, body: bytes, more: bool = True) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})


async def _watch(receive: Receive, scope: anyio.CancelScope) -> None:
    """End the session when the client has gone, or has got its last event."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def _owner(scope: Scope) -> str:
    user = scope.get("user")
    return str(user.username) if user else ""


def _say(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return PlainTextResponse(message, status, headers)
