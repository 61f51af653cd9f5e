"""Serve faces over HTTP: the routes, the listening socket, the limits on every connection, and a clean end.

    /mcp              the root server, streamable HTTP, both eras
    /sse, /messages   the root server, the older way
    /<face>/mcp       each face alone
    /upload           takes in a file, where that is served
    /health           `ok`, for everybody

uvicorn carries the requests; signals, logs and the end are ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import anyio
import uvicorn
from mcp.server.streamable_http import EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from bookwheel import logs
from bookwheel.catalog import Catalog
from bookwheel.credentials import Access
from bookwheel.errors import Invalid, Unavailable
from bookwheel.server.events import Events
from bookwheel.server.guard import EVERYWHERE, Bodies, Guard, Hosts, Refusal, is_local
from bookwheel.server.mcp import FaceServer
from bookwheel.server.run import Watch, keep_fresh, leave_on_signal
from bookwheel.server.sse import Sse
from bookwheel.server.upload import PATH as UPLOADS
from bookwheel.server.upload import Upload

SLACK = 65_536  # bytes of a form around its file
GRACE = 1.0  # seconds for calls under way when the server ends
GOODBYE = 0.5  # seconds for streams to end by themselves after that
LAST = 1.0  # seconds for threads, after all else
LARGE = 16_384  # bytes that are sent at once
MOMENT = 0.002  # seconds that a short part of an answer may wait for the next
EXPOSED = (
    "there is no authentication: anybody who reaches this address can use all that is served. "
    "Listen on 127.0.0.1, or ask for a password or a key"
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one client may ask of the server."""

    max_body: int = 4 * 1024 * 1024  # bytes
    head: float = 15.0  # seconds for the head of a request to arrive
    body: float = 30.0  # seconds for its body, and more for a large one
    stall: float = 30.0  # seconds that a client may leave its answer unread
    keep: float = 75.0  # seconds that a connection is kept between requests
    idle: float = 1800.0  # seconds that a session is kept without a request
    sessions: int = 1000  # of each server
    connections: int = 1000
    asked: int = 64  # requests of one session without an answer


@dataclass(frozen=True, slots=True)
class Listen:
    """Where to listen, and to whom."""

    host: str = "127.0.0.1"
    port: int = 0
    access: Access = field(default_factory=Access)
    allowed_hosts: tuple[str, ...] = ()
    upload: Upload | None = None  # what takes in files, if anything does
    limits: Limits = field(default_factory=Limits)


def serve_http(
    root: FaceServer, alone: Mapping[str, FaceServer], catalog: Catalog, watch: Watch | None, listen: Listen
) -> None:
    """Serve until a signal comes; raises Unavailable if the place to listen cannot be had.

    Then the process should end: if a call still runs, it does so in a second, whatever becomes of the call.
    """
    place = bind(listen.host, listen.port)
    site = Site(root, alone, listen, place)
    anyio.run(_serve, site, catalog, watch)
    _leave_soon()


async def _serve(site: Site, catalog: Catalog, watch: Watch | None) -> None:
    stop = anyio.Event()
    async with site.sessions(), anyio.create_task_group() as tasks:
        tasks.start_soon(leave_on_signal, stop.set)
        tasks.start_soon(site.run)
        await site.ready.wait()
        site.say_where()
        tasks.start_soon(keep_fresh, site.announce, catalog, watch)
        await stop.wait()
        catalog.stop()
        await site.close()
        tasks.cancel_scope.cancel()


def _leave_soon() -> None:
    """See to it that a thread that goes on cannot keep the process."""
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        last = threading.Timer(LAST, os._exit, (0,))
        last.daemon = True
        last.start()


def bind(host: str, port: int) -> socket.socket:
    """Return a socket bound there; port 0 stands for any free one. Raises Unavailable if it cannot be had."""
    if not 0 <= port <= 65_535:
        raise Invalid(f"{port} is no port: ports go from 0 to 65535")
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, *_, address = min(found, key=lambda one: one[0] != socket.AF_INET)  # a name means the older kind first
        both = family == socket.AF_INET6 and host in EVERYWHERE and socket.has_dualstack_ipv6()
        return socket.create_server(address[:2], family=family, dualstack_ipv6=both)
    except socket.gaierror as error:
        raise Unavailable(f"{host} is no address of this machine: {error.strerror}") from error
    except OSError as error:
        raise Unavailable(f"port {port} of {host} cannot be had: {os.strerror(error.errno or 0)}") from error


