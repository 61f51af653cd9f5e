"""A server over HTTP as tests want it: real documents, and tools that show what a handler sees or that take their time.

Its one argument is JSON: what `Listen`, `Access`, `Key` and `Limits` take, the folder, the store, and how to log.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult

from bookwheel import formats, logs
from bookwheel.catalog import Catalog
from bookwheel.credentials import Access, Key
from bookwheel.errors import BookwheelError
from bookwheel.faces.base import Answer, Arguments, Face, Tool, object_schema
from bookwheel.faces.docs import Docs
from bookwheel.folders import Folder, folder_for
from bookwheel.server.guard import caller
from bookwheel.server.http import Limits, Listen, serve_http
from bookwheel.server.mcp import Context, FaceServer
from bookwheel.watch import watch


class Library(Docs):
    """The docs face, with tools for tests beside its own."""

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog)
        self.tools = [
            *self.tools,
            Tool("libraries", "Says whose libraries the caller may use.", object_schema(), lambda _: Answer("")),
            Tool("large", "Gives a long answer.", object_schema(size={"type": "integer"}), _large),
            Tool("wait", "Takes so many seconds.", object_schema(seconds={"type": "number"}), _wait),
            Tool("fail", "Has a bug.", object_schema(), _fail),
        ]


def _large(arguments: Arguments) -> Answer:
    return Answer("x" * int(arguments["size"]))


def _wait(arguments: Arguments) -> Answer:
    print("waiting", file=sys.stderr, flush=True)  # noqa: T201 - a test waits for this line
    threading.Event().wait(arguments["seconds"])
    return Answer("waited")


def _fail(arguments: Arguments) -> Answer:
    raise ZeroDivisionError(arguments)


class Probed(FaceServer):
    """A face's server whose tool `libraries` answers from the request's context."""

    def __init__(self, face: Face) -> None:
        super().__init__(face, lambda _: face)
        self.middleware.append(self._probe)

    async def _probe(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method != "tools/call" or (ctx.params or {}).get("name") != "libraries":
            return await call_next(ctx)
        libraries = caller(ctx)
        text = "all" if libraries is None else ",".join(sorted(libraries))
        result = types.CallToolResult(content=[types.TextContent(type="text", text=text)])
        shown = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        return {**shown, "resultType": "complete"} if ctx.protocol_version >= "2026" else shown


def _access(given: dict[str, Any]) -> Access:
    keys = [Key(secret, None if names is None else frozenset(names)) for secret, names in given.pop("keys", [])]
    return Access(**given, keys=tuple(keys))


def main(given: dict[str, Any]) -> None:
    logs.configure(given.get("level", "info"), given.get("form", "text"))
    options = Folder(Path("/"), "", (), (), frozenset(formats.READERS), 10_000_000)
    folder = folder_for(Path(given["folder"]), "library", options)
    catalog = Catalog(Path(given["store"]), [folder])
    listen = Listen(
        given.get("host", "127.0.0.1"),
        given.get("port", 0),
        _access(given.get("access", {})),
        tuple(given.get("allowed_hosts", ())),
        Limits(**given.get("limits", {})),
    )
    root, alone = Probed(Library(catalog)), FaceServer(Docs(catalog, alone=True))
    try:
        serve_http(root, {"docs": alone}, catalog, lambda refresh: watch([folder], refresh), listen)
    except BookwheelError as error:
        sys.exit(f"child: {error.message}")
    finally:
        catalog.close()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
