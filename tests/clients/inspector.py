"""The inspector on the command line: one start for each step, with an `mcpServers` file as people have it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from clients.task import Arguments, Task, given, perform

SERVER = "bookwheel"


class Connected:
    """A file that names the server, and the program that reads it."""

    def __init__(self, program: list[str], config: Path, era: str) -> None:
        self._home = {**os.environ, "HOME": str(config.parent)}  # where it would leave files of its own
        self._words = [*program, "--cli", "--config", str(config), "--server", SERVER, "--protocol-era", era]

    def ask(self, method: str, *words: str) -> Any:
        """Return the result of a request."""
        line = [*self._words, "--format", "json", "--quiet", "--method", method, *words]
        done = subprocess.run(line, capture_output=True, encoding="utf-8", env=self._home, timeout=60, check=False)
        if done.returncode:
            sys.exit(f"{method}: {done.stdout} {done.stderr}")
        return json.loads(done.stdout)["result"]

    async def protocol(self) -> str:
        """Return the version that is spoken."""
        return str(self.ask("initialize")["protocolVersion"])

    async def tools(self) -> list[str]:
        """Return the names of the tools."""
        return [one["name"] for one in self.ask("tools/list")["tools"]]

    async def call(self, name: str, arguments: Arguments) -> str:
        """Return the text a tool answers with."""
        words = ("--tool-name", name, "--tool-args-json", json.dumps(arguments))
        return "".join(one["text"] for one in self.ask("tools/call", *words)["content"])

    async def resources(self) -> list[str]:
        """Return the URIs of the resources."""
        return [one["uri"] for one in self.ask("resources/list")["resources"]]

    async def read(self, uri: str) -> str:
        """Return the text of a resource."""
        return "".join(one["text"] for one in self.ask("resources/read", "--uri", uri)["contents"])

    async def prompts(self) -> list[str]:
        """Return the names of the prompts."""
        return [one["name"] for one in self.ask("prompts/list")["prompts"]]

    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        """Return the text of a prompt, filled in."""
        pairs = [f"{key}={value}" for key, value in arguments.items()]
        messages = self.ask("prompts/get", "--prompt-name", name, "--prompt-args", *pairs)["messages"]
        return "".join(one["content"]["text"] for one in messages)


def reach(task: Task) -> dict[str, Any]:
    """Return the entry for the server."""
    if task.transport == "stdio":
        command, *arguments = task.command
        return {"command": command, "args": arguments, "env": task.environment}
    return {"type": task.transport, "url": task.url, "headers": task.headers}


def main(task: Task, program: list[str]) -> None:
    """Write the file and do the task."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "mcp.json")
        config.write_text(json.dumps({"mcpServers": {SERVER: reach(task)}}), "utf-8")
        asyncio.run(perform(task, Connected(program, config, task.era)))


if __name__ == "__main__":
    main(given(), sys.argv[2:])
