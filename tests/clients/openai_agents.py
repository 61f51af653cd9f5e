"""openai-agents: the tools as its agents call them, resources and prompts as its servers give them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from agents import Agent, RunContextWrapper
from agents.mcp import MCPServerSse, MCPServerStdio, MCPServerStreamableHttp
from agents.tool_context import ToolContext

from clients.task import Arguments, Task, given, perform

OVER_HTTP = {"sse": MCPServerSse, "http": MCPServerStreamableHttp}


class Connected:
    """A connected server, and an agent that has its tools; no model is asked."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._agent = Agent(name="reader", mcp_servers=[server])

    async def protocol(self) -> str:
        """Return the version that is spoken."""
        return str(self._server.session.protocol_version)

    async def tools(self) -> list[str]:
        """Return the names of the tools."""
        return [tool.name for tool in await self._agent.get_mcp_tools(RunContextWrapper(None))]

    async def call(self, name: str, arguments: Arguments) -> str:
        """Return the text a tool answers with."""
        words = json.dumps(arguments)
        context = ToolContext(None, tool_name=name, tool_call_id="1", tool_arguments=words)
        (tool,) = [tool for tool in await self._agent.get_mcp_tools(context) if tool.name == name]
        return str((await tool.on_invoke_tool(context, words))["text"])

    async def resources(self) -> list[str]:
        """Return the URIs of the resources."""
        return [str(one.uri) for one in (await self._server.list_resources()).resources]

    async def read(self, uri: str) -> str:
        """Return the text of a resource."""
        return "".join(one.text for one in (await self._server.read_resource(uri)).contents)

    async def prompts(self) -> list[str]:
        """Return the names of the prompts."""
        return [one.name for one in (await self._server.list_prompts()).prompts]

    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        """Return the text of a prompt, filled in."""
        return "".join(one.content.text for one in (await self._server.get_prompt(name, arguments)).messages)


async def main(task: Task) -> None:
    """Connect and do the task."""
    async with reach(task) as server:
        await perform(task, Connected(server))


def reach(task: Task) -> Any:
    """Return the way to the server."""
    if task.transport == "stdio":
        command, *arguments = task.command
        return MCPServerStdio({"command": command, "args": arguments, "env": task.environment})
    return OVER_HTTP[task.transport]({"url": task.url, "headers": task.headers})


if __name__ == "__main__":
    asyncio.run(main(given()))
