"""Fetch a URL: http and https, from public addresses, within limits of size and time.

A name is looked up once, every address it stands for is checked, and the connection goes to a checked address: what
the name means a moment later does not matter. Each redirect goes through the same door.
"""

from __future__ import annotations

import http.client
import io
import ipaddress
import queue
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message
from typing import Any
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from bookwheel.errors import BookwheelError, Forbidden, Invalid, NotFound, ParseFailed, TooLarge, Unavailable

ANYWHERE = ("0.0.0.0/0", "::/0")  # what `private` is where private addresses are allowed
REDIRECTS = 5
CONNECT = 10.0  # seconds for one address
PIECE = 65_536  # bytes
AGENT = "bookwheel"
MOVED = frozenset({301, 302, 303, 307, 308})

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_METADATA = ipaddress.ip_address("168.63.129.16")  # a cloud's own service at a public address
_TRANSLATED = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))  # IPv4 behind IPv6
_STRANGE = re.compile(r"[\x00-\x20\x7f\\]")
_FILE_NAME = re.compile(r"""filename\*?=(?:UTF-8'')?"?([^";]+)""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a download may cost, and where it may go."""

    size: int = 52_428_800  # bytes, unpacked
    seconds: float = 60.0  # for everything, redirects too
    private: tuple[str, ...] = ()  # networks that are allowed though they are not public; ANYWHERE for all


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server said of the version it gave, to ask later whether there is another."""

    etag: str = ""
    modified: str = ""


@dataclass(frozen=True, slots=True)
class Downloaded:
    """What a URL gave."""

    url: str  # the last one, after all redirects
    data: bytes = b""
    content_type: str = ""  # lower case, without parameters
    charset: str = ""
    name: str = ""  # of the file, as the server or the URL gives it
    validators: Validators = field(default_factory=Validators)
    not_modified: bool = False  # the known version is the current one; there is no data


def download(
    url: str, limits: Limits | None = None, known: Validators | None = None, context: ssl.SSLContext | None = None
) -> Downloaded:
    """Return what is at *url*, or that it is still the *known* version.

    Raises Invalid for what is no URL to fetch, Forbidden for where it must not go, TooLarge, NotFound, or Unavailable
    if the server fails or is too slow.
    """
    limits, end = limits or Limits(), time.monotonic() + (limits or Limits()).seconds
    for _ in range(REDIRECTS + 1):
        parts = check(url)
        with Visit(parts, limits, end, context) as visit:
            response = visit.get(known or Validators())
            if response.status not in MOVED:
                return take(url, response, visit, limits)
            url = urljoin(url, (response.headers.get("Location") or "").strip().replace(" ", "%20"))
    raise Unavailable(
        f"it redirects more than {REDIRECTS} times, the last time to {url}: name the page itself", url=url
    )


def check(url: str) -> SplitResult:
    """Return the parts of *url*. Raises Invalid with the reason where it cannot be fetched."""
    if _STRANGE.search(url):
        raise Invalid("this is not a URL: it has spaces, backslashes or control characters in it")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Invalid(f"this is not a URL: {error}") from error
    if parts.scheme.lower() not in {"http", "https"}:
        raise Invalid(f"{url} cannot be fetched: only http and https URLs can", url=url)
    if not parts.hostname or port == 0:
        raise Invalid(f"{url} cannot be fetched: it names no host", url=url)
    if parts.username is not None or parts.password is not None:
        raise Invalid("a URL with a user name or password is not fetched: download it yourself, and ingest the file")
    return parts


class Visit:
    """One connection to one checked address, with a time at which it ends."""

    def __init__(self, parts: SplitResult, limits: Limits, end: float, context: ssl.SSLContext | None) -> None:
        self._parts, self._limits, self._end, self._context = parts, limits, end, context
        self._secure = parts.scheme.lower() == "https"
        self._host = name_of(parts)
        self._port = parts.port or (443 if self._secure else 80)
        self._socket: socket.socket | None = None

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        if self._socket:
            self._socket.close()

    def get(self, known: Validators) -> http.client.HTTPResponse:
        """Return the answer to a request for the page, its body not read yet."""
        try:
            self._socket = self._connect()
            connection = http.client.HTTPConnection(self._host, self._port)
            connection.sock = Timed(self._socket, self._end)  # has all of a socket that is used
            path = self._parts.path or "/"
            target = f"{path}?{self._parts.query}" if self._parts.query else path
            connection.request("GET", ascii_url(target), headers=self._headers(known))
            return connection.getresponse()
        except BookwheelError:
            raise
        except TimeoutError as error:
            raise self.late() from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unavailable(f"{self._host} cannot be reached ({error}): check the address, or try later") from error

    def _headers(self, known: Validators) -> dict[str, str]:
        usual = self._parts.port in {None, 443 if self._secure else 80}
        host = f"[{self._host}]" if ":" in self._host else self._host
        wanted = {
            "Host": host if usual else f"{host}:{self._port}",
            "User-Agent": AGENT,
            "Accept": "text/html, application/xhtml+xml, text/markdown, application/pdf, */*;q=0.8",
            "Accept-Encoding": "gzip",
            "If-None-Match": known.etag,
            "If-Modified-Since": known.modified,
            "Connection": "close",
        }
        return {name: value for name, value in wanted.items() if value and value.isprintable() and value.isascii()}

    def _connect(self) -> socket.socket:
        """Return a connection to the first of the host's addresses that is allowed and answers."""
        failure: OSError = OSError("it has no address")
        for family, place in self._addresses():
            plain = socket.socket(family, socket.SOCK_STREAM)
            try:
                plain.settimeout(min(CONNECT, self.left()))
                plain.connect(place)
                return self._secured(plain) if self._secure else plain
            except OSError as error:
                plain.close()
                failure = error
        raise failure

    def _addresses(self) -> list[tuple[socket.AddressFamily, tuple[str, int] | tuple[str, int, int, int]]]:
        """Return the addresses of the host that may be visited. Raises Forbidden if there are others only."""
        found = self._look_up()
        allowed = [(one[0], one[4]) for one in found if is_allowed(str(one[4][0]), self._limits.private)]
        if not allowed:
            raise Forbidden(
                f"{self._host} is at a private or local address, which is not visited: "
                "allow private addresses if it is yours",
                host=self._host,
            )
        return allowed

    def _look_up(self) -> list[tuple[Any, ...]]:
        """Return what the system knows of the host's name, within the time that is left."""
        answers: queue.SimpleQueue[list[tuple[Any, ...]] | Exception] = queue.SimpleQueue()

        def ask() -> None:
            try:
                answers.put(socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM))
            except (OSError, UnicodeError) as error:
                answers.put(error)

        threading.Thread(target=ask, daemon=True).start()  # a name server may take its time, and cannot be hurried
        try:
            found = answers.get(timeout=self.left())
        except queue.Empty as error:
            raise self.late() from error
        if isinstance(found, Exception):
            raise Unavailable(f"{self._host} has no address ({found}): check the name") from found
        return found

    def _secured(self, plain: socket.socket) -> socket.socket:
        plain.settimeout(self.left())
        context = self._context or ssl.create_default_context()
        return context.wrap_socket(plain, server_hostname=self._host)

    def left(self) -> float:
        """Return the seconds that are left. Raises Unavailable if none are."""
        rest = self._end - time.monotonic()
        if rest <= 0:
            raise self.late()
        return rest

    def late(self) -> Unavailable:
        """Return the error for a server that takes too long."""
        return Unavailable(
            f"{self._host} took longer than {self._limits.seconds:g} s: try later, or download it yourself"
        )


