"""A client that watches what its server costs, and single jobs that a fresh process does and times.

python benchmarks/measure.py JOB ARGUMENT…        prints what the job found as JSON
"""

import atexit
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from select import select
from typing import Any

HERE = Path(__file__).parent
BOOKWHEEL = Path(sys.executable).with_name("bookwheel")
BARE = [sys.executable, str(HERE / "bare_server.py")]
PATIENCE = 60.0  # seconds an answer may take before the benchmark gives up
GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "ground", "version": "1"}}
SUFFIXES = frozenset({".md", ".markdown", ".mdx", ".html", ".htm", ".txt", ".text", ".rst", ".org"})
CHANGED = "notifications/resources/list_changed"


def serving(tree: Path, store: Path) -> list[str]:
    """Return the command that serves a tree."""
    options = ["--store", str(store), "--embedder", "none", "--log-level", "error"]  # by words: search.py has the model
    return [str(BOOKWHEEL), "serve", str(tree), *options]


class Client:
    """Speaks raw JSON-RPC with a server it starts, so that only the server's own cost is seen."""

    def __init__(self, command: list[str]) -> None:
        self.started = time.perf_counter()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.count = 0
        self.rest = b""
        self.changes: list[float] = []  # when the server said that its list of resources has changed

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(PATIENCE)

    def greet(self) -> tuple[float, float]:
        """Shake hands; return the seconds and the CPU seconds from the start to the answer."""
        self.ask("initialize", GREETING)
        spent = time.perf_counter() - self.started, self.cpu()
        self.tell("notifications/initialized")
        return spent

    def search(self, query: str, limit: int = 10) -> dict[str, Any]:
        """Return what the search tool answers, as data."""
        result = self.ask("tools/call", {"name": "search_documents", "arguments": {"query": query, "limit": limit}})
        found: dict[str, Any] = result["structuredContent"]
        return found

    def pages(self) -> Iterator[list[dict[str, Any]]]:
        """Yield the list of resources, page by page."""
        cursor: str | None = ""
        while cursor is not None:
            page = self.ask("resources/list", {"cursor": cursor} if cursor else {})
            yield page["resources"]
            cursor = page.get("nextCursor")

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the result of one request. Raises RuntimeError if the server answers with an error."""
        self.count += 1
        self.send({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params})
        while (message := self.receive()).get("id") != self.count:
            pass
        if "result" not in message:
            raise RuntimeError(f"{method}: {message['error']['message']}")
        result: dict[str, Any] = message["result"]
        return result

    def tell(self, method: str) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method})

    def send(self, message: dict[str, Any]) -> None:
        """Write one message."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    def receive(self, patience: float = PATIENCE) -> dict[str, Any]:
        """Return the next message. Raises TimeoutError if none comes in time, EOFError if the server is gone."""
        assert self.process.stdout
        while b"\n" not in self.rest:
            if not select([self.process.stdout], [], [], patience)[0]:
                raise TimeoutError(f"no message within {patience:g} s")
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            if not data:
                raise EOFError("the server has ended")
            self.rest += data
        line, _, self.rest = self.rest.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        if message.get("method") == CHANGED:
            self.changes.append(time.perf_counter())
        return message

    def cpu(self) -> float:
        """Return the CPU seconds the server has used, all its threads, to the nanosecond (Linux)."""
        return time.clock_gettime(~self.process.pid << 3 | 2)  # what clock_getcpuclockid(3) makes of a process

    def memory(self) -> tuple[float, float]:
        """Return the server's memory now and at its most, in million bytes (Linux)."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("Vm")}
        return sizes["VmRSS"], sizes["VmHWM"]

    def settle(self) -> None:
        """Wait until the server has nothing left to do."""
        before = -1.0
        while (now := self.cpu()) - before > 0.01:
            before = now
            time.sleep(0.5)


def documents(tree: Path) -> list[Path]:
    """Return the files of a tree that are served."""
    return sorted(path for path in tree.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())


def run(name: str, *arguments: object) -> dict[str, float]:
    """Return what a job finds in a fresh process."""
    done = subprocess.run(job(name, *arguments), check=True, stdout=subprocess.PIPE)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def job(name: str, *arguments: object) -> list[str]:
    """Return the command that does a job."""
    return [sys.executable, __file__, name, *map(str, arguments)]


# jobs, each in a process of its own


def sync(tree: str, store: str) -> dict[str, float]:
    """Index a tree; the libraries that are loaded for it are timed apart."""
    import_search()
    from bookwheel.catalog import Catalog  # noqa: PLC0415
    from bookwheel.folders import Folder  # noqa: PLC0415
    from bookwheel.formats import READERS  # noqa: PLC0415

    root = Path(tree).resolve()
    catalog = Catalog(Path(store), [Folder(root, root.name, suffixes=frozenset(READERS))])
    loaded = time.process_time()
    catalog.sync()
    done = time.process_time()
    return {"imports": loaded, "work": done - loaded, "chunks": catalog.store.libraries()[0].chunk_count}


def plain(tree: str, database: str) -> dict[str, float]:
    """Put the same files into one full-text table of SQLite, which is the least an index on disk costs."""
    loaded = time.process_time()
    db = sqlite3.connect(database, isolation_level=None)
    db.execute("CREATE VIRTUAL TABLE documents USING fts5 (path, title, body)")
    db.execute("BEGIN")
    for path in documents(Path(tree)):
        text = path.read_text("utf-8", "replace")
        title = text[text.find("# ") + 2 :].partition("\n")[0]
        db.execute("INSERT INTO documents VALUES (?, ?, ?)", (str(path), title, text))
    db.execute("COMMIT")
    db.close()
    return {"imports": loaded, "work": time.process_time() - loaded}


def imports() -> dict[str, float]:
    """Load what the first search needs and a greeting does not."""
    import bookwheel.faces.sections  # noqa: PLC0415
    import bookwheel.server.run  # noqa: F401, PLC0415

    start = time.perf_counter()
    import_search()
    return {"seconds": time.perf_counter() - start}


def import_search() -> None:
    """Load the libraries of indexing and searching."""
    import jsonschema  # noqa: F401, PLC0415
    import numpy as np  # noqa: F401, PLC0415
    import Stemmer  # noqa: F401, PLC0415
    import yaml  # noqa: F401, PLC0415

    import bookwheel.catalog  # noqa: PLC0415
    import bookwheel.index.search  # noqa: PLC0415

    bookwheel.index.search.KEPT = 0  # what is measured is a search, not the memory of one


def audit(note: str, tree: str, store: str) -> dict[str, float]:
    """Serve a tree, and at the end write into the file *note* how many of its documents were opened."""
    names = {path.name for path in documents(Path(tree))}
    opened: list[str] = []

    def listen(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str) and os.path.basename(arguments[0]) in names:  # noqa: PTH119
            opened.append(arguments[0])

    sys.addaudithook(listen)
    atexit.register(lambda: Path(note).write_text(str(len(opened))))
    from bookwheel.cli import main  # noqa: PLC0415

    main(serving(Path(tree), Path(store))[1:])


JOBS: dict[str, Callable[..., dict[str, float]]] = {"sync": sync, "plain": plain, "imports": imports, "audit": audit}

if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
