"""Fixtures of the tests over HTTP: one server to ask, and the loop that clients run on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hosting import TRANSPORTS, Site, running

DOCUMENTS = {"anchor.md": "# Anchor\n\nDrop the anchor.\n", "rope.md": "# Rope\n\nCoil the rope.\n"}
KEYS: list[tuple[str, list[str] | None]] = [("open-sesame", None), ("maps-only", ["maps"]), ("empty-handed", [])]


def documents(tmp_path: Path) -> Path:
    (tmp_path / "library").mkdir()
    for name, text in DOCUMENTS.items():
        (tmp_path / "library" / name).write_text(text)
    return tmp_path


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> str:
    """Each transport and era in turn."""
    return str(request.param)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server that anybody may use; tests leave it as it is."""
    with running(documents(tmp_path_factory.mktemp("open"))) as site:
        yield site


@pytest.fixture(scope="session")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server that wants an API key."""
    with running(documents(tmp_path_factory.mktemp("keyed")), access={"kind": "apikey", "keys": KEYS}) as site:
        yield site


@pytest.fixture(scope="session")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server that wants a name and a password."""
    access = {"kind": "basic", "username": "jo", "password": "pass:wörd"}
    with running(documents(tmp_path_factory.mktemp("locked")), access=access) as site:
        yield site
