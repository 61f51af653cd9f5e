"""langchain-mcp-adapters: its tools as an agent calls them, its blobs and its messages."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_mcp_adapters.client import MultiServerMCPClient

from clients.task import Arguments, Task, given, perform

SERVER = "bookwheel"


class Connected:
    """A client that connects anew for each step, as this one does."""

    def __init__(self, client: MultiServerMCPClient) -> None:
        self._client = client

    async def protocol(self) -> str:
        """Return the version that is spoken."""
        return str((await self._client.get_server_info())[SERVER].protocolVersion)

    async def tools(self) -> list[str]:
        """Return the names of the tools."""
        return [tool.name for tool in await self._client.get_tools()]

    async def call(self, name: str, arguments: Arguments) -> str:
        """Return the text a tool answers with."""
        (tool,) = [tool for tool in await self._client.get_tools() if tool.name == name]
        return "".join(block["text"] for block in await tool.ainvoke(arguments))

    async def resources(self) -> list[str]:
        """Return the URIs of the resources, having read them all."""
        return [str(blob.metadata["uri"]) for blob in await self._client.get_resources(SERVER)]

    async def read(self, uri: str) -> str:
        """Return the text of a resource."""
        return "".join(blob.as_string() for blob in await self._client.get_resources(SERVER, uris=uri))

    async def prompts(self) -> list[str]:
        """Return the names of the prompts, for which it has no call of its own."""
        async with self._client.session(SERVER) as session:
            return [prompt.name for prompt in (await session.list_prompts()).prompts]

    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        """Return the text of a prompt, filled in."""
        messages = await self._client.get_prompt(SERVER, name, arguments=arguments)
        return "".join(str(message.content) for message in messages)


def reach(task: Task) -> dict[str, Any]:
    """Return the entry for the server."""
    if task.transport == "stdio":
        command, *arguments = task.command
        return {"transport": "stdio", "command": command, "args": arguments, "env": task.environment}
    return {"transport": task.transport, "url": task.url, "headers": task.headers}


if __name__ == "__main__":
    task = given()
    asyncio.run(perform(task, Connected(MultiServerMCPClient({SERVER: reach(task)}))))
