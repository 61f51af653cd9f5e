"""What every client is asked to do, and how it tells what came back: one line of JSON for each step.

Runs in the environments of the clients, so it needs nothing but Python.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any, Protocol

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Task:
    """A server, how to reach it, and what to ask it."""

    client: str
    transport: str  # stdio, sse or http
    era: str  # legacy or modern
    command: list[str]
    environment: dict[str, str]
    url: str
    headers: dict[str, str]
    calls: list[tuple[str, Arguments]]
    uris: list[str]
    prompt: str
    arguments: dict[str, str]


class Connection(Protocol):
    """A client that is connected; a text is what its user gets, with nothing around it."""

    async def protocol(self) -> str:
        """Return the version that is spoken."""

    async def tools(self) -> list[str]:
        """Return the names of the tools."""

    async def call(self, name: str, arguments: Arguments) -> str:
        """Return the text a tool answers with."""

    async def resources(self) -> list[str]:
        """Return the URIs of the resources."""

    async def read(self, uri: str) -> str:
        """Return the text of a resource."""

    async def prompts(self) -> list[str]:
        """Return the names of the prompts."""

    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        """Return the text of a prompt, filled in."""


def given() -> Task:
    """Return the task that this process was started for."""
    return Task(**json.loads(sys.argv[1]))


async def perform(task: Task, connection: Connection) -> None:
    """Do every step, and tell what came back."""

    def tell(step: str, came: object) -> None:
        line = {"client": task.client, "transport": task.transport, "step": step, "came": came}
        print(json.dumps(line), flush=True)

    tell("protocol", await connection.protocol())
    tell("tools", sorted(await connection.tools()))
    for name, arguments in task.calls:
        tell(f"call {name}", await connection.call(name, arguments))
    tell("resources", sorted(await connection.resources()))
    for uri in task.uris:
        tell(f"read {uri}", await connection.read(uri))
    tell("prompts", sorted(await connection.prompts()))
    tell("prompt", await connection.prompt(task.prompt, task.arguments))
