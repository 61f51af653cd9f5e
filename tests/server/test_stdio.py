"""The server as a client meets it: a process, its standard input and output, and the protocol between."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import pytest

PATIENCE = 3.0  # seconds a server may take to leave

HOOK = """
import os, sys, time
folder, gate, noise = (os.environ.get(name, "") for name in ("WATCHED_FOLDER", "GATE", "NOISE"))
def wait():
    while gate and not os.path.exists(gate):
        time.sleep(0.005)
def note(event, arguments):
    if event == "fcntl.flock":
        os.write(2, b"waits for its turn\\n")
    if event == "import" and arguments[0] == "numpy":
        wait()
    if event == "open" and folder and str(arguments[0]).startswith(folder):
        os.write(2, b"opened\\n")
        wait()
        if noise:
            print("noise", flush=True)
            os.write(1, b"noise\\n")
            os.system("echo noise")
sys.addaudithook(note)
"""


class Client:
    """One conversation with a server."""

    def __init__(self, place: Path, *words: str, extra: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            command(*words),
            cwd=place,
            env=environment(place, extra),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        self.input: IO[bytes] = self.process.stdin
        self.output: IO[bytes] = self.process.stdout
        self.errors: IO[bytes] = self.process.stderr
        self.told: list[dict[str, Any]] = []  # notifications that came while waiting for an answer
        self.number = 0

    def write(self, data: bytes) -> None:
        self.input.write(data)
        self.input.flush()

    def send(self, method: str, number: int | None = None, **params: object) -> None:
        self.write(message(method, number, **params))

    def receive(self) -> dict[str, Any]:
        """Return the next message; it must be one line of JSON."""
        line = self.output.readline()
        assert line.endswith(b"\n")
        return dict(json.loads(line))

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """Send a request and return its answer."""
        self.number += 1
        self.send(method, self.number, **params)
        return self.answer(self.number)

    def answer(self, number: int) -> dict[str, Any]:
        while (found := self.receive()).get("id") != number:
            self.told.append(found)
        return found

    def greet(self) -> dict[str, Any]:
        answer = self.ask("initialize", **GREETING)
        self.send("notifications/initialized")
        return answer

    def call(self, name: str, **arguments: object) -> dict[str, Any]:
        return dict(self.ask("tools/call", name=name, arguments=arguments)["result"])

    def wait_for_error(self, text: bytes) -> None:
        """Wait until the server has said this on standard error."""
        for line in self.errors:
            if text in line:
                return
        pytest.fail(f"the server never said {text!r}")

    def leave(self, patience: float = PATIENCE) -> tuple[int, bytes, bytes]:
        """Close the input; return the exit code and what else was said."""
        output, errors = self.process.communicate(timeout=patience)
        return self.process.returncode, output, errors

    def end(self) -> None:
        """Make sure that nothing of the server is left."""
        self.process.kill()
        self.process.wait()
        for stream in (self.output, self.errors):
            stream.close()
        with suppress(OSError):  # what the server did not take
            self.input.close()


GREETING: dict[str, object] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
Connect = Callable[..., Client]


def message(method: str, number: int | None = None, **params: object) -> bytes:
    found: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(found if number is None else {**found, "id": number}).encode() + b"\n"


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "bookwheel", *words]


def environment(place: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("BOOKWHEEL_", "LANCEDB_"))}
    return {**kept, "BOOKWHEEL_EMBEDDER": "none", "XDG_DATA_HOME": str(place / "data"), **(extra or {})}


def furnish(place: Path) -> Path:
    (place / "docs").mkdir()
    (place / "docs" / "a.md").write_text("# Anchor\n\nAn anchor holds.\n")
    (place / "docs" / "b.md").write_text("# Bellows\n\nThey blow.\n")
    return place


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the documents to serve in `docs`."""
    return furnish(tmp_path.resolve())


