"""A face as an MCP server: list, call, read, and word of changes.

The one place where errors meet the protocol: ours become what the face says of them, any other is a bug,
logged with its traceback and told as an internal error, and the server lives on.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import contextvars
import logging
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from bookwheel import logs
from bookwheel.errors import BookwheelError, NotFound
from bookwheel.faces.base import CALL, Answer, Call, Face, Gap, Resource, Tool
from bookwheel.logs import SEEN
from bookwheel.prompts import Prompt
from bookwheel.server.guard import caller

PATIENCE = 1.0  # seconds for one client to take word of a change
MOST_COMPLETIONS = 100  # as the protocol says
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

    def __init__(self, face: Face, limit: Callable[[frozenset[str]], Face] | None = None) -> None:
        self.face = face
        self._limit = limit or _refuse  # makes the same face for those who may use some libraries alone
        self._limited: dict[frozenset[str], Face] = {}
        self._prompts: Sequence[Prompt] | None = None  # as a client last saw them, or might have
        self._tools: frozenset[str] | None = None  # the same
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
        if face.has_prompts:
            self.add_request_handler("prompts/list", types.PaginatedRequestParams, self._list_prompts)
            self.add_request_handler("prompts/get", types.GetPromptRequestParams, self._get_prompt)
        if face.completes:
            self.add_request_handler("completion/complete", types.CompleteRequestParams, self._complete)

    # what the client is told at the start

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Announce which lists change, and nothing that is not there."""
        face = self.face
        changing = NotificationOptions(
            resources_changed=face.has_resources, prompts_changed=face.has_prompts, tools_changed=face.changes_tools
        )
        options = super().create_initialization_options(
            notification_options or changing, experimental_capabilities, extensions
        )
        if not face.changes_tools:
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

    async def announce(self, resources: bool) -> None:
        """Tell every client which lists have changed: that of resources, if so, and what else is found to differ."""
        if resources and self.face.has_resources:
            await self._tell_all(ResourcesListChanged(), ServerSession.send_resource_list_changed)
        if self.face.has_prompts and await _in_thread(self._has_other_prompts):
            await self._tell_all(PromptsListChanged(), ServerSession.send_prompt_list_changed)
        if self.face.changes_tools and self._has_other_tools():
            await self._tell_all(ToolsListChanged(), ServerSession.send_tool_list_changed)

    def _has_other_tools(self) -> bool:
        before, self._tools = self._tools, _names(self.face.tools)
        return before is not None and before != self._tools

    def _has_other_prompts(self) -> bool:
        before, self._prompts = self._prompts, self.face.prompts()
        return before is not None and before != self._prompts

    async def _tell_all(self, event: ServerEvent, send: Callable[[ServerSession], Awaitable[None]]) -> None:
        await self._bus.publish(event)
        async with anyio.create_task_group() as tasks:
            for session in list(self._sessions):
                tasks.start_soon(self._tell, session, send)

    async def _tell(self, session: ServerSession, send: Callable[[ServerSession], Awaitable[None]]) -> None:
        """Tell one client, which must not hold up the others."""
        try:
            with anyio.move_on_after(PATIENCE):
                await send(session)
        except Exception:  # noqa: BLE001 - a client that is gone fails in as many ways as there are transports
            self._sessions.discard(session)

    def _shown(self, ctx: Context) -> Face:
        """Return the face as the sender of a request may see it."""
        libraries = caller(ctx)
        if libraries is None:
            return self.face
        if libraries not in self._limited:
            self._limited[libraries] = self._limit(libraries)
        return self._limited[libraries]

    # tools

    def _schema(self, name: str) -> Mapping[str, Any] | None:
        tool = self.face.find(name)
        return tool.schema if tool else None

    async def _list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        face = self._shown(ctx)
        if face.changes_tools:
            await _in_thread(face.settle)
        if self._tools is None and face is self.face:
            self._tools = _names(face.tools)
        return types.ListToolsResult(tools=[_tool(tool) for tool in face.tools])

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        face, arguments = self._shown(ctx), params.arguments or {}
        try:
            tool = face.find(params.name)
            if tool is None or not tool.writes:  # soon done: nobody asks how far it is
                answer = await _in_thread(lambda: face.call(params.name, arguments))
            else:
                async with _call(ctx) as call:
                    answer = await _in_thread(lambda: call.run(face.call, params.name, arguments), _writers)
        except MCPError as error:
            if error.code != types.INTERNAL_ERROR:
                raise
            answer = face.mishap(params.name, arguments)
        return _result(answer)

    # resources

    async def _list_resources(self, ctx: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        face, cursor = self._shown(ctx), _open_cursor(params.cursor)
        page = await _in_thread(lambda: face.resources(cursor))
        result = {**EMPTY_LIST, "resources": [_resource(one) for one in page.resources]}
        if page.following:
            result["nextCursor"] = base64.urlsafe_b64encode(page.following.encode()).decode()
        return result

    async def _list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=one.uri, name=one.name, description=one.description, mime_type=one.mime_type
                )
                for one in self._shown(ctx).templates()
            ]
        )

    async def _read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        face = self._shown(ctx)
        contents = await _in_thread(lambda: face.read(params.uri))
        return types.ReadResourceResult(
            contents=[
                types.TextResourceContents(uri=one.uri, mime_type=one.mime_type, text=one.text) for one in contents
            ]
        )

    # prompts

    async def _list_prompts(self, ctx: Context, params: types.PaginatedRequestParams) -> types.ListPromptsResult:
        face = self._shown(ctx)
        found = await _in_thread(face.prompts)
        if self._prompts is None and face is self.face:
            self._prompts = found
        return types.ListPromptsResult(prompts=[_prompt(one) for one in found])

    async def _get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        face = self._shown(ctx)
        prompt, text = await _in_thread(lambda: face.prompt(params.name, params.arguments or {}))
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(
            description=prompt.description, messages=[types.PromptMessage(role="user", content=content)]
        )

    # completion

    async def _complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        owner = params.ref.uri if isinstance(params.ref, types.ResourceTemplateReference) else params.ref.name
        others = params.context.arguments if params.context else None
        gap = Gap(owner, params.argument.name, params.argument.value, others or {})
        face = self._shown(ctx)
        found = await _in_thread(lambda: face.complete(gap))
        return types.CompleteResult(
            completion=types.Completion(
                values=list(found[:MOST_COMPLETIONS]), total=len(found), has_more=len(found) > MOST_COMPLETIONS
            )
        )


