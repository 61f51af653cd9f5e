"""Speak MCP over standard input and output, without a thread for every line.

Pipes and sockets are read and written by the event loop itself, which halves the cost of a call. Where that
cannot be (a plain file as input), the SDK's own transport serves.
"""

from __future__ import annotations

import asyncio
import os
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


@asynccontextmanager
async def streams() -> AsyncIterator[tuple[Any, Any]]:
    """Give the streams a server runs on; while they are open, prints go to standard error."""
    try:
        pipes = await _connect()
    except (ValueError, OSError):
        async with stdio_server() as (incoming, outgoing):
            yield incoming, outgoing
        return
    async with _serve(*pipes) as both:
        yield both


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

    async def receive() -> None:
        async with to_server:
            while line := await _line(reader):
                if isinstance(line, Exception):
                    await to_server.send(line)
                    continue
                await to_server.send(_parse(line))

    async def send() -> None:
        async with from_server:
            async for message in from_server:
                writer.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await writer.drain()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(receive)
        tasks.start_soon(send)
        yield incoming, outgoing
        tasks.cancel_scope.cancel()


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