@pytest.fixture
def connect(place: Path) -> Iterator[Connect]:
    """Give what starts a server and talks to it; whatever still runs at the end is killed."""
    clients: list[Client] = []

    def connect(*words: str, extra: Mapping[str, str] | None = None) -> Client:
        clients.append(Client(place, *(words or ("docs",)), extra=extra))
        return clients[-1]

    yield connect
    for client in clients:
        client.end()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A conversation that has begun, for tests that must not end it."""
    client = Client(furnish(tmp_path_factory.mktemp("lasting").resolve()), "docs", "--no-watch")
    client.greet()
    yield client
    client.end()


@pytest.fixture
def hooks(place: Path) -> dict[str, str]:
    """The environment of a server that tells which documents it opens."""
    (place / "hooks").mkdir()
    (place / "hooks" / "sitecustomize.py").write_text(HOOK)
    return {"PYTHONPATH": str(place / "hooks"), "WATCHED_FOLDER": str(place / "docs") + "/"}


def many(place: Path) -> None:
    """Add documents that take longer to index than a server may take to leave."""
    for number in range(1_000):
        (place / "docs" / f"{number}.md").write_text(
            f"# Page {number}\n\n" + " ".join(f"word{number * word}" for word in range(400))
        )


# a conversation


def test_a_client_is_greeted_and_answered(connect: Connect) -> None:
    client = connect()

    greeting = client.greet()["result"]
    tools = client.ask("tools/list")["result"]["tools"]
    found = client.call("search_documents", query="anchor")

    assert greeting["protocolVersion"] == "2025-06-18"
    assert greeting["serverInfo"].keys() >= {"name", "version"}
    assert greeting["capabilities"]["resources"] == {"listChanged": True} or "resources" in greeting["capabilities"]
    assert "search_documents" in [tool["name"] for tool in tools]
    assert found["structuredContent"]["matches"] == 1
    assert client.leave()[0] == 0


def test_requests_that_come_all_at_once_are_all_answered(connect: Connect) -> None:
    client = connect()
    client.greet()

    client.write(
        b"".join(
            message("tools/call", 100 + number, name="search_documents", arguments={"query": "anchor"})
            for number in range(50)
        )
    )
    answers = [client.receive() for _ in range(50 + 1)]  # one of them tells of the new list

    assert {one["id"] for one in answers if "id" in one} == set(range(100, 150))
    assert all(one["result"]["structuredContent"]["matches"] == 1 for one in answers if "id" in one)


def test_a_message_of_five_megabytes_is_answered(client: Client) -> None:
    found = client.call("search_documents", query="anchor " * 750_000)

    assert found["structuredContent"]["matches"] == 1


@pytest.mark.parametrize(
    "garbage",
    [
        b"this is no JSON",
        b"",
        b"   ",
        b"\xff\xfe\x00\x80",
        b"{}",
        b"[]",
        b"null",
        b'"text"',
        b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": {}, "method": 5}',
        b'{"jsonrpc": "2.0", "id": 77, "result": {}}',
        b'{"jsonrpc": "2.0", "method": "notifications/unheard-of"}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 999}}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"1" * 100_000,
    ],
    ids=lambda garbage: garbage[:20].decode("latin-1"),
)
def test_a_line_of_garbage_does_not_end_the_conversation(client: Client, garbage: bytes) -> None:
    client.write(garbage + b"\n")

    assert client.ask("ping")["result"] == {}


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("unheard/of", {}, -32601),
        ("tools/call", {"arguments": {}}, -32602),
        ("tools/call", {"name": "unheard_of", "arguments": {}}, -32602),
        ("resources/read", {"uri": "docs://absent.md"}, -32602),
        ("resources/read", {"uri": "docs://../store"}, -32602),
        ("resources/list", {"cursor": "not ours"}, -32602),
        ("resources/list", {"cursor": "é"}, -32602),
    ],
)
def test_a_request_that_cannot_be_met_is_answered_with_an_error(
    client: Client, method: str, params: dict[str, Any], code: int
) -> None:
    answer = client.ask(method, **params)

    assert answer["error"]["code"] == code
    assert client.ask("ping")["result"] == {}


def test_a_store_that_cannot_be_used_is_told_in_the_answer(connect: Connect) -> None:
    client = connect("docs", "--no-watch", "--store", "docs/a.md")
    client.greet()

    found = client.call("search_documents", query="anchor")

    assert found["isError"]
    assert "name another folder with --store" in found["content"][0]["text"]


def test_resources_come_in_pages_that_join_up(connect: Connect, place: Path) -> None:
    for number in range(450):
        (place / "docs" / f"{number:03}.md").write_text(f"# Page {number}\n")
    client = connect("docs", "--no-watch")
    client.greet()

    names: list[str] = []
    cursor: dict[str, object] = {}
    pages = 0
    while pages == 0 or cursor:
        page = client.ask("resources/list", **cursor)["result"]
        names += [one["uri"] for one in page["resources"]]
        cursor = {"cursor": page["nextCursor"]} if "nextCursor" in page else {}
        pages += 1

    assert names == [f"docs://{number:03}.md" for number in range(450)] + ["docs://a.md", "docs://b.md"]
    assert pages == 3


def test_the_first_index_and_later_changes_are_announced(connect: Connect, place: Path) -> None:
    client = connect()
    client.greet()

    first = client.receive()
    (place / "docs" / "c.md").write_text("# Cabinet\n")
    second = client.receive()

    assert first["method"] == second["method"] == "notifications/resources/list_changed"
    assert client.call("search_documents", query="cabinet")["structuredContent"]["matches"] == 1


# the greeting comes first


def test_a_client_is_greeted_before_anything_heavy_happens(
    connect: Connect, place: Path, hooks: dict[str, str]
) -> None:
    gate = place / "gate"
    client = connect(extra={**hooks, "GATE": str(gate)})

    greeting = client.greet()  # numpy and the documents wait behind the gate
    tools = client.ask("tools/list")
    gate.touch()
    found = client.call("search_documents", query="anchor")

    assert "serverInfo" in greeting["result"]
    assert tools["result"]["tools"]
    assert found["structuredContent"]["matches"] == 1


# other kinds of standard input and output


def talk() -> bytes:
    return (
        message("initialize", 1, **GREETING)
        + message("notifications/initialized")
        + message("tools/list", 2)
        + message("ping", 3)
    )


def answered(output: bytes) -> set[object]:
    return {json.loads(line).get("id") for line in output.splitlines()}


def test_a_plain_file_as_input_is_answered(place: Path) -> None:
    (place / "input").write_bytes(talk())

    with (place / "input").open("rb") as source:
        done = subprocess.run(
            command("docs"),
            cwd=place,
            env=environment(place),
            stdin=source,
            capture_output=True,
            timeout=30,
            check=False,
        )

    assert done.returncode == 0, done.stderr.decode()
    assert answered(done.stdout) >= {1, 2, 3}


def test_a_plain_file_as_output_receives_the_answers(place: Path) -> None:
    with (place / "output").open("wb") as target:
        done = subprocess.run(
            command("docs"),
            cwd=place,
            env=environment(place),
            input=talk(),
            stdout=target,
            stderr=subprocess.PIPE,
            timeout=30,
            check=False,
        )

    assert done.returncode == 0, done.stderr.decode()
    assert answered((place / "output").read_bytes()) >= {1, 2, 3}


def test_requests_sent_just_before_the_end_are_answered(place: Path) -> None:
    done = subprocess.run(
        command("docs"), cwd=place, env=environment(place), input=talk(), capture_output=True, timeout=30, check=False
    )

    assert done.returncode == 0, done.stderr.decode()
    assert answered(done.stdout) >= {1, 2, 3}


def test_prints_of_the_process_do_not_reach_the_client(connect: Connect, hooks: dict[str, str]) -> None:
    client = connect(extra={**hooks, "NOISE": "1"})
    client.greet()

    found = client.call("search_documents", query="anchor")
    code, output, errors = client.leave()

    assert found["structuredContent"]["matches"] == 1
    assert (code, b"noise" in output) == (0, False)
    assert errors.count(b"noise") == 6


# leaving


def test_a_server_whose_client_leaves_during_a_sync_ends_soon(
    connect: Connect, place: Path, hooks: dict[str, str]
) -> None:
    many(place)
    client = connect(extra=hooks)
    client.greet()
    client.wait_for_error(b"opened")

    code, _, errors = client.leave()

    assert code == 0
    assert b"Traceback" not in errors
    done = subprocess.run(
        command("ingest", "docs", "--json"), cwd=place, env=environment(place), capture_output=True, check=True
    )
    changes = json.loads(done.stdout)
    assert changes["indexed"] + changes["unchanged"] == 1_002


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_stop_ends_soon(
    connect: Connect, place: Path, hooks: dict[str, str], number: signal.Signals
) -> None:
    many(place)
    client = connect(extra=hooks)
    client.greet()
    client.wait_for_error(b"opened")

    client.process.send_signal(number)
    code = client.process.wait(PATIENCE)

    assert code == 0
    assert b"Traceback" not in client.errors.read()


def test_a_server_that_waits_for_the_sync_of_another_ends_soon(
    connect: Connect, place: Path, hooks: dict[str, str]
) -> None:
    subprocess.run(command("ingest", "docs"), cwd=place, env=environment(place), capture_output=True, check=True)
    (lock,) = (place / "data" / "bookwheel").glob("sync-*.lock")
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        client = connect(extra=hooks)
        client.greet()
        client.wait_for_error(b"waits for its turn")

        code, _, errors = client.leave()

    assert code == 0
    assert b"Traceback" not in errors


def test_a_server_that_is_told_to_stop_when_idle_ends_soon(connect: Connect) -> None:
    client = connect()
    client.greet()
    client.call("search_documents", query="anchor")

    client.process.send_signal(signal.SIGTERM)

    assert client.process.wait(PATIENCE) == 0


def test_a_client_that_stops_reading_does_not_hang_the_server(connect: Connect) -> None:
    client = connect("docs", "--no-watch")
    client.greet()
    client.output.close()

    client.send("tools/list", 50)
    client.input.close()

    assert client.process.wait(PATIENCE) is not None


def test_a_client_that_leaves_at_once_leaves_no_trace_of_trouble(connect: Connect) -> None:
    code, output, errors = connect().leave(10)

    assert (code, output) == (0, b"")
    assert b"Traceback" not in errors
