"""A server for the conformance suite: the product's own core, with what no face of ours needs added here.

Added are pictures and sounds, questions to the client, progress, log messages, and subscriptions to one resource.
Lists, calls, texts, errors, completions, changes, sessions, streams and the guard before them are the product's.
"""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import dialogues
import mcp_types as types
from fixtures import BINARY, STRING, Fixtures
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity

from bookwheel import logs
from bookwheel.catalog import Catalog
from bookwheel.faces.base import Arguments, object_schema
from bookwheel.server.http import Listen, serve_http
from bookwheel.server.mcp import Context, FaceServer

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="

Act = Callable[[Context, Arguments], Awaitable[str]]


def text(said: str) -> types.TextContent:
    return types.TextContent(type="text", text=said)


def embedded(uri: str, mime_type: str, said: str) -> types.EmbeddedResource:
    resource = types.TextResourceContents(uri=uri, mime_type=mime_type, text=said)
    return types.EmbeddedResource(type="resource", resource=resource)


IMAGE = types.ImageContent(type="image", data=PNG, mime_type="image/png")
CONTENTS: dict[str, list[types.ContentBlock]] = {
    "test_image_content": [IMAGE],
    "test_audio_content": [types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")],
    "test_embedded_resource": [
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        IMAGE,
        embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
}


# what a client is asked or told during a call


async def log(ctx: Context, arguments: Arguments) -> str:
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.session.send_log_message("info", said, related_request_id=ctx.request_id)
    return "Logged three times."


async def progress(ctx: Context, arguments: Arguments) -> str:
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100)
    return "All is done."


async def sample(ctx: Context, arguments: Arguments) -> str:
    message = types.SamplingMessage(role="user", content=text(arguments["prompt"]))
    reply = await ctx.session.create_message([message], max_tokens=100, related_request_id=ctx.request_id)
    return f"LLM response: {reply.content.model_dump_json(by_alias=True, exclude_none=True)}"


async def elicit(properties: Mapping[str, Any], ctx: Context, arguments: Arguments) -> str:
    schema = object_schema(properties, **properties)
    message = arguments.get("message", "Please fill in this form")
    reply = await ctx.session.elicit_form(message, schema, ctx.request_id)
    return f"Elicitation completed: action={reply.action}, content={reply.content}"


async def cut_off(ctx: Context, arguments: Arguments) -> str:
    """End the stream of this very call, so that the client has to come back for the answer."""
    if ctx.close_sse_stream:
        await ctx.close_sse_stream()
    return "Reconnection test completed."


def titled(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in pairs]


USER = {"username": STRING, "email": STRING}
DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
OPTIONS = ["option1", "option2", "option3"]
TITLED = titled(("value1", "First"), ("value2", "Second"), ("value3", "Third"))
CHOICES = {
    "untitledSingle": {"type": "string", "enum": OPTIONS},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
}
ACTS: dict[str, Act] = {
    "test_tool_with_logging": log,
    "test_logging_tool": log,
    "test_tool_with_progress": progress,
    "test_sampling": sample,
    "test_elicitation": partial(elicit, USER),
    "test_elicitation_sep1034_defaults": partial(elicit, DEFAULTS),
    "test_elicitation_sep1330_enums": partial(elicit, CHOICES),
    "test_reconnection": cut_off,
}
TAKEN = {
    "test_sampling": object_schema(["prompt"], prompt=STRING),
    "test_elicitation": object_schema(["message"], message=STRING),
}


class Suite(FaceServer):
    """The server of the fixtures, which does by itself what its face cannot."""

    def __init__(self) -> None:
        self._acts = {
            **ACTS,
            "test_trigger_tool_change": self._change_tools,
            "test_trigger_prompt_change": self._change_prompts,
        }
        names = [*CONTENTS, *dialogues.TOOLS, *self._acts]
        self._fixtures = Fixtures({name: TAKEN.get(name, object_schema()) for name in names})
        super().__init__(self._fixtures)
        self.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=self.name))
        self.add_request_handler("tools/call", types.CallToolRequestParams, self._perform)
        self.add_request_handler("prompts/get", types.GetPromptRequestParams, self._prompt)
        self.add_request_handler("resources/read", types.ReadResourceRequestParams, self._read)
        self.add_request_handler("resources/subscribe", types.SubscribeRequestParams, _agree)
        self.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, _agree)
        self.add_request_handler("logging/setLevel", types.SetLevelRequestParams, _agree)

    async def _perform(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        if contents := CONTENTS.get(params.name):
            return types.CallToolResult(content=contents)
        if dialogue := dialogues.TOOLS.get(params.name):
            asked = dialogues.go_on(dialogue, params, ctx.session.client_capabilities)
            state = "state-ok" if dialogue.has_state else "no state"
            return asked or types.CallToolResult(content=[text(f"{state}, answers: {params.input_responses}")])
        if act := self._acts.get(params.name):
            return types.CallToolResult(content=[text(await act(ctx, params.arguments or {}))])
        return await self._call_tool(ctx, params)

    async def _change_tools(self, ctx: Context, arguments: Arguments) -> str:
        self._fixtures.change_tools()
        await self.announce(resources=False)
        return "The tools have changed."

    async def _change_prompts(self, ctx: Context, arguments: Arguments) -> str:
        self._fixtures.change_prompts()
        await self.announce(resources=False)
        return "The prompts have changed."

    async def _prompt(
        self, ctx: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        if (dialogue := dialogues.PROMPTS.get(params.name)) and (
            asked := dialogues.go_on(dialogue, params, ctx.session.client_capabilities)
        ):
            return asked
        result = await self._get_prompt(ctx, params)
        return result.model_copy(update={"messages": [*_attached(params), *result.messages]})

    async def _read(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        if params.uri != BINARY:
            return await self._read_resource(ctx, params)
        blob = types.BlobResourceContents(uri=BINARY, mime_type="image/png", blob=PNG)
        return types.ReadResourceResult(contents=[blob])


def _attached(params: types.GetPromptRequestParams) -> list[types.PromptMessage]:
    """Return what stands before the text of a prompt."""
    if params.name == "test_prompt_with_image":
        return [types.PromptMessage(role="user", content=IMAGE)]
    if params.name == "test_prompt_with_embedded_resource":
        uri = (params.arguments or {})["resourceUri"]
        content = embedded(uri, "text/plain", "Embedded resource content for testing.")
        return [types.PromptMessage(role="user", content=content)]
    return []


async def _agree(ctx: Context, params: types.RequestParams) -> types.EmptyResult:
    return types.EmptyResult()


def main() -> None:
    logs.configure("warning")
    with tempfile.TemporaryDirectory() as store:
        catalog = Catalog(Path(store))
        try:
            serve_http(Suite(), {}, catalog, None, Listen())
        finally:
            catalog.close()


if __name__ == "__main__":
    main()
