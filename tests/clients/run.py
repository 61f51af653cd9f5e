"""Run every client over every transport against the real program, and compare what came back with what is served.

    python -m clients.run [PART OF A CLIENT'S NAME…]

Prints a table, then what was wrong; all lines are kept in `.clients/lines.jsonl`. Exits with 1 if anything was wrong.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from clients import environments
from clients.task import Task
from contracts.harness import WORDS_ALONE, Files, write
from contracts.sources import ENTRIES, LIBRARY, configure
from contracts.web import hosting

PROGRAM = Path(sys.executable).with_name("bookwheel")
TESTS = Path(__file__).parents[1]
PATIENCE = 300  # seconds for all steps of one client over one transport
KEY = "k3y-1"
REFUSED = re.compile(r"\b401\b|Unauthorized|auth_required|the key is missing")  # as each client has it
SPOKEN = {"legacy": "2025-11-25", "modern": "2026-07-28"}

NOTES: Files = {
    "README.md": "# Notes\n\nThese notes tell of an anchor.\n",
    "guides/setup.md": "# Setup Guide\n\nA working periscope.\n\n## Repairs\n\nAsk the “glazier” – twice.\n",
    "Über uns [1].md": "# Über uns\n\nEin Verein für 望遠鏡.\n",
}
URIS = {
    "docs://README.md": NOTES["README.md"],
    "docs://%C3%9Cber%20uns%20%5B1%5D.md": NOTES["Über uns [1].md"],
    "acdc://docs/sub%20folder/my%20file%5B1%5D%20%C3%BC%20%23": "The quokka sleeps.\n",
}
CALLS: list[tuple[str, dict[str, Any], str]] = [  # what the answer must contain
    ("search_documents", {"query": "periscope", "limit": 3}, "1. docs://guides/setup.md"),
    (
        "read_sections",
        {"filename": "notes/guides/setup.md", "section_ids": ["setup-guide/repairs"]},
        "“glazier” – twice",
    ),
    ("read", {"uri": "acdc://wiki/guide"}, "Nothing but a submarine.\n"),
]
EXPECTED: dict[str, Any] = {
    "tools": sorted(
        [
            *("list_documentation_files", "read", "read_sections", "search", "search_documents", "table_of_contents"),
            *("ingest_content", "ingest_file", "ingest_folder", "ingest_url", "delete_document", "get_document"),
            *("list_documents", "list_libraries", "server_info"),
        ]
    ),
    "resources": sorted([*(one["uri"] for one in ENTRIES), "docs://guides/setup.md", *list(URIS)[:2]]),
    **{f"read {uri}": text for uri, text in URIS.items()},
    "prompts": ["docs:code-review", "wiki:code-review"],
    "prompt": "Review this Python code:\n\nprint('ü')\n",
}


@dataclass(frozen=True, slots=True)
class Client:
    """A program that others wrote, behind a driver of ours."""

    name: str
    era: str
    words: list[str]  # the driver; the task follows
    more: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Its name, and the version of the protocol it speaks."""
        return f"{self.name}, {SPOKEN[self.era]}"


@dataclass(frozen=True, slots=True)
class Place:
    """A way to the server."""

    name: str
    transport: str
    command: tuple[str, ...] = ()
    url: str = ""
    headers: Mapping[str, str] | None = None
    closed: bool = False  # to whom comes this way


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one client in one place."""

    client: Client
    place: Place
    lines: list[str]
    faults: list[str]


def clients() -> list[Client]:
    """Return every client, having made its environment."""
    node, own = environments.node(), [sys.executable, "-m"]
    langchain = environments.python("langchain", environments.LANGCHAIN)
    agents = environments.python("openai-agents", environments.OPENAI_AGENTS)
    typescript = [node, str(environments.home() / "typescript.mjs")]
    sdk, client, inspector = map(environments.shown, environments.NODE_PACKAGES)
    return [
        *_eras(f"Python mcp {version('mcp')}", [*own, "clients.python_sdk"]),
        Client(_pinned(environments.LANGCHAIN), "legacy", [langchain, "-m", "clients.langchain"]),
        Client(_pinned(environments.OPENAI_AGENTS), "modern", [agents, "-m", "clients.openai_agents"]),
        Client(f"TypeScript {sdk}", "legacy", typescript, ("sdk",)),
        *_eras(f"TypeScript {client}", typescript, "client"),
        *_eras(inspector, [*own, "clients.inspector"], node, environments.inspector()),
    ]


def _eras(name: str, words: list[str], *more: str) -> list[Client]:
    return [Client(name, era, words, more) for era in SPOKEN]


def _pinned(pins: tuple[str, ...]) -> str:
    name, sdk = map(environments.shown, pins)
    return f"{name} ({sdk})"


@contextmanager
def places(base: Path) -> Iterator[list[Place]]:
    """Give every way to a folder and an organisation's sources, open and with a key."""
    write(base / "notes", NOTES)
    config = configure(base / "content", LIBRARY)
    served = (str(base / "notes"), "--config", str(config), "--store", str(base / "store"))
    http = (*served, "--transport", "http", "--port", "0")
    headers = {"X-API-Key": KEY}
    with hosting(*http, cwd=base) as free, hosting(*http, "--auth-type", "apikey", "-k", KEY, cwd=base) as locked:
        yield [
            Place("stdio", "stdio", (str(PROGRAM), "serve", *served)),
            Place("sse", "sse", url=free.url + "/sse"),
            Place("http", "http", url=free.url + "/mcp"),
            Place("sse, key", "sse", url=locked.url + "/sse", headers=headers),
            Place("http, key", "http", url=locked.url + "/mcp", headers=headers),
            Place("http, no key", "http", url=locked.url + "/mcp", closed=True),
        ]


