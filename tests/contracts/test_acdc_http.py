"""The acdc contract over HTTP: server-sent events, health, and who may ask."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from anyio.from_thread import BlockingPortal

from contracts.harness import PATIENCE, Json, Reader, eventually, handshake, refused, requirement, write
from contracts.sources import ENTRIES, IDENTITY, LIBRARY, configure, hits, location, page
from contracts.web import Headers, Host, hosting, visiting

USER, WORD = "ann", "pa55:w0rd ü"
KEY, DOCS_KEY, FREE_KEY = "k3y-for-all-1", "k3y-for-docs-2", "k3y-for-all-3"
CHALLENGE = 'Basic realm="Restricted"'
WAYS: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "basic": ("-a", "basic", "-u", USER, "-P", WORD),
    "apikey": ("-a", "apikey", "-k", f"{KEY},{FREE_KEY}"),
    "bound": ("-a", "apikey", "-k", f"{DOCS_KEY}=docs;{KEY}=docs,wiki;{FREE_KEY}"),
}


def basic(user: str, word: str) -> Headers:
    """Return the header of a user with a password."""
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{word}".encode()).decode()}


def key(value: str) -> Headers:
    """Return the header of an API key."""
    return {"X-API-Key": value}


RIGHT: Mapping[str, Headers] = {"none": {}, "basic": basic(USER, WORD), "apikey": key(KEY), "bound": key(KEY)}


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Host]]:
    """Give the server with a way of authentication, started once and never written to."""
    base = tmp_path_factory.mktemp("hosts")
    config = configure(base / "content", LIBRARY)
    running: dict[str, Host] = {}

    with ExitStack() as stack:

        def host(way: str) -> Host:
            if way not in running:
                arguments = ("--face", "acdc", "-c", config, "--store", base / way, "--log-level", "debug")
                running[way] = stack.enter_context(
                    hosting(*arguments, "--transport", "sse", "--port", "0", *WAYS[way], cwd=base)
                )
            return running[way]

        yield host


# server-sent events


@requirement(
    "acdc.sse.stream",
    "acdc.sse.messages",
    "acdc.sse.routes",
    "acdc.principle.transports",
    "acdc.settings.transport",
    "acdc.instructions",
    "acdc.auth.basic",
    "acdc.auth.api-key",
    "acdc.settings.auth-type",
)
@pytest.mark.parametrize("way", WAYS)
def test_client_over_server_sent_events_gets_the_same_answers(
    portal: BlockingPortal, hosts: Callable[[str], Host], way: str
) -> None:
    with visiting(portal, hosts(way).url + "/sse", headers=RIGHT[way]) as reader:
        client = reader.client
        assert client.server_info
        assert (client.server_info.name, client.server_info.version) == (IDENTITY["name"], IDENTITY["version"])
        assert client.instructions == IDENTITY["instructions"]
        assert [one["uri"] for one in reader.resources()] == [one["uri"] for one in ENTRIES]
        assert sorted(tool["name"] for tool in reader.tools()) == ["read", "search"]
        assert reader.call("read", uri="acdc://wiki/guide").text == "Nothing but a submarine.\n"
        assert reader.text("acdc://wiki/guide") == "Nothing but a submarine.\n"
        assert [one[2] for one in hits(reader.call("search", query="submarine"), "submarine")] == ["acdc://wiki/guide"]
        assert [one["name"] for one in reader.prompts()] == ["docs:code-review", "wiki:code-review"]


@requirement("acdc.sse.messages", "acdc.sse.routes", "acdc.sse.stream")
@pytest.mark.parametrize("slash", ["", "/"])
def test_messages_are_taken_with_and_without_a_slash(hosts: Callable[[str], Host], slash: str) -> None:
    host = hosts("none")

    with (
        httpx2.Client(base_url=host.url, timeout=PATIENCE, trust_env=False) as client,
        client.stream("GET", "/sse") as stream,
    ):
        lines = stream.iter_lines()
        endpoint = opened(lines)
        path, _, query = endpoint.partition("?")
        hello = client.post(f"{path.rstrip('/')}{slash}?{query}", content=handshake("2025-11-25")[0], headers=SENT)
        greeting = json.loads(received(lines))

    assert stream.headers["content-type"].startswith("text/event-stream")
    assert path.rstrip("/") == "/messages"
    assert hello.status_code == 202
    assert greeting["result"]["serverInfo"]["name"] == IDENTITY["name"]


SENT = {"Content-Type": "application/json"}


def opened(lines: Iterator[str]) -> str:
    """Return where the stream says that messages go."""
    assert next(lines) == "event: endpoint"
    return received(lines)


def received(lines: Iterator[str]) -> str:
    """Return the data of the next event."""
    return next(line for line in lines if line.startswith("data: ")).removeprefix("data: ")


@requirement("acdc.sse.messages")
@pytest.mark.parametrize("query", ["", "?session_id=", "?session_id=nonsense", f"?session_id={'0' * 32}"])
def test_message_without_a_stream_is_refused(hosts: Callable[[str], Host], query: str) -> None:
    response = hosts("none").ask("POST", f"/messages{query}", content=handshake("2025-11-25")[0], headers=SENT)

    assert 400 <= response.status_code < 500


@requirement("acdc.sse.stream", "acdc.sse.messages")
def test_two_clients_are_answered_at_the_same_time(portal: BlockingPortal, hosts: Callable[[str], Host]) -> None:
    url = hosts("none").url + "/sse"

    with visiting(portal, url) as one, visiting(portal, url) as other:
        assert one.resources() == other.resources()
        assert one.call("read", uri="acdc://docs/guide") == other.call("read", uri="acdc://docs/guide")


@requirement("acdc.transports.exclusive", "acdc.stdio.output")
def test_server_over_http_says_nothing_on_standard_output(tmp_path: Path) -> None:
    config = configure(tmp_path / "content", LIBRARY)

    with hosting("--face", "acdc", "-c", config, "--store", tmp_path / "store", "-t", "sse", "-p", "0") as host:
        assert host.ask("GET", "/health").status_code == 200  # its standard input is closed, and it lives on


@requirement("model.list-changed", "acdc.sse.stream")
def test_change_is_told_over_server_sent_events(portal: BlockingPortal, tmp_path: Path) -> None:
    config = configure(tmp_path / "content", LIBRARY)
    arguments = ("--face", "acdc", "-c", config, "--store", tmp_path / "store", "-t", "sse", "-p", "0")

    with hosting(*arguments, cwd=tmp_path) as host, visiting(portal, host.url + "/sse") as reader:
        reader.resources()
        write(tmp_path / "content/wiki/mcp-resources", {"added.md": page("Added")})
        reader.await_change(lambda: "Added" in {one["name"] for one in reader.resources()})


# health


@requirement("acdc.sse.health", "acdc.sse.ok", "acdc.auth.public", "acdc.auth.covers")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("headers", [{}, key("wrong"), basic("ann", "wrong")], ids=["bare", "key", "basic"])
def test_health_is_ok_for_everybody(hosts: Callable[[str], Host], way: str, headers: Headers) -> None:
    response = hosts(way).ask("GET", "/health", headers=headers)

    assert (response.status_code, response.text.strip()) == (200, "ok")


@requirement("acdc.sse.health", "acdc.sse.routes")
@pytest.mark.parametrize("path", ["/nowhere", "/health/deep", "/etc/passwd", "/sse/x"])
def test_other_paths_are_not_there(hosts: Callable[[str], Host], path: str) -> None:
    assert hosts("none").status("GET", path) == 404


# authentication

ROUTES = [
    ("GET", "/sse"),
    ("POST", "/sse"),
    ("POST", "/messages"),
    ("POST", "/messages/"),
    ("POST", "/messages?session_id=x"),
    ("GET", "/messages"),
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("DELETE", "/mcp"),
    ("POST", "/acdc/mcp"),
    ("POST", "/upload"),
    ("GET", "/"),
    ("GET", "/nowhere"),
    ("GET", "/health/"),
    ("GET", "/health/x"),
    ("GET", "//health"),
    ("GET", "/HEALTH"),
    ("GET", "/sse?/health"),
    ("GET", "/x/../health/.."),
    ("GET", "/health%2f..%2fsse"),
    ("OPTIONS", "/sse"),
]


@requirement("acdc.auth.covers", "acdc.auth.public", "acdc.auth.challenge")
@pytest.mark.parametrize("way", ["basic", "apikey"])
@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route_but_health_needs_credentials(
    hosts: Callable[[str], Host], way: str, method: str, path: str
) -> None:
    response = hosts(way).ask(method, path)

    assert response.status_code == 401
    assert response.headers.get("WWW-Authenticate", "") == (CHALLENGE if way == "basic" else "")
    assert "acdc" not in response.text


WRONG: dict[str, tuple[str, Headers]] = {
    "wrong password": ("basic", basic(USER, "wrong")),
    "wrong user": ("basic", basic("bob", WORD)),
    "password in other case": ("basic", basic(USER, WORD.upper())),
    "beginning of the password": ("basic", basic(USER, WORD[:-1])),
    "more than the password": ("basic", basic(USER, WORD + "x")),
    "empty password": ("basic", basic(USER, "")),
    "nothing at all": ("basic", basic("", "")),
    "no colon": ("basic", {"Authorization": "Basic " + base64.b64encode(b"ann").decode()}),
    "no base64": ("basic", {"Authorization": "Basic %%%"}),
    "no UTF-8": ("basic", {"Authorization": "Basic " + base64.b64encode(b"\xff:\xfe").decode()}),
    "no scheme": ("basic", {"Authorization": base64.b64encode(f"{USER}:{WORD}".encode()).decode()}),
    "other scheme": ("basic", {"Authorization": "Bearer " + base64.b64encode(f"{USER}:{WORD}".encode()).decode()}),
    "empty header": ("basic", {"Authorization": ""}),
    "key for basic": ("basic", key(WORD.replace("ü", "u"))),
    "wrong key": ("apikey", key("wrong")),
    "beginning of the key": ("apikey", key(KEY[:-1])),
    "more than the key": ("apikey", key(KEY + "x")),
    "key in other case": ("apikey", key(KEY.upper())),
    "both keys": ("apikey", key(f"{KEY},{FREE_KEY}")),
    "empty key": ("apikey", key("")),
    "key as a bearer": ("apikey", {"Authorization": f"Bearer {KEY}"}),
    "basic for keys": ("apikey", basic(USER, KEY)),
    "key with its sources": ("bound", key(f"{DOCS_KEY}=docs")),
    "source as a key": ("bound", key("wiki")),
}


@requirement("acdc.auth.covers", "acdc.auth.basic", "acdc.auth.api-key", "acdc.settings.auth-basic-password")
@pytest.mark.parametrize(("way", "headers"), WRONG.values(), ids=WRONG)
def test_wrong_credentials_are_refused(hosts: Callable[[str], Host], way: str, headers: Headers) -> None:
    assert hosts(way).status("GET", "/sse", headers) == 401
    assert hosts(way).status("POST", "/messages", headers) == 401


@requirement("acdc.auth.basic", "acdc.settings.auth-basic-username", "acdc.settings.auth-basic-password")
@pytest.mark.parametrize("scheme", ["Basic", "basic", "BASIC"])
def test_scheme_counts_in_any_case(hosts: Callable[[str], Host], scheme: str) -> None:
    headers = {"Authorization": basic(USER, WORD)["Authorization"].replace("Basic", scheme)}

    assert hosts("basic").status("GET", "/sse", headers) == 200


@requirement("acdc.auth.api-key", "acdc.settings.auth-api-keys")
@pytest.mark.parametrize(
    ("way", "value"), [("apikey", KEY), ("apikey", FREE_KEY), ("bound", DOCS_KEY), ("bound", FREE_KEY)]
)
def test_every_key_of_the_list_is_right(hosts: Callable[[str], Host], way: str, value: str) -> None:
    assert hosts(way).status("GET", "/sse", key(value)) == 200


@requirement("acdc.auth.covers", "acdc.auth.api-key", "acdc.sse.messages")
def test_stream_of_one_key_is_not_open_to_another(hosts: Callable[[str], Host]) -> None:
    with (
        httpx2.Client(base_url=hosts("apikey").url, timeout=PATIENCE, trust_env=False) as client,
        client.stream("GET", "/sse", headers=key(KEY)) as stream,
    ):
        lines = stream.iter_lines()
        endpoint = opened(lines)
        hello = handshake("2025-11-25")[0]
        other = client.post(endpoint, content=hello, headers={**SENT, **key(FREE_KEY)})
        own = client.post(endpoint, content=hello, headers={**SENT, **key(KEY)})
        received(lines)

    assert 400 <= other.status_code < 500
    assert own.status_code == 202


# keys for some sources


@pytest.fixture(params=["/sse", "/mcp"])
def confined(request: pytest.FixtureRequest, portal: BlockingPortal, hosts: Callable[[str], Host]) -> Iterator[Reader]:
    """A client whose key is for the source docs alone, over both transports."""
    with visiting(portal, hosts("bound").url + request.param, headers=key(DOCS_KEY)) as reader:
        yield reader


@requirement("acdc.settings.auth-api-keys", "acdc.auth.api-key", "acdc.search.source")
def test_key_for_a_source_opens_that_source_alone(confined: Reader) -> None:
    assert [one["uri"] for one in confined.resources()] == [
        one["uri"] for one in ENTRIES if one["uri"].startswith("acdc://docs/")
    ]
    assert [one["name"] for one in confined.prompts()] == ["docs:code-review"]
    assert {one[0] for one in hits(confined.call("search", query="*"), "*")} == {"docs"}
    assert confined.call("search", query="submarine").text == "No results found for 'submarine'"
    assert not confined.call("read", uri="acdc://docs/guide").error


@requirement("acdc.settings.auth-api-keys", "model.containment.no-hint")
def test_other_sources_are_to_such_a_key_as_if_they_were_not_there(confined: Reader) -> None:
    def told(uri: str) -> tuple[str, str]:
        error = confined.refusal(lambda: confined.read(uri))
        answer = confined.call("read", uri=uri)
        assert answer.error
        return error.message.replace(uri, "URI"), answer.text.replace(uri, "URI")

    assert told("acdc://wiki/guide") == told("acdc://nowhere/guide")
    narrowed, lost = (confined.call("search", query="submarine", source=name).texts for name in ("wiki", "nowhere"))
    assert narrowed[0] == "No results found for 'submarine' in source 'wiki'"
    assert [text.replace("wiki", "X") for text in narrowed] == [text.replace("nowhere", "X") for text in lost]
    hidden = confined.refusal(lambda: confined.prompt("wiki:code-review"))
    absent = confined.refusal(lambda: confined.prompt("nowhere:code-review"))
    assert hidden.message.replace("wiki", "X") == absent.message.replace("nowhere", "X")


@requirement("acdc.settings.auth-api-keys")
@pytest.mark.parametrize("value", [KEY, FREE_KEY])
def test_keys_for_all_sources_open_all(portal: BlockingPortal, hosts: Callable[[str], Host], value: str) -> None:
    with visiting(portal, hosts("bound").url + "/sse", headers=key(value)) as reader:
        assert [one["uri"] for one in reader.resources()] == [one["uri"] for one in ENTRIES]


LISTS: dict[str, tuple[str, str]] = {
    "a comma before another key": (f"{DOCS_KEY}=docs,{FREE_KEY}", "list"),
    "a file": (f"# keys\n\n{DOCS_KEY}=docs\n  {FREE_KEY}  \n", "file"),
}


@requirement("acdc.settings.auth-api-keys", "acdc.auth.api-key")
@pytest.mark.parametrize(("text", "kind"), LISTS.values(), ids=LISTS)
def test_keys_may_be_written_in_several_ways(portal: BlockingPortal, tmp_path: Path, text: str, kind: str) -> None:
    config = configure(tmp_path / "content", LIBRARY)
    (tmp_path / "keys").write_text(text)
    flags = ("--auth-api-keys-file", str(tmp_path / "keys")) if kind == "file" else ("--auth-api-keys", text)
    arguments = ("--face", "acdc", "-c", config, "--store", tmp_path / "store", "-t", "sse", "-p", "0", "-a", "apikey")

    with hosting(*arguments, *flags, cwd=tmp_path) as host:
        assert host.status("GET", "/sse", key("# keys")) == 401
        assert host.status("GET", "/sse", key("")) == 401
        with visiting(portal, host.url + "/sse", headers=key(DOCS_KEY)) as reader:
            assert {one["uri"].split("/")[2] for one in reader.resources()} == {"docs"}
        with visiting(portal, host.url + "/sse", headers=key(FREE_KEY)) as reader:
            assert {one["uri"].split("/")[2] for one in reader.resources()} == {"docs", "wiki"}


# where credentials come from

GIVEN: dict[str, tuple[tuple[str, ...], Mapping[str, str], str, Headers]] = {
    "long flags of basic": (
        ("--auth-type", "basic", "--auth-basic-username", USER, "--auth-basic-password", WORD),
        {},
        "",
        basic(USER, WORD),
    ),
    "environment of basic": (
        (),
        {
            "ACDC_MCP_AUTH_TYPE": "basic",
            "ACDC_MCP_AUTH_BASIC_USERNAME": USER,
            "ACDC_MCP_AUTH_BASIC_PASSWORD": WORD,
        },
        "",
        basic(USER, WORD),
    ),
    "environment of keys": (
        (),
        {"ACDC_MCP_AUTH_TYPE": "apikey", "ACDC_MCP_AUTH_API_KEYS": f"{KEY}, {FREE_KEY}"},
        "",
        key(FREE_KEY),
    ),
    ".env of basic": (
        (),
        {},
        f"ACDC_MCP_AUTH_TYPE=basic\nACDC_MCP_AUTH_BASIC_USERNAME={USER}\nACDC_MCP_AUTH_BASIC_PASSWORD='{WORD}'\n",
        basic(USER, WORD),
    ),
    "all layers": (
        ("-P", WORD),
        {"ACDC_MCP_AUTH_BASIC_USERNAME": USER, "ACDC_MCP_AUTH_BASIC_PASSWORD": "weaker"},
        "ACDC_MCP_AUTH_TYPE=basic\nACDC_MCP_AUTH_BASIC_USERNAME=nobody\nACDC_MCP_AUTH_BASIC_PASSWORD=weakest\n",
        basic(USER, WORD),
    ),
    "password in a file": (
        ("-a", "basic", "-u", USER, "--auth-basic-password-file", "password"),
        {},
        "",
        basic(USER, "from a file"),
    ),
}


@requirement(
    "acdc.settings.auth-type",
    "acdc.settings.auth-basic-username",
    "acdc.settings.auth-basic-password",
    "acdc.settings.auth-api-keys",
    "acdc.settings.layers",
    "acdc.settings.precedence",
    "acdc.settings.order",
)
@pytest.mark.parametrize(("flags", "env", "dotenv", "headers"), GIVEN.values(), ids=GIVEN)
def test_credentials_come_from_every_layer(
    tmp_path: Path, flags: tuple[str, ...], env: Mapping[str, str], dotenv: str, headers: Headers
) -> None:
    config = configure(tmp_path / "content", LIBRARY)
    (tmp_path / ".env").write_text(dotenv)
    (tmp_path / "password").write_text("from a file\n")
    arguments = ("--face", "acdc", "-c", config, "--store", tmp_path / "store", "-t", "sse", "-p", "0")

    with hosting(*arguments, *flags, cwd=tmp_path, env=env) as host:
        assert host.status("GET", "/sse", headers) == 200
        assert host.status("GET", "/sse") == 401
        assert host.status("GET", "/sse", basic(USER, "weaker")) == 401


@requirement("acdc.settings.auth-api-keys", "acdc.settings.auth-basic-password", "acdc.auth.no-keys")
@pytest.mark.parametrize(
    "flags",
    [
        ("-a", "apikey", "--auth-api-keys-file", "absent"),
        ("-a", "apikey", "--auth-api-keys-file", "empty"),
        ("-a", "basic", "-u", USER, "--auth-basic-password-file", "absent"),
        ("-a", "basic", "-u", USER, "--auth-basic-password-file", "empty"),
    ],
    ids=" ".join,
)
def test_file_without_credentials_refuses_to_start(tmp_path: Path, flags: tuple[str, ...]) -> None:
    config = configure(tmp_path / "content", LIBRARY)
    (tmp_path / "empty").write_text("\n")

    ended = refused(
        "--face", "acdc", "-c", config, "--store", tmp_path / "store", "-t", "sse", "-p", "0", *flags, cwd=tmp_path
    )

    assert (ended.returncode, ended.stdout) == (2, "")
    assert re.search("auth|absent", ended.stderr)


# what is logged


@requirement("acdc.secrets")
@pytest.mark.parametrize("way", ["basic", "apikey", "bound"])
def test_secrets_are_never_logged_whether_right_or_wrong(hosts: Callable[[str], Host], way: str) -> None:
    host = hosts(way)
    encoded = basic(USER, WORD)["Authorization"].split()[1]
    near = "wr0ng-s3cr3t"

    for headers in (RIGHT[way], key(near), basic(USER, near), {"Authorization": f"Bearer {near}"}):
        host.status("GET", "/sse", headers)
        host.status("POST", "/messages", headers)
    host.ask("GET", "/health")

    secrets = (WORD, encoded, KEY, DOCS_KEY, FREE_KEY, near, basic(USER, near)["Authorization"].split()[1])
    assert [secret for secret in secrets if secret in host.said()] == []


@requirement("acdc.stdio.errors")
def test_logs_may_be_lines_of_json(tmp_path: Path) -> None:
    config = configure(tmp_path / "content", {"docs": location({"a.md": page("A"), "bad.md": "No front matter.\n"})})
    arguments = ("--face", "acdc", "-c", config, "--store", tmp_path / "store", "-t", "sse", "-p", "0")

    with hosting(*arguments, "--log-format", "json", cwd=tmp_path) as host:
        host.ask("GET", "/health")
        eventually(lambda: "bad.md" in host.said(), True, PATIENCE)

    lines: list[Json] = [json.loads(line) for line in host.lines]
    assert all(isinstance(line, dict) for line in lines)
    assert any("listening on" in json.dumps(line) for line in lines)


@requirement("composed.host.acdc", "acdc.settings.host")
@pytest.mark.parametrize("way", ["none", "basic"])
def test_host_is_every_interface_with_a_warning_where_anybody_may_ask(tmp_path: Path, way: str) -> None:
    config = configure(tmp_path / "content", LIBRARY)
    arguments = ("--face", "acdc", "-c", config, "--store", tmp_path / "store", "-t", "sse", "-p", "0")

    with hosting(*arguments, *WAYS[way], cwd=tmp_path) as host:
        assert host.address == f"http://0.0.0.0:{host.port}"
    warned = any("warning" in line.lower() and "auth" in line.lower() for line in host.lines)
    assert warned is (way == "none")