# the site


class Site:
    """All that is reached over HTTP, from its start to its end."""

    def __init__(self, root: FaceServer, alone: Mapping[str, FaceServer], listen: Listen, place: socket.socket) -> None:
        limits = listen.limits
        self._servers = [root, *alone.values()]
        self._sse = Sse(root, limits.sessions, limits.asked)
        self._managers = {"/mcp": Manager(root, limits)}
        self._managers |= {f"/{name}/mcp": Manager(server, limits) for name, server in alone.items()}
        hosts = Hosts(listen.host, listen.allowed_hosts)
        larger = {UPLOADS: listen.upload.most + SLACK} if listen.upload else {}
        bodies = Bodies(limits.max_body, limits.body, larger)
        self._guard = Guard(self._routes(limits, listen.upload), listen.access, hosts, bodies)
        self._place = place
        self._open = listen.access.kind == "none"
        self._uvicorn = Uvicorn(_config(self._guard, limits))
        self._ended = anyio.Event()
        self.ready = self._uvicorn.ready

    def _routes(self, limits: Limits, upload: Upload | None) -> Router:
        routes = [
            Route("/health", _health, methods=["GET"]),
            Route("/sse", self._sse.stream, methods=["GET"]),
            Route("/messages", self._sse.take, methods=["POST"]),
            Route("/messages/", self._sse.take, methods=["POST"]),
            *(Route(path, Endpoint(manager, limits.asked)) for path, manager in self._managers.items()),
        ]
        if upload:
            routes.append(Route(UPLOADS, upload.answer, methods=["POST"]))
        return Router(routes, redirect_slashes=False)

    @contextlib.asynccontextmanager
    async def sessions(self) -> Any:
        """Keep the sessions of clients."""
        async with contextlib.AsyncExitStack() as stack:
            for manager in self._managers.values():
                await stack.enter_async_context(manager.run())
            yield

    async def run(self) -> None:
        """Accept and answer requests until told to end."""
        await self._uvicorn.serve([self._place])
        self._ended.set()

    def say_where(self) -> None:
        """Say where the site is, and whether anybody can come."""
        address, port = self._place.getsockname()[:2]
        logs.tell(f"listening on http://{f'[{address}]' if ':' in address else address}:{port}")
        if self._open and not is_local(address):
            logs.tell(EXPOSED, logging.WARNING)

    async def announce(self, resources: bool) -> None:
        """Tell every client of every server which lists have changed."""
        for server in self._servers:
            await server.announce(resources)

    async def close(self) -> None:
        """Take no more requests, let those under way finish, end the sessions, and cut off who is left."""
        self._uvicorn.should_exit = True
        for server in self._servers:
            server.close()
        with anyio.move_on_after(GRACE):
            await self._calm()
        self._sse.close()
        for manager in self._managers.values():
            manager.close()
        with anyio.move_on_after(GOODBYE):
            await self._calm()
        self._guard.close()
        with anyio.move_on_after(GOODBYE):
            await self._ended.wait()
        self._uvicorn.cut_off()
        await self._ended.wait()

    async def _calm(self) -> None:
        """Wait until nothing is being worked on."""
        while self._guard.busy or self._sse.busy:
            await anyio.sleep(0.02)


async def _health(_: Request) -> Response:
    return PlainTextResponse("ok")


