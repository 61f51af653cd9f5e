"""Speak MCP over standard input and output, without a thread for every line.

Pipes and sockets are read and written by the event loop itself, which halves the cost of a call. Where that
cannot be (a plain file as input), the SDK's own transport serves.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage

LONGEST = 64 * 1024 * 1024  # bytes of one message
LAST_WORDS = 2.0  # seconds for the answers to what a client asked before it left


@asynccontextmanager
async def streams() -> AsyncIterator[tuple[Any, Any]]:
    """Give the streams a server runs on; while they are open, prints go to standard error."""
    if not (_flows(0) and _flows(1)):
        async with stdio_server() as (incoming, outgoing):
            yield incoming, outgoing
        return
    pipes = await _connect()
    async with _serve(*pipes) as both:
        yield both


def _flows(descriptor: int) -> bool:
    """Tell whether the event loop can wait for this end: a pipe or a socket."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


async def _connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Take standard input and output away from everyone else."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(0), "rb", 0))
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(os.dup(1), "wb", 0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


@asynccontextmanager
async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> AsyncIterator[tuple[Any, Any]]:
    to_server, incoming = create_context_streams[SessionMessage | Exception](0)
    outgoing, from_server = create_context_streams[SessionMessage](0)
    asked: set[types.RequestId] = set()  # requests without an answer so far

    async def receive() -> None:
        async with to_server:
            while line := await _line(reader):
                message = _parse(line) if isinstance(line, bytes) else line
                asked.update(_requests(message))
                await to_server.send(message)
            with anyio.move_on_after(LAST_WORDS):
                while asked:
                    await anyio.sleep(0.01)

    async def send() -> None:
        async with from_server:
            async for message in from_server:
                writer.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await writer.drain()
                asked.discard(getattr(message.message, "id", None) or "")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(receive)
        tasks.start_soon(send)
        yield incoming, outgoing
        tasks.cancel_scope.cancel()


def _requests(message: SessionMessage | Exception) -> list[types.RequestId]:
    """Return the id of a request that is answered once."""
    request = message.message if isinstance(message, SessionMessage) else None
    answered = isinstance(request, types.JSONRPCRequest) and request.method != "subscriptions/listen"
    return [request.id] if answered and isinstance(request, types.JSONRPCRequest) else []


async def _line(reader: asyncio.StreamReader) -> bytes | Exception:
    """Return the next line, empty at the end; an error for one that is too long."""
    try:
        return await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        return error.partial
    except asyncio.LimitOverrunError as error:
        await reader.readexactly(error.consumed)
        return error


def _parse(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error