class Timed:
    """A socket whose every step must be done by one and the same time, however small the steps are."""

    def __init__(self, plain: socket.socket, end: float) -> None:
        self._socket, self._end = plain, end

    def sendall(self, data: bytes) -> None:
        """Send all of *data*."""
        self._socket.settimeout(self._left())
        self._socket.sendall(data)

    def makefile(self, *_: object, **__: object) -> io.BufferedReader:
        """Return what is received as a file."""
        return io.BufferedReader(_Received(self), PIECE)

    def receive(self, buffer: memoryview) -> int:
        """Fill part of a buffer; return how much."""
        self._socket.settimeout(self._left())
        return self._socket.recv_into(buffer)

    def close(self) -> None:
        """Leave closing to whoever opened it."""

    def _left(self) -> float:
        rest = self._end - time.monotonic()
        if rest <= 0:
            raise TimeoutError("no time is left")
        return rest


class _Received(io.RawIOBase):
    def __init__(self, source: Timed) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # what BufferedReader hands over
        return self._source.receive(buffer)


def take(url: str, response: http.client.HTTPResponse, visit: Visit, limits: Limits) -> Downloaded:
    """Return the answer of a server with all of its body. Raises the error that its status stands for."""
    headers = response.headers
    validators = Validators(headers.get("ETag") or "", headers.get("Last-Modified") or "")
    if response.status == 304:
        return Downloaded(url, validators=validators, not_modified=True)
    if response.status != 200:
        raise refusal(url, response.status)
    try:
        data = b"".join(pieces(response, limits.size))
    except TimeoutError as error:
        raise visit.late() from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unavailable(f"{url} broke off ({error or type(error).__name__}): try again", url=url) from error
    kind = headers.get_content_type() if "Content-Type" in headers else ""
    return Downloaded(url, data, kind, headers.get_content_charset("") or "", file_name(url, headers), validators)


