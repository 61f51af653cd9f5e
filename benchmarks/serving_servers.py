"""Servers to measure: one tool that does next to nothing, ours and the SDK's own, and ours with documents to search.

python benchmarks/serving_servers.py bare|ours stdio|http
python benchmarks/serving_servers.py search http TREE STORE
"""

import contextlib
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route

from bookwheel import formats, logs
from bookwheel.catalog import Catalog
from bookwheel.faces.base import Answer, Face, Identity, Tool, object_schema
from bookwheel.faces.docs import Docs
from bookwheel.folders import Folder, folder_for
from bookwheel.server import run
from bookwheel.server.http import Listen, serve_http
from bookwheel.server.mcp import FaceServer

Context = ServerRequestContext[Any, Any]
SCHEMA = object_schema(["text"], text={"type": "string"})


class Echo(Face):
    """Says what it is told."""

    name = "echo"
    identity = Identity("echo", "1")
    tools = [Tool("echo", "Says what it is told.", SCHEMA, lambda arguments: Answer(arguments["text"]))]  # noqa: RUF012


def bare() -> Server[Any]:
    """Return the least server that has the same tool."""

    async def list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema=SCHEMA)])

    async def call_tool(_: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        text = (params.arguments or {})["text"]
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    return Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)


async def bare_stdio() -> None:
    server = bare()
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def bare_http() -> None:
    manager = StreamableHTTPSessionManager(bare())

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    app = Starlette(routes=[Route("/mcp", StreamableHTTPASGIApp(manager))], lifespan=lifespan)
    place = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # as uvicorn makes its own
    place.bind(("127.0.0.1", 0))
    place.listen()
    print(f"listening on http://127.0.0.1:{place.getsockname()[1]}", file=sys.stderr, flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run([place])


def ours(transport: str) -> None:
    catalog = Catalog(Path("/nonexistent"))
    if transport == "stdio":
        run.serve(FaceServer(Echo()), catalog, None)
    else:
        serve_http(FaceServer(Echo()), {}, catalog, None, Listen())


def search(tree: str, store: str) -> None:
    readable = frozenset(formats.READERS)
    folder = folder_for(Path(tree), "tree", Folder(Path("/"), "", (), (), readable, 10_000_000))
    catalog = Catalog(Path(store), [folder])
    serve_http(FaceServer(Docs(catalog)), {}, catalog, None, Listen())


if __name__ == "__main__":
    logs.configure("info")
    match sys.argv[1:]:
        case ["bare", "stdio"]:
            anyio.run(bare_stdio)
        case ["bare", "http"]:
            bare_http()
        case ["ours", transport]:
            ours(transport)
        case ["search", "http", tree, store]:
            search(tree, store)
