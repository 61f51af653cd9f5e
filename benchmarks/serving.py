"""Measure what serving costs, against the least server that the MCP SDK allows, and many clients at once.

    python benchmarks/serving.py [--json]

The search itself is not measured here but for the rows that say so. Servers are processes of their own; this one is
all their clients. Ends with 1 if a limit is missed.
"""

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from corpus import make_tree
from ground import Row, make_queries, table
from measure import PATIENCE, Client

SERVERS = Path(__file__).with_name("serving_servers.py")
CALLS = 200  # in a round
ROUNDS = 10
CLIENTS = 200
SEARCHING = 50
SEARCHES = 8  # of each of them
ERAS = ("2025-06-18", "2025-11-25", "2026-07-28")
MODERN = "2026-07-28"


@dataclass
class Visitor:
    """A client over HTTP in few lines, so that its own cost is small: one connection, one request at a time."""

    port: int
    version: str
    head: dict[str, str] = field(default_factory=dict)
    count: int = 0

    async def connect(self) -> "Visitor":
        """Open the connection and, in the older era, a session."""
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.head = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        if self.version != MODERN:
            who = {"name": "bench", "version": "1"}
            hello = {"protocolVersion": self.version, "capabilities": {}, "clientInfo": who}
            headers, _ = await self.exchange(
                "POST", {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
            )
            self.head["mcp-session-id"] = headers["mcp-session-id"]
        self.head["mcp-protocol-version"] = self.version
        if self.version != MODERN:
            await self.exchange("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    async def call(self, tool: str, **arguments: object) -> str:
        """Return what a tool answers, as the bytes of the wire. Raises RuntimeError if that is an error."""
        self.count += 1
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        extra = {}
        if self.version == MODERN:
            about = {"protocolVersion": self.version, "clientCapabilities": {}}
            params["_meta"] = {f"io.modelcontextprotocol/{name}": value for name, value in about.items()}
            extra = {"mcp-method": "tools/call", "mcp-name": tool}
        message = {"jsonrpc": "2.0", "id": self.count, "method": "tools/call", "params": params}
        _, body = await self.exchange("POST", message, extra)
        if '"result"' not in body or '"isError":true' in body:
            raise RuntimeError(body[:300])
        return body

    async def exchange(
        self, method: str, message: dict[str, Any], extra: dict[str, str] | None = None
    ) -> tuple[dict[str, str], str]:
        """Send one request and return the headers and the body of the answer."""
        body = json.dumps(message).encode()
        await self.send(method, {**self.head, **(extra or {}), "content-length": str(len(body))}, body)
        headers = await self.receive_head()
        return headers, (await self.receive_body(headers)).decode()

    async def listen(self) -> None:
        """Open the stream on which the server speaks first, on a connection of its own."""
        self.ears = Visitor(self.port, self.version)
        self.ears.reader, self.ears.writer = await asyncio.open_connection("127.0.0.1", self.port)
        await self.ears.send("GET", self.head, b"")
        await self.ears.receive_head()

    async def send(self, method: str, headers: dict[str, str], body: bytes) -> None:
        """Write one request."""
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.writer.write(f"{method} /mcp HTTP/1.1\r\nhost: localhost\r\n{lines}\r\n".encode() + body)
        await self.writer.drain()

    async def receive_head(self) -> dict[str, str]:
        """Return the headers of an answer. Raises RuntimeError if it is a refusal."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        if head[0].split()[1] not in {"200", "202"}:
            raise RuntimeError(head[0])
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}

    async def receive_body(self, headers: dict[str, str]) -> bytes:
        """Return the body that belongs to these headers."""
        if "content-length" in headers:
            return await self.reader.readexactly(int(headers["content-length"]))
        body = b""
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            body += await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)
        return body

    def close(self) -> None:
        """Leave without a word."""
        self.writer.close()
        if hasattr(self, "ears"):
            self.ears.close()


class Server(Client):
    """A server over HTTP, whose cost can be seen."""

    def __init__(self, *words: str, program: tuple[str, ...] = (sys.executable, str(SERVERS))) -> None:
        self.log = tempfile.NamedTemporaryFile()  # noqa: SIM115 - open as long as the server
        self.process = subprocess.Popen([*program, *words], stderr=self.log)
        while not (found := re.search(r"listening on http://\S+:(\d+)\n", Path(self.log.name).read_text())):
            time.sleep(0.05)
        self.port = int(found[1])

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.log.close()


# the cost of a call


def stdio() -> Iterator[Row]:
    """Call a tool that does nothing over standard input and output."""
    with echoing("ours") as ours, echoing("bare") as bare:
        costs = [(echo_cost(ours), echo_cost(bare)) for _ in range(ROUNDS)]
    yield Row(
        "a call over stdio, CPU", min(one[0] for one in costs) * 1000, "ms", 1.25, min(one[1] for one in costs) * 1000
    )


@contextmanager
def echoing(kind: str) -> Iterator[Client]:
    words = [sys.executable, str(SERVERS), kind, "stdio"]
    with open("/dev/null", "w") as null:
        client = Client.__new__(Client)
        client.started = time.perf_counter()
        client.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=null, bufsize=0)
        client.count, client.rest, client.changes = 0, b"", []
        with client:
            client.greet()
            yield client


def echo_cost(client: Client) -> float:
    before = client.cpu()
    for _ in range(CALLS):
        client.ask("tools/call", {"name": "echo", "arguments": {"text": "hello"}})
    return (client.cpu() - before) / CALLS


def http() -> Iterator[Row]:
    """Call it over HTTP, in each era."""
    with Server("ours", "http") as ours, Server("bare", "http") as bare:
        for era in ERAS:
            costs = [asyncio.run(compare(ours, bare, era)) for _ in range(ROUNDS)]
            best, floor = (min(one[side] for one in costs) * 1000 for side in (0, 1))
            yield Row(f"a call over HTTP, {era}, CPU", best, "ms", 1.25, floor)


async def compare(ours: Server, bare: Server, era: str) -> tuple[float, float]:
    return await cost(ours, era), await cost(bare, era)


async def cost(server: Server, era: str) -> float:
    visitor = await Visitor(server.port, era).connect()
    await visitor.call("echo", text="hello")
    before = server.cpu()
    for _ in range(CALLS):
        await visitor.call("echo", text="hello")
    spent = (server.cpu() - before) / CALLS
    visitor.close()
    return spent


# many clients


def crowd(work: Path) -> Iterator[Row]:
    """Search with one client, then with many at once, while many more are connected."""
    make_tree(work / "tree", files=900, megabytes=9.0)
    queries = make_queries(work / "tree")
    with Server("search", "http", str(work / "tree"), str(work / "store")) as server:
        yield from asyncio.run(visit(server, queries))


async def visit(server: Server, queries: list[str]) -> list[Row]:
    first = await Visitor(server.port, "2025-11-25").connect()
    await first.call("search_documents", query="wheel")
    server.settle()
    alone = [await timed(first, query) for query in queries]
    before = server.memory()[0]
    visitors = [await Visitor(server.port, "2025-11-25").connect() for _ in range(CLIENTS)]
    for visitor in visitors:
        await visitor.listen()
    each = (server.memory()[0] - before) / CLIENTS * 1000
    single = median(alone) * 1000
    rows = [Row("memory of an idle session", each, "kB", 200), Row("a search, one client, median", single, "ms")]
    others = [f"{one} {other}" for one in queries for other in queries[:10]]
    rows += await at_once(server, visitors, queries, "asked before", single)
    rows += await at_once(server, visitors, others, "new", single)
    for visitor in (first, *visitors):
        visitor.close()
    return rows


async def at_once(server: Server, visitors: list[Visitor], queries: list[str], kind: str, single: float) -> list[Row]:
    """Search with many clients, each with queries of its own, as fast as they are answered."""
    cpu = server.cpu()
    shares = (queries[n * SEARCHES % len(queries) :][:SEARCHES] for n in range(SEARCHING))
    together = await asyncio.gather(*map(some, visitors[:SEARCHING], shares))
    cpu = (server.cpu() - cpu) / sum(map(len, together)) * 1000
    times = [seconds for one in together for seconds in one if seconds >= 0]
    name = f"{SEARCHING} at once, {kind}"
    return [
        Row(f"{name}, median", median(times) * 1000, "ms", None, single),
        Row(f"{name}, 99 of 100", quantiles(times, n=100)[98] * 1000, "ms", 20, single),
        Row(f"{name}, CPU of one", cpu, "ms"),
        Row(f"{name}, errors", sum(map(len, together)) - len(times), "", 0),
    ]


async def some(visitor: Visitor, queries: list[str]) -> list[float]:
    return [await timed(visitor, query) for query in queries]


async def timed(visitor: Visitor, query: str) -> float:
    """Return the seconds a search takes; less than none if it fails."""
    begun = time.perf_counter()
    try:
        await visitor.call("search_documents", query=query)
    except (RuntimeError, OSError, asyncio.IncompleteReadError):
        return -1.0
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what serving costs.")
    parser.add_argument("--json", action="store_true", help="print data for programs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bookwheel-serving-") as work:
        rows = [*stdio(), *http(), *crowd(Path(work))]
    if options.json:
        print(json.dumps([{**asdict(row), "ratio": row.ratio, "verdict": row.verdict} for row in rows], indent=2))
    else:
        print(table(rows))
    sys.exit(any(row.verdict == "over" for row in rows))


if __name__ == "__main__":
    main()