def refusal(url: str, status: int) -> BookwheelError:
    """Return the error that a status stands for."""
    if status in {404, 410}:
        return NotFound(f"there is nothing at {url} (status {status}): check the address", url=url, status=status)
    if status in {401, 403, 407, 451}:
        return Forbidden(
            f"{url} is not for everyone (status {status}): download it yourself, and ingest the file",
            url=url,
            status=status,
        )
    return Unavailable(f"{url} answers with status {status}: try later, or check the address", url=url, status=status)


def pieces(response: http.client.HTTPResponse, most: int) -> Iterator[bytes]:
    """Yield a body piece by piece, unpacked. Raises TooLarge as soon as it has more than *most* bytes."""
    declared = response.headers.get("Content-Length", "")
    if declared.isascii() and declared.isdigit() and int(declared) > most:
        raise too_large(most)
    packing = (response.headers.get("Content-Encoding") or "identity").strip().lower()
    if packing not in {"identity", "gzip", "x-gzip", "deflate"}:
        raise ParseFailed(
            f"it comes packed as {packing}, which is not understood: download it yourself, and ingest the file"
        )
    unpack = None if packing == "identity" else zlib.decompressobj(zlib.MAX_WBITS | 32)
    size = 0
    for piece in iter(lambda: response.read(PIECE), b""):
        shown = _unpacked(unpack, piece, most - size) if unpack else piece
        size += len(shown)
        if size > most:
            raise too_large(most)
        yield shown
    if response.length or (unpack and not unpack.eof):
        raise http.client.IncompleteRead(b"")


def _unpacked(unpack: zlib._Decompress, piece: bytes, left: int) -> bytes:
    try:
        return unpack.decompress(piece, left + 1)
    except zlib.error as error:
        raise OSError(f"its packing is damaged: {error}") from error


def too_large(most: int) -> TooLarge:
    """Return the error for a body that goes on beyond the limit."""
    return TooLarge(f"it has more than {most:,} bytes: download it yourself and ingest a part of it", limit=most)


def is_allowed(text: str, private: tuple[str, ...]) -> bool:
    """Say whether an address may be visited: a public one, or one in a network that is named."""
    address = real(ipaddress.ip_address(text.partition("%")[0]))
    if any(address in ipaddress.ip_network(one) for one in private):
        return True
    return address.is_global and not address.is_multicast and address != _METADATA


def real(address: Address) -> Address:
    """Return the address that is reached in the end, where an IPv6 address stands for an IPv4 one."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if any(address in network for network in _TRANSLATED):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo[1] if address.teredo else None
    return address.ipv4_mapped or address.sixtofour or teredo or _compatible(address)


def _compatible(address: ipaddress.IPv6Address) -> Address:
    """Return the IPv4 address in one of the oldest form, ::a.b.c.d."""
    return ipaddress.IPv4Address(int(address)) if 1 < int(address) < 1 << 32 else address


def name_of(parts: SplitResult) -> str:
    """Return the host of a URL as it is looked up. Raises Invalid where it cannot be one."""
    host = (parts.hostname or "").rstrip(".")
    try:
        return host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError as error:
        raise Invalid(f"{host} is not the name of a host: check the address") from error


def ascii_url(target: str) -> str:
    """Return a path with everything but ASCII percent-encoded."""
    return "".join(sign if sign.isascii() else "".join(f"%{byte:02X}" for byte in sign.encode()) for sign in target)


def file_name(url: str, headers: Message) -> str:
    """Return what the file is called: by its server, else by the last part of its URL."""
    given = _FILE_NAME.search(headers.get("Content-Disposition") or "")
    name = unquote(given[1] if given else urlsplit(url).path)
    return name.replace("\\", "/").rstrip("/").rpartition("/")[2].strip()
