"""What the contract tests stand on: folders of files, clients that are not asynchronous, and the bare wire."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import mcp_types as types
import pytest
from anyio.from_thread import BlockingPortal
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.session import MessageHandlerFnT

from bookwheel import formats
from bookwheel.catalog import Catalog
from bookwheel.faces.base import Face
from bookwheel.folders import Folder, folder_for
from bookwheel.server.mcp import FaceServer

ERAS = {"handshake": "legacy", "modern": "auto"}  # how the SDK's client is told to speak
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
PROMPT = 2.0  # seconds in which a change must be told
PATIENCE = 30.0  # seconds after which an answer is not coming any more

Files = Mapping[str, str | bytes]
Json = dict[str, Any]
Value = TypeVar("Value")

WORDS_ALONE = {"BOOKWHEEL_EMBEDDER": "none"}  # vectors may re-order answers; the contracts do not speak of them


def requirement(*ids: str) -> pytest.MarkDecorator:
    """Mark a test as proof of the requirements of these ids."""
    return pytest.mark.requirement(*ids)


def write(folder: Path, files: Files) -> Path:
    """Write the files into the folder, text as UTF-8 and its line ends as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def spoil(folder: Path) -> Path:
    """Put into the folder what a careless or malicious hand might: names and files that cannot be served well."""
    odd = "title: {a: [b]}\ndescription: 2024-13-40\ntags: 5\nkeywords: {x: .nan}\nbinary: !!binary aGk=\n1: 2\n"
    write(folder, {"binary.md": bytes(range(256)) * 8, "odd.md": f"---\n{odd}---\n", "new\nline.md": "# N\n"})
    (folder / "nowhere.md").symlink_to(folder / "absent.md")
    (folder / "circle.md").symlink_to(folder / "circle.md")
    (folder / "folder.md").mkdir()
    os.mkfifo(folder / "pipe.md")
    with open(os.fsencode(folder) + b"/\xff.md", "wb") as unnamed:
        unnamed.write(b"# U\n")
    with open(folder / "huge.md", "wb") as huge:
        huge.truncate(10_485_761)
    return folder


# the product, in this process and as a program


def catalog_of(
    root: Path,
    store: Path,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    max_file_size: int = 10_485_760,
) -> Catalog:
    """Return the indexed catalog of a folder, as the command line makes it."""
    readable = frozenset(formats.READERS)
    options = Folder(Path("/"), "", tuple(include), tuple(exclude), readable, max_file_size)
    catalog = Catalog(store, [folder_for(root, root.name, options)])
    catalog.sync()
    return catalog


def command(*arguments: str | Path) -> list[str]:
    """Return the program with its arguments."""
    return [sys.executable, "-m", "bookwheel", *map(str, arguments)]