def _origin(ctx: Context) -> str:
    """Return which way a request came: standard input, or a path over HTTP, which need not log it again."""
    if ctx.request is None:
        return "stdio"
    ctx.request.scope[SEEN] = True
    return str(ctx.request.scope["path"])


@contextlib.asynccontextmanager
async def _call(ctx: Context) -> AsyncIterator[contextvars.Context]:
    """Give what a call runs in: it can say how far it is, and learns when nobody waits for it any more."""
    loop, halt, told = asyncio.get_running_loop(), threading.Event(), list[Future[None]]()

    def report(done: int, total: int) -> None:
        told.append(asyncio.run_coroutine_threadsafe(ctx.session.report_progress(done, total), loop))

    context = contextvars.copy_context()
    context.run(CALL.set, Call(report, halt))
    try:
        yield context
        await asyncio.gather(*map(asyncio.wrap_future, told), return_exceptions=True)
    finally:
        halt.set()


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


def _refuse(libraries: frozenset[str]) -> Face:
    raise MCPError(types.INVALID_PARAMS, f"nothing is served here for {', '.join(sorted(libraries))} alone")


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
        output_schema=None if tool.output is None else dict(tool.output),
        annotations=_annotations(tool),
    )


def _annotations(tool: Tool) -> types.ToolAnnotations:
    if not tool.writes:
        return types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    return types.ToolAnnotations(
        read_only_hint=False,
        destructive_hint=tool.destroys,
        idempotent_hint=tool.repeatable,
        open_world_hint=False,
    )


def _names(tools: Sequence[Tool]) -> frozenset[str]:
    return frozenset(tool.name for tool in tools)


def _prompt(prompt: Prompt) -> types.Prompt:
    arguments = [
        types.PromptArgument(name=one.name, description=one.description or None, required=one.required)
        for one in prompt.arguments
    ]
    return types.Prompt(name=prompt.name, description=prompt.description or None, arguments=arguments)


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
