"""Fixtures of the contract tests: servers in this process, and one real server for each face and era."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from bookwheel.faces.docs import Docs
from bookwheel.faces.sections import DEFAULTS, Sections
from bookwheel.ignore import Patterns
from contracts import notebook, sources
from contracts.harness import ERAS, Files, Reader, catalog_of, reading, serving, write

LIBRARY: Files = {
    "README.md": "# Project Overview\n\nThis project is a small library.\n",
    "guides/setup.md": "# Setup Guide\n\n## Requirements\n\nA working zeppelin.\n\n## Steps\n\nInstall the anchor.\n",
    "api/reference.html": "<title>Reference</title><p>All the calls.</p><h2>Anchors</h2><p>Drop one.</p>",
    "notes/memo.txt": "Memo\nBuy rope.\n",
}


class Serve(Protocol):
    """Starts a face on some files in this process and gives a client."""

    def __call__(self, files: Files, era: str = "handshake", **options: Any) -> Reader: ...


class Open(Protocol):
    """Starts the real acdc server on content locations and gives a client."""

    def __call__(
        self,
        content: sources.Content,
        *options: str | Path,
        era: str = "handshake",
        env: Mapping[str, str] | None = None,
        **config: Any,
    ) -> Reader: ...


class Start(Protocol):
    """Starts the real org server on some files and gives a client."""

    def __call__(
        self, files: Files, *options: str | Path, era: str = "handshake", env: Mapping[str, str] | None = None
    ) -> Reader: ...


class StartStore(Protocol):
    """Starts the real vectordb server on one store and gives a client."""

    def __call__(
        self, *options: str | Path, era: str = "handshake", env: Mapping[str, str] | None = None
    ) -> Reader: ...


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "requirement(*ids): the sentences of requirements.toml that this test proves")


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    """An event loop in a thread of its own, for clients that outlive a test."""
    with start_blocking_portal("asyncio") as portal:
        yield portal


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """What must be closed when the test is over."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def docs(portal: BlockingPortal, stack: ExitStack, tmp_path: Path) -> Serve:
    """Start the docs face on some files."""
    turns = count()

    def serve(files: Files, era: str = "handshake", **options: Any) -> Reader:
        folder = write(tmp_path / "library", files)
        catalog = catalog_of(folder, tmp_path / f"store-{next(turns)}", **options)
        stack.callback(catalog.close)
        return stack.enter_context(reading(portal, Docs(catalog), folder, era))

    return serve


@pytest.fixture
def sections(portal: BlockingPortal, stack: ExitStack, tmp_path: Path) -> Serve:
    """Start the sections face on some files."""
    turns = count()

    def serve(files: Files, era: str = "handshake", **options: Any) -> Reader:
        folder = write(tmp_path / "library", files)
        patterns = Patterns(
            tuple(options.pop("include_patterns", DEFAULTS.include)),
            tuple(options.pop("exclude_patterns", DEFAULTS.exclude)),
        )
        catalog = catalog_of(folder, tmp_path / f"store-{next(turns)}", **options)
        stack.callback(catalog.close)
        return stack.enter_context(reading(portal, Sections(catalog, patterns, str(folder)), folder, era))

    return serve


@pytest.fixture
def acdc(portal: BlockingPortal, stack: ExitStack, tmp_path: Path) -> Open:
    """Start the real acdc server on content locations, in a current folder of its own."""
    turns = count()

    def start(
        content: sources.Content,
        *options: str | Path,
        era: str = "handshake",
        env: Mapping[str, str] | None = None,
        **config: Any,
    ) -> Reader:
        turn = next(turns)
        here = tmp_path / "here"
        here.mkdir(exist_ok=True)
        place = sources.configure(tmp_path / "content", content, **config)
        arguments = ("--face", "acdc", "--config", place, "--store", tmp_path / f"store-{turn}", *options)
        log = tmp_path / f"log-{turn}"
        running = serving(portal, place.parent, log, *arguments, mode=ERAS[era], cwd=here, env=env)
        return stack.enter_context(running)

    return start


@pytest.fixture
def vectordb(portal: BlockingPortal, stack: ExitStack, tmp_path: Path) -> StartStore:
    """Start the real vectordb server, each time on the same store, in a current folder of its own."""
    turns = count()

    def start(*options: str | Path, era: str = "handshake", env: Mapping[str, str] | None = None) -> Reader:
        here = tmp_path / "here"
        here.mkdir(exist_ok=True)
        arguments = ("--face", "vectordb", "--store", tmp_path / "store", *options)
        log = tmp_path / f"log-{next(turns)}"
        return stack.enter_context(serving(portal, here, log, *arguments, mode=ERAS[era], cwd=here, env=env))

    return start


