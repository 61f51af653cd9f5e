"""Who may come in, over real HTTP."""

from __future__ import annotations

import pytest
from conftest import KEYS
from hosting import HELLO, Site, Stream, basic, request, text
from mcp import MCPError

from bookwheel.credentials import Access, Key
from bookwheel.errors import Invalid

pytestmark = pytest.mark.anyio

NO_KEY = "the key is missing or wrong; send one in the header X-API-Key"
PATHS = [
    "/mcp",
    "/sse",
    "/messages",
    "/messages/",
    "/docs/mcp",
    "/nothing",
    "/",
    "/health/",
    "//health",
    "/HEALTH",
    "/%68ealth",
    "/health%2f",
    "/./health",
    "/mcp/../health",
    "/health;x",
]


@pytest.mark.parametrize("path", PATHS)
def test_without_a_key_every_route_is_refused(keyed: Site, path: str) -> None:
    refusals = {keyed.status(method, path) for method in ("GET", "POST", "DELETE", "OPTIONS")}

    assert refusals == {401}


@pytest.mark.parametrize("path", PATHS)
def test_without_a_password_every_route_is_refused(locked: Site, path: str) -> None:
    reply = locked.ask("GET", path)

    assert (reply.status, reply.headers["www-authenticate"]) == (401, 'Basic realm="Restricted"')


def test_health_is_public(keyed: Site, locked: Site) -> None:
    assert (keyed.ask("GET", "/health").body, locked.ask("GET", "/health").body) == (b"ok", b"ok")


def test_with_a_key_an_unknown_route_is_not_found(keyed: Site) -> None:
    assert keyed.status("GET", "/nothing", X_API_Key="open-sesame") == 404


@pytest.mark.parametrize("key", ["", "open", "open-sesame2", "Open-Sesame", "open-sesame,maps-only", "öpen"])
def test_a_wrong_key_is_refused(keyed: Site, key: str) -> None:
    reply = keyed.ask("GET", "/nothing", headers={"X-API-Key": key})

    assert (reply.status, reply.refusal) == (401, NO_KEY)


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_a_client_without_a_key_can_say_why_it_was_refused(keyed: Site, era: str) -> None:
    with pytest.RaisesGroup(pytest.RaisesExc(MCPError, match=NO_KEY), flatten_subgroups=True, allow_unwrapped=True):
        async with keyed.client(era) as client:
            await client.list_tools()


def test_two_keys_in_one_request_are_refused(keyed: Site) -> None:
    with keyed.wire() as wire:
        wire.sendall(b"GET /x HTTP/1.1\r\nhost: localhost\r\nx-api-key: bad\r\nx-api-key: open-sesame\r\n\r\n")

        assert wire.recv(12) == b"HTTP/1.1 401"


@pytest.mark.parametrize(
    "credentials",
    [
        basic("jo", "wrong"),
        basic("Jo", "pass:wörd"),
        basic("jo:pass", "wörd:"),
        "Basic",
        "Basic !!!",
        "Bearer am86cGFzczp3w7ZyZA==",
        "am86cGFzczp3w7ZyZA==",
    ],
)
def test_a_wrong_password_is_refused(locked: Site, credentials: str) -> None:
    assert locked.status("GET", "/nothing", Authorization=credentials) == 401


def test_the_right_password_comes_in(locked: Site) -> None:
    assert locked.status("GET", "/nothing", Authorization=basic("jo", "pass:wörd")) == 404


async def test_a_password_opens_every_transport(locked: Site, transport: str) -> None:
    async with locked.client(transport, headers={"authorization": basic("jo", "pass:wörd")}) as client:
        assert text(await client.call_tool("libraries", {})) == "all"


@pytest.mark.parametrize(("key", "libraries"), [("open-sesame", "all"), ("maps-only", "maps"), ("empty-handed", "")])
async def test_handlers_know_the_libraries_of_the_caller(keyed: Site, transport: str, key: str, libraries: str) -> None:
    async with keyed.client(transport, headers={"X-API-Key": key}) as client:
        assert text(await client.call_tool("libraries", {})) == libraries


async def test_without_keys_handlers_may_use_all(site: Site, transport: str) -> None:
    async with site.client(transport) as client:
        assert text(await client.call_tool("libraries", {})) == "all"


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_a_session_belongs_to_the_key_that_opened_it(keyed: Site, method: str) -> None:
    session = keyed.open_session({"X-API-Key": "maps-only"})
    usual = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    body = b'{"jsonrpc":"2.0","id":2,"method":"ping"}' if method == "POST" else None

    with_another = keyed.ask(method, "/mcp", body, {**usual, "X-API-Key": "open-sesame", "mcp-session-id": session})
    with_its_own = keyed.post("/mcp", request(2, "ping"), {"X-API-Key": "maps-only", "mcp-session-id": session})

    assert (with_another.status, with_its_own.status) == (404, 200)


def test_a_stream_belongs_to_the_key_that_opened_it(keyed: Site) -> None:
    stream = Stream(keyed, {"X-API-Key": "maps-only"})
    hello = request(1, "initialize", **HELLO)

    with_another = keyed.post(stream.endpoint, hello, {"X-API-Key": "open-sesame"})
    with_its_own = keyed.post(stream.endpoint, hello, {"X-API-Key": "maps-only"})
    stream.close()

    assert (with_another.status, with_its_own.status) == (404, 202)


def test_no_secret_is_logged(keyed: Site, locked: Site) -> None:
    keyed.status("GET", "/x", X_API_Key="a-wrong-key")
    locked.status("GET", "/x", Authorization=basic("jo", "a-wrong-word"))
    keyed.await_line("401 GET /x")
    locked.await_line("401 GET /x")

    secrets = [*(key for key, _ in KEYS), "a-wrong-key", "pass:wörd", basic("jo", "a-wrong-word")]
    assert not [secret for secret in secrets if secret in keyed.log + locked.log]


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "none", "username": "jo"},
        {"kind": "none", "keys": (Key("a"),)},
        {"kind": "basic", "username": "jo"},
        {"kind": "basic", "password": "word"},
        {"kind": "basic", "username": "jo", "password": "word", "keys": (Key("a"),)},
        {"kind": "apikey"},
        {"kind": "apikey", "keys": (Key(""),)},
        {"kind": "apikey", "keys": (Key("a"),), "username": "jo"},
        {"kind": "apikey", "keys": (Key("a"), Key("a", frozenset({"maps"})))},
        {"kind": "oauth"},
    ],
)
def test_contradictory_access_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        Access(**given)  # type: ignore[arg-type]


def test_secrets_are_not_shown() -> None:
    shown = repr(Access("basic", "jo", "word")) + repr(Access("apikey", keys=(Key("sesame"),)))

    assert "word'" not in shown
    assert "sesame" not in shown
