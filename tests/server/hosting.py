"""Start a server over HTTP, and talk to it in every way: as the SDK's clients do, and byte by byte."""

from __future__ import annotations

import base64
import json
import queue
import re
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

PATIENCE = 30.0  # seconds after which nothing is coming any more
TRANSPORTS = ("handshake", "modern", "sse")
MODES = {"handshake": "legacy", "modern": "2026-07-28", "sse": "legacy"}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@dataclass(frozen=True)
class Reply:
    """An HTTP answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def refusal(self) -> str:
        """Why it was refused, in the form a client of the protocol understands."""
        error = json.loads(self.body)
        assert (error["jsonrpc"], error["id"], error["error"]["code"]) == ("2.0", None, types.INVALID_REQUEST)
        return str(error["error"]["message"])

    @property
    def text(self) -> str:
        return self.body.decode()


class Site:
    """A running server."""

    def __init__(self, **given: Any) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("child.py")), json.dumps(given)],
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        self.lines: list[str] = []
        self._arrived: queue.Queue[str] = queue.Queue()
        self._thread = threading.Thread(target=self._receive)
        self._thread.start()

    def _receive(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))
            self._arrived.put(line)
        self._arrived.put("")  # the end

    def await_line(self, pattern: str) -> str:
        """Return the next line of the log that has the pattern in it."""
        while line := self._arrived.get(timeout=PATIENCE):
            if re.search(pattern, line):
                return line.rstrip("\n")
        pytest.fail(f"no line with {pattern!r} in:\n" + "\n".join(self.lines))

    @property
    def log(self) -> str:
        return "\n".join(self.lines)

    def listen(self) -> Site:
        found = re.search(r"listening on http://(\S+):(\d+)", self.await_line("listening on"))
        assert found
        self.address, self.port = found[1].strip("[]"), int(found[2])
        self.host = "127.0.0.1" if self.address == "0.0.0.0" else self.address  # noqa: S104
        self.url = f"http://{self.host}:{self.port}"
        return self

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | Iterator[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one request and return the whole answer."""
        connection = HTTPConnection(self.host, self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, dict(headers or {}), encode_chunked=not isinstance(body, bytes))
            answer = connection.getresponse()
            return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def status(self, method: str, path: str, **headers: str) -> int:
        """Return only how a request went; underscores in names of headers stand for hyphens."""
        return self.ask(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()}).status

    def post(self, path: str, message: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Reply:
        """Post one message of the protocol."""
        usual = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        return self.ask("POST", path, json.dumps(message).encode(), {**usual, **(headers or {})})

    def open_session(self, headers: Mapping[str, str] | None = None) -> str:
        """Shake hands over streamable HTTP and return the session's id."""
        reply = self.post("/mcp", request(1, "initialize", **HELLO), headers)
        assert reply.status == 200, reply.text
        return reply.headers["mcp-session-id"]

    def wire(self) -> socket.socket:
        """Return a bare connection."""
        return socket.create_connection((self.host, self.port), timeout=PATIENCE)

    def stop(self, number: int) -> int:
        """Send a signal, wait for the end, and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        assert self.process.stderr
        self.process.kill()
        self.process.wait(PATIENCE)
        self._thread.join(PATIENCE)
        self.process.stderr.close()

    # the SDK's clients

    @asynccontextmanager
    async def client(
        self, transport: str, path: str = "", headers: Mapping[str, str] | None = None, **options: Any
    ) -> AsyncIterator[Client]:
        """Give a connected client of one transport and era."""
        mode = MODES[transport]
        if transport == "sse":
            over = sse_client(self.url + (path or "/sse"), headers=dict(headers or {}))
            async with Client(over, mode=mode, cache=None, **options) as client:
                yield client
            return
        async with httpx2.AsyncClient(headers=dict(headers or {}), timeout=PATIENCE) as web:
            over = streamable_http_client(self.url + (path or "/mcp"), http_client=web)
            async with Client(over, mode=mode, cache=None, **options) as client:
                yield client


class Stream:
    """The older transport's stream of events, byte by byte."""

    def __init__(self, site: Site, headers: Mapping[str, str] | None = None) -> None:
        self._socket = site.wire()
        head = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        self._socket.sendall(f"GET /sse HTTP/1.1\r\nhost: {site.host}:{site.port}\r\n{head}\r\n".encode())
        self._file = self._socket.makefile("rb")
        self.endpoint = self.next("endpoint")

    def next(self, event: str = "message") -> str:
        """Return what the next event of this kind says."""
        while line := self._file.readline():
            if line.strip() == f"event: {event}".encode():
                return self._file.readline().decode().removeprefix("data: ").strip()
        pytest.fail("the stream has ended")

    def ended(self) -> bool:
        """Read all that is left, and tell that there is no more."""
        return self._file.read() is not None

    def close(self) -> None:
        self._file.close()
        self._socket.close()


@contextmanager
def running(tmp_path: Path, **given: Any) -> Iterator[Site]:
    """Give a server of the folder `library` that listens."""
    (tmp_path / "library").mkdir(exist_ok=True)
    site = Site(folder=str(tmp_path / "library"), store=str(tmp_path / "store"), **given)
    try:
        yield site.listen()
    finally:
        site.close()


def request(number: int, method: str, **params: object) -> dict[str, Any]:
    """Return a request of the protocol."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def basic(username: str, password: str) -> str:
    """Return what stands in the header Authorization."""
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()


def text(result: types.CallToolResult) -> str:
    """Return the one text of an answer."""
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text
