"""What the server writes about itself."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import pytest
from hosting import Site, request, running

from bookwheel import logs

pytestmark = pytest.mark.anyio

PATHS = {"handshake": "/mcp", "modern": "/mcp", "sse": "/messages"}


async def test_a_request_is_one_line_without_its_arguments(tmp_path: Path, transport: str) -> None:
    with running(tmp_path) as site:
        async with site.client(transport) as client:
            await client.call_tool("search_documents", {"query": "a secret plan"})
        site.await_line("tools/call")

        lines = [line for line in site.lines if "search_documents" in line]
        assert len(lines) == 1
        assert re.fullmatch(rf"INFO tools/call search_documents [\d.]+ ms ok {PATHS[transport]}", lines[0])
        assert "secret" not in site.log


async def test_a_request_is_one_object_of_json(tmp_path: Path) -> None:
    with running(tmp_path, form="json") as site:
        async with site.client("modern") as client:
            await client.call_tool("fail", {})

        line = json.loads(site.await_line('"method": "tools/call"'))
        assert {line[name] is not None for name in ("time", "ms")} == {True}
        wanted = {"method": "tools/call", "name": "fail", "outcome": "error", "transport": "/mcp", "level": "info"}
        assert {name: line[name] for name in wanted} == wanted
        assert all(json.loads(line) for line in site.lines)


async def test_an_error_of_the_protocol_is_one_line(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        session = {"mcp-session-id": site.open_session()}
        site.post("/mcp", request(2, "no/such/method"), session)
        site.await_line("INFO no/such/method .* ms error /mcp")

        modern = {"mcp-protocol-version": "2026-07-28", "mcp-method": "no/such/method"}
        about: dict[str, object] = {"protocolVersion": "2026-07-28", "clientCapabilities": {}}
        meta = {f"io.modelcontextprotocol/{name}": value for name, value in about.items()}
        assert site.post("/mcp", request(3, "no/such/method", _meta=meta), modern).status == 404
        site.ask("GET", "/nothing")
        site.await_line("404 GET /nothing")

        assert sum("no/such/method" in line for line in site.lines) == 2
        assert not [line for line in site.lines if "404 POST" in line]


def test_health_is_logged_only_for_those_who_debug(site: Site, tmp_path: Path) -> None:
    site.ask("GET", "/health")
    site.ask("GET", "/after-health")
    site.await_line("404 GET /after-health")
    with running(tmp_path, level="debug") as other:
        other.ask("GET", "/health")
        line = other.await_line("/health")

    assert line == "DEBUG 200 GET /health 127.0.0.1"
    assert "200 GET /health" not in site.log


def test_nobody_can_write_lines_of_their_own(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        session = {"mcp-session-id": site.open_session()}
        name = "x\nERROR all is lost\x1b[2J" + "y" * 5000
        site.post("/mcp", request(2, "tools/call", name=name, arguments={}), session)
        site.ask("GET", "/%0AERROR%20all%20is%20lost")
        site.await_line("404 GET")

        assert not [line for line in site.lines if line.startswith("ERROR") or len(line) > 300 or "\x1b" in line]


def test_standard_input_is_logged_in_the_same_way(capsys: pytest.CaptureFixture[str]) -> None:
    before = logging.getLogger().handlers[:], logging.getLogger().level
    try:
        logs.configure("info")
        logs.request("prompts/get", {"name": "review", "arguments": {"x": "secret"}}, 0.0, False, "stdio")
        logs.configure("error")
        logs.request("tools/list", None, 0.0, False, "stdio")
    finally:
        logging.basicConfig(handlers=before[0], level=before[1], force=True)

    assert re.fullmatch(r"INFO prompts/get review [\d.]+ ms ok stdio\n", capsys.readouterr().err)
