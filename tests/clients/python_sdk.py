"""The Python SDK's `Client`."""

from __future__ import annotations

from typing import Any

import anyio
import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from clients.task import Arguments, Task, given, perform

MODES = {"legacy": "legacy", "modern": "auto"}


class Connected:
    """A connection of this client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def protocol(self) -> str:
        """Return the version that is spoken."""
        return str(self._client.protocol_version)

    async def tools(self) -> list[str]:
        """Return the names of the tools."""
        return [one.name for one in (await self._client.list_tools()).tools]

    async def call(self, name: str, arguments: Arguments) -> str:
        """Return the text a tool answers with."""
        result = await self._client.call_tool(name, arguments)
        return "".join(one.text for one in result.content if isinstance(one, types.TextContent))

    async def resources(self) -> list[str]:
        """Return the URIs of the resources."""
        return [one.uri for one in (await self._client.list_resources()).resources]

    async def read(self, uri: str) -> str:
        """Return the text of a resource."""
        result = await self._client.read_resource(uri)
        return "".join(one.text for one in result.contents if isinstance(one, types.TextResourceContents))

    async def prompts(self) -> list[str]:
        """Return the names of the prompts."""
        return [one.name for one in (await self._client.list_prompts()).prompts]

    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        """Return the text of a prompt, filled in."""
        result = await self._client.get_prompt(name, arguments)
        return "".join(one.content.text for one in result.messages if isinstance(one.content, types.TextContent))


async def main(task: Task) -> None:
    """Connect and do the task."""
    async with (
        httpx2.AsyncClient(headers=task.headers) as http,
        Client(reach(task, http), mode=MODES[task.era]) as client,
    ):
        await perform(task, Connected(client))


def reach(task: Task, http: httpx2.AsyncClient) -> Any:
    """Return the way to the server."""
    if task.transport == "stdio":
        command, *arguments = task.command
        return StdioServerParameters(command=command, args=arguments, env=task.environment)
    return (
        sse_client(task.url, task.headers)
        if task.transport == "sse"
        else streamable_http_client(task.url, http_client=http)
    )


if __name__ == "__main__":
    anyio.run(main, given())
