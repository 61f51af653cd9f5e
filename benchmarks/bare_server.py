"""The least an MCP server in Python can be: the SDK's own server and transport, and nothing to serve.

What it costs to start is what any server built on the SDK costs, so `ground.py` measures ours against it.
"""

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def main() -> None:
    server = Server("bare")
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
