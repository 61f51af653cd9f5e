"""A face as an MCP server: list, call, read, and word of changes.

The one place where errors meet the protocol: ours become what the face says of them, any other is a bug,
logged with its traceback and told as an internal error, and the server lives on.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged
from mcp.shared.exceptions import MCPError

from bookwheel.errors import BookwheelError, NotFound
from bookwheel.faces.base import Answer, Face, Resource, Tool
from bookwheel.server import logs
from bookwheel.server.logs import SEEN

PATIENCE = 1.0  # seconds for one client to take word of a change
GREETINGS = frozenset({"initialize", "server/discover"})

EMPTY_LIST: dict[str, Any] = types.ListResourcesResult(resources=[]).model_dump(by_alias=True, exclude_none=True)

WORKERS = 4  # threads of each kind: more only wait for each other

_readers = ThreadPoolExecutor(WORKERS, "read")
_writers = ThreadPoolExecutor(WORKERS, "write")  # apart: a long write must not keep anybody from reading
log = logging.getLogger(__name__)
Context = ServerRequestContext[Any]
Value = TypeVar("Value")


class FaceServer(Server[Any]):
    """One face, ready to be run over any transport."""

    def __init__(self, face: Face) -> None:
        self.face = face
        self._sessions: set[ServerSession] = set()  # clients that were greeted by a handshake
        self._bus = InMemorySubscriptionBus()  # clients that listen
        self._listeners = ListenHandler(self._bus)
        self.greeted = anyio.Event()  # the first client has its greeting, or wants more than that
        identity = face.identity
        super().__init__(
            identity.name,
            version=identity.version,
            instructions=identity.instructions or None,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_subscriptions_listen=self._listeners,
            get_tool_input_schema=self._schema,
        )
        self.middleware.append(self._notice)
        self.add_notification_handler("notifications/initialized", types.NotificationParams, self._greet)
        if face.has_resources:
            self.add_request_handler("resources/list", types.PaginatedRequestParams, self._list_resources)
            self.add_request_handler("resources/templates/list", types.PaginatedRequestParams, self._list_templates)
            self.add_request_handler("resources/read", types.ReadResourceRequestParams, self._read_resource)

    # what the client is told at the start

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Announce that lists of resources change, and nothing that is not there."""
        options = super().create_initialization_options(
            notification_options or NotificationOptions(resources_changed=self.face.has_resources),
            experimental_capabilities,
            extensions,
        )
        options.capabilities.tools = types.ToolsCapability()
        return options

    async def _notice(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Let heavy work begin only when a greeting is out, so that nothing slows it."""
        if ctx.method not in GREETINGS:
            self.greeted.set()
        started, failed = time.perf_counter(), True
        try:
            result = await call_next(ctx)
            failed = isinstance(result, dict) and bool(result.get("isError"))
        finally:
            self.greeted.set()
            if ctx.request_id is not None:
                logs.request(ctx.method, ctx.params, started, failed, _origin(ctx))
        return result

    async def _greet(self, ctx: Context, params: types.NotificationParams | None) -> None:
        session = ctx.session
        self._sessions.add(session)
        session._connection.exit_stack.callback(self._sessions.discard, session)  # noqa: SLF001 - its only end in sight

    def close(self) -> None:
        """Tell clients that listen that this was all."""
        self._listeners.close()

    async def announce(self) -> None:
        """Tell every client that the list of resources has changed."""
        if not self.face.has_resources:
            return
        await self._bus.publish(ResourcesListChanged())
        async with anyio.create_task_group() as tasks:
            for session in list(self._sessions):
                tasks.start_soon(self._tell, session)

    async def _tell(self, session: ServerSession) -> None:
        """Tell one client, which must not hold up the others."""
        try:
            with anyio.move_on_after(PATIENCE):
                await session.send_resource_list_changed()
        except Exception:  # noqa: BLE001 - a client that is gone fails in as many ways as there are transports
            self._sessions.discard(session)

    # tools

    def _schema(self, name: str) -> Mapping[str, Any] | None:
        return next((tool.schema for tool in self.face.tools if tool.name == name), None)

    def _workers(self, name: str) -> ThreadPoolExecutor:
        return _writers if any(tool.writes for tool in self.face.tools if tool.name == name) else _readers

    async def _list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(tool) for tool in self.face.tools])

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = params.arguments or {}
        try:
            answer = await _in_thread(lambda: self.face.call(params.name, arguments), self._workers(params.name))
        except MCPError as error:
            if error.code != types.INTERNAL_ERROR:
                raise
            answer = self.face.mishap(params.name, arguments)
        return _result(answer)

    # resources

    async def _list_resources(self, ctx: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        cursor = _open_cursor(params.cursor)
        page = await _in_thread(lambda: self.face.resources(cursor))
        result = {**EMPTY_LIST, "resources": [_resource(one) for one in page.resources]}
        if page.following:
            result["nextCursor"] = base64.urlsafe_b64encode(page.following.encode()).decode()
        return result

    async def _list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[])

    async def _read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        contents = await _in_thread(lambda: self.face.read(params.uri))
        return types.ReadResourceResult(
            contents=[
                types.TextResourceContents(uri=one.uri, mime_type=one.mime_type, text=one.text) for one in contents
            ]
        )


def _origin(ctx: Context) -> str:
    """Return which way a request came: standard input, or a path over HTTP, which need not log it again."""
    if ctx.request is None:
        return "stdio"
    ctx.request.scope[SEEN] = True
    return str(ctx.request.scope["path"])


async def _in_thread(work: Callable[[], Value], workers: ThreadPoolExecutor = _readers) -> Value:
    """Run *work* off the event loop; what it raises becomes an error of the protocol."""
    try:
        return await asyncio.get_running_loop().run_in_executor(workers, work)
    except NotFound as error:
        raise MCPError(types.INVALID_PARAMS, error.message, dict(error.details) or None) from error
    except BookwheelError as error:
        raise MCPError(types.INVALID_PARAMS, error.message) from error
    except Exception as error:
        log.exception("a request failed")
        raise MCPError(types.INTERNAL_ERROR, "internal error; the server's log says more") from error


def _open_cursor(cursor: str | None) -> str:
    """Return the place in a list that a cursor of ours stands for; the start without one."""
    if cursor is None:
        return ""
    with contextlib.suppress(binascii.Error, ValueError):
        if place := base64.b64decode(cursor.encode(), b"-_", validate=True).decode():
            return place
    raise MCPError(types.INVALID_PARAMS, f"the cursor {cursor!r} is none of ours; list again from the start")


def _tool(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.schema),
        annotations=types.ToolAnnotations(read_only_hint=not tool.writes, open_world_hint=False),
    )


def _result(answer: Answer) -> types.CallToolResult:
    texts = [answer.text, *answer.notes]
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text) for text in texts],
        structured_content=answer.data,
        is_error=answer.error,
    )


def _resource(resource: Resource) -> Mapping[str, Any]:
    shown = {
        "uri": resource.uri,
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.mime_type,
    }
    return {**shown, "_meta": resource.meta} if resource.meta else shown