class Endpoint:
    """A server's route, which lets a session ask for only so much at once."""

    def __init__(self, manager: StreamableHTTPSessionManager, most_asked: int) -> None:
        self._manager = manager
        self._most_asked = most_asked
        self._asked: dict[bytes, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        session = next((value for name, value in scope["headers"] if name == b"mcp-session-id"), b"")
        if not session:
            return await self._manager.handle_request(scope, receive, send)
        asked = self._asked.get(session, 0)
        if asked >= self._most_asked:
            refusal = Refusal(429, "too many requests without an answer; wait for some")
            return await refusal(scope, receive, send)
        self._asked[session] = asked + 1
        try:
            await self._manager.handle_request(scope, receive, send)
        finally:
            self._asked[session] -= 1
            if not self._asked[session]:
                del self._asked[session]


class Manager(StreamableHTTPSessionManager):
    """The sessions of one server, each with events of its own to come back to."""

    def __init__(self, server: FaceServer, limits: Limits) -> None:
        super().__init__(
            server,
            session_idle_timeout=limits.idle,
            max_sessions=limits.sessions,
            max_request_body_size=limits.max_body,
        )

    @property
    def event_store(self) -> EventStore | None:
        """A store for the session that is being made: the library reads this once for each."""
        return Events()

    @event_store.setter
    def event_store(self, value: EventStore | None) -> None:
        pass

    def close(self) -> None:
        """End every session; calls under way are answered with an error."""
        for transport in list(self._server_instances.values()):
            if transport.idle_scope:
                transport.idle_scope.cancel()


# the carrier


def _config(app: Guard, limits: Limits) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=cast("type[asyncio.Protocol]", partial(Connection, limits=limits)),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=int(limits.keep),
        limit_concurrency=limits.connections,
    )


class Uvicorn(uvicorn.Server):
    """The carrier without signals of its own."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = anyio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to us."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Say when requests are accepted."""
        await super().startup(sockets)
        self.ready.set()

    def cut_off(self) -> None:
        """End every connection that is left."""
        for connection in list(self.server_state.connections):
            cast("Connection", connection).transport.abort()


class Connection(H11Protocol):
    """One connection, cut off when its client takes too long to ask or to read."""

    def __init__(self, *arguments: Any, limits: Limits, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._limits = limits
        self._asking: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, but not forever; send every part of an answer at once."""
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(cast("asyncio.Transport", Outbox(transport, self.loop)))
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take what came; more must follow while it is not a whole request."""
        super().data_received(data)
        self._expect()

    def _expect(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._asking = _cancel(self._asking)
        elif self._asking is None:
            self._asking = self.loop.call_later(self._limits.head, self._cut_off, "sent no whole request")

    def on_response_complete(self) -> None:
        """Send the whole answer; wait for the rest of a request whose beginning has come already."""
        cast("Outbox", self.transport).flush()
        super().on_response_complete()
        if self.conn.trailing_data[0]:
            self._expect()

    def pause_writing(self) -> None:
        """Wait for the client to read, but not forever."""
        super().pause_writing()
        self._reading = self.loop.call_later(self._limits.stall, self._cut_off, "does not read its answers")

    def resume_writing(self) -> None:
        """Go on."""
        super().resume_writing()
        self._reading = _cancel(self._reading)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._asking, self._reading = _cancel(self._asking), _cancel(self._reading)
        super().connection_lost(exc)

    def _cut_off(self, why: str) -> None:
        log.warning("cut off %s, which %s", self.client[0] if self.client else "a client", why)
        self.transport.abort()


class Outbox:
    """A connection's transport, which sends the parts of a short answer together: each sending costs as much as ten."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []
        self._timer: asyncio.TimerHandle | None = None

    def __getattr__(self, name: str) -> Any:
        """All else is the transport's own."""
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send this with what follows at once, or after a moment."""
        self._parts.append(data)
        if len(data) > LARGE:
            self.flush()
        elif self._timer is None:
            self._timer = self._loop.call_later(MOMENT, self.flush)

    def flush(self) -> None:
        """Send what there is."""
        self._timer = _cancel(self._timer)
        if self._parts:
            data, self._parts = b"".join(self._parts), []
            self._transport.write(data)

    def close(self) -> None:
        """Send what is left, and the end."""
        self.flush()
        self._transport.close()


def _cancel(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Stop a timer, and return what is left of it: nothing."""
    if timer:
        timer.cancel()
    return None
