"""Hold a conversation with the server over the sample library, and show what an agent gets.

Starts the real server as a client would, over standard input and output, in a store of its own that is
removed at the end.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters

LIBRARY = Path(__file__).parent / "library"
PROGRAM = Path(sys.executable).with_name("bookwheel")
QUESTION = "Why does the wheel stop with E-1042?"


def main() -> None:
    """Run the conversation and end with what to paste into a client's configuration."""
    with tempfile.TemporaryDirectory(prefix="bookwheel-demo-") as store:
        anyio.run(converse, store)
    say("To give this library to your own agent, paste this into its MCP configuration:")
    print(json.dumps(configuration(), indent=2))


async def converse(store: str) -> None:
    """Ask the server what an agent would ask it."""
    arguments = ["serve", str(LIBRARY), "--store", store, "--log-level", "warning"]
    chosen = {name: value for name, value in os.environ.items() if name.startswith("BOOKWHEEL_")}
    server = StdioServerParameters(command=str(PROGRAM), args=arguments, env=chosen)
    async with Client(server) as client:
        tools = await client.list_tools()
        say(f"The server offers {len(tools.tools)} tools: {', '.join(tool.name for tool in tools.tools)}")
        resources = await client.list_resources()
        say(f"It lists {len(resources.resources)} documents. The first three:")
        for one in resources.resources[:3]:
            show(f"{one.uri}\n{one.title}: {one.description}")
        say(f"An agent is asked: {QUESTION}")
        found = await call(client, "search_documents", query=QUESTION, limit=3)
        show(found)
        filename = "manual/troubleshooting.md"
        say(f"It looks at the table of contents of {filename} before it reads:")
        contents = json.loads(await call(client, "table_of_contents", filename=filename))
        for one in contents:
            show(f"{'  ' * (one['level'] - 1)}{one['title']}  ({one['character_count']} characters)")
        wanted = next(one for one in contents if one["title"].startswith("E-1042"))
        say(f"It reads one section, {wanted['character_count']} characters of {contents[0]['character_count']}:")
        sections = json.loads(await call(client, "read_sections", filename=filename, section_ids=[wanted["id"]]))
        show(sections[0]["content"])


async def call(client: Client, tool: str, **arguments: Any) -> str:
    """Call a tool and return the text it answers with."""
    print(f"\n    → {tool} {json.dumps(arguments)}")
    result = await client.call_tool(tool, arguments)
    return str(getattr(result.content[0], "text", ""))


def configuration() -> dict[str, Any]:
    """Return the entry for a client's configuration file."""
    return {"mcpServers": {"bookwheel": {"command": str(PROGRAM.absolute()), "args": ["serve", str(LIBRARY)]}}}


def say(line: str) -> None:
    """Print what happens next."""
    print(f"\n{line}")


def show(text: str) -> None:
    """Print what the server said."""
    for line in text.split("\n"):
        print(textwrap.fill(line, 110, initial_indent="    ", subsequent_indent="    ") if line.strip() else "")


if __name__ == "__main__":
    main()
