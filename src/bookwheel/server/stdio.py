"""Speak MCP over standard input and output, without a thread for every line.

Pipes and sockets are read and written by the event loop itself, which halves the cost of a call. Other ends (a plain
file, a terminal, nothing at all) are read by a thread and written as they are.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage

LONGEST = 64 * 1024 * 1024  # bytes of one message
LAST_WORDS = 2.0  # seconds for the answers to what a client asked before it left

Read = Callable[[], Awaitable[bytes | Exception]]  # the next line; empty at the end, an error for one too long
Write = Callable[[bytes], Awaitable[None]]


@asynccontextmanager
async def streams() -> AsyncIterator[tuple[Any, Any]]:
    """Give the streams a server runs on; from then on, prints go to standard error."""
    read, write = await _reader(os.dup(0)), await _writer(os.dup(1))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    async with _connected(read, write) as both:
        yield both


def _flows(descriptor: int) -> bool:
    """Tell whether the event loop can wait for this end: a pipe or a socket."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


async def _reader(descriptor: int) -> Read:
    file = os.fdopen(descriptor, "rb", 0 if _flows(descriptor) else -1)
    if not _flows(descriptor):
        return lambda: anyio.to_thread.run_sync(file.readline, LONGEST, abandon_on_cancel=True)
    reader = asyncio.StreamReader(limit=LONGEST)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
    return lambda: _line(reader)


async def _line(reader: asyncio.StreamReader) -> bytes | Exception:
    try:
        return await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        return error.partial
    except asyncio.LimitOverrunError as error:
        await reader.readexactly(error.consumed)
        return error


async def _writer(descriptor: int) -> Write:
    file = os.fdopen(descriptor, "wb", 0)
    if not _flows(descriptor):

        async def write(data: bytes) -> None:
            file.write(data)

        return write
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, file)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)

    async def send(data: bytes) -> None:
        writer.write(data)
        await writer.drain()

    return send


@asynccontextmanager
async def _connected(read: Read, write: Write) -> AsyncIterator[tuple[Any, Any]]:
    to_server, incoming = create_context_streams[SessionMessage | Exception](0)
    outgoing, from_server = create_context_streams[SessionMessage](0)
    asked: set[types.RequestId] = set()  # requests without an answer so far

    async def receive() -> None:
        async with to_server:
            while line := await read():
                message = _parse(line) if isinstance(line, bytes) else line
                asked.update(_requests(message))
                await to_server.send(message)
            with anyio.move_on_after(LAST_WORDS):
                while asked:
                    await anyio.sleep(0.01)

    async def send() -> None:
        async with from_server:
            async for message in from_server:
                await write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                asked.difference_update(_answers(message))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(receive)
        tasks.start_soon(send)
        yield incoming, outgoing
        tasks.cancel_scope.cancel()


def _parse(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


def _requests(message: SessionMessage | Exception) -> list[types.RequestId]:
    """Return the id of a request that is answered once."""
    match message:
        case SessionMessage(message=types.JSONRPCRequest(id=number, method=method)) if method != "subscriptions/listen":
            return [number]
    return []


def _answers(message: SessionMessage) -> list[types.RequestId]:
    """Return the id of the request that a message answers."""
    match message.message:
        case types.JSONRPCResponse(id=number):
            return [number]
        case types.JSONRPCError(id=number) if number is not None:
            return [number]
    return []
