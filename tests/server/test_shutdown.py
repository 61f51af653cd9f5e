"""How the server begins and ends."""

from __future__ import annotations

import signal
import socket
import threading
import time
from pathlib import Path

import pytest
from hosting import HELLO, PATIENCE, Site, Stream, request, running

SOON = 3.0  # seconds for the end


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_while_clients_are_connected(tmp_path: Path, number: signal.Signals) -> None:
    with running(tmp_path) as site:
        streams = [Stream(site) for _ in range(3)]
        session = site.open_session()
        listening = _get_stream(site, session)
        calling = threading.Thread(target=_call, args=(site, session, 60))
        calling.start()
        site.await_line("waiting")
        started = time.monotonic()

        code = site.stop(number)

        assert (code, "Traceback" in site.log) == (0, False), site.log
        assert time.monotonic() - started < SOON
        assert all(stream.ended() for stream in streams)
        for stream in streams:
            stream.close()
        listening.close()
        calling.join(PATIENCE)


def test_a_call_under_way_is_answered_before_the_end(tmp_path: Path) -> None:
    answers: list[bytes] = []
    with running(tmp_path) as site:
        session = site.open_session()
        caller = threading.Thread(target=lambda: answers.append(_call(site, session, 0.5)))
        caller.start()
        site.await_line("waiting")

        code = site.stop(signal.SIGTERM)
        caller.join(PATIENCE)

    assert (code, b"waited" in answers[0]) == (0, True)


def test_a_call_under_way_over_the_older_transport_is_answered_before_the_end(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        stream = Stream(site)
        site.post(stream.endpoint, request(1, "initialize", **HELLO))
        stream.next()
        site.post(stream.endpoint, request(2, "tools/call", name="wait", arguments={"seconds": 0.5}))
        site.await_line("waiting")

        site.process.send_signal(signal.SIGTERM)
        answer = stream.next()
        stream.close()

        assert ("waited" in answer, site.process.wait(PATIENCE)) == (True, 0)


def test_a_busy_port_is_told(site: Site, tmp_path: Path) -> None:
    other = Site(folder=str(tmp_path), store=str(tmp_path / "store"), port=site.port)

    line = other.await_line("child:")
    code = other.process.wait(PATIENCE)
    other.close()

    assert (line, code) == (f"child: port {site.port} of 127.0.0.1 cannot be had: Address already in use", 1)


@pytest.mark.parametrize("host", ["no.such.host.invalid", "192.0.2.1", "not a host"])
def test_a_bad_host_is_told(tmp_path: Path, host: str) -> None:
    other = Site(folder=str(tmp_path), store=str(tmp_path / "store"), host=host)

    line = other.await_line("child:")
    code = other.process.wait(PATIENCE)
    other.close()

    assert (host in line, code, len(other.lines)) == (True, 1, 1), other.log


@pytest.mark.parametrize("level", ["debug", "error"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_where_it_listens_is_always_said(tmp_path: Path, level: str, form: str) -> None:
    with running(tmp_path, level=level, form=form) as site:
        assert site.ask("GET", "/health").status == 200


def test_listening_to_everybody_without_authentication_is_warned_of(tmp_path: Path) -> None:
    with running(tmp_path, host="0.0.0.0", level="error") as site:  # noqa: S104
        assert "WARNING there is no authentication" in site.await_line("authentication")


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine knows only addresses of the older kind")
def test_addresses_of_the_newer_kind_are_served(tmp_path: Path) -> None:
    with running(tmp_path, host="::1") as site:
        assert site.ask("GET", "/health").body == b"ok"


def _call(site: Site, session: str, seconds: float) -> bytes:
    call = request(5, "tools/call", name="wait", arguments={"seconds": seconds})
    return site.post("/mcp", call, {"mcp-session-id": session}).body


def _get_stream(site: Site, session: str) -> socket.socket:
    wire = site.wire()
    head = f"GET /mcp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\nmcp-session-id: {session}\r\n\r\n"
    wire.sendall(head.encode())
    assert wire.recv(12) == b"HTTP/1.1 200"
    return wire
