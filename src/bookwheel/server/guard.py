"""Who may come in: the one check before every route.

Host and Origin first, then credentials, then the size of the body. What is refused here is answered with a sentence
and logged; no route behind it is told apart, so that nobody without credentials learns which there are.

**Why Host and Origin.** A web page can make its visitor's browser call a server on the visitor's machine or network.
The browser names the page in `Origin`; but a page whose own name is made to lead to the server's address (DNS
rebinding) has the same origin as the server, and only its `Host` gives it away. So:

- bound to this machine alone, the server answers to the names of this machine and to those the user lists;
- bound to one address, to that address and to those listed;
- bound to every address, to addresses as such (they lead nowhere else, so they cannot be rebound), to the names of this
  machine, and to those listed, or to any name if none is listed: clients of a shared server know it by names that it
  cannot know. A rebound page is then still refused by its `Origin`, which must be listed, be this machine, or be an
  address that is also the `Host`. Browsers send it with every POST, and without a POST nothing can be asked here.

Other programs than browsers send no `Origin`. `*` in the list turns the check of `Host` off, and nothing else.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import ipaddress
import logging
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp_types import INVALID_REQUEST
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bookwheel import logs
from bookwheel.credentials import Access

HEALTH = b"/health"  # exactly so: any other spelling of it needs credentials
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
EVERYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - recognised, not bound
AUTHORITY = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[^\s:/?#@\[\]]+)(?::(?P<port>\d{1,5}))?")
PACE = 65_536  # bytes of a body that must arrive in a second, beyond the time that every body has

SEVERAL = 64
STOPPING = "the server is stopping"
SLOW = "the body took too long to arrive"

Headers = Iterable[tuple[bytes, bytes]]


# credentials


class Caller(AuthenticatedUser):
    """Whoever sent a request; sessions belong to the caller that opened them."""

    def __init__(self, name: str, libraries: frozenset[str] | None) -> None:
        super().__init__(AccessToken(token="", client_id=name, scopes=[]))
        self.libraries = libraries


def caller(ctx: ServerRequestContext[Any, Any]) -> frozenset[str] | None:
    """Return the libraries that the sender of a request may use; none at all means every one.

    Works for every transport and era: over HTTP the request carries its sender, over standard input and output there
    is only one.
    """
    user = ctx.request.scope.get("user") if ctx.request is not None else None
    return user.libraries if isinstance(user, Caller) else None


class Doorkeeper:
    """Knows the credentials, as digests, and what to say to those who have none."""

    def __init__(self, access: Access) -> None:
        self.open = access.kind == "none"
        self._basic = access.kind == "basic"
        if self._basic:
            known = [(f"{access.username}:{access.password}", Caller("user", None))]
        else:
            known = [(key.secret, Caller(f"key {n}", key.libraries)) for n, key in enumerate(access.keys, 1)]
        self._known = [(_digest(secret.encode()), who) for secret, who in known]

    def admit(self, headers: Headers) -> Caller | None:
        """Return whose credentials these are; takes as long whether they are right, wrong, or nearly right."""
        shown = _digest(self._shown(headers))
        found = None
        for digest, who in self._known:
            if hmac.compare_digest(digest, shown):
                found = who
        return found

    def _shown(self, headers: Headers) -> bytes:
        values = [value for name, value in headers if name == (b"authorization" if self._basic else b"x-api-key")]
        if len(values) != 1:
            return b""
        return _decode_basic(values[0]) if self._basic else values[0]

    def refusal(self) -> Refusal:
        """Return the answer to a request without credentials."""
        if self._basic:
            head = {"www-authenticate": 'Basic realm="Restricted"'}
            return Refusal(
                401, "credentials are missing or wrong; send a name and password as Basic authentication", head
            )
        return Refusal(401, "the key is missing or wrong; send one in the header X-API-Key")


def _digest(secret: bytes) -> bytes:
    return hashlib.sha256(secret).digest()


def _decode_basic(value: bytes) -> bytes:
    scheme, _, token = value.partition(b" ")
    try:
        return base64.b64decode(token.strip(), validate=True) if scheme.lower() == b"basic" else b""
    except binascii.Error:
        return b""


# names


class Hosts:
    """By which names the server may be called, and from which web pages."""

    def __init__(self, bound: str, allowed: Sequence[str]) -> None:
        listed = {entry.strip().lower().rstrip(".") for entry in allowed} - {""}
        everywhere = bound in EVERYWHERE
        own = {_bare(bound)} if not everywhere else set[str]()
        local = LOOPBACK if everywhere or own <= LOOPBACK or _is_loopback(bound) else frozenset[str]()
        self._named = frozenset(own | local | {_bare(entry) for entry in listed - {"*"}})
        self._any = "*" in listed or (everywhere and not listed)
        self._addresses = everywhere or self._any
        self.knows = lru_cache(SEVERAL)(self._knows)  # most requests name the same one

    def _knows(self, host: str) -> bool:
        """Tell whether this may stand in the header Host."""
        place = _place(host)
        if place is None:
            return self._any and not host
        return self._any or self._lists(*place) or (self._addresses and _is_address(place[0]))

    def trusts(self, origin: str, host: str) -> bool:
        """Tell whether a web page of this origin may call the server by that host."""
        scheme, _, authority = origin.lower().partition("://")
        place = _place(authority)
        if origin.lower() in self._named:
            return True
        if place is None or scheme not in {"http", "https"}:
            return False
        return self._lists(*place) or (self._addresses and _is_address(place[0]) and place == _place(host))

    def _lists(self, host: str, port: str) -> bool:
        return host in self._named or f"{host}:{port}" in self._named or f"[{host}]:{port}" in self._named


def _place(authority: str) -> tuple[str, str] | None:
    """Return the host and the port of an authority; nothing if it is malformed."""
    match = AUTHORITY.fullmatch(authority.lower())
    return (match["host"].strip("[]").rstrip("."), match["port"] or "") if match else None


def _bare(entry: str) -> str:
    """Return a name as it is compared: an address of the newer kind without its brackets."""
    return entry[1:-1] if entry.startswith("[") and entry.endswith("]") else entry.lower()


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    return _is_address(_bare(host)) and ipaddress.ip_address(_bare(host)).is_loopback


def is_local(host: str) -> bool:
    """Tell whether what is bound there is reached from this machine alone."""
    return host in LOOPBACK or _is_loopback(host)


# the guard


class TooMuch(Exception):
    """A body that is not read to its end."""


@dataclass(frozen=True, slots=True)
class Bodies:
    """How large a body may be, in bytes, and how many seconds it may take."""

    most: int
    patience: float
    larger: Mapping[str, int] = field(default_factory=dict)  # for routes that take more

    def limit(self, path: str) -> int:
        """Return how many bytes a route takes."""
        return self.larger.get(path, self.most)


class Guard:
    """The application behind the checks; knows what is under way, and can end it."""

    def __init__(self, app: ASGIApp, access: Access, hosts: Hosts, bodies: Bodies) -> None:
        self._app = app
        self._door = Doorkeeper(access)
        self._hosts = hosts
        self._bodies = bodies
        self._visits: set[Visit] = set()
        self._closing = False

    @property
    def busy(self) -> bool:
        """Whether something is being worked on; streams that only listen do not count."""
        return any(visit.method == "POST" for visit in self._visits)

    def close(self) -> None:
        """End everything that is under way, and begin nothing more."""
        self._closing = True
        for visit in list(self._visits):
            visit.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] != "http":
            return
        visit = Visit(scope, send)
        self._visits.add(visit)
        try:
            with visit.scope:
                await self._serve(visit, receive)
            await visit.finish()
        finally:
            self._visits.discard(visit)

    async def _serve(self, visit: Visit, receive: Receive) -> None:
        limit = self._bodies.limit(visit.asgi["path"])
        refusal = self._judge(visit.asgi, limit)
        if refusal:
            return await visit.refuse(refusal)
        visit.scope.deadline = anyio.current_time() + self._bodies.patience + limit / PACE
        try:
            await self._app(visit.asgi, _limited(receive, limit, visit.scope), visit.send)
        except TooMuch:
            await visit.refuse(_too_large(limit))

    def _judge(self, scope: Scope, limit: int) -> Refusal | None:
        """Return the answer to a request that may not come in; lets the others in under their name."""
        if self._closing:
            return Refusal(503, STOPPING)
        headers = scope["headers"]
        shown = dict(headers)
        host = shown.get(b"host", b"").decode("latin-1")
        if not self._hosts.knows(host):
            return Refusal(
                421, "this server is not known by the name in the header Host; its operator can list the name"
            )
        if b"origin" in shown and not all(self._hosts.trusts(origin, host) for origin in _values(headers, b"origin")):
            return Refusal(403, "web pages of this origin may not use this server; its operator can list their host")
        if scope["raw_path"] != HEALTH and not self._door.open:
            who = self._door.admit(headers)
            if who is None:
                return self._door.refusal()
            scope["user"] = who
        size = shown.get(b"content-length", b"0")
        return _too_large(limit) if not size.isdigit() or int(size) > limit else None


class Visit:
    """One HTTP request under way."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.asgi = scope
        self.method: str = scope["method"]
        self.scope = anyio.CancelScope()
        self._send = send
        self._status = 0
        self._complete = False
        self._cancelled = False
        self._reason = ""

    def cancel(self) -> None:
        """End it."""
        self._cancelled = True
        self.scope.cancel()

    async def send(self, message: Message) -> None:
        """Pass on a part of the answer."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
        elif not message.get("more_body", False):
            self._complete = True
        await self._send(message)

    async def refuse(self, response: Refusal) -> None:
        """Answer with a refusal, if there was no answer so far."""
        if not self._status:
            self._reason = response.message
            await response(self.asgi, _nothing, self.send)

    async def finish(self) -> None:
        """Bring the answer to an end, if something has cut it short, and log what the protocol has not."""
        if self.scope.cancelled_caught and not self._complete:
            await self.refuse(Refusal(503, STOPPING) if self._cancelled else Refusal(408, SLOW))
            if not self._complete:
                await self.send({"type": "http.response.body", "body": b"", "more_body": False})
        if self._status >= 400 and logs.SEEN not in self.asgi:
            self._log(logging.WARNING if self._status in {401, 403, 421} else logging.INFO)
        elif self.asgi["raw_path"] == HEALTH:
            self._log(logging.DEBUG)

    def _log(self, level: int) -> None:
        logs.exchange(level, self._status, self.asgi, self._reason)


def _limited(receive: Receive, limit: int, scope: anyio.CancelScope) -> Receive:
    """Return a way to receive that gives up on a body that is too large; a whole body ends the wait of the scope."""
    size = 0
    complete = False

    async def part() -> Message:
        nonlocal size, complete
        message = await receive()
        if complete:
            return message
        size += len(message.get("body", b""))
        if size > limit:
            raise TooMuch
        if not message.get("more_body", False):
            complete = True
            scope.deadline = math.inf
        return message

    return part


async def _nothing() -> Message:
    return {"type": "http.disconnect"}


def _values(headers: Headers, wanted: bytes) -> Iterator[str]:
    return (value.decode("latin-1") for name, value in headers if name == wanted)


def _too_large(limit: int) -> Refusal:
    return Refusal(413, f"the body is larger than the limit of {limit} bytes")


class Refusal(JSONResponse):
    """A refusal in the protocol's form: of another body clients show nothing but the status, if that."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        error = {"code": INVALID_REQUEST, "message": message}
        super().__init__({"jsonrpc": "2.0", "id": None, "error": error}, status, headers)
        self.message = message