def refused(
    *arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Start the program where it should not start, and return what it said; nobody speaks to it."""
    return subprocess.run(
        command("serve", *arguments),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **WORDS_ALONE, **(env or {})},
        timeout=PATIENCE,
        check=False,
    )


# a client that waits for its answers


@dataclass(frozen=True)
class Answer:
    """What a tool said."""

    texts: list[str]
    data: Json | None
    error: bool = False

    @property
    def text(self) -> str:
        """The one text there is."""
        (text,) = self.texts
        return text


@dataclass
class Reader:
    """A connected client: every method waits for the answer and returns it as the protocol's own JSON."""

    portal: BlockingPortal
    client: Client
    folder: Path
    notices: queue.Queue[object] = field(default_factory=queue.Queue)
    log: Path | None = None

    def page(self, cursor: str | None = None) -> tuple[list[Json], str | None]:
        """Return some resources, and the cursor of the next ones."""
        result = self.portal.call(lambda: self.client.list_resources(cursor=cursor))
        return [plain(one) for one in result.resources], result.next_cursor

    def pages(self) -> list[list[Json]]:
        """Return all resources, page by page."""
        found, cursor = self.page()
        pages = [found]
        while cursor:
            found, cursor = self.page(cursor)
            pages.append(found)
        return pages

    def resources(self) -> list[Json]:
        """Return all resources in the order of their URIs."""
        return sorted((one for page in self.pages() for one in page), key=lambda one: str(one["uri"]))

    def resource(self) -> Json:
        """Return the one resource there is."""
        (one,) = self.resources()
        return one

    def read(self, uri: str) -> list[Json]:
        """Return the contents of a resource."""
        result = self.portal.call(lambda: self.client.read_resource(uri))
        return [plain(one) for one in result.contents]

    def text(self, uri: str) -> str:
        """Return the text of a resource."""
        (content,) = self.read(uri)
        return str(content["text"])

    def tools(self) -> list[Json]:
        """Return the tools as far as a specification defines them: name, description, input schema."""
        result = self.portal.call(self.client.list_tools)
        return [
            {key: one[key] for key in ("name", "description", "inputSchema")}
            for one in (plain(tool) for tool in result.tools)
        ]

    def call(self, name: str, /, **arguments: object) -> Answer:
        """Call a tool."""
        result = self.portal.call(lambda: self.client.call_tool(name, arguments))
        texts = [one.text for one in result.content if isinstance(one, types.TextContent)]
        return Answer(texts, result.structured_content, bool(result.is_error))

    def prompts(self) -> list[Json]:
        """Return the prompts in the order of their names."""
        result = self.portal.call(self.client.list_prompts)
        return sorted((plain(one) for one in result.prompts), key=lambda one: str(one["name"]))

    def prompt(self, name: str, /, **arguments: str) -> Json:
        """Return a prompt, filled in."""
        return plain(self.portal.call(lambda: self.client.get_prompt(name, arguments)))

    def said(self) -> str:
        """Return what the server has logged so far."""
        return self.log.read_text("utf-8", "replace") if self.log else ""

    def refusal(self, ask: Callable[[], object]) -> types.ErrorData:
        """Return the protocol's error that asking leads to."""
        with pytest.raises(MCPError) as caught:
            ask()
        return caught.value.error

    def await_change(self, told: Callable[[], bool], kind: str = "Resource") -> None:
        """Wait until a notification of that kind has come after which *told* holds; fail if that takes too long."""
        end = time.monotonic() + PROMPT
        while True:
            try:
                notice = self.notices.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                pytest.fail(f"no {kind} list_changed that tells of the change within {PROMPT} s")
            if type(notice).__name__.startswith(kind) and told():
                return


def plain(model: Any) -> Json:
    """Return a message of the protocol as JSON, without what is not set."""
    value: Json = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return value


@contextmanager
def reading(portal: BlockingPortal, face: Face, folder: Path, era: str = "handshake") -> Iterator[Reader]:
    """Give a client of a face in this process."""

    @asynccontextmanager
    async def connect() -> AsyncIterator[Client]:
        async with Client(FaceServer(face), mode=ERAS[era], cache=None) as client:
            yield client

    with portal.wrap_async_context_manager(connect()) as client:
        yield Reader(portal, client, folder)


@contextmanager
def serving(
    portal: BlockingPortal,
    folder: Path,
    log: Path,
    *arguments: str | Path,
    mode: str = "legacy",
    cwd: Path | None = None,
    prefix: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> Iterator[Reader]:
    """Start the program and give a client connected to it over standard input and output; it logs to *log*."""
    notices: queue.Queue[object] = queue.Queue()
    words = [*prefix, *command("serve", *arguments)]
    environment = {**WORDS_ALONE, **(env or {})}
    parameters = StdioServerParameters(command=words[0], args=words[1:], cwd=cwd, env=environment)

    @asynccontextmanager
    async def connect(errors: Any) -> AsyncIterator[Client]:
        transport = stdio_client(parameters, errlog=errors)
        async with Client(transport, mode=mode, cache=None, message_handler=noting(notices)) as client:
            yield client

    with open(log, "w") as errors, portal.wrap_async_context_manager(connect(errors)) as client:
        yield Reader(portal, client, folder, notices, log)


def noting(notices: queue.Queue[object]) -> MessageHandlerFnT:
    """Return what keeps the notifications of changed lists."""

    async def note(message: object) -> None:
        if isinstance(message, types.ResourceListChangedNotification | types.PromptListChangedNotification):
            notices.put(message)

    return note


@contextmanager
def listening(reader: Reader) -> Iterator[None]:
    """Put what a modern client hears of changes where a handshake client's notifications go."""
    stream: AbstractAsyncContextManager[Any] = reader.client.listen(
        resources_list_changed=True, prompts_list_changed=True
    )

    async def pass_on(subscription: Any) -> None:
        async for event in subscription:
            reader.notices.put(event)

    with reader.portal.wrap_async_context_manager(stream) as subscription:
        task = reader.portal.start_task_soon(pass_on, subscription)
        yield
        task.cancel()


def eventually(look: Callable[[], Value], wanted: Value, patience: float = PROMPT) -> None:
    """Ask again and again until the answer is the wanted one; fail with the last answer."""
    end = time.monotonic() + patience
    found = look()
    while found != wanted and time.monotonic() < end:
        found = look()
    assert found == wanted


# the bare wire


class Wire:
    """A running server, line by line, as a client sees it that was written from the protocol's page alone."""

    def __init__(self, log: Path, *arguments: str | Path, cwd: Path | None = None) -> None:
        self.lines: list[bytes] = []
        self.log = log
        self._arrived: queue.Queue[bytes] = queue.Queue()
        with open(log, "wb") as errors:
            self.process = subprocess.Popen(
                command("serve", *arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=cwd,
                env={**os.environ, **WORDS_ALONE, "PYTHONUNBUFFERED": "1"},
            )
        self._thread = threading.Thread(target=self._receive)
        self._thread.start()

    def _receive(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line)
            self._arrived.put(line)
        self._arrived.put(b"")  # the end

    def send(self, *lines: bytes) -> None:
        """Write lines in one go."""
        assert self.process.stdin
        self.process.stdin.write(b"".join(line + b"\n" for line in lines))
        self.process.stdin.flush()

    def answer(self, number: int) -> Json:
        """Return the response to the request of that number; what else comes is left out."""
        while True:
            line = self._arrived.get(timeout=PATIENCE)
            if not line:
                pytest.fail(f"the server has left: {self.log.read_text('utf-8', 'replace')[-2000:]}")
            message: Json = json.loads(line)
            if message.get("id") == number:
                return message

    def leave(self) -> None:
        """Say no more, so that the server ends."""
        assert self.process.stdin
        with suppress(BrokenPipeError):
            self.process.stdin.close()

    def close(self) -> int:
        """Leave, and return what the server says when it ends."""
        assert self.process.stdout
        self.leave()
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self._thread.join(PATIENCE)
            self.process.stdout.close()


@contextmanager
def wired(log: Path, *arguments: str | Path, cwd: Path | None = None) -> Iterator[Wire]:
    """Start the program and give the bare wire to it."""
    wire = Wire(log, *arguments, cwd=cwd)
    try:
        yield wire
    finally:
        wire.close()


def request(number: int, method: str, **params: object) -> bytes:
    """Return a request as a line."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


def handshake(version: str) -> tuple[bytes, bytes]:
    """Return the two lines with which a client of that version begins; the request has the number 0."""
    who = {"name": "contract-test", "version": "1"}
    hello = request(0, "initialize", protocolVersion=version, capabilities={}, clientInfo=who)
    return hello, json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()
