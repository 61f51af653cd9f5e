"""By which names the server may be called, and from which web pages: no page of a stranger can use it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hosting import HELLO, Site, request, running

from bookwheel.server.guard import Hosts

LOCAL = ("127.0.0.1", ())
EVERYWHERE = ("0.0.0.0", ())  # noqa: S104
LISTED = ("0.0.0.0", ("wiki.example", "other.example:8443"))  # noqa: S104
ADDRESS = ("192.168.1.5", ())
ANY = ("127.0.0.1", ("*",))


@pytest.mark.parametrize(
    ("bound", "host", "known"),
    [
        (LOCAL, "localhost", True),
        (LOCAL, "localhost:8080", True),
        (LOCAL, "LocalHost.:1", True),
        (LOCAL, "127.0.0.1:8080", True),
        (LOCAL, "[::1]:8080", True),
        (LOCAL, "evil.example", False),
        (LOCAL, "evil.example:8080", False),
        (LOCAL, "localhost.evil.example", False),
        (LOCAL, "127.0.0.1.evil.example", False),
        (LOCAL, "evil.example@localhost", False),
        (LOCAL, "localhost:80:80", False),
        (LOCAL, "localhost/", False),
        (LOCAL, "192.168.1.5", False),
        (LOCAL, "", False),
        (("127.0.0.2", ()), "127.0.0.2:80", True),
        (("::1", ()), "[::1]:80", True),
        (("127.0.0.1", ("Wiki.Example",)), "wiki.example:99", True),
        (("127.0.0.1", ("wiki.example:99",)), "wiki.example:99", True),
        (("127.0.0.1", ("wiki.example:99",)), "wiki.example:98", False),
        (("127.0.0.1", ("[fd00::1]:99",)), "[fd00::1]:99", True),
        (("127.0.0.1", ("wiki.example",)), "localhost", True),
        (ADDRESS, "192.168.1.5:8080", True),
        (ADDRESS, "192.168.1.6:8080", False),
        (ADDRESS, "evil.example", False),
        (EVERYWHERE, "any.name.example:8080", True),
        (EVERYWHERE, "10.0.0.7:8080", True),
        (LISTED, "wiki.example:8080", True),
        (LISTED, "other.example:8443", True),
        (LISTED, "other.example:8080", False),
        (LISTED, "evil.example", False),
        (LISTED, "10.0.0.7:8080", True),
        (LISTED, "localhost:8080", True),
        (ANY, "any.name.example", True),
    ],
)
def test_a_host_is_known_or_not(bound: tuple[str, tuple[str, ...]], host: str, known: bool) -> None:
    assert Hosts(*bound).knows(host) is known


@pytest.mark.parametrize(
    ("bound", "origin", "host", "trusted"),
    [
        (LOCAL, "http://localhost:3000", "localhost:8080", True),
        (LOCAL, "http://[::1]:3000", "localhost:8080", True),
        (LOCAL, "http://evil.example", "localhost:8080", False),
        (LOCAL, "https://localhost.evil.example", "localhost:8080", False),
        (LOCAL, "null", "localhost:8080", False),
        (LOCAL, "", "localhost:8080", False),
        (LOCAL, "file://", "localhost:8080", False),
        (LOCAL, "app://localhost", "localhost:8080", False),
        (("127.0.0.1", ("app://wiki",)), "app://wiki", "localhost:8080", True),
        (("127.0.0.1", ("wiki.example",)), "https://wiki.example", "localhost:8080", True),
        (EVERYWHERE, "http://evil.example:8080", "evil.example:8080", False),  # a rebound page looks like this
        (EVERYWHERE, "http://evil.example", "10.0.0.7:8080", False),
        (EVERYWHERE, "http://10.0.0.7:8080", "10.0.0.7:8080", True),
        (EVERYWHERE, "http://10.0.0.8:8080", "10.0.0.7:8080", False),
        (EVERYWHERE, "http://localhost:3000", "localhost:8080", True),
        (LISTED, "https://wiki.example", "wiki.example", True),
        (LISTED, "https://evil.example", "wiki.example", False),
        (ADDRESS, "http://192.168.1.5:8080", "192.168.1.5:8080", True),
        (ANY, "https://evil.example", "evil.example", False),
    ],
)
def test_a_web_page_is_trusted_or_not(
    bound: tuple[str, tuple[str, ...]], origin: str, host: str, trusted: bool
) -> None:
    assert Hosts(*bound).trusts(origin, host) is trusted


@pytest.mark.parametrize("path", ["/mcp", "/sse", "/messages", "/docs/mcp", "/health", "/nothing"])
def test_every_route_refuses_a_foreign_name_and_a_foreign_page(site: Site, path: str) -> None:
    assert site.status("GET", path, Host="evil.example") == 421
    assert site.status("GET", path, Origin="http://evil.example") == 403


def test_one_bad_origin_among_two_is_enough(site: Site) -> None:
    with site.wire() as wire:
        wire.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\norigin: http://e\r\n\r\n")

        assert wire.recv(12) == b"HTTP/1.1 403"


def test_a_foreign_name_is_told_before_credentials_are_looked_at(keyed: Site) -> None:
    assert keyed.status("GET", "/nothing", Host="evil.example", X_API_Key="open-sesame") == 421


def test_a_server_for_everybody_is_called_by_any_name_but_not_by_pages_of_strangers(tmp_path: Path) -> None:
    hello = request(1, "initialize", **HELLO)
    with running(tmp_path, host="0.0.0.0") as site:  # noqa: S104
        by_name = site.post("/mcp", hello, {"host": "wiki.intern:8080"})
        by_page = site.post("/mcp", hello, {"host": "evil.example", "origin": "http://evil.example"})

    assert (by_name.status, by_page.status) == (200, 403)
