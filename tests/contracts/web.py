"""The program over HTTP: started, spoken to by the SDK's own clients, and by bare requests."""

from __future__ import annotations

import os
import queue
import re
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anyio.from_thread import BlockingPortal
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from contracts.harness import PATIENCE, WORDS_ALONE, Reader, command, noting

LISTENING = re.compile(r"listening on (http://([^\s:/]+|\[[^\]]+\]):(\d+))")
Headers = Mapping[str, str]


@dataclass
class Host:
    """A running server, what it has said, and where it listens."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)
    address: str = ""
    port: int = 0

    @property
    def url(self) -> str:
        """Where a client on this machine finds the server."""
        return f"http://127.0.0.1:{self.port}"

    def said(self) -> str:
        """Return what the server has logged so far."""
        return "".join(self.lines)

    def ask(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """Send one request, and read its whole answer."""
        with httpx2.Client(timeout=PATIENCE, trust_env=False) as client:
            return client.request(method, self.url + path, **options)

    def status(self, method: str, path: str, headers: Headers | None = None) -> int:
        """Return the status of an answer, without waiting for a stream to end."""
        with (
            httpx2.Client(timeout=PATIENCE, trust_env=False) as client,
            client.stream(method, self.url + path, headers=headers) as response,
        ):
            return response.status_code


@contextmanager
def hosting(*arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Iterator[Host]:
    """Start the program and wait until it listens; end it afterwards."""
    process = subprocess.Popen(
        command("serve", *arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, **WORDS_ALONE, "PYTHONUNBUFFERED": "1", **(env or {})},
    )
    host = Host(process)
    ready: queue.Queue[re.Match[str] | None] = queue.Queue()
    thread = threading.Thread(target=_listen, args=(host, ready))
    thread.start()
    try:
        match = ready.get(timeout=PATIENCE)
        if not match:
            pytest.fail(f"the server has left: {host.said()[-2000:]}")
        host.address, host.port = match[1], int(match[3])
        yield host
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
            thread.join(PATIENCE)
            assert process.stdout
            assert process.stderr
            silent = process.stdout.read() == ""
            process.stdout.close()
            process.stderr.close()
        assert silent, "a server over HTTP writes nothing to standard output"


def _listen(host: Host, ready: queue.Queue[re.Match[str] | None]) -> None:
    """Keep what the server says, and tell where it listens, or that it has left."""
    assert host.process.stderr
    for line in host.process.stderr:
        host.lines.append(line)
        if match := LISTENING.search(line):
            ready.put(match)
    ready.put(None)


@contextmanager
def visiting(
    portal: BlockingPortal, url: str, *, headers: Headers | None = None, mode: str = "legacy", folder: Path = Path()
) -> Iterator[Reader]:
    """Give a client of a server over HTTP: over server-sent events where the URL ends so, else streamable."""
    notices: queue.Queue[object] = queue.Queue()

    @asynccontextmanager
    async def connect() -> AsyncIterator[Client]:
        async with httpx2.AsyncClient(headers=dict(headers or {}), timeout=PATIENCE, trust_env=False) as http:
            events = url.endswith("/sse")
            transport: Any = (
                sse_client(url, dict(headers or {})) if events else streamable_http_client(url, http_client=http)
            )
            async with Client(transport, mode=mode, cache=None, message_handler=noting(notices)) as client:
                yield client

    with portal.wrap_async_context_manager(connect()) as client:
        yield Reader(portal, client, folder, notices)