def visit(client: Client, place: Place) -> Outcome:
    """Let a client do its task in a place."""
    task = Task(
        client=client.title,
        transport=place.transport,
        era=client.era,
        command=list(place.command),
        environment=WORDS_ALONE,
        url=place.url,
        headers=dict(place.headers or {}),
        calls=[(name, arguments) for name, arguments, _ in CALLS],
        uris=list(URIS),
        prompt="docs:code-review",
        arguments={"language": "Python", "code": "print('ü')"},
    )
    words = [*client.words, json.dumps(asdict(task)), *client.more]
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "NO_PROXY": "127.0.0.1"}
    try:
        done = subprocess.run(
            words, capture_output=True, encoding="utf-8", env=environment, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return Outcome(client, place, [], [f"is not done after {PATIENCE} s"])
    lines = [line for line in done.stdout.split("\n") if line.startswith("{")]
    if place.closed:
        faults = [] if REFUSED.search(done.stderr) and not lines else ["expected to be refused"]
    else:
        faults = list(compare(client, lines))
    if faults or bool(done.returncode) != place.closed:
        faults.append(f"ended with {done.returncode}: {done.stderr[-3000:]}")
    return Outcome(client, place, lines, faults)


def compare(client: Client, lines: list[str]) -> Iterator[str]:
    """Yield what is missing or different."""
    came = {told["step"]: told["came"] for told in map(json.loads, lines)}
    wanted = {"protocol": SPOKEN[client.era], **EXPECTED}
    parts = {f"call {name}": part for name, _, part in CALLS}
    if missing := [step for step in (*wanted, *parts) if step not in came]:
        yield f"nothing came for {', '.join(missing)}"
    for step, value in came.items():
        if step in parts and parts[step] not in value:
            yield f"{step}: expected {parts[step]!r} in it, {value!r} came"
        if step in wanted and wanted[step] != value:
            yield f"{step}: expected {wanted[step]!r}, {value!r} came"


def table(outcomes: list[Outcome]) -> str:
    """Return who went where, and how it went."""
    columns = list(dict.fromkeys(one.place.name for one in outcomes))
    marks = {(one.client.title, one.place.name): mark(one) for one in outcomes}
    rows = [[name, *(marks[name, column] for column in columns)] for name in dict.fromkeys(name for name, _ in marks)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [["client", *columns], ["---"] * (len(columns) + 1), *rows])


def mark(outcome: Outcome) -> str:
    """Return how it went, in a word."""
    if outcome.faults:
        return "WRONG"
    return "refused" if outcome.place.closed else "yes"


def main() -> int:
    """Run all, or the clients that are named."""
    parts = sys.argv[1:]
    chosen = [one for one in clients() if not parts or any(part in one.title for part in parts)]
    with tempfile.TemporaryDirectory() as base, places(Path(base)) as found, ThreadPoolExecutor(2) as pool:
        pairs = [(client, place) for client in chosen for place in found]
        outcomes = list(pool.map(lambda pair: visit(*pair), pairs))
    (environments.FOLDER / "lines.jsonl").write_text("".join(f"{line}\n" for one in outcomes for line in one.lines))
    print(table(outcomes))
    for one in outcomes:
        for fault in one.faults:
            print(f"\n{one.client.title}, {one.place.name}: {fault}")
    return int(not outcomes or any(one.faults for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