@pytest.fixture(scope="session")
def vectors_servers(portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Reader]]:
    """Give a real vectordb server for each era, started once; each test writes to a library of its own."""
    base = tmp_path_factory.mktemp("vectordb")
    with ExitStack() as stack:
        yield {
            era: stack.enter_context(
                serving(
                    portal, base, base / f"{era}.log", "--face", "vectordb", "--store", base / era, mode=mode, cwd=base
                )
            )
            for era, mode in ERAS.items()
        }


@pytest.fixture
def vectors(vectors_servers: dict[str, Reader]) -> Reader:
    """A client of a real vectordb server that other tests use too."""
    return vectors_servers["handshake"]


@pytest.fixture
def either(vectors_servers: dict[str, Reader], era: str) -> Reader:
    """A client of such a server in each era."""
    return vectors_servers[era]


@pytest.fixture
def shelf(request: pytest.FixtureRequest) -> str:
    """The name of a library that no other test uses."""
    return str(request.node.nodeid)


@pytest.fixture(scope="session")
def acdc_servers(portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Reader]]:
    """Give the real acdc server of an era, started once and never written to."""
    base = tmp_path_factory.mktemp("acdc")
    config = sources.configure(base / "content", sources.LIBRARY)
    running: dict[str, Reader] = {}

    with ExitStack() as stack:

        def serve(era: str) -> Reader:
            if era not in running:
                arguments = ("--face", "acdc", "--config", config, "--store", base / era)
                log = base / f"{era}.log"
                running[era] = stack.enter_context(
                    serving(portal, config.parent, log, *arguments, mode=ERAS[era], cwd=base)
                )
            return running[era]

        yield serve


@pytest.fixture
def org(portal: BlockingPortal, stack: ExitStack, tmp_path: Path) -> Start:
    """Start the real org server on some files, in a current folder of its own."""
    turns = count()

    def start(
        files: Files, *options: str | Path, era: str = "handshake", env: Mapping[str, str] | None = None
    ) -> Reader:
        turn = next(turns)
        folder = write(tmp_path / "notes", files)
        arguments = (folder, "--face", "org", "--store", tmp_path / f"store-{turn}", *options)
        log = tmp_path / f"log-{turn}"
        return stack.enter_context(serving(portal, folder, log, *arguments, mode=ERAS[era], cwd=tmp_path, env=env))

    return start


@pytest.fixture(scope="session")
def org_servers(portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Reader]]:
    """Give the real org server of an era, started once and never written to."""
    base = tmp_path_factory.mktemp("org")
    folder = write(base / "notes", notebook.LIBRARY)
    running: dict[str, Reader] = {}

    with ExitStack() as stack:

        def serve(era: str) -> Reader:
            if era not in running:
                arguments = (folder, "--face", "org", "--store", base / era)
                log = base / f"{era}.log"
                running[era] = stack.enter_context(serving(portal, folder, log, *arguments, mode=ERAS[era], cwd=base))
            return running[era]

        yield serve


@pytest.fixture(scope="session")
def served(portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, str], Reader]]:
    """Give the real server of a face in an era, started once and never written to."""
    base = tmp_path_factory.mktemp("served")
    folder = write(base / "library", LIBRARY)
    running: dict[tuple[str, str], Reader] = {}

    with ExitStack() as stack:

        def serve(face: str, era: str) -> Reader:
            if (face, era) not in running:
                home = base / f"{face}-{era}"
                log = home.with_suffix(".log")
                reader = serving(portal, folder, log, folder, "--face", face, "--store", home, mode=ERAS[era])
                running[face, era] = stack.enter_context(reader)
            return running[face, era]

        yield serve


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """Each era of the protocol in turn."""
    return str(request.param)


@pytest.fixture
def docs_server(served: Callable[[str, str], Reader], era: str) -> Reader:
    """A client of the real docs server, in each era."""
    return served("docs", era)


@pytest.fixture
def sections_server(served: Callable[[str, str], Reader], era: str) -> Reader:
    """A client of the real sections server, in each era."""
    return served("sections", era)


@pytest.fixture
def acdc_server(acdc_servers: Callable[[str], Reader], era: str) -> Reader:
    """A client of the real acdc server, in each era."""
    return acdc_servers(era)


@pytest.fixture
def acdc_reader(acdc_servers: Callable[[str], Reader]) -> Reader:
    """A client of the real acdc server, in one era."""
    return acdc_servers("handshake")


@pytest.fixture
def org_server(org_servers: Callable[[str], Reader], era: str) -> Reader:
    """A client of the real org server, in each era."""
    return org_servers(era)


@pytest.fixture
def org_reader(org_servers: Callable[[str], Reader]) -> Reader:
    """A client of the real org server, in one era."""
    return org_servers("handshake")
